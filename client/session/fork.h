/* Sessions of the process that forked this one. */
#pragma once

#include "client/session/state.h"

/* Is the session that of the process that forked this one? Then nothing may be done with it but to free it. */
static inline bool client_is_foreign(const fusion_session *s)
{
    return s->foreign;
}
fusion_status client_foreign(const char *object); /* the error that says so */
/* All sessions are known here. False: no memory. */
bool client_sessions_add(fusion_session *s);
void client_sessions_remove(fusion_session *s);
