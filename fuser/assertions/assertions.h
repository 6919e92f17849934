/*
 * Watching kernels that are to run as one while they run one by one in the interpreter: whether their work-items keep
 * apart as the fused kernel takes for granted, and whether what was asserted of buffers is true. The first access that
 * breaks it ends the run.
 *
 * Broken is: a work-item touches a byte that another one touched in an earlier kernel of the launch, one of them
 * writing, and no barrier in between; a byte is touched by two work-items (or work-groups) through arguments with
 * access_scope_work_item (or access_scope_work_group); a byte is read through an argument with no_init that nothing has
 * written since the beginning. Where a buffer is to lose its memory, both hold for it. Atomics of one kind may meet,
 * but for those that load, store or exchange. A barrier inside a kernel orders what comes behind it, not what came
 * before it in the same kernel.
 */
#pragma once

#include "ir/interp/interp.h"

enum watch_scope { WATCH_ANY, WATCH_WORK_GROUP, WATCH_WORK_ITEM };

struct watch_buffer {
    const char *name;
    uint64_t bytes;
    uint32_t elem_bytes; /* 0: elements are what an access touches */
    bool is_variable;    /* of the program: only the word in reports differs */
};

/* What is asserted of a kernel's buffer argument. */
struct watch_arg {
    bool is_watched;
    uint32_t buffer;
    uint64_t offset; /* bytes into it */
    enum watch_scope scope;
    bool no_init;
    enum watch_scope kept; /* a fused kernel keeps it without memory, by work-item or work-group: it must be as if both
                              that scope and no_init were asserted. WATCH_ANY: it is in memory */
};

struct watch_kernel {
    const char *name;             /* in reports */
    uint32_t launch;              /* kernels of one launch have its number, and run one after the other */
    struct nd_range launched; /* what the launch's work-items and work-groups are */
    bool linear;  /* a work-item of the kernel is that with its linear id, not that with its global ids */
    bool barrier; /* one stands between it and the kernels before it */
    const struct watch_arg *args; /* by parameter */
};

struct watch;

/* Names and buffers are copied. NULL: no memory. */
struct watch *watch_new(const struct watch_buffer *buffers, uint32_t n_buffers);
void watch_free(struct watch *w); /* NULL is fine */
/* From the beginning: nothing has been written or touched. */
void watch_restart(struct watch *w);
/* Something other than a kernel wrote there. */
void watch_written(struct watch *w, uint32_t buffer, uint64_t offset, uint64_t bytes);
/* As interp_run(). Where something is broken, the run is not completed and watch_broken() says what. */
int watch_run(struct watch *w, const struct watch_kernel *kernel, const struct ir_function *function,
              const struct nd_range *range, const struct interp_arg *args, const struct interp_options *options,
              struct interp_result *result);
/* A sentence with the kernels, lines, work-items and the element; NULL: nothing is broken. */
const char *watch_broken(const struct watch *w);
/* The node whose access broke it. */
const char *watch_broken_kernel(const struct watch *w);
