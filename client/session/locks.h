/* The locks of a session, and other locks that one thread may take several times. */
#pragma once

#include "client/session/state.h"

void client_init_recursive(pthread_mutex_t *mutex);
/* Makes the locks that may be held for long. */
void client_session_init_long_locks(fusion_session *s);
