/*
 * The code being emitted: where the next statement of libgccjit goes, for how many work-items, and of which kernel.
 *
 * A kernel's instruction is executed for `width` work-items (lanes, consecutive in x) at once. With width 1 every value
 * is a scalar and every branch a jump, so that scalar code is the same recursion over the structured IR.
 *
 * All rooms of fuser/cpu that emit code pass this struct on. What a room keeps beside it is behind a pointer, to a
 * struct that rooms further down do not see.
 */
#pragma once

#include <libgccjit.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/map.h"
#include "ir/core/ir.h"

typedef gcc_jit_rvalue *rval;
typedef gcc_jit_lvalue *lval;

enum {
    MAX_WIDTH = 64,
    MAX_MASKS = 16,  /* chunks of a mask */
    MAX_CHUNKS = 32, /* chunks of 8-byte numbers: twice those of a mask */
};

/* Which lanes run. chunk NULL: all of them. */
struct mask {
    lval *chunk;
};

/* What jit.c keeps. */
struct jit {
    gcc_jit_type *types[IR_KIND_COUNT][7]; /* by log2 of lanes */
    gcc_jit_type *signed_vectors[9];       /* one chunk of integers, by their bytes */
    struct map constants[IR_KIND_COUNT];   /* constant.h: by their bits */
    struct map numbers;                    /* the same by their expressions */
    gcc_jit_block *first, *body;           /* what sets their vectors, and what follows it */
    unsigned n_names;
    unsigned n_statements;    /* emitted so far: what the compiler's time and memory grow with */
    unsigned most_statements; /* where there would be more, emission ends with a jump to `too_large` */
    jmp_buf too_large;
};

/* What simd/computed.c keeps: of the blocks around where the code is, whose ends make it as many as before them. */
struct computed {
    struct computed_item *items;
    uint32_t n;
};

struct isa;
struct values;
struct work_item_ids;
struct launch_memory;
struct memory_state;
struct private_memory;
struct control;
struct regions;

struct emit {
    gcc_jit_context *gcc;
    const char *name; /* of the function: that of an object's entry, or of a part of it */
    gcc_jit_function *function;
    gcc_jit_block *block; /* where the next statement goes; NULL: control does not come here */
    struct jit jit;
    struct computed computed;
    struct arena *arena;
    struct ir_module *module;
    struct ir_function *kernel;

    const struct isa *isa;
    unsigned width;
    unsigned row_dim;    /* the launch's dimension that the kernel's x is, and the other way round */
    unsigned rows;       /* work-items of the launch that one here is, in y */
    unsigned groups;     /* work-groups of the launch that run as one, in x */
    bool group_lanes;    /* these are lanes: a group here has the work-items of all */
    bool sub_groups;     /* a vector is a sub-group, `width` its size */
    bool compact;        /* what is done lane by lane is a loop, not written out for each */
    bool gathers_slowly; /* as in struct cpu_target */
    bool once;           /* the code of a row's work-items is there under masks alone */
    struct mask exec;    /* lanes that run here */

    struct values *values;          /* emit/value.h */
    struct work_item_ids *ids;      /* emit/ids.h */
    struct launch_memory *launch;   /* emit/launch.h */
    struct memory_state *memory;    /* emit/memory.h */
    struct private_memory *private; /* emit/private_memory.h */
    struct control *control;        /* emit/control.h */
    struct regions *regions;        /* work_group/regions.h; NULL: of a kernel without barriers */
};
