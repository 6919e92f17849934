/* What a module of the kernel language consists of (docs/ir.md). All of it lies in the module's arena. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "ir/core/aspects.h"
#include "ir/core/assumptions.h"
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
    uint32_t column; /* 0: not known */
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

enum ir_scope {
    IR_SCOPE_WORK_ITEM,
    IR_SCOPE_SUB_GROUP,
    IR_SCOPE_WORK_GROUP,
    IR_SCOPE_DEVICE,
    IR_SCOPE_ALL_DEVICES,
    IR_SCOPE_COUNT
};
enum ir_order {
    IR_ORDER_RELAXED,
    IR_ORDER_ACQUIRE,
    IR_ORDER_RELEASE,
    IR_ORDER_ACQ_REL,
    IR_ORDER_SEQ_CST,
    IR_ORDER_COUNT
};
enum ir_rounding { IR_ROUND_DEFAULT, IR_ROUND_RTE, IR_ROUND_RTZ, IR_ROUND_RTP, IR_ROUND_RTN, IR_ROUND_COUNT };
/* Operations of group reductions and scans; signed and unsigned differ, float T takes ADD, MUL, MIN, MAX as s.... */
enum ir_group_op {
    IR_GROUP_ADD,
    IR_GROUP_MUL,
    IR_GROUP_SMIN,
    IR_GROUP_UMIN,
    IR_GROUP_SMAX,
    IR_GROUP_UMAX,
    IR_GROUP_AND,
    IR_GROUP_OR,
    IR_GROUP_XOR,
    IR_GROUP_OP_COUNT
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
    uint8_t dim;                /* d: 0 x, 1 y, 2 z */
    uint8_t scope;              /* s: enum ir_scope */
    uint8_t order;              /* o: enum ir_order */
    uint8_t order_fail;         /* O */
    uint8_t rounding;           /* r: enum ir_rounding */
    bool saturate;              /* t */
    bool is_volatile;           /* v */
    uint8_t group_op;           /* g: enum ir_group_op */
    uint8_t fp;                 /* f: enum ir_fp_flag */
    uint8_t fence;              /* k: enum ir_fence_space */
    uint8_t space;              /* p: enum ir_space of the resulting pointer */
    uint32_t align;             /* a: bytes, a power of two; 0: the type's own alignment */
    uint32_t index;             /* x: field number; of a variable: fuser/cpu/work_group/lane_arrays.h; of an atomic:
                                   fuser/cpu/rows/copied_bins.h */
    int8_t mask[IR_MAX_LANES];  /* m: as many as T has lanes; -1 undefined */
    struct ir_function *callee; /* c */
    struct ir_global *global;   /* y */
};

struct ir_inst {
    enum ir_op op;
    ir_type type; /* T of ops.def; IR_VOID where the op has none */
    struct ir_loc loc;
    uint32_t n_operands, n_results;
    struct ir_value **operands;
    struct ir_value **results;  /* at most one, except if and loop */
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
    uint64_t aspects_used;     /* uses_aspects: what it uses besides what its body shows */
    bool has_declared, has_targets, has_compiled;
    uint32_t work_group_size[3];      /* required (reqd_work_group_size); 0: not given */
    uint32_t work_group_size_hint[3]; /* 0: not given */
    uint32_t sub_group_size;
    uint32_t sub_groups_per_work_group; /* required (SPIR-V's SubgroupsPerWorkgroup); 0: not given */
    uint32_t assumes;                   /* IR_ASSUME_...: what holds of each launch */
    uint32_t scratch;                   /* for the pass that is running, as in struct ir_value */
    uint32_t n_targets; /* fixed targets, with has_targets: what it is for. None: what it was made for is not fixed */
    const char **targets;
    uint32_t n_compiled; /* of a kernel, with has_compiled: targets that a bundle has it compiled for ahead of time */
    const char **compiled;
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
    uint64_t aspects_used; /* uses_aspects: of whatever names the type, besides those of its fields */
};                         /* fields hold no structs but those before it in ir_module.structs */

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

/* What a pipe says besides packet and capacity (ir/core/pipe_properties.h). */
struct ir_pipe_property {
    uint32_t what, value;
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
    uint32_t n_properties;
    const struct ir_pipe_property *properties; /* by what they are */
};

/* A row of the module's own numbering of aspects. */
struct ir_aspect_number {
    const char *name;
    uint32_t number;
};

struct ir_module {
    struct arena *arena;
    const char *name;
    uint32_t n_files, n_structs, n_arrays, n_globals, n_functions, n_aspect_numbers, n_own_aspects;
    struct ir_aspect_number
        *aspect_numbers;      /* as the module has it; names that it does not have are numbered by ours */
    const char **own_aspects; /* names of the bits from IR_ASPECT_COUNT on (ir/core/module_aspects.h) */
    const char **files;       /* source files of locations */
    struct ir_struct **structs;
    struct ir_array *arrays; /* interned: equal arrays have equal indices */
    struct ir_global **globals;
    struct ir_function **functions;
};

/* Memory and strings that live as long as the module. The memory is zeroed. */
void *ir_alloc(struct ir_module *m, size_t bytes);
char *ir_strdup(struct ir_module *m, const char *s); /* NULL gives NULL */
