/* The session's executables: a program, the code of its launches, and what its slots and values are by default. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/executor/program/program.h"
#include "ir/base/error.h"
#include "ir/base/map.h"

struct ir_printer;
struct state;
struct states;

/* A launch of the program, ready to be called. Only the thread that runs submissions touches arguments and images, and
   code once it is there. */
struct executable_launch {
    struct launch_code *code;             /* NULL: its object has not come yet */
    _Atomic(struct launch_code *) better; /* takes the place of code before the launch runs again; NULL: none */
    struct ir_image *images;              /* by parameter */
    uint8_t *args;                        /* the argument block */
    bool by_spares;                       /* in the submission that runs, its spares run instead of it */
};

struct executable {
    uint64_t id;
    struct program *program;
    uint64_t *bindings; /* by slot: buffer, or 0 */
    uint8_t **values;   /* by value */
    struct executable_launch *launches;
    struct state **states;      /* by state of the program */
    bool spares_ran;            /* instead of a launch, in some submission */
    bool in_bands;              /* in the submission that runs, its launches that may run band by band do */
    struct buffer **rings;      /* by slot: ring memory; NULL: was never needed */
    struct buffer **spare;      /* by slot: memory of those that only spares use; NULL: was never needed */
    struct ir_printer *printer; /* what takes what its kernels print; its own */
    void *of_device;            /* what the device has for all launches */
    /* private to executables.c */
    struct states *all_states;
    _Atomic uint32_t n_missing; /* objects that have not come yet */
    _Atomic uint32_t references;
};

struct executables {
    struct states *states;
    device_finder *find_device;
    size_t most_printed; /* by a submission, in bytes */
    pthread_mutex_t lock;
    struct map by_id;
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
    uint32_t n_pipes; /* numbers, three for each pipe: the module's, the variable's, that of the buffer with its ring */
    const uint64_t *pipes;
    int *fds; /* objects of the first n_fds launches; those kept are set to -1 */
    uint32_t n_fds;
};

void executables_init(struct executables *x, struct states *states, device_finder *find_device, size_t most_printed);
int executables_load(struct executables *x, const struct executable_source *source, struct error *e);
/* The objects of launches first, first + 1, ... */
int executables_add_objects(struct executables *x, uint64_t id, uint64_t first, int *fds, uint32_t n_fds,
                            struct error *e);
/* Another object for a launch of one that has all of its own. It takes over when the launch runs again, or for the
   work-groups of it that are left. */
int executables_replace(struct executables *x, uint64_t id, uint64_t launch, int *fd, struct error *e);
int executables_unload(struct executables *x, uint64_t id, struct error *e);
/* A reference to one that has all its objects. NULL with the error. */
struct executable *executables_get(struct executables *x, uint64_t id, struct error *e);
void executables_put(struct executable *x); /* NULL is fine */
/* The best code that a launch has by now. Only for the thread that runs submissions, and not while the launch runs. */
struct launch_code *executable_code(struct executable *x, uint32_t launch);
/* The memory of a slot that only spares use, or bands that cannot be, made when it is first asked for. NULL with the
 * error. */
struct buffer *executable_spare_memory(struct executable *x, uint32_t slot, struct error *e);
/* The ring memory of a slot that has some, made when it is first asked for. NULL with the error. */
struct buffer *executable_ring_memory(struct executable *x, uint32_t slot, struct error *e);
/* Is there a better one than executable_code() gave? */
bool executable_has_better(const struct executable *x, uint32_t launch);
