/*
 * The assertion check of debug runs: kernels that are to run as one run one by one in the interpreter, and each access
 * is compared with those before it. Do their work-items keep apart as the fused kernel takes for granted, and is what
 * was asserted of buffers true? The first access that breaks it ends the run. Uses ir/interp/ only.
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

enum assertion_scope { ASSERTION_SCOPE_ANY, ASSERTION_SCOPE_WORK_GROUP, ASSERTION_SCOPE_WORK_ITEM };

struct assertion_buffer {
    const char *name;
    uint64_t bytes;
    uint32_t elem_bytes; /* 0: elements are what an access touches */
    bool is_variable;    /* program-scope: only what reports call it differs */
};

/* What is asserted of a kernel's buffer argument. */
struct assertion_arg {
    bool is_checked;
    uint32_t buffer;
    uint64_t offset; /* bytes into it */
    enum assertion_scope scope;
    bool no_init;
    enum assertion_scope kept; /* a fused kernel keeps it without memory, by work-item or work-group: it must be as if
                              both that scope and no_init were asserted. ASSERTION_SCOPE_ANY: it is in memory */
};

struct assertion_kernel {
    const char *name;         /* in reports */
    uint32_t launch;          /* kernels of one launch have its number, and run one after the other */
    struct nd_range launched; /* what the launch's work-items and work-groups are */
    bool linear;              /* a work-item of the kernel is that with its linear id, not that with its global ids */
    bool barrier;             /* one stands right before it */
    const struct assertion_arg *args; /* by parameter */
};

struct assertion_check;

/* Names and buffers are copied. NULL: no memory. */
struct assertion_check *assertion_check_new(const struct assertion_buffer *buffers, uint32_t n_buffers);
void assertion_check_free(struct assertion_check *w); /* NULL is fine */
/* From the beginning: nothing has been written or touched. */
void assertion_check_restart(struct assertion_check *w);
/* Something other than a kernel wrote there. */
void assertion_check_written(struct assertion_check *w, uint32_t buffer, uint64_t offset, uint64_t bytes);
/* As interp_run(). Where something is broken, the run is not completed and assertion_check_broken() says what. */
int assertion_check_run(struct assertion_check *w, const struct assertion_kernel *kernel,
                        const struct ir_function *function, const struct nd_range *range, const struct interp_arg *args,
                        const struct interp_options *options, struct interp_result *result);
/* A sentence with the kernels, lines, work-items and the element; NULL: nothing is broken. */
const char *assertion_check_broken(const struct assertion_check *w);
/* The node whose access broke it. */
const char *assertion_check_broken_kernel(const struct assertion_check *w);
