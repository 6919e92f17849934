/*
 * The kernel language: SSA values in structured control flow. docs/ir.md is its reference.
 *
 * A module owns everything in it: all objects live in the module's arena and go with
 * ir_module_free(). Nothing here is thread-safe; different modules may be used by different threads.
 * Functions that allocate end the process when memory is out unless they say otherwise: limits on
 * what a stranger may make us allocate belong to the readers (ir/text/parse/parse.h, ir/msgpack/codec.h).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "ir/core/aspects.h"
#include "ir/core/ops.h"
#include "ir/core/type.h"

struct arena;
struct ir_block;
struct ir_function;
struct ir_inst;
struct ir_module;

/* A place in a source file. file is an index into ir_module.files plus 1; 0: unknown. */
struct ir_loc {
    uint32_t file, line;
};

enum ir_value_kind {
    IR_VALUE_CONST,     /* constant of a number type, a vector of numbers, or the null pointer */
    IR_VALUE_UNDEF,     /* any bits */
    IR_VALUE_PARAM,     /* parameter of a function */
    IR_VALUE_BLOCK_ARG, /* parameter of a block: a value carried round a loop */
    IR_VALUE_RESULT,    /* result of an instruction */
};

struct ir_value {
    ir_type type;
    enum ir_value_kind kind;
    uint32_t index;   /* which parameter or result of its owner */
    uint32_t scratch; /* for the pass that is running; has no meaning between passes */
    const char *name; /* without the %; NULL: numbered when printed. Unique in its function. */
    union {
        const uint64_t *lanes; /* CONST: one word per lane, the lane's bits zero-extended */
        struct ir_function *function;
        struct ir_block *block;
        struct ir_inst *inst;
    } of;
};

enum ir_scope { IR_SCOPE_WORK_ITEM, IR_SCOPE_SUB_GROUP, IR_SCOPE_WORK_GROUP, IR_SCOPE_DEVICE, IR_SCOPE_ALL_DEVICES, IR_SCOPE_COUNT };
enum ir_order { IR_ORDER_RELAXED, IR_ORDER_ACQUIRE, IR_ORDER_RELEASE, IR_ORDER_ACQ_REL, IR_ORDER_SEQ_CST, IR_ORDER_COUNT };
enum ir_rounding { IR_ROUND_DEFAULT, IR_ROUND_RTE, IR_ROUND_RTZ, IR_ROUND_RTP, IR_ROUND_RTN, IR_ROUND_COUNT };
/* Operations of group reductions and scans; signed and unsigned differ, float T takes ADD, MUL, MIN, MAX as s.... */
enum ir_group_op {
    IR_GROUP_ADD, IR_GROUP_MUL, IR_GROUP_SMIN, IR_GROUP_UMIN, IR_GROUP_SMAX, IR_GROUP_UMAX,
    IR_GROUP_AND, IR_GROUP_OR, IR_GROUP_XOR, IR_GROUP_OP_COUNT
};
enum ir_fp_flag {
    IR_FP_CONTRACT = 1 << 0, /* may be contracted with a neighbour into fma */
    IR_FP_FAST = 1 << 1,     /* native_ or half_ accuracy is enough */
    IR_FP_NNAN = 1 << 2,
    IR_FP_NINF = 1 << 3,
    IR_FP_NSZ = 1 << 4,
};
enum ir_fence_space { IR_FENCE_LOCAL = 1 << 0, IR_FENCE_GLOBAL = 1 << 1, IR_FENCE_IMAGE = 1 << 2 };

/* Which of these mean something for an op: the letters in its row of ops.def. */
struct ir_attrs {
    uint8_t dim;         /* d: 0 x, 1 y, 2 z */
    uint8_t scope;       /* s: enum ir_scope */
    uint8_t order;       /* o: enum ir_order */
    uint8_t order_fail;  /* O */
    uint8_t rounding;    /* r: enum ir_rounding */
    bool saturate;       /* t */
    bool is_volatile;    /* v */
    uint8_t group_op;    /* g: enum ir_group_op */
    uint8_t fp;          /* f: enum ir_fp_flag */
    uint8_t fence;       /* k: enum ir_fence_space */
    uint8_t space;       /* p: enum ir_space of the resulting pointer */
    uint32_t align;      /* a: bytes, a power of two; 0: the type's own alignment */
    uint32_t index;      /* x: field number */
    int8_t mask[IR_MAX_LANES]; /* m: as many as T has lanes; -1 undefined */
    struct ir_function *callee; /* c */
    struct ir_global *global;   /* y */
};

struct ir_inst {
    enum ir_op op;
    ir_type type; /* T of ops.def; IR_VOID where the op has none */
    struct ir_loc loc;
    uint32_t n_operands, n_results;
    struct ir_value **operands;
    struct ir_value **results; /* at most one, except if and loop */
    struct ir_block *blocks[2]; /* if: then, else (both always there); loop: body, NULL */
    struct ir_attrs attrs;
    struct ir_block *parent;
    struct ir_inst *prev, *next;
    uint32_t scratch; /* for the pass that is running, as in struct ir_value */
};

/* A list of instructions; a finished one ends in exactly one terminator and has no other. */
struct ir_block {
    struct ir_function *function;
    struct ir_inst *parent; /* the if or loop it belongs to; NULL: a function's body */
    uint32_t n_args;        /* only a loop's body has parameters */
    struct ir_value **args;
    struct ir_inst *first, *last;
};

enum ir_access { IR_ACCESS_UNKNOWN, IR_ACCESS_READ, IR_ACCESS_WRITE, IR_ACCESS_READ_WRITE, IR_ACCESS_COUNT };

struct ir_param {
    struct ir_value *value; /* its name is the argument's name */
    enum ir_access access;  /* pointers: what the function does with it, as declared */
    ir_type elem;           /* pointers: type of what it points at where known, else IR_VOID.
                               local pointers of a kernel: the size comes with the argument. */
    bool by_value;          /* private pointer to a copy of an `elem` (struct or array) passed by value */
};

enum ir_linkage {
    IR_LINKAGE_INTERNAL,
    IR_LINKAGE_EXPORT,
    IR_LINKAGE_IMPORT,
    IR_LINKAGE_KERNEL,
    IR_LINKAGE_EXPORT_ONCE, /* exported; other modules may define the very same */
    IR_LINKAGE_COUNT
};

/* sub_group_size of a function: 0 not given, a power of two, or one of these (seed SYCL_INTEL_sub_group). */
enum { IR_SUB_GROUP_AUTOMATIC = 0x7ffffffe, IR_SUB_GROUP_PRIMARY = 0x7fffffff };

struct ir_function {
    struct ir_module *module;
    const char *name;
    enum ir_linkage linkage;
    ir_type result; /* IR_VOID for kernels */
    uint32_t n_params;
    struct ir_param *params;
    struct ir_block *body; /* NULL for an import */
    const char *refused;   /* why nobody may use it, with the place; its body is `unreachable` then. NULL: one may */
    struct ir_loc loc;
    uint64_t aspects_declared; /* device_has; only meaningful with has_declared */
    bool has_declared;
    uint32_t work_group_size[3];      /* required (reqd_work_group_size); 0: not given */
    uint32_t work_group_size_hint[3]; /* 0: not given */
    uint32_t sub_group_size;
    uint32_t sub_groups_per_work_group; /* required (SPIR-V's SubgroupsPerWorkgroup); 0: not given */
    uint32_t scratch; /* for the pass that is running, as in struct ir_value */
    uint32_t n_targets; /* "fixed targets": devices it is for; none: every device */
    const char **targets;
};

struct ir_field {
    const char *name; /* NULL: unnamed */
    ir_type type;
    uint32_t offset; /* bytes; explicit, so padding is explicit */
};

struct ir_struct {
    const char *name; /* unique in the module */
    uint32_t n_fields;
    struct ir_field *fields;
    uint32_t size, align;
}; /* fields hold no structs but those before it in ir_module.structs */

struct ir_array {
    ir_type element;
    uint64_t count;
};

struct ir_global;

/* An address in the initial value of a variable. */
struct ir_address {
    uint64_t offset; /* where it lies, 8 bytes: a multiple of 8 */
    const struct ir_global *target;
    uint64_t at; /* bytes into the target, at most its size */
};

/* A module-scope variable, or a program-scope pipe (type of kind IR_KIND_PIPE). */
struct ir_global {
    const char *name;
    enum ir_space space; /* local, constant or global */
    ir_type type;
    uint32_t align;
    const uint8_t *init; /* size of type bytes, or NULL: zero (global, constant) or undefined (local) */
    uint32_t n_addresses;
    struct ir_address *addresses; /* in init, whose bytes are 0 there; by offset */
    enum ir_linkage linkage;      /* any but kernel */
    uint32_t scratch;             /* for the pass that is running, as in struct ir_value */
    /* pipes */
    ir_type packet;
    uint32_t capacity;       /* packets */
    const char *host_access; /* unique id the host finds it by (seed host pipes), or NULL */
};

struct ir_module {
    struct arena *arena;
    const char *name;
    uint32_t n_files, n_structs, n_arrays, n_globals, n_functions;
    const char **files; /* source files of locations */
    struct ir_struct **structs;
    struct ir_array *arrays; /* interned: equal arrays have equal indices */
    struct ir_global **globals;
    struct ir_function **functions;
};

/* ---- module (ir/core/module.c) ---- */

struct ir_module *ir_module_new(const char *name);
void ir_module_free(struct ir_module *m); /* NULL is fine */
/* Memory and strings that live as long as the module. The memory is zeroed. */
void *ir_alloc(struct ir_module *m, size_t bytes);
char *ir_strdup(struct ir_module *m, const char *s); /* NULL gives NULL */

uint32_t ir_module_file(struct ir_module *m, const char *path); /* interned; for ir_loc.file */
/* The source file of a location, where that is another than the one the module is called by; else NULL. */
const char *ir_loc_file(const struct ir_module *m, struct ir_loc loc);
/* "line 12", or "kernels.cl:12" where ir_loc_file() names a file; "an unknown line". Gives buf. */
const char *ir_loc_text(const struct ir_module *m, struct ir_loc loc, char *buf, size_t size);
ir_type ir_array_type(struct ir_module *m, ir_type element, uint64_t count); /* interned */
/* A struct with n fields to be filled in by the caller, then laid out: ir_struct_natural_layout() gives
   C's offsets, size and alignment; a reader with explicit ones sets them itself. */
struct ir_struct *ir_struct_new(struct ir_module *m, const char *name, uint32_t n_fields);
void ir_struct_natural_layout(const struct ir_module *m, struct ir_struct *s);
ir_type ir_struct_type(const struct ir_module *m, const struct ir_struct *s);
const struct ir_struct *ir_type_struct(const struct ir_module *m, ir_type t);
const struct ir_array *ir_type_array(const struct ir_module *m, ir_type t);
struct ir_global *ir_global_new(struct ir_module *m, const char *name, enum ir_space space, ir_type type);
/* One more address in the initial value of g; once all are there, they are brought into their order. */
void ir_global_add_address(struct ir_module *m, struct ir_global *g, const struct ir_address *address);
void ir_global_sort_addresses(struct ir_global *g);

struct ir_function *ir_function_new(struct ir_module *m, const char *name, enum ir_linkage linkage, ir_type result, uint32_t n_params);
void ir_function_set_param(struct ir_function *f, uint32_t i, const char *name, ir_type type);
/* The function can be named but not used: a body that cannot be read takes nothing from the rest of its module. */
void ir_function_refuse(struct ir_function *f, const char *why);
struct ir_function *ir_module_find(const struct ir_module *m, const char *name); /* NULL: none */
const struct ir_function *ir_module_only_kernel(const struct ir_module *m); /* NULL: none, or several */
struct ir_struct *ir_module_find_struct(const struct ir_module *m, const char *name);
struct ir_global *ir_module_find_global(const struct ir_module *m, const char *name);

/* Bytes and alignment in memory: bool 1, a vector of 3 like one of 4 (OpenCL C 6.1.5), pointers 8. */
uint64_t ir_type_size(const struct ir_module *m, ir_type t);
uint32_t ir_type_align(const struct ir_module *m, ir_type t);

/* What the function and everything it calls needs of a device: from types and operations. */
uint64_t ir_function_aspects(const struct ir_function *f);

/* The block of bytes a kernel takes its arguments in: each parameter at its natural alignment, in
   order; pointers, images, samplers and pipes as 8 bytes, by-value structs inline, local pointers as 8.
   offsets has n_params entries. Returns the size, a multiple of 8. */
uint32_t ir_param_layout(const struct ir_function *f, uint32_t *offsets);

/* ---- values ---- */

struct ir_value *ir_const(struct ir_module *m, ir_type t, const uint64_t *lanes); /* copies */
struct ir_value *ir_const_int(struct ir_module *m, ir_type t, uint64_t v);  /* same in each lane; cut to the width */
struct ir_value *ir_const_float(struct ir_module *m, ir_type t, double v);  /* rounded to t, same in each lane */
struct ir_value *ir_const_bool(struct ir_module *m, bool v);
struct ir_value *ir_undef(struct ir_module *m, ir_type t);
/* A scalar integer or bool constant's value, zero-extended. */
bool ir_value_uint(const struct ir_value *v, uint64_t *out);
bool ir_value_same(const struct ir_value *a, const struct ir_value *b); /* same object, or equal constants */
/* IEEE binary16 <-> float, as bits; round to nearest even. */
uint16_t ir_f16_from_float(float f);
float ir_f16_to_float(uint16_t h);

/* ---- builder (ir/core/builder.c) ---- */

/* Puts instructions at the end of a block, or before `before` when that is set. */
struct ir_builder {
    struct ir_module *module;
    struct ir_block *block;
    struct ir_inst *before;
    struct ir_loc loc; /* given to each new instruction */
};

struct ir_builder ir_builder_at_end(struct ir_block *block);
struct ir_builder ir_builder_before(struct ir_inst *inst);

/* The general maker: an instruction with its operands and, where the table says which, its result.
   type is T (IR_VOID where the op has none). Attributes are zero: set them on the instruction after.
   For space-typed results ('A') the space must be passed through ir_build_ptr. */
struct ir_inst *ir_build(struct ir_builder *b, enum ir_op op, ir_type type, struct ir_value *const *operands, uint32_t n);
struct ir_inst *ir_build_ptr(struct ir_builder *b, enum ir_op op, ir_type type, enum ir_space space, struct ir_value *const *operands, uint32_t n);
/* Shorthands for the result of ops with 0 to 3 operands. */
struct ir_value *ir_build0(struct ir_builder *b, enum ir_op op, ir_type type);
struct ir_value *ir_build1(struct ir_builder *b, enum ir_op op, ir_type type, struct ir_value *x);
struct ir_value *ir_build2(struct ir_builder *b, enum ir_op op, ir_type type, struct ir_value *x, struct ir_value *y);
struct ir_value *ir_build3(struct ir_builder *b, enum ir_op op, ir_type type, struct ir_value *x, struct ir_value *y, struct ir_value *z);
struct ir_value *ir_build_id(struct ir_builder *b, enum ir_op op, unsigned dim); /* global_id and its like */
struct ir_value *ir_build_load(struct ir_builder *b, ir_type type, struct ir_value *base, struct ir_value *index); /* index NULL: none */
void ir_build_store(struct ir_builder *b, ir_type type, struct ir_value *base, struct ir_value *index, struct ir_value *value);
struct ir_value *ir_build_global(struct ir_builder *b, struct ir_global *g); /* its address; a pipe's is the pipe itself */
struct ir_inst *ir_build_call(struct ir_builder *b, struct ir_function *callee, struct ir_value *const *operands, uint32_t n);
/* if and loop with empty blocks; result types must be known here. A loop's block parameters have the
   types of the operands. */
struct ir_inst *ir_build_if(struct ir_builder *b, struct ir_value *cond, const ir_type *result_types, uint32_t n_results);
struct ir_inst *ir_build_loop(struct ir_builder *b, struct ir_value *const *init, uint32_t n_init, const ir_type *result_types, uint32_t n_results);

/* ---- editing ---- */

/* The base for `name` not used by another value of f: name itself or name.1, name.2 ... NULL clears. */
void ir_value_set_name(struct ir_function *f, struct ir_value *v, const char *name);
void ir_inst_remove(struct ir_inst *inst); /* unlinks; its results must have no uses left */
void ir_inst_move_before(struct ir_inst *inst, struct ir_inst *before);
/* Every operand in block (and the blocks inside) that is `from` becomes `to`. */
void ir_replace_uses(struct ir_block *block, const struct ir_value *from, struct ir_value *to);
/* Calls visit for each instruction of block and of the blocks inside it, outer before inner, in order.
   visit may remove the instruction it is given. */
void ir_walk(struct ir_block *block, void (*visit)(struct ir_inst *inst, void *data), void *data);
/* A deep copy of a function into a module (which may be its own), with the functions, structs, globals
   it needs found or copied too. */
struct ir_function *ir_function_copy(struct ir_module *into, const struct ir_function *f, const char *name);
