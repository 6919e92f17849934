/* Steps as they are made: registers, labels, masks, and numbers that are needed in each lane. */
#pragma once

#include "fuser/cpu/batch/code.h"

/* A register while steps are made. */
struct virtual_reg {
    uint8_t size;
    uint8_t kind; /* enum ir_kind */
    bool uniform;
    bool fixed; /* has its place all the time */
    bool touched;
    batch_reg column;     /* of a uniform one: the column with it in each lane, where there is one now */
    uint32_t input;       /* plus 1 */
    uint32_t first, last; /* steps */
    uint32_t loop;        /* plus 1: the outermost that it is used in and not defined in */
    uint32_t place;
};

/* Steps of a loop, for the lives of registers. */
struct loop_span {
    uint32_t first, end;
};

struct columns_made {
    batch_reg reg; /* whose column goes with the block */
    struct columns_made *next;
};

struct build {
    struct batch *b;
    struct arena *arena; /* for the time of the translation */
    struct virtual_reg *regs;
    uint32_t n_regs, n_steps, n_labels, n_masks, n_loops;
    struct step *steps;
    uint32_t *labels; /* their steps */
    struct loop_span *loops;
    struct columns_made *made;
    uint32_t n_fixed_columns;
    struct map *constants; /* by bits and size: input plus 1 */
};

batch_reg build_reg(struct build *k, enum ir_kind kind, bool uniform);
batch_reg build_fixed_reg(struct build *k, enum ir_kind kind, bool uniform);
bool build_is_uniform(const struct build *k, batch_reg r);
enum ir_kind build_kind(const struct build *k, batch_reg r);
batch_reg build_input(struct build *k, struct input in, enum ir_kind kind);
batch_reg build_constant(struct build *k, enum ir_kind kind, uint64_t bits);
/* Its bits, where it is a constant. */
bool build_is_constant(const struct build *k, batch_reg r, uint64_t *bits);

struct step *build_step(struct build *k, enum step_kind kind); /* until the next one */
uint32_t build_label(struct build *k);
void build_place_label(struct build *k, uint32_t label);
uint32_t build_mask(struct build *k);
uint32_t build_loop_begin(struct build *k);
void build_loop_end(struct build *k, uint32_t loop);
/* The register lives from before the step to come, or to behind the last one, at least. */
void build_touch(struct build *k, batch_reg r);

/* The column of a number: itself, or with it in each lane. */
batch_reg build_column(struct build *k, batch_reg r);
/* Columns made between are not there any more. */
struct columns_made *build_scope_begin(struct build *k);
void build_scope_end(struct build *k, struct columns_made *before);

/* r = from, in the lanes of the mask. */
void build_move(struct build *k, batch_reg r, batch_reg from);

/* Gives registers their places and labels their steps: the batch's steps, inputs and frame are complete. */
void build_finish(struct build *k);
