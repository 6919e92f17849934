/*
 * A device as executables see it: a table of functions, found by its name once, when a program is decoded. What differs
 * from device to device is asked here, and decided nowhere else.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "ir/base/error.h"
#include "ir/base/pipe_ring.h"

struct buffers;
struct executable;
struct ir_printer;
struct launch_context;
struct pool;
struct program_bands;
struct program_step;
struct running;
struct slot_memory;

/* The binary that a driver makes of a launch's object, as it is kept for others (daemon/gpu/binary.h). */
struct launch_binary {
    const void *key; /* what it is for */
    uint32_t key_bytes;
    bool found;   /* it was there, and is in use */
    bool refused; /* it was there, but is none for this driver */
};

/* What runs a launch. Its device makes it, so that one device can have several: compiled code, and an interpreted
 * kernel. */
struct launch_code {
    /* Runs work-groups from *next up to end, with the argument block filled in. *next: the first that has not run,
       which is before end where better code for the launch has come meanwhile. 0, or -1 with the error. */
    int (*run)(struct launch_code *code, struct executable *x, uint32_t launch, uint64_t *next, uint64_t end,
               const struct launch_context *context, struct error *e);
    void (*free)(struct launch_code *code);
    /* Fills in the arguments that are the code's own, when it becomes the launch's; NULL: there are none. */
    void (*enter)(struct launch_code *code, struct executable *x, uint32_t launch);
    const struct launch_binary *binary; /* NULL: there is nothing to keep */
};

/* CLOCK_MONOTONIC. */
typedef void step_timed(uint64_t sequence, uint32_t step, uint32_t n_steps, uint64_t began_ns, uint64_t ended_ns);

/* What launches of all devices run with. */
struct launch_context {
    struct pool *pool; /* threads; NULL: there is the caller's alone */
    struct ir_printer *printer;
    struct buffers *buffers;              /* all of the session, for addresses that are found in memory */
    const struct slot_memory *slots;      /* of the program */
    void (*wake)(void);                   /* the thread that runs submissions, when something beside it has ended */
    uint64_t sequence;                    /* of the submission */
    step_timed *timed;                    /* told of each step, or steps that ran as one; NULL: nobody wants to know */
    bool (*cancelled)(uint64_t sequence); /* the client wants it to end */
};

/* Launches that run beside the thread that runs submissions. */
struct beside {
    struct running *running; /* their submission */
    int result;              /* 0, or -1 with the error */
    struct error error;
    _Atomic bool ended; /* set last */
};

/* What a device keeps of memory that is the session's, as long as that is there: at its end the device is asked to free
   it. Only the thread that runs submissions sets it. */
struct device_memory {
    void *data; /* NULL: nothing */
    void (*free)(void *data);
    /* Copies all of it to the session's memory; NULL: the device uses that itself. */
    int (*fetch)(void *data, struct error *e);
    bool valid; /* the device's memory has the contents, */
    bool newer; /* and the session's does not */
};

struct device {
    const char *name;
    /* Compilers make an object for each launch; false: kernels come with the program, as IR. */
    bool takes_objects;
    /* The code of a launch: from the object in *fd, which is taken over (set to -1) where it is kept, or, with fd NULL,
       from the program. NULL with the error. */
    struct launch_code *(*load)(struct executable *x, uint32_t launch, int *fd, struct error *e);

    /* The record of a pipe, as the device's kernels use it: made in memory that is all zeros. */
    uint64_t (*pipe_bytes)(uint32_t packet_size, uint32_t capacity);
    void (*pipe_init)(void *record, uint32_t packet_size, uint32_t capacity);
    /* Its packets are those of a ring that the client has too, of which kernels have this end. False: what the ring
       says cannot be. NULL: kernels cannot reach it. */
    bool (*pipe_set_ring)(void *record, struct pipe_ring *ring, enum pipe_ring_end end);
    /* Then packets are moved for them, by who runs launches: before one that has the pipe the record becomes what the
       ring is, and behind it the ring what kernels left of the record. False: they left what cannot be. NULL: the
       device has no pipes of the host, unless it has the function above. */
    void (*pipe_from_ring)(void *record, struct pipe_ring_port *port);
    bool (*pipe_to_ring)(const void *record, struct pipe_ring_port *port);
    /* No packets are in it, and no reservations open. NULL: the device cannot say. */
    bool (*pipe_is_empty)(const void *record);

    /* From here on NULL where there is nothing to do. What all launches of an executable share (executable.of_device):
       before the first is loaded, after the last, and at the end of the executable. */
    int (*begin_loading)(struct executable *x, struct error *e);
    int (*end_loading)(struct executable *x, struct error *e);
    /* As load, of an executable that may be running: other code for the launch, the same otherwise. */
    struct launch_code *(*replace)(struct executable *x, uint32_t launch, int *fd, struct error *e);
    void (*unload)(struct executable *x);

    /* Runs launches that follow each other, with the argument blocks filled in; NULL: they are run one by one. 0, or -1
       with the error. */
    int (*run_launches)(struct executable *x, const uint32_t *launches, uint32_t n,
                        const struct launch_context *context, struct error *e);

    /* Does a copy or fill where the device has the contents: 1. Or 0: the host is to do it; or -1 with the error. NULL:
       it always is. */
    int (*run_transfer)(const struct program_step *step, const struct slot_memory *slots, struct error *e);

    /* Begins launches that wait for pipes, all at the same time, beside the caller: kernels of other submissions may be
       what they wait for. False: there are not enough threads as long as nothing of what runs there ends. NULL: they
       are run one by one. */
    bool (*run_beside)(struct executable *x, const uint32_t *launches, uint32_t n, const struct launch_context *context,
                       struct beside *beside);
    /* The submission that had some is over. NULL where run_beside is. */
    void (*end_beside)(struct executable *x);
    /* Does a launch of the one sleep, for what one of the other may do? NULL where run_beside is. */
    bool (*sleeps_for)(const struct executable *x, const struct executable *other);

    /* Runs launches band by band, several bands at a time: 1. Or 0: they are run one part after the other; or -1 with
       the error. NULL: they always are. */
    int (*run_bands)(struct executable *x, const struct program_bands *bands, const struct launch_context *context,
                     struct error *e);

    /* Programs for debugging; NULL: only others. Before a part of a submission, of which 0 is the first; after a copy
     * or fill. */
    int (*debug_begin)(struct executable *x, uint32_t part, struct slot_memory *slots, struct error *e);
    void (*debug_transfer)(struct executable *x, const struct program_step *step);
};

typedef const struct device *device_finder(const char *name); /* NULL: there is none */
