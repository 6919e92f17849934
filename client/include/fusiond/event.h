/*
 * More of events: who is told of them, when they were, and ending what they stand for. Part of fusiond.h.
 */
#ifndef FUSIOND_EVENT_H
#define FUSIOND_EVENT_H

#ifdef __cplusplus
extern "C" {
#endif

/* status: as waiting gives it; where it is no success, fusion_last_error() has why. Called once for each registration,
   in a thread of the session, which calls one function at a time: of events that are complete the oldest first, then in
   the order of registering. It may call whatever it likes: wait for its own event, which returns at once, register
   others, submit, disconnect the session, which is not used there afterwards. Where it waits for another event,
   functions of others wait, too. */
typedef void fusion_event_function(void *data, fusion_session *session, fusion_event event, fusion_status status);
/* At once where the event is complete already. When the service ends, or the session, functions are called with
   FUSION_CONNECTION (in the thread that disconnects). An event of a recorded command stands for its last submission by
   now. */
FUSION_API fusion_status fusion_event_on_complete(fusion_session *session, fusion_event event,
                                                  fusion_event_function *function, void *data);

/*
 * The submission is to end, with FUSION_CANCELLED. One that has not begun does nothing when its turn comes. One that
 * runs on the processor ends between two of its chunks of work-groups (of some microseconds, or one work-group where
 * that takes longer), copies or launches; one that waits for pipes, or is with a GPU, goes on to its end. Memory has
 * what it has written until then; nothing else is lost, and others run as if it had ended by itself. Waits for nothing;
 * what the event came to, waiting for it tells. FUSION_BUSY: a window has made it and others one submission. One that
 * is complete stays as it is.
 */
FUSION_API fusion_status fusion_event_cancel(fusion_session *session, fusion_event event);

/* When it was, in nanoseconds of CLOCK_MONOTONIC. */
typedef struct fusion_event_times {
    size_t size;           /* FUSION_SIZED(fusion_event_times), set by the caller */
    uint64_t queued_ns;    /* the call that submitted it began; of one in parts, its last part */
    uint64_t submitted_ns; /* the executor could see it */
    uint64_t started_ns, ended_ns;
} fusion_event_times;
/* Of a complete one of the last 1,024 submissions, where profiling was on when it was submitted
   (fusion_session_set_profiling(), fusiond/profile.h, which has times of steps, too). FUSION_BUSY: it is not complete;
   FUSION_NOT_FOUND: its times were not taken, or are gone. */
FUSION_API fusion_status fusion_event_times_get(fusion_session *session, fusion_event event, fusion_event_times *times);

#ifdef __cplusplus
}
#endif

#endif
