/* Reading a function's body: what the files that know single instructions share. */
#pragma once

#include "ir/spirv/cfg/graph.h"
#include "ir/spirv/decode/reader.h"

struct spirv_body {
    struct spirv_reader *r;
    struct spirv_function *f;
    struct ir_function *ir;
    struct ir_builder b;      /* where instructions go */
    struct ir_inst *prologue; /* the last of those that stand at the body's beginning; NULL: none yet */
    struct names names;
    struct cfg cfg;
    bool contract; /* products and sums may become fused */
};

/* ---- body.c ---- */

/* Reads the function's blocks into f->ir. */
void spirv_read_body(struct spirv_reader *r, struct spirv_function *f);
/* The instructions of a block but for its phis and its terminator. */
void spirv_emit_block(struct spirv_body *s, const struct cfg_node *node);
void spirv_emit(struct spirv_body *s, const struct spirv_inst *i);

/* The values that the result of an id consists of; reports what has none and gives undefined ones. */
struct ir_value *const *spirv_values(struct spirv_body *s, const struct spirv_inst *user, uint32_t id);
/* The same where there is one; reports an id of several. */
struct ir_value *spirv_value(struct spirv_body *s, const struct spirv_inst *user, uint32_t id);
/* An integer operand, as another type of integer: cut or zero-extended. */
struct ir_value *spirv_as_int(struct spirv_body *s, struct ir_value *v, ir_type to);
uint32_t spirv_type_of(const struct spirv_reader *r, uint32_t id); /* id of the type */
void spirv_set(struct spirv_body *s, const struct spirv_inst *i, struct ir_value *v);
/* values has as many entries as the type has leaves; copied. */
void spirv_set_all(struct spirv_body *s, uint32_t id, struct ir_value *const *values);
bool spirv_is_set(const struct spirv_reader *r, uint32_t id);
/* A builder for what belongs at the beginning of the function; tell spirv_prologue_end() after. */
struct ir_builder spirv_prologue(struct spirv_body *s);
void spirv_prologue_end(struct spirv_body *s, const struct ir_builder *b);
/* A number as a constant. */
struct ir_value *spirv_int(struct spirv_body *s, ir_type t, uint64_t v);

/* OpReturn, OpReturnValue. */
void spirv_emit_return(struct spirv_body *s, const struct spirv_inst *i);

/* ---- structure.c: control flow ---- */

void spirv_structure(struct spirv_body *s);

/* ---- arith.c: instructions that are one operation ---- */

/* The operation for an opcode with a result of that type and those operands, and its T. */
bool spirv_simple(unsigned opcode, ir_type result, struct ir_value *const *operands, uint32_t n, enum ir_op *op,
                  ir_type *type);
bool spirv_emit_arith(struct spirv_body *s, const struct spirv_inst *i);
/* The fp flags of an instruction's result. */
uint8_t spirv_fp_flags(const struct spirv_body *s, uint32_t id);

/* ---- scope.c ---- */

enum ir_scope spirv_scope(const struct spirv_body *s, uint32_t id);
enum ir_order spirv_order(const struct spirv_body *s, uint32_t id);
uint8_t spirv_fence(const struct spirv_body *s, uint32_t id); /* enum ir_fence_space */

/* ---- the other families: true where the instruction is one of theirs ---- */

bool spirv_emit_dot(struct spirv_body *s, const struct spirv_inst *i);
bool spirv_emit_convert(struct spirv_body *s, const struct spirv_inst *i);
bool spirv_emit_composite(struct spirv_body *s, const struct spirv_inst *i);
bool spirv_emit_memory(struct spirv_body *s, const struct spirv_inst *i);
bool spirv_emit_atomic(struct spirv_body *s, const struct spirv_inst *i);
bool spirv_emit_group(struct spirv_body *s, const struct spirv_inst *i);
/* The scope of a group's operation, which it reports where it is of none. */
enum ir_scope spirv_group_scope(struct spirv_body *s, const struct spirv_inst *i, uint32_t id);
bool spirv_emit_image(struct spirv_body *s, const struct spirv_inst *i);
bool spirv_emit_pipe(struct spirv_body *s, const struct spirv_inst *i);
bool spirv_emit_ext(struct spirv_body *s, const struct spirv_inst *i);
bool spirv_emit_call(struct spirv_body *s, const struct spirv_inst *i);

/* ---- subgroup.c ---- */

bool spirv_emit_subgroup(struct spirv_body *s, const struct spirv_inst *i);
/* Word number `word` of a mask whose first n bits are set. */
struct ir_value *spirv_low_bits(struct spirv_body *s, struct ir_value *n, unsigned word);
/* A shuffle by one value, or by two, with an integer of any width. */
struct ir_value *spirv_shuffle(struct spirv_body *s, enum ir_op op, struct ir_value *x, struct ir_value *id);
struct ir_value *spirv_shift(struct spirv_body *s, enum ir_op op, struct ir_value *x, struct ir_value *y,
                             struct ir_value *delta);

/* ---- mangled.c ---- */

bool spirv_is_mangled_builtin(const struct spirv_reader *r, const struct spirv_function *f);
/* A call of such a function; false where it is none. */
bool spirv_emit_mangled(struct spirv_body *s, const struct spirv_inst *i, const struct spirv_function *f);

/* ---- dot.c: likewise, of packed dot products ---- */

bool spirv_is_named_dot(const struct spirv_reader *r, const struct spirv_function *f);
bool spirv_emit_named_dot(struct spirv_body *s, const struct spirv_inst *i, const struct spirv_function *f);

/* ---- builtin.c ---- */

bool spirv_emit_builtin(struct spirv_body *s, const struct spirv_inst *i);

/* ---- memory.c, for others ---- */

/* A load or store of a value of any type, as an access with that alignment (0: the type's own). */
void spirv_load(struct spirv_body *s, const struct spirv_inst *i, uint32_t type, struct ir_value *address,
                uint32_t align, bool is_volatile, struct ir_value **leaves);
void spirv_store(struct spirv_body *s, const struct spirv_inst *i, uint32_t type, struct ir_value *address,
                 uint32_t align, bool is_volatile, struct ir_value *const *leaves);

/* ---- liveout.c ---- */

void spirv_find_live(struct spirv_body *s);

/* ---- tidy.c ---- */

/* Takes away pure operations that nothing uses. */
void spirv_tidy(struct ir_function *f);
