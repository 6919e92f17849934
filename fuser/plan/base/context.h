/*
 * What all stages of planning share: the result that they fill (result.h), the options, memory, the one error, a list
 * of remarks (here), and runs of nodes (node_run.h). Uses fuser/graph/ and ir/base/ only.
 */
#pragma once

#include "fuser/plan/base/result.h"
#include "ir/base/error.h"

struct arena;

struct plan_context {
    const struct fuser_options *options;
    struct error *error;
    struct arena *arena; /* of what is needed while planning */
    struct arena *kept;  /* of what the plan keeps */
    uint32_t n_remarks;
    struct fuser_remark *remarks;
    bool quiet;                        /* remarks are not wanted: something is tried */
    const struct fuser_choices *tuned; /* the options' choices; those that count nothing, where they do not */
    const char *cuts[FUSER_MOST_CUTS]; /* names of the nodes that they begin launches at */
};

/* The object is `what`, and its name where it has one. False, so that a check can return it. */
bool plan_fail(struct plan_context *ctx, enum fuser_status status, const char *what, const char *name,
               const char *format, ...) __attribute__((format(printf, 5, 6)));
/* node and buffer: names, NULL for none. */
void plan_remark(struct plan_context *ctx, const char *code, const char *node, const char *buffer, const char *format,
                 ...) __attribute__((format(printf, 5, 6)));
/* A work-item: "3", "(3, 0)". Into buf; returns buf. */
const char *plan_ids_text(const struct nd_range *r, const int64_t id[3], char *buf, size_t size);
/* "add (line 12)", or "add" where the line is 0. Into buf; returns buf. */
const char *plan_line_text(const struct fuser_node *node, uint32_t line, char *buf, size_t size);
