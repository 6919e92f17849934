/* Variables, addresses, loads, stores and copies. */
#include "ir/spirv/translate/instructions/memory.h"

#include <string.h>

#include "ir/spirv/decode/constant_values.h"
#include "ir/spirv/decode/decorations.h"
#include "ir/spirv/decode/fail.h"
#include "ir/spirv/decode/ids.h"
#include "ir/spirv/decode/initial_values.h"
#include "ir/spirv/decode/location.h"
#include "ir/spirv/decode/names.h"
#include "ir/spirv/decode/pipes.h"
#include "ir/spirv/decode/types.h"
#include "ir/spirv/translate/values/access.h"
#include "ir/spirv/translate/values/prologue.h"
#include "ir/spirv/translate/values/values.h"

enum { MAX_INIT_LEAVES = 64 /* of a variable's initial value that is stored part by part */ };

/* ---- variables that hold images, samplers or pipes ---- */

/* Such a variable is only a name for what is stored into it: the one store of the function decides. */
static void forward_handle(struct spirv_body *s, const struct spirv_inst *load)
{
    uint32_t stored = 0;
    for (const struct spirv_inst *i = s->f->first; i < s->f->end; i++) {
        if (i->op != SpvOpStore || i->words[1] != load->words[3]) continue;
        if (stored && stored != i->words[2]) {
            spirv_fail(s->r, load, "of a variable that holds one image, sampler or pipe after the other");
            return;
        }
        stored = i->words[2];
    }
    if (!stored || !(spirv_is_constant(s->r, stored) || spirv_is_set(s, stored))) {
        spirv_fail(s->r, load, "of a variable of images, samplers or pipes that holds none here");
        return;
    }
    spirv_set_all(s, load->id, spirv_values(s, load, stored));
}

/* ---- instructions ---- */

struct operands {
    uint32_t align;
    bool is_volatile;
};

/* Memory operands from a word on. */
static struct operands read_operands(const struct spirv_inst *i, uint32_t at)
{
    struct operands o = {0};
    if (at >= i->n) return o;
    uint32_t mask = i->words[at];
    o.is_volatile = mask & SpvMemoryAccessVolatileMask;
    bool aligned = mask & SpvMemoryAccessAlignedMask && at + 1 < i->n;
    if (aligned && i->words[at + 1] && !(i->words[at + 1] & (i->words[at + 1] - 1))) o.align = i->words[at + 1];
    return o;
}

static void emit_load(struct spirv_body *s, const struct spirv_inst *i)
{
    if (spirv_is_pipe_storage(s->r, i->type)) {
        spirv_set(s, i, spirv_value(s, i, i->words[3])); /* the pipe stands for its storage */
        return;
    }
    if (spirv_is_handle_variable(s->r, i->words[3])) {
        forward_handle(s, i);
        return;
    }
    struct operands o = read_operands(i, 4);
    struct ir_value *p = spirv_value(s, i, i->words[3]);
    uint32_t n = spirv_leaves(s->r, i->type);
    struct ir_value **leaves = arena_alloc(s->r->arena, (n + 1) * sizeof(*leaves));
    if (spirv_failed(s->r)) return;
    spirv_load(s, i, i->type, p, o.align, o.is_volatile, leaves);
    if (spirv_failed(s->r)) return;
    if (n) spirv_set_all(s, i->id, leaves);
}

static struct ir_value *initial_in_memory(struct spirv_body *s, const struct spirv_inst *i, uint32_t constant);

static void emit_copy_of(struct spirv_body *s, ir_type type, struct ir_value *to, struct ir_value *from,
                         struct ir_value *count, uint32_t align, bool is_volatile)
{
    struct ir_inst *inst = ir_build(&s->b, IR_OP_COPY, type, (struct ir_value *[]){to, from, count}, 3);
    inst->attrs.align = align < ir_type_align(s->r->module, type) ? align : 0;
    inst->attrs.is_volatile = is_volatile;
}

/* A large constant goes through memory. */
static void store_constant(struct spirv_body *s, const struct spirv_inst *i, uint32_t id, struct ir_value *p,
                           struct operands o)
{
    ir_type t = spirv_type(s->r, i, spirv_type_of(s->r, id));
    struct ir_value *from = initial_in_memory(s, i, id);
    if (from) emit_copy_of(s, t, p, from, spirv_int(s, IR_I64, 1), o.align, o.is_volatile);
}

static void emit_store(struct spirv_body *s, const struct spirv_inst *i)
{
    if (spirv_is_handle_variable(s->r, i->words[1])) return;
    struct operands o = read_operands(i, 3);
    struct ir_value *p = spirv_value(s, i, i->words[1]);
    uint32_t type = spirv_type_of(s->r, i->words[2]);
    if (spirv_failed(s->r)) return;
    if (spirv_is_constant(s->r, i->words[2]) && spirv_leaves(s->r, type) > MAX_INIT_LEAVES) {
        store_constant(s, i, i->words[2], p, o);
        return;
    }
    struct ir_value *const *leaves = spirv_values(s, i, i->words[2]);
    if (!spirv_failed(s->r)) spirv_store(s, i, type, p, o.align, o.is_volatile, leaves);
}

/* A constant as a variable of the module; NULL: it is undefined. */
static struct ir_value *initial_in_memory(struct spirv_body *s, const struct spirv_inst *i, uint32_t constant)
{
    struct spirv_reader *r = s->r;
    ir_type t = r->types[spirv_type_of(r, constant)].ir;
    if (spirv_def(r, constant)->op == SpvOpUndef) return NULL;
    struct ir_global *g =
        ir_global_new(r->module, spirv_unique_name(r, &r->globals.names, NULL, "initial"), IR_SPACE_CONSTANT, t);
    spirv_initialize(r, i, g, constant);
    struct ir_builder b = spirv_prologue(s);
    struct ir_value *v = ir_build_global(&b, g);
    spirv_prologue_end(s, &b);
    return v;
}

static void emit_variable(struct spirv_body *s, const struct spirv_inst *i)
{
    struct spirv_reader *r = s->r;
    uint32_t pointee = spirv_pointee(r, i->type);
    if (spirv_is_handle_variable(s->r, i->id)) return;
    ir_type t = spirv_type(r, i, pointee);
    if (spirv_failed(r)) return;
    struct ir_builder b = spirv_prologue(s);
    b.loc = spirv_loc(r, i);
    struct ir_inst *inst = ir_build_ptr(&b, IR_OP_VAR, t, IR_SPACE_PRIVATE, NULL, 0);
    spirv_prologue_end(s, &b);
    const uint32_t *align = spirv_decoration(r, i->id, SpvDecorationAlignment, NULL);
    bool good = align && align[0] <= 4096 && !(align[0] & (align[0] - 1));
    if (good && align[0] > ir_type_align(r->module, t)) inst->attrs.align = align[0];
    spirv_set(s, i, inst->results[0]);
    /* A vector is written lane by lane, which reads along what is not written yet. */
    if (i->n < 5 && ir_type_is_vector(t)) ir_build2(&s->b, IR_OP_STORE, t, inst->results[0], ir_undef(r->module, t));
    if (i->n < 5) return;
    if (spirv_is_constant(r, i->words[4]) && spirv_leaves(r, pointee) > MAX_INIT_LEAVES) {
        store_constant(s, i, i->words[4], inst->results[0], (struct operands){0});
    } else {
        spirv_store(s, i, pointee, inst->results[0], 0, false, spirv_values(s, i, i->words[4]));
    }
}

static void emit_copy(struct spirv_body *s, const struct spirv_inst *i)
{
    struct ir_value *to = spirv_value(s, i, i->words[1]), *from = spirv_value(s, i, i->words[2]);
    ir_type t = IR_I8;
    struct operands o;
    struct ir_value *count = spirv_int(s, IR_I64, 1);
    if (i->op == SpvOpCopyMemory) {
        t = spirv_type(s->r, i, spirv_pointee(s->r, spirv_type_of(s->r, i->words[1])));
        o = read_operands(i, 3);
    } else {
        count = spirv_value(s, i, i->words[3]);
        o = read_operands(i, 4);
    }
    if (spirv_failed(s->r)) return;
    emit_copy_of(s, t, to, from, count, o.align ? o.align : ir_type_align(s->r->module, t), o.is_volatile);
}

/* ---- addresses ---- */

static struct ir_value *element_address(struct spirv_body *s, const struct spirv_inst *i, ir_type t, struct ir_value *p,
                                        uint32_t index)
{
    uint64_t n;
    struct ir_value *v = spirv_value(s, i, index);
    if (ir_value_uint(v, &n) && n == 0) return p;
    return ir_build2(&s->b, IR_OP_ELEM, t, p, v);
}

static struct ir_value *step_into(struct spirv_body *s, const struct spirv_inst *i, uint32_t *type, struct ir_value *p,
                                  uint32_t index)
{
    struct spirv_reader *r = s->r;
    uint64_t n = 0;
    if (spirv_def(r, *type)->op == SpvOpTypeStruct) {
        const struct ir_struct *st = ir_type_struct(r->module, r->types[*type].ir);
        if (!spirv_constant_uint(r, index, &n) || n >= st->n_fields) {
            spirv_fail(r, i, "names no field of struct %s", st->name);
            return p;
        }
        struct ir_inst *field = ir_build(&s->b, IR_OP_FIELD, r->types[*type].ir, &p, 1);
        field->attrs.index = (uint32_t)n;
        *type = spirv_part(r, *type, (uint32_t)n);
        return field->results[0];
    }
    uint32_t part = spirv_part(r, *type, 0);
    if (!part) {
        spirv_fail(r, i, "goes into a type that has no parts");
        return p;
    }
    *type = part;
    return element_address(s, i, spirv_type(r, i, part), p, index);
}

static void emit_access_chain(struct spirv_body *s, const struct spirv_inst *i)
{
    struct spirv_reader *r = s->r;
    bool of_pointer = i->op == SpvOpPtrAccessChain || i->op == SpvOpInBoundsPtrAccessChain;
    struct ir_value *p = spirv_value(s, i, i->words[3]);
    uint32_t type = spirv_pointee(r, spirv_type_of(r, i->words[3])), at = 4;
    ir_type t = spirv_type(r, i, type);
    if (spirv_failed(r)) return;
    if (of_pointer) p = element_address(s, i, t, p, i->words[at++]);
    for (; at < i->n && !spirv_failed(r); at++) p = step_into(s, i, &type, p, i->words[at]);
    spirv_set(s, i, p);
}

static void emit_difference(struct spirv_body *s, const struct spirv_inst *i)
{
    ir_type t = spirv_result_type(s->r, i);
    uint32_t pointee = spirv_pointee(s->r, spirv_type_of(s->r, i->words[3]));
    uint64_t size = ir_type_size(s->r->module, spirv_type(s->r, i, pointee));
    struct ir_value *x = ir_build1(&s->b, IR_OP_PTRTOINT, IR_I64, spirv_value(s, i, i->words[3]));
    struct ir_value *y = ir_build1(&s->b, IR_OP_PTRTOINT, IR_I64, spirv_value(s, i, i->words[4]));
    struct ir_value *bytes = ir_build2(&s->b, IR_OP_SUB, IR_I64, x, y);
    struct ir_value *elements = ir_build2(&s->b, IR_OP_SDIV, IR_I64, bytes, spirv_int(s, IR_I64, size ? size : 1));
    spirv_set(s, i, spirv_as_int(s, elements, t));
}

bool spirv_emit_memory(struct spirv_body *s, const struct spirv_inst *i)
{
    switch (i->op) {
    case SpvOpVariable: emit_variable(s, i); return true;
    case SpvOpLoad: emit_load(s, i); return true;
    case SpvOpStore: emit_store(s, i); return true;
    case SpvOpCopyMemory:
    case SpvOpCopyMemorySized: emit_copy(s, i); return true;
    case SpvOpAccessChain:
    case SpvOpInBoundsAccessChain:
    case SpvOpPtrAccessChain:
    case SpvOpInBoundsPtrAccessChain: emit_access_chain(s, i); return true;
    case SpvOpPtrDiff: emit_difference(s, i); return true;
    default: return false;
    }
}
