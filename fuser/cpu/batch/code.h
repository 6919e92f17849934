/* What a kernel is translated to: steps over columns (a number of each work-item) and single numbers (the same for all
   of a batch), in one row with jumps. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fuser/cpu/abi/kernel_abi.h"
#include "fuser/cpu/batch/columns.h"
#include "ir/base/arena.h"
#include "ir/core/ir.h"

/* A register: its number while steps are made, then its place in the frame, with UNIFORM_BIT for a single number. Of a
   column the place is in bytes of a work-item. */
typedef uint32_t batch_reg;
enum { NO_REG = UINT32_MAX };
#define UNIFORM_BIT 0x80000000u

enum step_kind {
    /* r = function(in[0], in[1], in[2]): columns all, or single numbers all */
    STEP_COLUMN,
    STEP_SINGLE,
    STEP_EVALUATE, /* the same, number by number: op on kind, from kind `from`; in[0] to in[3] */
    STEP_SPLAT,    /* column r: single number in[0] in each lane */
    STEP_MOVE,     /* r = in[0] in the lanes of the mask; both columns or both single */
    /* memory: base in[0], a single number, and index in[1], a column or none; at base + index * scale + offset */
    STEP_ADDRESS,
    STEP_LOAD,
    STEP_STORE, /* of in[2] */
    /* of columns, work-item by work-item: results more[0] to, then operands */
    STEP_ATOMIC,
    STEP_COPY,
    STEP_IMAGE,
    STEP_IMAGE_BLOCK,
    STEP_IMAGE_QUERY,
    STEP_PIPE,
    STEP_PRINT,
    STEP_SPACE,      /* r = in[0] where it is an address in `space`, else 0 */
    STEP_COLLECTIVE, /* of the work-group, or sub-group by sub-group */
    STEP_SUB_GROUP,
    STEP_BLOCK,
    /* control flow */
    STEP_JUMP,
    STEP_JUMP_UNLESS, /* single bool in[0] */
    STEP_UNLESS_ANY,  /* jumps unless bool in[0] is set in a lane of the mask */
    STEP_SPLIT,       /* mask 0, 1: the lanes where in[0] is set, and the others; to the first, or jump: it is empty */
    STEP_ELSE,        /* to mask 0; jumps where it is empty */
    STEP_RESTORE,     /* to mask 0 */
    STEP_MERGE,       /* mask 0 = mask 1 | mask 2, to it; jumps where it is empty */
    STEP_BEGIN,       /* of a function: as STEP_ENTER */
    STEP_ENTER,       /* mask 0 = the mask, to it; mask 1 = none where there is one */
    STEP_ROUND,       /* mask 0 = mask 1, mask 1 = none; to mask 0, or jump: it is empty */
    STEP_LEAVE,       /* mask 1 gets the lanes of the mask where there is one, which becomes none; jumps */
    STEP_DROP,        /* mask 0 = mask 0 without mask 1, to it; jumps where it is empty */
    STEP_CALL,
    STEP_RETURN,
    STEP_TRAP,
    STEP_END,
};

enum { NO_MASK }; /* the number of none */

/* What a step needs beyond its registers. */
struct step_details {
    struct ir_attrs attrs;
    enum ir_kind kind; /* of T's numbers, or of a result */
    unsigned lanes;    /* of T */
    uint64_t bytes;    /* of T in memory */
    uint32_t mode;     /* of texels */
    uint32_t n_results, n_operands;
    batch_reg *more; /* results, then operands */
    uint8_t *sizes;  /* of their numbers, as logarithms */
};

struct step {
    uint8_t kind; /* enum step_kind */
    uint8_t size; /* of r's numbers, as logarithm; of a store's */
    uint8_t in_size[4];
    uint8_t number, from, rounding; /* EVALUATE: kinds */
    uint16_t op;
    batch_reg r, in[4];
    uint32_t mask[3];
    uint32_t target; /* label, then step */
    int64_t scale, offset;
    union {
        column_function *function;
        const struct step_details *details;
    };
};

/* Single numbers that are known before the first batch, and where they come from. */
enum input_kind {
    INPUT_CONSTANT,
    INPUT_ARG,       /* bytes of the argument block */
    INPUT_ARG_PLACE, /* their address */
    INPUT_LOCAL_ARG,
    INPUT_LOCAL, /* an offset in the work-group's memory */
    INPUT_QUERY, /* op, dim: the same for the launch */
};
struct input {
    enum input_kind kind;
    uint8_t size;
    uint16_t op, dim;
    uint64_t value;
    batch_reg reg;
    batch_reg column; /* with it in each lane; or NO_REG */
};

/* Ids of work-items, known when a batch begins. */
struct id_column {
    enum ir_op op;
    unsigned dim;
    batch_reg reg;
};

/* A variable of the module, or a pipe, in the process's memory. */
struct batch_global {
    const struct ir_global *global;
    uint64_t *memory; /* NULL: in that of the work-group */
    uint64_t local_at;
};

/* Private memory of a var. */
struct batch_var {
    uint64_t at; /* bytes of a work-item before it */
    uint64_t bytes;
    batch_reg reg; /* column of addresses */
};

/* How work-items make batches. */
enum batch_unit {
    UNIT_ANY,   /* any work-items, of several work-groups too */
    UNIT_ITEMS, /* of one work-group */
    UNIT_GROUP, /* all of one work-group */
};

struct batch {
    struct arena *arena;
    struct kernel_object_info info;
    const struct columns *columns;
    enum batch_unit unit;
    bool has_divergent_loops;
    uint32_t sub_group_size;
    struct step *steps;
    uint32_t n_steps, n_inputs, n_ids, n_vars, n_globals, n_masks;
    struct input *inputs;
    struct id_column *ids;
    struct batch_var *vars;
    struct batch_global *globals;
    uint32_t masks_at;      /* place of the first mask's column */
    uint64_t single_bytes;  /* of the frame */
    uint64_t column_bytes;  /* of a work-item */
    uint64_t private_bytes; /* of a work-item */
};

static inline unsigned batch_size_of(enum ir_kind kind)
{
    switch (kind) {
    case IR_KIND_BOOL:
    case IR_KIND_I8: return 0;
    case IR_KIND_I16:
    case IR_KIND_F16: return 1;
    case IR_KIND_I32:
    case IR_KIND_F32: return 2;
    default: return 3;
    }
}
