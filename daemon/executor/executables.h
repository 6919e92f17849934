/* The session's executables: a program, its loaded code, and what its slots and values are by default. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/error.h"
#include "daemon/executor/frozen.h"
#include "daemon/executor/program.h"

struct ir_function;
struct ir_module;
struct object;
struct state;
struct ir_printer;
struct states;
struct watched;

/* A launch of the program, ready to be called. */
struct executable_launch {
    struct object *object;              /* device cpu; NULL: not there yet */
    struct ir_module *module;           /* device reference */
    const struct ir_function *kernel;   /* what is interpreted: the module's, or the object's; NULL: it has code */
    struct state **states;              /* the executable's */
    struct ir_image *images;            /* by parameter; only the thread that runs submissions touches them */
    const struct kernel_launch *record; /* device cpu: where the launch is, and what it calls; read-only memory */
    uint8_t *args;                      /* the argument block; only the thread that runs submissions touches it */
    uint64_t local_bytes;               /* of work-group memory */
    uint64_t busy_ns;                   /* what it took the threads together the last time; 0: not known */
};

struct executable {
    uint64_t id;
    struct program *program;
    uint64_t *bindings; /* by slot: buffer, or 0 */
    uint8_t **values;   /* by value */
    struct executable_launch *launches;
    struct state **states;   /* by state of the program */
    struct watched *watched; /* of a program for debugging, once it runs; only that thread touches it */
    /* private to executables.c */
    struct frozen frozen; /* the launches' records */
    uint64_t stream_bytes;
    struct ir_printer *printer;
    struct states *all_states;
    _Atomic uint32_t n_missing; /* objects that have not come yet */
    _Atomic uint32_t references;
    struct executable *next;
};

enum { EXECUTABLES_BUCKETS = 256 };

struct executables {
    struct states *states;
    struct ir_printer *printer; /* what takes what kernels print */
    uint64_t stream_bytes;      /* a launch that writes more does not find it in the caches again */
    pthread_mutex_t lock;
    uint32_t n;
    struct executable *buckets[EXECUTABLES_BUCKETS];
};

/* Bytes that a message holds. */
struct exec_bytes {
    const void *data;
    size_t size;
};

struct executable_source {
    uint64_t id;
    struct exec_bytes program;
    uint32_t n_bindings, n_values, n_modules;
    const uint64_t *bindings;
    const uint64_t *modules; /* the broker's numbers of the graph's */
    const struct exec_bytes *values;
    int *fds; /* objects of the first n_fds launches; those kept are set to -1 */
    uint32_t n_fds;
};

void executables_init(struct executables *x, struct states *states, struct ir_printer *printer, uint64_t stream_bytes);
int executables_load(struct executables *x, const struct executable_source *source, struct error *e);
/* The objects of launches first, first + 1, ... */
int executables_add_objects(struct executables *x, uint64_t id, uint64_t first, int *fds, uint32_t n_fds,
                            struct error *e);
int executables_unload(struct executables *x, uint64_t id, struct error *e);
/* A reference to one that has all its objects. NULL with the error. */
struct executable *executables_get(struct executables *x, uint64_t id, struct error *e);
void executables_put(struct executable *executable); /* NULL is fine */
