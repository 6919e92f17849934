/*
 * Windows: what a queue is given and does not record is gathered for a while, and fused like a graph when the same
 * commands come again. Programs that never heard of graphs get their kernels fused.
 */
#ifndef FUSIOND_WINDOW_H
#define FUSIOND_WINDOW_H

#include <fusiond/fusiond.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fusion_window_options {
    size_t size;           /* FUSION_SIZED(fusion_window_options) */
    uint32_t commands;     /* gathered at most, 2 to 128; 0: each is submitted at once, as by default */
    uint32_t microseconds; /* for so long at most, from the first one on; 0: 1,000 */
} fusion_window_options;

/* From the next command on. What is gathered is submitted when there are so many commands or it was so long, when
   somebody waits for a submission of the session, polls one, maps or destroys memory or gives anything else to be run,
   and by fusion_queue_flush(). Order, errors of calls and events are as without, but where a window runs as one and one
   of its commands fails, all of its events do, and each of its events has the time of all. Commands with a part that
   runs in this process are not gathered. What is behind an allocation's pointer is read when the command runs, as
   without. Properties of buffers count for nothing. */
FUSION_API fusion_status fusion_queue_set_window(fusion_queue *queue, const fusion_window_options *options);
FUSION_API fusion_status fusion_queue_flush(fusion_queue *queue); /* submits what is gathered */

typedef struct fusion_window_counters {
    size_t size;       /* FUSION_SIZED(fusion_window_counters), set by the caller, else nothing is filled in */
    uint64_t commands; /* that were gathered */
    uint64_t windows;  /* that were submitted */
    uint64_t fused;    /* of these: ran as one executable */
    uint64_t shapes;   /* for which an executable was made */
} fusion_window_counters;
/* Of all queues of the session, since it was opened; "windows" of fusion_session_status(), too. */
FUSION_API void fusion_session_windows(const fusion_session *session, fusion_window_counters *counters);

#ifdef __cplusplus
}
#endif
#endif
