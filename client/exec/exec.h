/* Executables: what finalize made of a graph. */
#pragma once

#include <pthread.h>

#include "client/base/pool.h"
#include "client/graph/parts.h"

/* What nodes do with a slot: in the executor, and in this process. */
enum { SLOT_READ = 1, SLOT_WRITTEN = 2, SLOT_READ_HERE = 4, SLOT_WRITTEN_HERE = 8 };

struct fusion_exec {
    struct client_object object;
    fusion_session *session;
    uint64_t id;             /* 0: the service has made none yet */
    struct client_pool pool; /* everything the report points at */
    fusion_report report;
    uint32_t n_nodes, n_slots, n_values;
    const char **node_names;
    const char **slot_names;
    uint64_t *slot_memory, *slot_bytes;
    struct client_value_type *value_types;
    uint64_t *slot_saved; /* traffic, where it is not needed */
    struct proto_image *slot_images;
    bool *slot_needed;    /* by the executor */
    bool *slot_host;      /* by copies to and from memory of the process */
    uint8_t *slot_access; /* SLOT_... bits: what was declared of it */
    struct exec_node {
        uint8_t kind;
        uint32_t n_args, n_deps;
        const struct proto_arg *args;
        const uint32_t *deps;
        uint32_t from, to;
        uint32_t dims; /* of a kernel's range */
        uint64_t global[3], local[3];
    } * nodes;
    fusion_event last_event;
    uint64_t time_limit_ms; /* of its submissions; 0: the session's */
    bool on_gpu;            /* the session's executor for GPUs runs it */
    uint32_t recording;     /* of the graph it was made of; 0: none */
    uint32_t n_actions;     /* in the order in which they run */
    struct graph_action *actions;
    bool *part_runs;            /* n_actions + 1: there are steps before action i, behind the last one */
    struct exec_source *source; /* source.h */
    struct exec_rounds {        /* the plan of several rounds: round_plan.h */
        pthread_mutex_t lock;
        bool begun;
        uint32_t n;                   /* rounds that it has or would have; 0: there is none to be made */
        fusion_future *future;        /* it is being made */
        fusion_exec *exec;            /* NULL: there is none, or none yet; stays as long as the executable */
        void (*drop)(fusion_exec *e); /* the plan, or what makes it; NULL: nobody has asked for it */
    } rounds;
    bool owns_memory;   /* it was loaded: what of its memory is still there goes with it, */
    uint32_t n_modules; /* and these */
    fusion_module **modules;
};

/* With what it needs of the graph g, which goes to the service as flat; both may change or go after this. NULL: no
   memory. */
fusion_exec *client_exec_new(const fusion_graph *g, const fusion_graph *flat);
