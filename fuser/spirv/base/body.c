/* Instructions and values of a body. */
#include "fuser/spirv/base/body.h"

#include <spirv/unified1/spirv.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ir/base/arena.h"

void spw_fail(struct spw *w, const char *format, ...)
{
    char why[400];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    if (!w->failed)
        diag_add(w->list, w->kernel->name, NULL, w->inst ? w->inst->loc.line : w->kernel->loc.line, 0, "%s %s",
                 w->inst ? ir_op_info(w->inst->op)->text : "the kernel", why);
    w->failed = true;
}

bool spw_writes_groups(const struct spw *w)
{
    return w->vulkan || !(w->target->features & SPIRV_GROUPS);
}

bool spw_need(struct spw *w, enum spirv_feature feature, const char *what)
{
    if (w->target->features & feature) return true;
    spw_fail(w, "needs %s, which the device lacks", what);
    return false;
}

bool spw_wants_all_digits(const struct spw *w)
{
    ir_type t = w->inst->n_results ? ir_type_element(w->inst->results[0]->type) : IR_VOID;
    return t == IR_F64 || ir_type_element(w->inst->type) == IR_F64;
}

/* ---- instructions ---- */

uint32_t spw_emit_n(struct spw *w, unsigned opcode, uint32_t type, const uint32_t *operands, size_t n)
{
    uint32_t words[64] = {type, spw_id(&w->m)};
    memcpy(words + 2, operands, n * sizeof *operands);
    spw_put(&w->m.sections[w->at], opcode, words, 2 + n);
    return words[1];
}

void spw_do_n(struct spw *w, unsigned opcode, const uint32_t *operands, size_t n)
{
    spw_put(&w->m.sections[w->at], opcode, operands, n);
}

uint32_t spw_emit_ext(struct spw *w, const char *set, uint32_t number, uint32_t type, const uint32_t *operands,
                      size_t n)
{
    uint32_t words[8] = {spw_import(&w->m, set), number};
    memcpy(words + 2, operands, n * sizeof *operands);
    return spw_emit_n(w, SpvOpExtInst, type, words, 2 + n);
}

void spw_name(struct spw *w, uint32_t id, const char *name)
{
    uint32_t words[64] = {id};
    if (w->vulkan || !name) return;
    spw_put(&w->m.sections[SPW_NAMES], SpvOpName, words, 1 + spw_string(name, words + 1, 63));
}

/* ---- types of values ---- */

unsigned spw_parts(const struct spw *w, ir_type t)
{
    return w->vulkan ? ir_type_lanes(t) : 1;
}

unsigned spw_part_lanes(const struct spw *w, ir_type t)
{
    return w->vulkan ? 1 : ir_type_lanes(t);
}

uint32_t spw_number_type(struct spw *w, enum ir_kind kind, unsigned lanes)
{
    static const struct {
        enum spirv_feature feature;
        const char *name;
    } needs[IR_KIND_COUNT] = {
        [IR_KIND_I8] = {SPIRV_INT8, "integers of 8 bits"},    [IR_KIND_I16] = {SPIRV_INT16, "integers of 16 bits"},
        [IR_KIND_I64] = {SPIRV_INT64, "integers of 64 bits"}, [IR_KIND_F16] = {SPIRV_FLOAT16, "floats of 16 bits"},
        [IR_KIND_F64] = {SPIRV_FLOAT64, "floats of 64 bits"},
    };
    if (needs[kind].feature) spw_need(w, needs[kind].feature, needs[kind].name);
    return spw_type_number(&w->m, kind, lanes);
}

uint32_t spw_storage(enum ir_space space)
{
    switch (space) {
    case IR_SPACE_GLOBAL: return SpvStorageClassCrossWorkgroup;
    case IR_SPACE_CONSTANT: return SpvStorageClassUniformConstant;
    case IR_SPACE_LOCAL: return SpvStorageClassWorkgroup;
    case IR_SPACE_PRIVATE: return SpvStorageClassFunction;
    default: return SpvStorageClassGeneric;
    }
}

static uint32_t pointer_type(struct spw *w, enum ir_space space)
{
    if (!w->vulkan) return spw_type_pointer(&w->m, spw_storage(space), spw_type_int(&w->m, 8, 1));
    return spw_type_int(&w->m, space == IR_SPACE_LOCAL || space == IR_SPACE_PRIVATE ? 32 : 64, 1);
}

static uint32_t pipe_type(struct spw *w, enum ir_handle_access access)
{
    static const uint32_t qualifiers[] = {
        [IR_HANDLE_READ] = SpvAccessQualifierReadOnly,
        [IR_HANDLE_WRITE] = SpvAccessQualifierWriteOnly,
        [IR_HANDLE_READ_WRITE] = SpvAccessQualifierReadWrite,
    };
    spw_capability(&w->m, SpvCapabilityPipes);
    return spw_once(&w->m, SPW_GLOBALS, SpvOpTypePipe, 0, &qualifiers[access], 1);
}

uint32_t spw_part_type(struct spw *w, ir_type t)
{
    if (ir_type_is_number(t)) return spw_number_type(w, ir_type_kind(t), spw_part_lanes(w, t));
    if (ir_type_is_ptr(t)) return pointer_type(w, ir_type_space(t));
    if (ir_type_kind(t) == IR_KIND_PIPE && w->target->features & SPIRV_PIPES)
        return pipe_type(w, ir_type_handle_access(t));
    spw_fail(w, "uses images, samplers or pipes, for which there is no SPIR-V yet");
    return spw_type_int(&w->m, 32, 1);
}

/* In the kernel dialect lane by lane, as clang's modules have it: translators that other compilers begin with fail at a
   vector of anything else than constants. */
uint32_t spw_construct(struct spw *w, uint32_t type, const uint32_t *lanes, unsigned n)
{
    if (w->vulkan) return spw_emit_n(w, SpvOpCompositeConstruct, type, lanes, n);
    uint32_t vector = spw_const_null(&w->m, type);
    for (unsigned i = 0; i < n; i++) vector = SPW_EMIT(w, SpvOpCompositeInsert, type, lanes[i], vector, i);
    return vector;
}

/* ---- values ---- */

static uint32_t *alloc_parts(struct spw *w, ir_type t)
{
    return arena_alloc(w->arena, spw_parts(w, t) * sizeof(uint32_t));
}

/* The null pointer of an offset is one that nothing has. */
static uint32_t null_pointer(struct spw *w, ir_type t)
{
    if (!w->vulkan) return spw_const_null(&w->m, spw_part_type(w, t));
    bool offset = ir_type_space(t) == IR_SPACE_LOCAL || ir_type_space(t) == IR_SPACE_PRIVATE;
    return offset ? spw_const_u32(&w->m, ~0u) : spw_const_u64(&w->m, 0);
}

static bool is_special(enum ir_kind kind, uint64_t bits)
{
    unsigned digits = kind == IR_KIND_F16 ? 10 : kind == IR_KIND_F32 ? 23 : 52;
    uint64_t exponents = (1ull << (spw_bits(kind) - 1 - digits)) - 1, exponent = bits >> digits & exponents;
    return exponent == exponents || !(bits << (65 - spw_bits(kind)));
}

uint32_t spw_constant(struct spw *w, enum ir_kind kind, unsigned lanes, uint64_t bits)
{
    bool is_float = kind == IR_KIND_F16 || kind == IR_KIND_F32 || kind == IR_KIND_F64;
    if (!w->unseen || !is_float || lanes > 1 || !is_special(kind, bits))
        return spw_const_number(&w->m, kind, lanes, bits);
    enum ir_kind words = spw_int_kind(kind);
    uint32_t type = spw_number_type(w, words, 1), x = w->unseen;
    if (words != IR_KIND_I32) x = spw_once(&w->m, SPW_PROLOGUE, SpvOpUConvert, type, &x, 1);
    uint32_t either[2] = {x, spw_const_number(&w->m, words, 1, bits)};
    x = spw_once(&w->m, SPW_PROLOGUE, SpvOpBitwiseOr, type, either, 2);
    return spw_once(&w->m, SPW_PROLOGUE, SpvOpBitcast, spw_number_type(w, kind, 1), &x, 1);
}

static uint32_t *constant_parts(struct spw *w, const struct ir_value *v)
{
    uint32_t *parts = alloc_parts(w, v->type), type = spw_part_type(w, v->type), all[IR_MAX_LANES];
    unsigned lanes = ir_type_lanes(v->type);
    if (v->kind == IR_VALUE_UNDEF) {
        for (unsigned p = 0; p < spw_parts(w, v->type); p++)
            parts[p] =
                w->vulkan ? spw_const_null(&w->m, type) : spw_once(&w->m, SPW_GLOBALS, SpvOpUndef, type, NULL, 0);
        return parts;
    }
    if (ir_type_is_ptr(v->type)) {
        parts[0] = null_pointer(w, v->type);
        return parts;
    }
    for (unsigned i = 0; i < lanes; i++) all[i] = spw_constant(w, ir_type_kind(v->type), 1, v->of.lanes[i]);
    if (spw_parts(w, v->type) == lanes)
        memcpy(parts, all, lanes * sizeof *all);
    else
        parts[0] = spw_const_composite(&w->m, type, all, lanes);
    return parts;
}

uint32_t *spw_value(struct spw *w, const struct ir_value *v)
{
    if (v->kind == IR_VALUE_CONST || v->kind == IR_VALUE_UNDEF) return constant_parts(w, v);
    if (!w->ids[v->scratch]) { /* something has failed before */
        w->ids[v->scratch] = alloc_parts(w, v->type);
        for (unsigned p = 0; p < spw_parts(w, v->type); p++)
            w->ids[v->scratch][p] = spw_once(&w->m, SPW_GLOBALS, SpvOpUndef, spw_part_type(w, v->type), NULL, 0);
    }
    return w->ids[v->scratch];
}

uint32_t spw_value1(struct spw *w, const struct ir_value *v)
{
    return spw_value(w, v)[0];
}

void spw_set(struct spw *w, const struct ir_value *v, const uint32_t *parts)
{
    w->ids[v->scratch] = alloc_parts(w, v->type);
    memcpy(w->ids[v->scratch], parts, spw_parts(w, v->type) * sizeof *parts);
}

void spw_set1(struct spw *w, const struct ir_value *v, uint32_t part)
{
    spw_set(w, v, &part);
}

void spw_split(struct spw *w, ir_type t, const uint32_t *parts, uint32_t *scalars)
{
    unsigned lanes = ir_type_lanes(t);
    if (spw_parts(w, t) == lanes) {
        memcpy(scalars, parts, lanes * sizeof *parts);
        return;
    }
    uint32_t type = spw_part_type(w, ir_type_element(t));
    for (unsigned i = 0; i < lanes; i++) scalars[i] = SPW_EMIT(w, SpvOpCompositeExtract, type, parts[0], i);
}

void spw_join(struct spw *w, ir_type t, const uint32_t *scalars, uint32_t *parts)
{
    unsigned lanes = ir_type_lanes(t);
    if (spw_parts(w, t) == lanes)
        memcpy(parts, scalars, lanes * sizeof *parts);
    else
        parts[0] = spw_construct(w, spw_part_type(w, t), scalars, lanes);
}

void spw_set_lanes(struct spw *w, const struct ir_value *v, const uint32_t *scalars)
{
    uint32_t parts[IR_MAX_LANES];
    spw_join(w, v->type, scalars, parts);
    spw_set(w, v, parts);
}

uint32_t spw_lane(struct spw *w, const struct ir_value *v, unsigned lane)
{
    const uint32_t *parts = spw_value(w, v);
    if (spw_parts(w, v->type) == ir_type_lanes(v->type)) return parts[lane];
    return SPW_EMIT(w, SpvOpCompositeExtract, spw_part_type(w, ir_type_element(v->type)), parts[0], lane);
}
