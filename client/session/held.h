/* What a queue holds back (queue/window.c) has its numbers already: all else comes after it. */
#pragma once

#include "client/session/state.h"

fusion_event client_reserve_event(fusion_session *s);
/* Submits what is held back. Not while a lock but turn_lock is held. */
void client_flush(fusion_session *s);
