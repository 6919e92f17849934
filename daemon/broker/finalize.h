/* A graph being finalized: what the steps of finalize.c share with the report. */
#pragma once

#include "daemon/broker/session.h"

/* A launch of the plan. */
struct launch {
    struct finalize *owner;
    struct job_waiter waiter;
    struct hash key;
    uint32_t index;
    int object; /* sealed code; -1: not there yet */
    uint64_t lanes;
    char *effort;   /* that the compiler made */
    char *assembly; /* NULL: not kept */
};

struct finalize {
    struct operation operation;
    bool keep_ir, keep_assembly;
    struct blob *bindings, *values, *modules; /* as the client gave them */
    struct job_waiter plan_waiter;
    struct job_key plan_key;
    struct blob *plan;
    struct blob_value plan_value;
    const msgpack_object_array *kernels;
    struct launch *launches;
    uint32_t n_launches, next, running, done;
    enum cache_source worst; /* the slowest source so far */
    bool compiled;           /* even slower: something was made */
    uint64_t executable;
};

/* The report (report.c): the plan's, with what is known of each launch's code. */
struct blob *report_merge(const struct finalize *f);
