/* A graph being finalized: what the steps of it share, and its end. */
#pragma once

#include "daemon/broker/cache/cache.h"
#include "daemon/broker/core/code.h"
#include "daemon/broker/session/session.h"
#include "proto/frame.h"

/* A launch of the plan. */
struct launch {
    struct finalize *owner;
    struct job_waiter waiter;
    struct hash key;
    uint32_t index;
    struct code *code; /* NULL: not there yet */
    bool spare;        /* the same, of a spare: a better one is made once it runs */
    bool quick;        /* its code is the kernel itself, until a better one is made */
    char *assembly;    /* NULL: not kept */
};

struct finalize {
    struct operation operation;
    bool keep_ir, keep_assembly;
    const struct gpu *gpu; /* that it is for; NULL: none */
    enum tier tier;
    struct blob *bindings, *values, *modules, *pipes; /* as the client gave them */
    struct blob *graph, *saved_options;               /* it is to be saved, and not loaded; else NULL */
    struct job_waiter plan_waiter, save_waiter;
    struct job_key plan_key;
    struct hash target; /* what code is made for */
    char *tuning;       /* to be kept, with this key; NULL: none is */
    struct hash tuning_key;
    struct blob *plan;
    struct blob_value plan_value;
    const msgpack_object_array *kernels;
    struct launch *launches;
    uint32_t n_launches, next, running, done, n_quick;
    uint32_t looked_up;      /* of the launches, in the cache and in modules */
    struct later later;      /* looking up the rest */
    uint32_t n_spares;       /* the last of the launches: run only where a condition of another one does not hold */
    enum cache_source worst; /* the slowest source so far */
    bool compiled;           /* even slower: something was made */
    uint64_t executable;
};

void finalization_free(struct finalize *f);
void finalization_cancel(struct operation *o);
/* Answers with a failure; f is gone. */
void finalization_fail(struct finalize *f, const struct error *error);
/* Charges so many bytes more to the user until the operation ends, or not (error, about the graph). */
bool finalization_hold(struct finalize *f, size_t bytes, struct error *error);
