/*
 * Profiling: when the steps of submissions ran.
 */
#ifndef FUSIOND_PROFILE_H
#define FUSIOND_PROFILE_H

#include <fusiond/fusiond.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Times are nanoseconds of CLOCK_MONOTONIC, which all processes of a machine share. */
typedef struct fusion_step_time {
    fusion_event event; /* the submission; of a graph with host tasks, one of those that it was run in parts by */
    uint32_t step;      /* of fusion_report's steps, from 0 on, counted over all parts */
    uint32_t n_steps;   /* so many ran as one: band by band, at the same time, or given to a device at once. Where a
                           condition of the plan did not hold, what runs instead of a launch counts as that */
    uint64_t began_ns, ended_ns;
} fusion_step_time;

/* From the next submission on, steps are timed (some 50 ns each) or not. Off by default. */
FUSION_API fusion_status fusion_session_set_profiling(fusion_session *session, bool on);
/* Takes at most `room` times of steps that have ended, the oldest first, and gives how many. The times of a submission
   are there when it is complete; the last 1,024 that nobody took are kept. */
FUSION_API uint32_t fusion_session_take_times(fusion_session *session, fusion_step_time *times, uint32_t room);

#ifdef __cplusplus
}
#endif
#endif
