/*
 * What the files of the CPU code generator share.
 *
 * A kernel's instruction is executed for `width` work-items (lanes, consecutive in x) at once. What a
 * value is for these lanes is its shape: the same for all (uniform: one scalar), lane 0's plus a
 * constant step (linear: one scalar too), or anything (varying: vectors). With width 1 every value is
 * uniform and every branch a jump, so that scalar code is the same recursion over the structured IR.
 *
 * An IR vector is an array of `struct lanes`, one per component: a float4 of 16 work-items is four
 * times sixteen floats. A varying component lies in chunks, each one register wide at most.
 */
#pragma once

#include <libgccjit.h>
#include <setjmp.h>

#include "fuser/cpu/gccjit.h"
#include "ir/base/arena.h"
#include "ir/formula/formula.h"
#include "ir/core/ir.h"

typedef gcc_jit_rvalue *rval;
typedef gcc_jit_lvalue *lval;

enum {
    MAX_WIDTH = 64,
    MAX_MASKS = 16,  /* chunks of a mask */
    MAX_CHUNKS = 32, /* chunks of 8-byte numbers: twice those of a mask */
};

enum shape_kind { SHAPE_UNIFORM, SHAPE_LINEAR, SHAPE_VARYING };

struct origin;

/* One component of an IR value over the lanes. Pointers are 64-bit addresses. */
struct lanes {
    enum ir_kind kind;
    enum shape_kind shape;
    rval scalar;                 /* uniform: the value; linear: that of lane 0 */
    int64_t stride;              /* linear: the difference between neighbours */
    rval guard;                  /* linear: a bool, false where the steps are not even after all; NULL: they are */
    const struct origin *origin; /* with a guard: how to compute it for each lane */
    lval variable;               /* where the scalar is a variable to be assigned to */
    lval *chunk;                 /* varying: the vectors; of a bool masks */
};

struct origin {
    enum ir_op op;
    unsigned n;
    struct lanes args[3];
};

/* Which lanes run. chunk NULL: all of them. */
struct mask {
    lval *chunk;
};

/* What uniform.c finds out about a value or an if or a loop; indexed by their numbers. */
struct shape {
    enum shape_kind kind;
    int64_t stride;
    bool guarded; /* linear unless a narrow integer wraps: asked at run time */
};

struct uniformity {
    uint32_t n_values, n_insts;
    struct shape *values; /* by ir_value.scratch */
    bool *divergent;      /* if and loop, by number: lanes may part in it */
};

struct isa;

struct span {
    rval start, bytes; /* start NULL: there is none */
};

/* Where the code being emitted runs: uniform values of the entry function. */
struct place {
    rval global_size[3], global_offset[3], local_size[3], num_groups[3], dims; /* of the launch */
    rval group[3];                                                             /* the work-group */
    rval start[3];  /* its first work-item, offset not included */
    rval extent[3]; /* its work-items */
    rval item[3];   /* lane 0 in the work-group */
    rval items;     /* of the work-group; of kernels with sub-groups only */
    lval flat;      /* lane 0's linear id where lanes go on from row to row (item is not set then); NULL: they do not */
    rval local;     /* address of the work-group's memory */
    rval local_bytes;
    struct span args, scratch; /* the argument block; private variables that lie in `local` */
    rval functions;            /* address of struct kernel_functions */
    rval printer;              /* address of what takes what is printed */
};

struct frame;  /* control.c */
struct groups; /* groups.c */

struct emit {
    gcc_jit_context *gcc;
    gcc_jit_function *function;
    gcc_jit_block *block;   /* where the next statement goes; NULL: control does not come here */
    gcc_jit_block *leave;   /* where a work-item's end leads */
    gcc_jit_block *row_end; /* where it leads when the rest of the row does nothing either; NULL: that cannot be told */
    struct arena *arena;
    struct ir_module *module;
    struct ir_function *kernel;
    const struct isa *isa;
    unsigned width;
    struct place place;
    struct mask exec; /* lanes that run here */
    bool empty;       /* no lane runs here, known while emitting */
    bool stream;      /* contiguous stores go past the cache */
    bool streams;     /* stores that could were met */
    struct frame *frame;
    struct uniformity uniformity;
    bool sub_groups;                   /* a vector is a sub-group, `width` its size */
    struct uniformity flat_uniformity; /* of sub-groups that go on from row to row */
    struct lanes **values;             /* by ir_value.scratch; as many as the value has components */
    const struct ir_inst *end;         /* where the instructions that are being emitted end; NULL: with their block */
    struct groups *groups;             /* of a kernel with barriers (groups.c); NULL: without */
    struct lanes **shared;             /* by ir_value.scratch: values of the work-group, the same for each item */
    struct lanes **sums;               /* by ir_value.scratch: of scans, what work-items before have added */
    rval wants_stream;                 /* bool: stores past the cache are asked for; NULL: the kernel has none */
    bool streamed;                     /* some were emitted */
    lval *storage;                     /* of private variables, by instruction number */
    rval *global_address;              /* of module-scope variables */
    gcc_jit_type *types[IR_KIND_COUNT][7]; /* by log2 of lanes */
    gcc_jit_type *signed_vectors[9];       /* one chunk of integers, by their bytes */
    unsigned n_names;
    unsigned n_statements;    /* emitted so far: what the compiler's time and memory grow with */
    unsigned most_statements; /* where there would be more, emission ends with a jump to `too_large` */
    jmp_buf too_large;
    bool compact; /* what is done lane by lane is a loop, not written out for each */
};

/* ---- jit.c: expressions and statements of libgccjit, tersely ---- */

gcc_jit_type *jit_type(struct emit *e, enum ir_kind kind);                   /* integers are unsigned, f16 its bits */
gcc_jit_type *jit_signed(struct emit *e, enum ir_kind kind);                 /* of an integer kind */
gcc_jit_type *jit_vector(struct emit *e, enum ir_kind kind, unsigned lanes); /* 1: the scalar type */
gcc_jit_type *jit_mask_type(struct emit *e);                                 /* of a chunk of a mask */
gcc_jit_type *jit_c(struct emit *e, enum gcc_jit_types type);
unsigned kind_bytes(enum ir_kind kind);     /* in memory: bool 1 */
enum ir_kind kind_of_bytes(unsigned bytes); /* the integer of that size */

rval jit_int(struct emit *e, enum ir_kind kind, uint64_t bits);
rval jit_u64(struct emit *e, uint64_t v);
rval jit_number(struct emit *e, enum ir_kind kind, uint64_t bits); /* of any number kind, from its bits */
rval jit_binary(struct emit *e, enum gcc_jit_binary_op op, rval a, rval b);
rval jit_add(struct emit *e, rval a, rval b);
rval jit_sub(struct emit *e, rval a, rval b);
rval jit_mul(struct emit *e, rval a, rval b);
rval jit_compare(struct emit *e, enum gcc_jit_comparison op, rval a, rval b);
rval jit_not(struct emit *e, rval condition);
rval jit_cast(struct emit *e, rval v, gcc_jit_type *type);
rval jit_bits(struct emit *e, rval v, gcc_jit_type *type); /* the same bits as another type */
rval jit_read(lval v);
lval jit_local(struct emit *e, gcc_jit_type *type);
lval jit_keep(struct emit *e, rval v); /* evaluated now, in a new variable */
void jit_set(struct emit *e, lval v, rval value);
rval jit_select(struct emit *e, rval condition, rval a, rval b); /* scalars; ends the block */
rval jit_min(struct emit *e, rval a, rval b);                    /* likewise */
gcc_jit_block *jit_block(struct emit *e);
void jit_jump(struct emit *e, gcc_jit_block *to);                                       /* and stay nowhere */
void jit_branch(struct emit *e, rval condition, gcc_jit_block *yes, gcc_jit_block *no); /* likewise */
void jit_begin(struct emit *e, gcc_jit_block *block);
lval jit_memory(struct emit *e, gcc_jit_type *type, rval address, unsigned align); /* what lies there */
rval jit_address(struct emit *e, lval v);                                          /* as a number */
rval jit_call(struct emit *e, const char *name, gcc_jit_type *result, unsigned n,
              rval *args); /* of libm and its like */
rval jit_builtin(struct emit *e, const char *name, unsigned n, rval *args);

/* An asm statement with one result or none (type NULL). */
struct jit_asm {
    const char *text, *result;
    const char *inputs[4];
    bool is_volatile; /* memory is read or written too */
};
lval jit_asm(struct emit *e, const struct jit_asm *code, gcc_jit_type *type, unsigned n, rval *inputs);

/* ---- lanes.c: values over the lanes, and masks ---- */

struct lanes lanes_uniform(enum ir_kind kind, rval v);
struct lanes lanes_linear(enum ir_kind kind, rval first, int64_t stride, rval guard);
struct lanes lanes_varying(struct emit *e, enum ir_kind kind); /* with chunks to be filled in */
struct lanes lanes_int(struct emit *e, enum ir_kind kind, uint64_t bits);
unsigned lanes_per_chunk(const struct emit *e, enum ir_kind kind);
unsigned lanes_chunks(const struct emit *e, enum ir_kind kind);
lval *lanes_vectors(struct emit *e, const struct lanes *v); /* the chunks of a value of any shape */
rval lanes_pick(struct emit *e, enum ir_kind kind, lval vector, unsigned lane);
rval lanes_get(struct emit *e, const struct lanes *v, unsigned lane);               /* one lane's scalar */
struct lanes lanes_build(struct emit *e, enum ir_kind kind, rval *scalars);         /* of one scalar per lane */
struct lanes lanes_variable(struct emit *e, enum ir_kind kind, struct shape shape); /* uninitialized */
/* variable = v; where a mask is given, in its lanes only. */
void lanes_assign(struct emit *e, struct lanes *variable, const struct lanes *v, const struct mask *mask);

/* permute.c: lanes that take the values of other lanes */
/* One or two values whose lanes follow one another. */
struct permute_table {
    unsigned n;
    const struct lanes *values[2];
};
/* Lane i is number from[i] of the table. */
struct lanes permute_known(struct emit *e, const struct permute_table *t, const unsigned *from);
/* Of n tables of the same kind and size, the components of a vector: lane i of each is number index[i], an i32. */
void permute_lanes(struct emit *e, const struct permute_table *tables, unsigned n, const struct lanes *index,
                   struct lanes *result);

/* mask.c */
unsigned mask_lanes(const struct emit *e); /* in a chunk */
unsigned mask_chunks(const struct emit *e);
rval mask_bit(struct emit *e, lval chunk, unsigned lane);
rval mask_build(struct emit *e, rval *bools); /* one chunk */
rval mask_splat(struct emit *e, rval condition);
/* One chunk: a op b for and, or, xor; for not, a and not b, or without b not a. */
lval mask_logic(struct emit *e, enum ir_op op, lval a, lval b);
/* A chunk of a vector mask as integers of the kind's width, for chunk c of such a value. */
rval mask_widened(struct emit *e, const lval *mask, enum ir_kind kind, unsigned c);
struct mask mask_of(struct emit *e, const struct lanes *condition); /* of a bool */
struct lanes mask_lanes_value(struct emit *e, struct mask m);       /* as a bool */
struct mask mask_and(struct emit *e, struct mask a, struct mask b);
struct mask mask_and_not(struct emit *e, struct mask a, struct mask b); /* b not all */
struct mask mask_or(struct emit *e, struct mask a, struct mask b);
struct mask mask_first(struct emit *e, rval count);                 /* lanes below count, 1 to 64 */
struct mask mask_variable(struct emit *e, const struct mask *init); /* a copy that is assigned to; init NULL: no lane */
struct mask mask_uninitialized(struct emit *e);
void mask_set(struct emit *e, struct mask *variable, struct mask m);
rval mask_any(struct emit *e, struct mask m);  /* bool */
rval mask_bits(struct emit *e, struct mask m); /* u64, lane 0 lowest */

/* ---- operations ---- */

/* Operations that only appear when others are taken apart, beside those of ir/formula/formula.h. */
enum {
    OP_RAW_FTOS = FORMULA_OP_COUNT, /* float to signed, in range or any result */
    OP_RAW_FTOU,
};

/* scalar.c: one lane. from: kind of the first operand. */
rval scalar_op(struct emit *e, enum ir_op op, enum ir_kind kind, enum ir_kind from, rval *args);
/* prim.c: chunks with an instruction or two of the instruction set each; false: there is none. */
bool prim_op(struct emit *e, enum ir_op op, enum ir_kind kind, unsigned n, const struct lanes *args,
             struct lanes *result);
/* A comparison in the lanes of a mask only, where it holds or (inverted) does not; false: not in one instruction. */
bool prim_compare_under(struct emit *e, enum ir_op op, const struct lanes *args, bool inverted, struct mask under,
                        struct mask *result);
/* Moves of chunk c of a number under a mask, if there is an instruction for that width; and past the cache. */
bool prim_can_mask(const struct emit *e, enum ir_kind kind);
lval prim_masked_load(struct emit *e, lval *mask, enum ir_kind kind, unsigned c, rval address);
void prim_masked_store(struct emit *e, lval *mask, enum ir_kind kind, unsigned c, rval address, rval v);
void prim_stream(struct emit *e, rval address, rval v);
void prim_fence(struct emit *e); /* after the last store past the cache */
/* math.c: functions of libraries, on one lane or on vectors. */
rval math_scalar(struct emit *e, enum ir_op op, enum ir_kind kind, enum ir_kind from, rval *args);
bool math_vector(struct emit *e, enum ir_op op, enum ir_kind kind, unsigned n, const struct lanes *args,
                 struct lanes *result);
/* formula.c: the formulas of ir/formula/formula.h, emitted; false: there is none. args has room for three. */
bool emit_formula(struct emit *e, enum ir_op op, enum ir_kind kind, const struct lanes *args, struct lanes *result);
void emit_geometric(struct emit *e, const struct ir_inst *inst, struct lanes *result);
/* lower.c: operations in terms of simpler ones; false: it is a simple one. args has room for four. */
bool lower_op(struct emit *e, enum ir_op op, enum ir_kind kind, const struct lanes *args, struct lanes *result);
/* ops.c: any pure operation on one component; kind is that of the result's element. */
struct lanes op_n(struct emit *e, enum ir_op op, enum ir_kind kind, unsigned n, const struct lanes *args);
struct lanes op1(struct emit *e, enum ir_op op, enum ir_kind kind, struct lanes a);
struct lanes op2(struct emit *e, enum ir_op op, enum ir_kind kind, struct lanes a, struct lanes b);
struct lanes op3(struct emit *e, enum ir_op op, enum ir_kind kind, struct lanes a, struct lanes b, struct lanes c);
struct lanes op_select(struct emit *e, struct lanes condition, struct lanes a, struct lanes b);
struct lanes op_number(struct emit *e, enum ir_kind kind, double v);
struct lanes op_bits(struct emit *e, struct lanes v, enum ir_kind kind); /* the same bits as a kind of the same size */
/* Of arguments none of which varies, where the result is known to have that stride. */
struct lanes op_linear(struct emit *e, enum ir_op op, enum ir_kind kind, unsigned n, const struct lanes *args,
                       int64_t stride);
bool op_is_comparison(enum ir_op op);
/* round.c: conversions to floats that round otherwise than to nearest even. */
bool round_matters(const struct ir_inst *inst);
void emit_rounded(struct emit *e, const struct ir_inst *inst, struct lanes *result);
/* vectors.c: a pure instruction on all components. */
void emit_pure(struct emit *e, const struct ir_inst *inst, struct lanes *result);

/* memory.c */
/* A loop over the lanes that run, for what has no vector form. */
struct lane_loop {
    lval bits;
    rval lane;
    gcc_jit_block *head, *body, *exit;
};
void lane_loop_begin(struct emit *e, struct lane_loop *loop);
void lane_loop_end(struct emit *e, struct lane_loop *loop);
lval lane_array(struct emit *e, enum ir_kind kind, unsigned n); /* room for n numbers per lane */
lval spill_lanes(struct emit *e, const struct lanes *v);        /* an array, one element per lane */
/* The same into lanes `at` and on of an array. */
void spill_into(struct emit *e, lval memory, unsigned at, const struct lanes *v);
struct lanes unspill_lanes(struct emit *e, enum ir_kind kind, lval memory);
/* From lane number `at` of an array on. */
struct lanes unspill_from(struct emit *e, enum ir_kind kind, lval memory, unsigned at);
rval spilled_lane(struct emit *e, lval memory, rval lane);
rval lane_address(struct emit *e, const struct lanes *address, lval spilled, rval lane);
void emit_memory(struct emit *e, const struct ir_inst *inst, struct lanes *result);
/* Number `component` of those at an address, which may be any for each lane. */
struct lanes memory_load(struct emit *e, enum ir_kind kind, const struct lanes *address, unsigned component);
void memory_store(struct emit *e, const struct lanes *address, unsigned component, const struct lanes *v);
lval memory_storage(struct emit *e, const struct ir_inst *inst); /* of a variable on the stack */
/* spaces.c */
bool spaces_asks(const struct ir_inst *inst); /* a cast from generic whose result may be null */
/* Leaves no cast that asks where nobody wants to know. */
struct lanes spaces_cast(struct emit *e, const struct ir_inst *inst, struct lanes pointer);
/* runtime.c: calls of struct kernel_functions */
/* The i32 at an offset of an image's or a pipe's record. */
struct lanes runtime_field(struct emit *e, struct lanes record, size_t offset);
/* function: its offset in struct kernel_functions; result NULL: nothing. */
void runtime_call(struct emit *e, size_t function, gcc_jit_type *result, unsigned n, rval *args, lval *to);
/* image.c, pipe.c */
void emit_image(struct emit *e, const struct ir_inst *inst, struct lanes *result);
void emit_pipe(struct emit *e, const struct ir_inst *inst, struct lanes *result);

/* print.c */
void emit_print(struct emit *e, const struct ir_inst *inst, struct lanes *result);
/* atomic.c */
void emit_atomic(struct emit *e, const struct ir_inst *inst, struct lanes *result);
/* place.c: ids and sizes. */
void emit_place(struct emit *e, const struct ir_inst *inst, struct lanes *result);
rval place_local_linear(struct emit *e); /* lane 0's */
rval place_left(struct emit *e); /* work-items from lane 0 on in its row, or where rows do not matter its group */

/* ---- lane_test.c ---- */

/* What a comparison comes to in all lanes, by comparing scalars. */
struct lane_test {
    rval all, none; /* bools: it holds for all lanes, for none */
    bool ends_row;  /* where it holds for none, it does not in the rest of the row either */
};
bool lane_test(struct emit *e, const struct ir_value *condition, struct lane_test *t); /* false: masks are needed */

/* ---- control.c ---- */

struct lanes *emit_value(struct emit *e, const struct ir_value *v);                      /* its components */
void emit_insts(struct emit *e, const struct ir_inst *first, const struct ir_inst *end); /* end NULL: to the block's */
void emit_reset(struct emit *e); /* forgets the values: the code is emitted once more */

/* ---- items.c ---- */

/* Runs these instructions for all work-items at e->place, linear id by linear id. */
void items_run(struct emit *e, const struct ir_inst *first, const struct ir_inst *end);

/* for (v = from; v < to; v += step): counted_begin opens the body, counted_end closes it. */
struct counted {
    lval v;
    rval to, step;
    gcc_jit_block *head, *body, *exit;
};
struct counted counted_begin(struct emit *e, rval from, rval to, rval step);
void counted_end(struct emit *e, struct counted *c);

/* ---- data.c ---- */

/* A variable of the module in the object, with its initial bytes unless there are addresses among them. */
lval data_declare(struct emit *e, const struct ir_global *g, uint64_t size);
/* The initial value of one that holds addresses; variables: by scratch, what it points at is declared. */
void data_set_addresses(struct emit *e, const struct ir_global *g, const lval *variables);

/* ---- reduce.c ---- */

enum ir_op reduce_op(const struct ir_inst *inst); /* what a reduction or scan combines values with */
/* What changes no value it is combined with. Of floats for the value that is first: -0 + x is x, and the
   minimum of NaN and x is x; a scan shows the specified identity instead (shown). */
struct lanes reduce_start(struct emit *e, const struct ir_inst *inst, bool shown);
struct lanes reduce_lanes(struct emit *e, const struct ir_inst *inst, struct lanes v); /* of the lanes that run */
/* Onto a sum of what came before, a variable, which is then that of these lanes too. is_first: nothing came. */
struct lanes reduce_scan(struct emit *e, const struct ir_inst *inst, struct lanes v, struct lanes *sum, rval is_first);

/* ---- subgroup.c: operations of a sub-group, which is a vector ---- */

bool is_of_sub_group(const struct ir_inst *inst);
bool subgroup_used(const struct ir_function *kernel);
unsigned subgroup_size(const struct ir_function *kernel); /* the number it asks for, or the primary one */
void subgroup_item(struct emit *e, const struct ir_inst *inst, struct lanes *result);

/* ---- regions.c, groups.c, collective.c: kernels whose work-items meet ---- */

bool is_collective(const struct ir_inst *inst); /* a barrier or an operation of a work-group */
/* A collective that other work-items must have come to before what follows it may run. */
bool is_meeting(const struct ir_inst *inst);
bool regions_needed(const struct ir_function *kernel);
/* agree.c: gives ifs that a work-group takes as one a condition that is the same for all. */
/* By instruction number: the ifs and loops that a work-group takes as one, since work-items meet in them or leave
   a loop in which they do. */
bool *regions_mark(struct arena *arena, struct ir_function *kernel);
/* Rewrites a kernel so that what a work-item takes from one region to another lies in a private variable. */
void regions_cut(struct ir_function *kernel);
void groups_prepare(struct emit *e);
uint32_t groups_place(struct emit *e, rval memory); /* where private variables are kept; returns bytes per work-item */
void groups_item(struct emit *e);                   /* before a vector of work-items runs */
void groups_run(struct emit *e);                    /* the kernel for the work-group at e->place */
rval groups_memory(struct emit *e, const struct ir_inst *inst); /* where the variables of all work-items begin */
bool groups_variable(struct emit *e, const struct ir_inst *inst, struct lanes *result); /* false: on the stack */
void collective_begin(struct emit *e, const struct ir_inst *inst); /* before the work-items come to it */
void collective_item(struct emit *e, const struct ir_inst *inst, struct lanes *result);
void collective_end(struct emit *e, const struct ir_inst *inst); /* after all have */

/* ahead.c: fetches what the next group will load in its first region, these instructions. */
void ahead_fetch(struct emit *e, const struct ir_inst *first, const struct ir_inst *end);

/* ---- uniform.c, check.c ---- */

/* The work-items of whom it is asked what is the same for them. */
enum together {
    TOGETHER_ONE,   /* one alone */
    TOGETHER_ROW,   /* some that follow one another in x */
    TOGETHER_FLAT,  /* some whose linear local ids follow one another */
    TOGETHER_GROUP, /* all of a work-group, in any order */
};
/* Numbers values and instructions (in scratch and in the order of ir_walk) and finds their shapes. */
void uniformity_find(struct uniformity *u, struct arena *arena, struct ir_function *kernel, enum together together);
/* What is done to a kernel before anything else: calls put in, copies made, casts that ask for nothing dropped. */
/* Adds a finding for each operation that there is no code for; makes work-items agree where they meet. */
bool check_kernel(const struct ir_function *kernel, struct diag_list *list);
/* Whether lanes can run it together. */
bool check_vector(const struct ir_function *kernel);

/* ---- isa.c ---- */

struct isa {
    enum gccjit_isa id;
    unsigned vector_bytes;
    bool bit_masks; /* a mask is a number of vector_bytes / 4 bits, in a mask register; else a vector of i32 */
    const char *const *options; /* for gcc, NULL at the end */
};
const struct isa *isa_get(enum gccjit_isa id);
/* The widest one, at most `id`, whose registers do not hold more 4-byte lanes than a sub-group has. */
const struct isa *isa_of_sub_group(enum gccjit_isa id, unsigned size);
