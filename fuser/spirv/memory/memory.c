/* Variables, addresses, loads, stores and copies. */
#include "fuser/spirv/memory/memory.h"

#include <spirv/unified1/spirv.h>
#include <stddef.h>

#include "fuser/coarsen/coarsen.h"
#include "fuser/spirv/base/branch.h"
#include "fuser/spirv/base/ids.h"
#include "fuser/spirv/base/kernel_ids.h"
#include "fuser/spirv/memory/kernel_memory.h"
#include "fuser/spirv/memory/pipe.h"
#include "fuser/spirv/memory/vulkan_memory.h"
#include "fuser/spirv/numbers/operation.h"
#include "ir/base/arena.h"

typedef struct formula_value value;

void spw_memory_open(struct spw *w)
{
    w->memory = arena_alloc(w->arena, sizeof *w->memory);
    if (w->vulkan) spw_arrays_open(w);
}

void spw_memory_close(struct spw *w)
{
    if (w->vulkan) spw_arrays_close(w);
}

/* ---- addresses ---- */

static bool is_offset(enum ir_space space)
{
    return space == IR_SPACE_LOCAL || space == IR_SPACE_PRIVATE;
}

/* An integer of any width as a signed one of another. */
static uint32_t signed_as(struct spw *w, unsigned from, unsigned to, uint32_t x)
{
    return from == to ? x : SPW_EMIT(w, SpvOpSConvert, spw_type_int(&w->m, to, 1), x);
}

uint32_t spw_advance(struct spw *w, enum ir_space space, uint32_t pointer, uint32_t by)
{
    if (!w->vulkan) return SPW_EMIT(w, SpvOpPtrAccessChain, spw_part_type(w, IR_PTR(space)), pointer, by);
    bool offset = is_offset(space);
    uint32_t distance = signed_as(w, 64, offset ? 32 : 64, by);
    return SPW_EMIT(w, SpvOpIAdd, spw_part_type(w, IR_PTR(space)), pointer, distance);
}

uint32_t spw_advance_by(struct spw *w, enum ir_space space, uint32_t pointer, uint64_t bytes)
{
    if (!bytes) return pointer;
    bool narrow = w->vulkan && is_offset(space);
    uint32_t by = narrow ? spw_const_u32(&w->m, (uint32_t)bytes) : spw_const_u64(&w->m, bytes);
    return SPW_EMIT(w, w->vulkan ? SpvOpIAdd : SpvOpPtrAccessChain, spw_part_type(w, IR_PTR(space)), pointer, by);
}

static uint32_t vulkan_element(struct spw *w, enum ir_space space, uint32_t pointer, const struct ir_value *index,
                               uint64_t size)
{
    bool offset = is_offset(space);
    uint32_t type = spw_part_type(w, IR_PTR(space));
    uint32_t n = signed_as(w, ir_type_bits(index->type), offset ? 32 : 64, spw_value1(w, index));
    uint32_t each = offset ? spw_const_u32(&w->m, (uint32_t)size) : spw_const_u64(&w->m, size);
    if (size != 1) n = SPW_EMIT(w, SpvOpIMul, type, n, each);
    return SPW_EMIT(w, SpvOpIAdd, type, pointer, n);
}

static void element(struct spw *w, const struct ir_inst *inst)
{
    const struct ir_value *p = inst->operands[0], *index = inst->operands[1];
    enum ir_space space = ir_type_space(p->type);
    uint64_t size = ir_type_size(w->kernel->module, inst->type), n;
    uint32_t r;
    if (ir_value_uint(index, &n) && n < 1u << 31 && (w->vulkan || n * size < 1u << 31))
        r = spw_advance_by(w, space, spw_value1(w, p), n * size);
    else if (w->vulkan)
        r = vulkan_element(w, space, spw_value1(w, p), index, size);
    else
        r = spw_kernel_element(w, inst);
    spw_set1(w, inst->results[0], r);
}

static void field(struct spw *w, const struct ir_inst *inst)
{
    const struct ir_struct *s = ir_type_struct(w->kernel->module, inst->type);
    const struct ir_value *p = inst->operands[0];
    uint64_t offset = s->fields[inst->attrs.index].offset;
    spw_set1(w, inst->results[0], spw_advance_by(w, ir_type_space(p->type), spw_value1(w, p), offset));
}

/* ---- loads and stores ---- */

/* What a lane is in memory: a bool is a byte, a pointer an address of 64 bits. */
static enum ir_kind kind_in_memory(ir_type t)
{
    enum ir_kind kind = ir_type_kind(t);
    return kind == IR_KIND_BOOL ? IR_KIND_I8 : kind == IR_KIND_PTR ? IR_KIND_I64 : kind;
}

static uint32_t from_memory(struct spw *w, ir_type t, uint32_t x)
{
    if (ir_type_kind(t) == IR_KIND_BOOL)
        return SPW_EMIT(w, SpvOpINotEqual, spw_type_bool(&w->m, 1), x, spw_const_number(&w->m, IR_KIND_I8, 1, 0));
    if (ir_type_is_ptr(t) && is_offset(ir_type_space(t))) return SPW_EMIT(w, SpvOpUConvert, spw_part_type(w, t), x);
    return x;
}

static uint32_t to_memory(struct spw *w, ir_type t, uint32_t x)
{
    uint32_t byte = spw_type_int(&w->m, 8, 1);
    if (ir_type_kind(t) == IR_KIND_BOOL)
        return SPW_EMIT(w, SpvOpSelect, byte, x, spw_const_number(&w->m, IR_KIND_I8, 1, 1),
                        spw_const_number(&w->m, IR_KIND_I8, 1, 0));
    if (ir_type_is_ptr(t) && is_offset(ir_type_space(t)))
        return SPW_EMIT(w, SpvOpUConvert, spw_type_int(&w->m, 64, 1), x);
    return x;
}

/* How many lanes from one on are one access: vectors where memory has addresses and they are aligned as numbers are. */
static unsigned lanes_at_once(enum ir_space space, uint32_t align, uint32_t bytes, unsigned left)
{
    bool whole = (space == IR_SPACE_GLOBAL || space == IR_SPACE_CONSTANT) && align >= bytes;
    return !whole ? 1 : left > 4 ? 4 : left;
}

/* The alignment of what lies so many bytes behind something aligned. */
static uint32_t align_behind(uint32_t align, uint64_t bytes)
{
    uint64_t low = bytes & -bytes;
    return bytes && low < align ? (uint32_t)low : align;
}

void spw_load(struct spw *w, ir_type t, enum ir_space space, uint32_t pointer, uint32_t align, bool is_volatile,
              uint32_t *parts)
{
    if (!w->vulkan) {
        parts[0] = spw_kernel_load(w, t, space, pointer, align, is_volatile);
        return;
    }
    enum ir_kind kind = kind_in_memory(t);
    unsigned lanes = ir_type_lanes(t), bytes = spw_bits(kind) / 8;
    for (unsigned i = 0, n; i < lanes; i += n) {
        n = lanes_at_once(space, align, bytes, lanes - i);
        uint32_t here = spw_advance_by(w, space, pointer, (uint64_t)i * bytes), a = align_behind(align, i * bytes);
        if (space == IR_SPACE_GLOBAL || space == IR_SPACE_CONSTANT) {
            if (a >= bytes) {
                spw_load_vector(w, kind, n, here, a, is_volatile, parts + i);
                continue;
            }
        }
        parts[i] = spw_load_scalar(w, kind, space, here, a, is_volatile);
    }
    for (unsigned i = 0; i < lanes; i++) parts[i] = from_memory(w, t, parts[i]);
}

void spw_store(struct spw *w, ir_type t, enum ir_space space, uint32_t pointer, uint32_t align, bool is_volatile,
               const uint32_t *parts)
{
    if (!w->vulkan) {
        spw_kernel_store(w, t, space, pointer, align, is_volatile, parts[0]);
        return;
    }
    enum ir_kind kind = kind_in_memory(t);
    unsigned lanes = ir_type_lanes(t), bytes = spw_bits(kind) / 8;
    uint32_t x[IR_MAX_LANES];
    for (unsigned i = 0; i < lanes; i++) x[i] = to_memory(w, t, parts[i]);
    for (unsigned i = 0, n; i < lanes; i += n) {
        n = lanes_at_once(space, align, bytes, lanes - i);
        uint32_t here = spw_advance_by(w, space, pointer, (uint64_t)i * bytes), a = align_behind(align, i * bytes);
        if ((space == IR_SPACE_GLOBAL || space == IR_SPACE_CONSTANT) && a >= bytes)
            spw_store_vector(w, kind, n, here, a, is_volatile, x + i);
        else
            spw_store_scalar(w, kind, space, here, a, is_volatile, x[i]);
    }
}

static uint32_t align_of(const struct spw *w, const struct ir_inst *inst)
{
    return inst->attrs.align ? inst->attrs.align : ir_type_align(w->kernel->module, inst->type);
}

static void load(struct spw *w, const struct ir_inst *inst)
{
    uint32_t parts[IR_MAX_LANES];
    const struct ir_value *p = inst->operands[0];
    spw_load(w, inst->type, ir_type_space(p->type), spw_value1(w, p), align_of(w, inst), inst->attrs.is_volatile,
             parts);
    spw_set(w, inst->results[0], parts);
}

static void store(struct spw *w, const struct ir_inst *inst)
{
    const struct ir_value *p = inst->operands[0];
    spw_store(w, inst->type, ir_type_space(p->type), spw_value1(w, p), align_of(w, inst), inst->attrs.is_volatile,
              spw_value(w, inst->operands[1]));
}

/* ---- copies ---- */

/* By words as wide as the alignment allows, in a loop. */
static void copy(struct spw *w, const struct ir_inst *inst)
{
    const struct ir_value *to = inst->operands[0], *from = inst->operands[1], *count = inst->operands[2];
    uint64_t size = ir_type_size(w->kernel->module, inst->type);
    uint32_t unit = align_of(w, inst) < 8 ? align_of(w, inst) : 8, wide = spw_type_int(&w->m, 64, 1), word[1];
    ir_type t = unit == 1 ? IR_I8 : unit == 2 ? IR_I16 : unit == 4 ? IR_I32 : IR_I64;
    uint32_t n = signed_as(w, ir_type_bits(count->type), 64, spw_value1(w, count));
    uint32_t words = SPW_EMIT(w, SpvOpIMul, wide, n, spw_const_u64(&w->m, size / unit));
    struct spw_rounds r = spw_rounds_begin(w, wide, words);
    uint32_t at = SPW_EMIT(w, SpvOpIMul, wide, r.number, spw_const_u64(&w->m, unit));
    enum ir_space source = ir_type_space(from->type), target = ir_type_space(to->type);
    spw_load(w, t, source, spw_advance(w, source, spw_value1(w, from), at), unit, inst->attrs.is_volatile, word);
    spw_store(w, t, target, spw_advance(w, target, spw_value1(w, to), at), unit, inst->attrs.is_volatile, word);
    spw_rounds_end(w, &r);
}

/* ---- variables and parameters ---- */

static void variable(struct spw *w, const struct ir_inst *inst)
{
    uint32_t r;
    if (inst->op == IR_OP_VAR)
        r = w->vulkan ? spw_variable_offset(w, inst) : spw_kernel_variable(w, inst);
    else
        r = w->vulkan ? spw_module_variable(w, inst->attrs.global) : spw_kernel_global(w, inst->attrs.global);
    spw_set1(w, inst->results[0], r);
}

/* A by-value parameter is where it lies among the arguments. */
static void vulkan_param(struct spw *w, const struct ir_param *p, uint32_t offset)
{
    ir_type t = p->value->type;
    uint32_t at = SPIRV_ARGUMENTS + offset, parts[IR_MAX_LANES];
    if (p->by_value || (!ir_type_is_ptr(t) && !(ir_type_is_number(t) && ir_type_lanes(t) == 1))) {
        uint32_t where[2] = {spw_launch_address(w), spw_const_u64(&w->m, at)};
        uint32_t address = spw_once(&w->m, SPW_PROLOGUE, SpvOpIAdd, spw_type_int(&w->m, 64, 1), where, 2);
        parts[0] = address;
        if (!p->by_value) spw_load(w, t, IR_SPACE_CONSTANT, address, ir_type_align(w->kernel->module, t), false, parts);
    } else if (ir_type_is_ptr(t)) {
        parts[0] = spw_launch_number(w, is_offset(ir_type_space(t)) ? IR_KIND_I32 : IR_KIND_I64, at);
    } else {
        parts[0] = from_memory(w, t, spw_launch_number(w, kind_in_memory(t), at));
    }
    spw_set(w, p->value, parts);
}

/* Kernel dialect: the same of a block that lies in constant memory. */
static void block_param(struct spw *w, const struct ir_param *p, uint32_t offset)
{
    ir_type t = p->value->type;
    uint32_t at = spw_block_pointer(w, SPIRV_ARGUMENTS + offset), part = at;
    if (ir_type_is_ptr(t) && ir_type_space(t) == IR_SPACE_LOCAL) {
        uint32_t by = spw_kernel_load(w, IR_I64, IR_SPACE_CONSTANT, at, sizeof(uint64_t), false);
        part = spw_advance(w, IR_SPACE_LOCAL, w->params[SPIRV_KERNEL_LOCAL], by);
    } else if (!p->by_value) {
        part = spw_kernel_load(w, t, IR_SPACE_CONSTANT, at, ir_type_align(w->kernel->module, t), false);
    }
    spw_set1(w, p->value, part);
}

/* A pointer that the launch says. */
static void launch_param(struct spw *w, struct ir_value *v, uint32_t offset)
{
    if (w->vulkan)
        spw_set1(w, v, spw_launch_number(w, IR_KIND_I64, offset));
    else
        spw_set1(w, v, spw_kernel_load(w, v->type, IR_SPACE_CONSTANT, spw_block_pointer(w, offset), 8, false));
}

/* What a kernel whose work-items do several is told behind its own parameters. */
static void coarse_params(struct spw *w, const struct ir_param *params)
{
    spw_set1(w, params[0].value, spw_id_of(w, IR_OP_GLOBAL_SIZE, 0));
    spw_set1(w, params[1].value, spw_id_of(w, IR_OP_GLOBAL_OFFSET, 0));
    spw_set1(w, params[2].value, spw_items(w));
}

void spw_params(struct spw *w)
{
    uint32_t *offsets = arena_alloc(w->arena, (w->kernel->n_params + 1) * sizeof *offsets);
    if (w->out->items > 1) w->kernel->n_params -= COARSEN_PARAMS;
    const struct ir_param *prints = NULL;
    if (w->out->prints) prints = &w->kernel->params[--w->kernel->n_params];
    w->out->args_size = ir_param_layout(w->kernel, offsets);
    if (spw_has_block(w)) spw_block_params(w);
    if (w->out->items > 1) coarse_params(w, w->kernel->params + w->kernel->n_params);
    for (uint32_t i = 0; i < w->kernel->n_params && !w->failed; i++) {
        const struct ir_param *p = &w->kernel->params[i];
        if (w->vulkan)
            vulkan_param(w, p, offsets[i]);
        else if (spw_has_block(w))
            block_param(w, p, offsets[i]);
        else
            spw_kernel_param(w, p);
    }
    if (prints) launch_param(w, prints->value, offsetof(struct spirv_launch, prints));
}

void spw_memory_access(struct spw *w, const struct ir_inst *inst)
{
    switch (inst->op) {
    case IR_OP_VAR: variable(w, inst); break;
    case IR_OP_GLOBAL:
        if (!spw_is_pipe(w, inst)) variable(w, inst);
        break; /* of a pipe: who uses it makes it */
    case IR_OP_ELEM: element(w, inst); break;
    case IR_OP_FIELD: field(w, inst); break;
    case IR_OP_LOAD: load(w, inst); break;
    case IR_OP_STORE: store(w, inst); break;
    case IR_OP_COPY: copy(w, inst); break;
    case IR_OP_PREFETCH: break;
    default: spw_fail(w, "cannot be written yet"); break;
    }
}
