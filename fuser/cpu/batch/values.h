/* The translation of a kernel to steps, on its way: values of the IR in registers, and the masks around. */
#pragma once

#include "fuser/cpu/batch/build.h"
#include "fuser/cpu/batch/uniform.h"

/* base + index * scale + offset: base a single number, index a column, each may be missing. */
struct address {
    batch_reg base, index;
    int64_t scale, offset;
};

struct value {
    batch_reg *regs;         /* one a component; NULL: an address, or not yet there */
    struct address *address; /* of a pointer that is used to load and store, mostly */
};

/* Instructions between here and `end` run in the lanes of the mask. */
struct context {
    uint32_t mask, end;
    bool left; /* lanes may be missing at the end that were there at the beginning */
};

struct loop_code {
    const struct ir_inst *inst;
    bool divergent;
    batch_reg *args, *next, *results; /* next: where the next round's argument is kept until then */
    uint32_t n_args, n_results;
    uint32_t top, after; /* labels */
    uint32_t went_on;    /* mask: lanes that are in the next round */
    struct loop_code *outer;
};

struct function_code {
    struct ir_function *ir;
    uint32_t begin; /* label */
    uint32_t gone;  /* mask: lanes that have returned */
    batch_reg **params, *result;
    uint32_t *copies; /* variables: of by-value parameters, by parameter */
};

struct translation {
    struct build build;
    struct batch *b;
    struct arena *arena;
    const struct ir_module *module;
    struct uniform uniform;
    struct value *values; /* by scratch */
    struct ir_function **functions;
    struct function_code *codes;
    uint32_t n_functions;
    batch_reg queries[IR_OP_COUNT][3]; /* of the launch: registers plus 1 */
    struct function_code *function;    /* that is translated */
    struct context *context;
    struct loop_code *loop;
};

/* A component of a value, in a register. */
batch_reg values_reg(struct translation *t, const struct ir_value *v, unsigned component);
/* The same, in each lane. */
batch_reg values_column(struct translation *t, const struct ir_value *v, unsigned component);
void values_set(struct translation *t, const struct ir_value *v, const batch_reg *regs);
/* Registers for it: single numbers where it is uniform. */
batch_reg *values_define(struct translation *t, const struct ir_value *v);
struct address values_address(struct translation *t, const struct ir_value *v);
void values_set_address(struct translation *t, const struct ir_value *v, struct address a);
/* The address as a number. */
batch_reg values_of_address(struct translation *t, struct address a);

/* A variable in private memory: its number. */
uint32_t values_add_var(struct translation *t, uint64_t bytes);
/* A step over columns, with so many results and all components of some operands. */
struct step *values_step(struct translation *t, enum step_kind kind, const struct ir_inst *inst,
                         const batch_reg *results, uint32_t n_results);
/* The same by hand: room for registers, which are then filled in, and the step. */
void values_make_room(struct translation *t, struct step_details *d);
struct step *values_end_step(struct translation *t, enum step_kind kind, enum ir_op op, struct step_details *d);
