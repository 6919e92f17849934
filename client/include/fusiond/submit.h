/*
 * More of submitting: which submissions are first, how long they may take, and many runs at once. Part of fusiond.h.
 */
#ifndef FUSIOND_SUBMIT_H
#define FUSIOND_SUBMIT_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fusion_submit_options {
    size_t size;            /* FUSION_SIZED(fusion_submit_options) */
    int64_t priority;       /* -2^31 to 2^31 - 1; 0 as without */
    uint64_t time_limit_ms; /* 0: the handle's (fusion_finalize_options) */
} fusion_submit_options;

/*
 * As fusion_exec_submit(); options NULL: as that.
 *
 * Priority: of the submissions of a session that wait, the one with the highest begins next, of those the oldest; what
 * runs goes on to its end. Nothing that can be seen in memory depends on it: runs of one handle, runs that share memory
 * that one of them writes, and what has to come after something else stay in their order, and whatever a submission
 * waits for counts as if it had that one's priority. What kernels print comes in the order in which they run. On
 * devices other than the processor they run in their order. Between sessions the scheduling class of their programs
 * decides.
 *
 * Time limit: the submission ends with FUSION_TIMEOUT when it has run for so long, and those that have begun with it,
 * as its executor is replaced. It counts where it is shorter than the session's (fusion_connect_options), which the
 * service holds whatever happens. Of a submission in parts, with host tasks between them, for each.
 */
FUSION_API fusion_status fusion_exec_submit_with(fusion_exec *exec, const fusion_rebind *rebind, uint32_t n_rebind,
                                                 const fusion_submit_options *options, fusion_event *event);

/*
 * Time loops: as fusion_exec_submit_with(), count times with the same rebindings, but as one submission with one event.
 * Memory is to the last bit what it would be. What it is in between nobody is to look at: who maps a buffer and reads
 * it before the event is complete may find anything. Rounds cost less than submissions, and several of them may run
 * together (docs/fusion.md, "Rounds").
 *
 * The first round that fails ends it; the event has its outcome, and memory what was written until then. The time limit
 * is for all rounds together, cancelling ends it wherever it is, and no other submission of the session runs between
 * two rounds. With profiling, times of steps come once for each round, all with its event.
 *
 * A handle in parts (with host tasks, copies from and to memory of this process, packets of pipes, or graphs that are
 * fused by themselves) is submitted round by round, and waited for after each but the last one: a round that fails is
 * the call's error then, the time limit is for each, and others may come between. FUSION_INVALID, among others: count
 * is 0.
 */
FUSION_API fusion_status fusion_exec_submit_times(fusion_exec *exec, uint32_t count, const fusion_rebind *rebind,
                                                  uint32_t n_rebind, const fusion_submit_options *options,
                                                  fusion_event *event);
/*
 * How many rounds fusion_exec_submit_times() runs by one plan, which is made of the graph so many times over: in the
 * background from the first such call on, or from this one. Waits for it at most timeout_ms (-1: no limit),
 * FUSION_TIMEOUT beyond. 1: each goes by itself, as there is no such plan, or it would save less than a tenth of the
 * time. report may be NULL: that plan's, which lives as long as the executable and whose nodes are those of the graph,
 * round after round; NULL where each goes by itself.
 */
FUSION_API fusion_status fusion_exec_rounds(fusion_exec *exec, int timeout_ms, uint32_t *rounds,
                                            const fusion_report **report);
/* Of the queue's commands from the next one on that it does not record; what its window has gathered is submitted as it
   is. NULL: as at the beginning. Commands of a queue that differ in values and in unnamed memory only are runs of one
   handle: they stay in their order. */
FUSION_API fusion_status fusion_queue_set_options(fusion_queue *queue, const fusion_submit_options *options);

#ifdef __cplusplus
}
#endif

#endif
