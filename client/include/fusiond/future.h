/*
 * Finalizing while the program goes on. Part of fusiond.h.
 */
#ifndef FUSIOND_FUTURE_H
#define FUSIOND_FUTURE_H

#ifdef __cplusplus
extern "C" {
#endif

/* A finalize that was begun. */
typedef struct fusion_future fusion_future;

/* Called once, when the future has its outcome, in a thread of the session. It may call whatever it likes, also wait
   for this future, which returns at once, destroy it, or disconnect the session, which is not used there afterwards. It
   keeps a thread from other finalizes. */
typedef void fusion_future_function(void *data, fusion_future *future);

typedef struct fusion_async_options {
    size_t size;                  /* FUSION_SIZED(fusion_async_options) */
    fusion_future_function *done; /* NULL: nobody is told */
    void *data;
    int64_t priority; /* -2^31 to 2^31 - 1 */
} fusion_async_options;

/*
 * As fusion_graph_finalize(), in a thread of the session (fusion_connect_options says how many it has; they are started
 * when they are first needed). The graph is copied: it can be changed, or destroyed, at once. Modules and memory that
 * it uses have to stay until the outcome is there. When a thread is free it begins the one with the highest priority,
 * of those the one that was asked for first; what has begun goes on. options and async may be NULL. What is wrong with
 * the call is told at once, what is wrong with the graph when it is waited for.
 */
FUSION_API fusion_status fusion_graph_finalize_async(fusion_graph *graph, const fusion_finalize_options *options,
                                                     const fusion_async_options *async, fusion_future **future);
/* Waits for the outcome and gives it, also several times and to several threads; timeout_ms -1: no limit,
   FUSION_TIMEOUT beyond. exec, which may be NULL, is the caller's to destroy, the same each time; one that nobody took
   goes with the future. FUSION_CONNECTION: the service ended meanwhile, or the session. FUSION_CANCELLED: it was
   cancelled. */
FUSION_API fusion_status fusion_future_wait(fusion_future *future, int timeout_ms, fusion_exec **exec);
FUSION_API fusion_status fusion_future_poll(fusion_future *future); /* FUSION_BUSY: not yet; else as waiting */
/* One that has not begun has its outcome, FUSION_CANCELLED, at once. One that has asks the service to stop: what
   compilers do for it and for nobody else is dropped. Either way the outcome is what waiting gives: it may still have
   become an executable. */
FUSION_API fusion_status fusion_future_cancel(fusion_future *future);
/* Cancels it, where it has no outcome yet, and waits for nothing; its function is still called. NULL is fine. Before
   the session ends, or in the function: when the session has ended, the futures of it are gone. */
FUSION_API void fusion_future_destroy(fusion_future *future);

#ifdef __cplusplus
}
#endif

#endif
