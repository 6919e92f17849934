/* A thread that tells when submissions are complete. */
#pragma once

#include "client/session/state.h"

/* Before the session's memory goes: functions that were not called are, but for the caller's own thread it is waited
 * for. */
void client_watcher_end(fusion_session *s);
/* Of a submission of the session. */
fusion_status client_watch(fusion_session *s, fusion_event event, fusion_event_function *function, void *data);
