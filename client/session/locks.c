/* Making locks. */
#include "client/session/locks.h"

void client_init_recursive(pthread_mutex_t *mutex)
{
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(mutex, &recursive);
    pthread_mutexattr_destroy(&recursive);
}

void client_session_init_long_locks(fusion_session *s)
{
    client_init_recursive(&s->turn_lock);
    client_init_recursive(&s->print_lock);
    pthread_mutex_init(&s->attach_lock, NULL);
    pthread_mutex_init(&s->pipe_lock, NULL);
    pthread_mutex_init(&s->request_lock, NULL);
    pthread_mutex_init(&s->reply_lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&s->replied, &monotonic);
    pthread_condattr_destroy(&monotonic);
}
