/*
 * fork(): a child has its parent's sessions in memory, but not their connections, and must not disturb them: the
 * socket, the ring and the completion descriptor are the parent's. So the child closes its copies of the descriptors,
 * and every call there with such a session is an error.
 */
#include "client/session/fork.h"

#include <pthread.h>
#include <unistd.h>

#include "client/base/error.h"
#include "client/session/locks.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list */
static LIST_HEAD(, fusion_session) sessions = LIST_HEAD_INITIALIZER(sessions);

/* ---- the handlers ---- */

/* Locks that are held for moments only are taken, so that the child finds what they guard whole. */
static void before_fork(void)
{
    fusion_session *s;
    pthread_mutex_lock(&lock);
    LIST_FOREACH(s, &sessions, link) pthread_mutex_lock(&s->lock);
}

static void after_fork_in_parent(void)
{
    fusion_session *s;
    LIST_FOREACH(s, &sessions, link) pthread_mutex_unlock(&s->lock);
    pthread_mutex_unlock(&lock);
}

static void close_copy(int *fd)
{
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

static void disown(fusion_session *s)
{
    s->foreign = true;
    s->broken = true;
    s->daemon_pid = 0;
    close_copy(&s->fd);
    close_copy(&s->event_fd);
    client_session_init_long_locks(s); /* other threads may hold them, and these are not in the child */
}

static void after_fork_in_child(void)
{
    fusion_session *s;
    LIST_FOREACH(s, &sessions, link)
    {
        disown(s);
        pthread_mutex_unlock(&s->lock);
    }
    pthread_mutex_unlock(&lock);
}

/* Once for the process; locked. */
static bool install_handlers(void)
{
    static bool installed;
    if (!installed) installed = pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) == 0;
    return installed;
}

/* ---- the list ---- */

bool client_sessions_add(fusion_session *s)
{
    pthread_mutex_lock(&lock);
    bool installed = install_handlers();
    LIST_INSERT_HEAD(&sessions, s, link);
    pthread_mutex_unlock(&lock);
    return installed;
}

void client_sessions_remove(fusion_session *s)
{
    pthread_mutex_lock(&lock);
    LIST_REMOVE(s, link);
    pthread_mutex_unlock(&lock);
}

fusion_status client_foreign(const char *object)
{
    return client_error(FUSION_CONNECTION, object,
                        "the session was opened before fork(): it is the parent's, process %ld has to open its own",
                        (long)getpid());
}
