/*
 * What is known while a kernel's body is written.
 *
 * A value of the kernel is one or several parts, each an id: in the kernel dialect one part that has all lanes; in
 * Vulkan, whose vectors end at four lanes, one part a lane. Whoever writes an operation does it part by part, and so is
 * the same for both. A pointer is one part: in the kernel dialect a pointer to bytes; in Vulkan a number, of 64 bits
 * where it is an address (global, constant, generic), of 32 where it is an offset in the memory of a work-group (local)
 * or of a work-item (private).
 */
#pragma once

#include "fuser/spirv/abi/abi.h"
#include "fuser/spirv/abi/module.h"
#include "fuser/spirv/abi/target.h"
#include "fuser/spirv/module/types.h"
#include "ir/base/diag.h"
#include "ir/core/ir.h"
#include "ir/formula/types.h"

struct spw {
    struct spw_module m;
    const struct spirv_target *target;
    bool vulkan;
    bool shares; /* work-items talk to each other through global memory */
    struct ir_function *kernel;
    struct spirv_module *out;
    struct diag_list *list;
    bool failed;
    bool loops; /* there are some */
    struct arena *arena;
    struct formula formula;               /* computes with ids */
    const struct ir_inst *inst;           /* that is being written */
    enum spw_section at;                  /* where instructions go */
    unsigned lanes;                       /* of a part of what is being computed */
    uint32_t label;                       /* the block that is being written; 0: what comes is never reached */
    uint32_t **ids;                       /* parts by the number of a value (scratch) */
    struct spw_words interface;           /* variables that the entry point lists */
    struct spw_words builtins;            /* pairs: a built-in variable's number and id */
    uint32_t sub_group, device_sub_group; /* work-items of a sub-group, as the kernel and the device see it */
    uint32_t exchange;                    /* Vulkan: words of each work-item in memory of the work-group; 0: none */
    struct map uniform;                   /* by address: instructions to which all work-items of a work-group come */
    struct spw_words uniforms;            /* Vulkan: of the launch's block, pairs: where a number is and its bits */
    uint32_t uniform_buffer;              /* 0: nothing is read of it */
    uint32_t unseen;                      /* Vulkan: a word that is 0, which nobody knows; 0: it is not needed */
    uint32_t group_size[3], surplus;      /* Vulkan: specialization constants */
    uint32_t params[SPIRV_KERNEL_PARAMETERS]; /* kernel dialect, given a block: the kernel's own */
    struct map globals;                       /* kernel dialect: variables of the module, by their address here */
    struct spw_flow *flow;                    /* where breaks and continues go */
    struct spw_memory *memory;                /* variables of the module that hold the kernel's own */
};

/* The operation that is being written cannot be said; why: a sentence's rest, "needs ...". */
void spw_fail(struct spw *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Operations of groups are written out: in Vulkan, and for devices that have no instructions of groups. */
bool spw_writes_groups(const struct spw *w);
/* False, and it is said: the target lacks a feature. */
bool spw_need(struct spw *w, enum spirv_feature feature, const char *what);

/* Whoever wants an f64 of the kernel's own needs all of its digits; on the way to an f32 fewer will do. */
bool spw_wants_all_digits(const struct spw *w);

/* ---- instructions ---- */

/* With a result. */
uint32_t spw_emit_n(struct spw *w, unsigned opcode, uint32_t type, const uint32_t *operands, size_t n);
#define SPW_EMIT(w, opcode, type, ...)                                                                                 \
    spw_emit_n(w, opcode, type, (const uint32_t[]){__VA_ARGS__},                                                       \
               sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))
/* A vector of numbers. */
uint32_t spw_construct(struct spw *w, uint32_t type, const uint32_t *lanes, unsigned n);
/* Without one. */
void spw_do_n(struct spw *w, unsigned opcode, const uint32_t *operands, size_t n);
#define SPW_DO(w, opcode, ...)                                                                                         \
    spw_do_n(w, opcode, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))
/* Of an instruction set. */
uint32_t spw_emit_ext(struct spw *w, const char *set, uint32_t number, uint32_t type, const uint32_t *operands,
                      size_t n);

void spw_name(struct spw *w, uint32_t id, const char *name); /* kernel dialect; NULL: none */
uint32_t spw_storage(enum ir_space space);                   /* its storage class */

/* ---- values ---- */

/* A constant, in so many lanes the same. Zeros, infinities and NaNs are hidden from drivers that compute wrongly with
   those that they know: as if a divisor were never zero, or x + 0 always x. */
uint32_t spw_constant(struct spw *w, enum ir_kind kind, unsigned lanes, uint64_t bits);

unsigned spw_parts(const struct spw *w, ir_type t);                         /* how many a value of that type has */
unsigned spw_part_lanes(const struct spw *w, ir_type t);                    /* lanes of each */
uint32_t spw_part_type(struct spw *w, ir_type t);                           /* the type of each */
uint32_t spw_number_type(struct spw *w, enum ir_kind kind, unsigned lanes); /* fails where the target has none */
uint32_t *spw_value(struct spw *w, const struct ir_value *v);
uint32_t spw_value1(struct spw *w, const struct ir_value *v); /* the only part */
void spw_set(struct spw *w, const struct ir_value *v, const uint32_t *parts);
void spw_set1(struct spw *w, const struct ir_value *v, uint32_t part);
/* One scalar of a value. */
uint32_t spw_lane(struct spw *w, const struct ir_value *v, unsigned lane);
/* The parts of a value of type t from its scalars; and as the value. */
void spw_join(struct spw *w, ir_type t, const uint32_t *scalars, uint32_t *parts);
void spw_set_lanes(struct spw *w, const struct ir_value *v, const uint32_t *scalars);
void spw_split(struct spw *w, ir_type t, const uint32_t *parts, uint32_t *scalars);
