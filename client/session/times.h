/* When submissions were. */
#pragma once

#include "client/session/state.h"

/* Now, where the client wants times of submissions; else 0. */
uint64_t client_moment(const fusion_session *s);
/* When the submission was asked for, and pushed; 0: nobody wanted to know. Session locked. */
void client_keep_moments(fusion_session *s, fusion_event event, uint64_t queued_ns, uint64_t submitted_ns);
/* Of one that is complete. FUSION_NOT_FOUND: they are not known. */
fusion_status client_times_of(fusion_session *s, fusion_event event, fusion_event_times *times);
