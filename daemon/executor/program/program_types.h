/* What a program is made of; program.h says what it is. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/executor/program/device.h"
#include "ir/base/error.h"
#include "ir/base/nd_range.h"
#include "ir/image/image.h"

struct arena;
struct assertion_kernel;

enum program_param_kind {
    PROGRAM_PARAM_SLOT,
    PROGRAM_PARAM_VALUE,
    PROGRAM_PARAM_LOCAL,
    PROGRAM_PARAM_IMAGE, /* a slot, or a part of one, as an image */
    PROGRAM_PARAM_STATE, /* a variable or pipe of the program */
    PROGRAM_PARAM_COUNT
};

struct program_param {
    uint8_t kind;
    bool writes;
    uint32_t index;    /* slot, image's too, value, or state */
    uint64_t offset;   /* SLOT, IMAGE: bytes into it; LOCAL: bytes of work-group memory */
    uint32_t at, size; /* place in the argument block */
    bool takes, puts;  /* STATE that is a pipe: packets, in these lines of the source; 0: not known */
    uint32_t take_line, put_line;
    uint64_t written;      /* SLOT: so many bytes at most, if not 0 */
    bool polls;            /* the same: also without waiting, so that it matters what is in it when */
    struct ir_image image; /* IMAGE; data NULL: where it lies is known when a submission runs */
};

/* What must hold of a submission's values: the value has the bytes of another one; is the other one itself: is the
   number, of the value's size. Or of a pipe: that it is empty. */
struct program_condition {
    bool is_pipe; /* the state `value` */
    uint32_t value, like;
    uint64_t number;
    bool at_least; /* the number, as a signed integer, or more */
};

struct program_launch {
    const char *name;
    struct nd_range range;
    uint64_t num_groups[3]; /* ceil(global / local) */
    uint64_t n_groups, group_items;
    uint64_t written_bytes; /* of memory that it writes, at most */
    uint32_t args_size, n_params;
    struct program_param *params;
    uint32_t n_conditions;
    struct program_condition *conditions;
    uint32_t first_spare, n_spares; /* launches that run instead where a condition does not hold */
    bool last;                      /* its last work-group begins when all others have ended */
    bool waits;                     /* for pipes: its work-groups run one after another */
    bool anywhere;                  /* it may touch memory that no argument names */
    bool is_spare;                  /* it is one of them: no step runs it */
    bool together;                  /* a spare: at the same time as the spare before it, which waits, too */
    const uint8_t *ir;              /* IR msgpack, on a device that takes no objects; else NULL */
    size_t ir_size;
    const struct assertion_kernel *debug; /* what it is a part of, and what was asserted; NULL: not for debugging.
                                         Buffers are slots, then states */
};

enum program_step_kind {
    PROGRAM_STEP_LAUNCH,
    PROGRAM_STEP_COPY,
    PROGRAM_STEP_FILL,
    PROGRAM_STEP_HOST,
    PROGRAM_STEP_COUNT
};

struct program_step {
    uint8_t kind;
    bool together; /* LAUNCH: at the same time as the one before, which is one */
    uint32_t launch;
    uint32_t from, to; /* slots */
    uint64_t from_offset, to_offset, bytes;
    uint32_t rows; /* of `bytes`, a pitch from each to the next; 0: one run of bytes */
    uint64_t from_pitch, to_pitch;
    uint32_t plane; /* rows of a slice, a slice pitch from each to the next; 0: all */
    uint64_t from_slice_pitch, to_slice_pitch;
    uint8_t pattern[16];
    uint32_t pattern_size;
};

/* Where row i begins, on the side with these pitches. */
static inline uint64_t program_row(const struct program_step *s, uint64_t i, uint64_t pitch, uint64_t slice_pitch)
{
    return s->plane ? i / s->plane * slice_pitch + i % s->plane * pitch : i * pitch;
}

struct program_slot {
    const char *name;
    uint64_t bytes;
    bool needed;         /* memory must be bound to it */
    bool spare;          /* only launches that run instead of others use it: it gets memory when one does */
    bool scratch;        /* to debug: it was internalized, and gets memory for the time being */
    uint32_t elem_bytes; /* to debug: for messages; 0: unknown */
    bool written;        /* by any step */
    uint64_t ring;       /* not 0: only launches that run band by band use it, and it is memory of so many bytes over
                            and over while they do; else it gets memory as a spare does */
};

/* All variables and pipes of programs that a session has. */
#define MAX_STATE_BYTES ((uint64_t)1 << 30)

enum program_host { PROGRAM_HOST_NONE, PROGRAM_HOST_KERNELS_READ, PROGRAM_HOST_KERNELS_WRITE, PROGRAM_HOST_COUNT };

/* A variable or pipe of one of the graph's modules. */
struct program_state {
    const char *name;
    uint32_t module;                /* in the graph's list */
    uint32_t variable;              /* in the module's */
    uint64_t bytes;                 /* of a variable */
    const uint8_t *init;            /* bytes; NULL: zeros */
    uint32_t packet_size, capacity; /* of a pipe; else 0 */
    uint8_t host;                   /* enum program_host: of a host pipe, what is the kernels' */
    bool written;                   /* by any launch; a variable */
    bool takes, puts, polls;        /* any launch: of a pipe */
    bool takers, putters;           /* kernels of the module do, in this graph or another one: of a pipe */
};

/* Launches that run a few work-groups of each at a time. */
struct program_bands {
    uint32_t first_step, n_steps, n_bands;
    uint32_t at_once; /* so many bands that follow each other may be in work at a time */
    uint64_t *ends;   /* by band, then step: work-groups of the launch that have run behind it */
    uint32_t n_conditions;
    struct program_condition *conditions; /* where one does not hold, the launches run one after the other */
};

struct program {
    struct arena *arena; /* owns all of it */
    const struct device *device;
    bool debug;    /* a launch for each kernel, whose assertions the device checks */
    bool anywhere; /* a launch may touch memory that no argument names */
    uint32_t n_launches, n_steps, n_slots, n_values, n_states;
    uint32_t n_parts; /* the steps before, between and behind host tasks, which the client runs */
    struct program_launch *launches;
    struct program_step *steps;
    uint32_t n_bands;
    struct program_bands *bands; /* in the order of their steps */
    struct program_slot *slots;
    uint32_t *value_sizes;
    struct program_state *states;
};
