/* What a queue holds back has its numbers already: all else comes after it. */
#include "client/session/held.h"

#include "client/session/fork.h"

fusion_event client_reserve_event(fusion_session *s)
{
    pthread_mutex_lock(&s->lock);
    fusion_event event = s->next_sequence++;
    pthread_mutex_unlock(&s->lock);
    return event;
}

void client_flush(fusion_session *s)
{
    /* Without the lock, as each packet of a pipe asks: what this thread has held back, and what was held back before it
       was told of it, is seen. */
    bool held = s->next_reserved != s->next_sequence;
    if (held && !client_is_foreign(s)) s->flush(s);
}
