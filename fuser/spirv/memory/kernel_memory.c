/* Memory in the kernel dialect. */
#include "fuser/spirv/memory/kernel_memory.h"

#include <spirv/unified1/spirv.h>
#include <stdlib.h>
#include <string.h>

#include "fuser/spirv/memory/linkage.h"
#include "ir/base/arena.h"

uint32_t spw_kernel_pointer(struct spw *w, uint32_t type, enum ir_space space, uint32_t pointer)
{
    if (type == spw_type_int(&w->m, 8, 1)) return pointer;
    return SPW_EMIT(w, SpvOpBitcast, spw_type_pointer(&w->m, spw_storage(space), type), pointer);
}

/* ---- types in memory ---- */

/* What a value is in memory: bools are bytes, pointers themselves. */
static uint32_t memory_type(struct spw *w, ir_type t)
{
    if (ir_type_kind(t) == IR_KIND_BOOL) return spw_type_int(&w->m, 8, ir_type_lanes(t));
    return spw_part_type(w, t);
}

/* Something of that size and alignment: an array of integers or, beyond 8 bytes, of vectors. */
static uint32_t room_type(struct spw *w, uint64_t size, uint32_t align, uint64_t *count)
{
    uint32_t unit = align <= 8 ? spw_type_int(&w->m, align * 8, 1) : spw_type_int(&w->m, 64, align / 8);
    *count = (size + align - 1) / align;
    if (!*count) *count = 1;
    uint32_t length = *count >> 32 ? spw_const_u64(&w->m, *count) : spw_const_u32(&w->m, (uint32_t)*count);
    return spw_type_array(&w->m, unit, length);
}

static uint32_t bytes_at(struct spw *w, enum ir_space space, uint32_t pointer)
{
    return SPW_EMIT(w, SpvOpBitcast, spw_part_type(w, IR_PTR(space)), pointer);
}

/* ---- variables ---- */

static uint32_t made_variable(struct spw *w, enum spw_section section, uint32_t type, enum ir_space space,
                              uint32_t align, uint32_t init)
{
    uint32_t storage = spw_storage(space), pointer = spw_type_pointer(&w->m, storage, type), id = spw_id(&w->m);
    uint32_t operands[4] = {pointer, id, storage, init};
    spw_put(&w->m.sections[section], SpvOpVariable, operands, init ? 4 : 3);
    spw_decorate(&w->m, id, SpvDecorationAlignment, &align, 1);
    return id;
}

uint32_t spw_kernel_variable(struct spw *w, const struct ir_inst *var)
{
    const struct ir_module *m = w->kernel->module;
    uint32_t align = ir_type_align(m, var->type);
    if (var->attrs.align > align) align = var->attrs.align;
    uint64_t count;
    uint32_t type = room_type(w, ir_type_size(m, var->type), align > 128 ? 128 : align, &count);
    return bytes_at(w, IR_SPACE_PRIVATE, made_variable(w, SPW_VARIABLES, type, IR_SPACE_PRIVATE, align, 0));
}

/* ---- initial values ---- */

static uint32_t global_variable(struct spw *w, const struct ir_global *g);

static uint64_t word_of(const struct ir_global *g, uint64_t size, uint64_t at, uint32_t bytes)
{
    uint64_t v = 0;
    if (g->init && at < size) memcpy(&v, g->init + at, size - at < bytes ? size - at : bytes);
    return v;
}

static uint32_t plain_init(struct spw *w, const struct ir_global *g, uint64_t size, uint32_t unit, uint32_t *type)
{
    enum ir_kind kind = unit == 1 ? IR_KIND_I8 : unit == 2 ? IR_KIND_I16 : unit == 4 ? IR_KIND_I32 : IR_KIND_I64;
    uint64_t count;
    *type = room_type(w, size, unit, &count);
    if (!g->init) return spw_const_null(&w->m, *type);
    uint32_t *parts = arena_alloc(w->arena, count * sizeof *parts);
    for (uint64_t i = 0; i < count; i++) parts[i] = spw_const_number(&w->m, kind, 1, word_of(g, size, i * unit, unit));
    return spw_const_composite(&w->m, *type, parts, count);
}

static uint32_t constant_address(struct spw *w, const struct ir_address *a)
{
    uint32_t type = spw_part_type(w, IR_PTR(a->target->space));
    uint32_t cast[2] = {SpvOpBitcast, global_variable(w, a->target)};
    uint32_t base = spw_once(&w->m, SPW_GLOBALS, SpvOpSpecConstantOp, type, cast, 2);
    uint32_t chain[3] = {SpvOpInBoundsPtrAccessChain, base, spw_const_u64(&w->m, a->at)};
    return a->at ? spw_once(&w->m, SPW_GLOBALS, SpvOpSpecConstantOp, type, chain, 3) : base;
}

/* A struct of words, some of them pointers. */
static uint32_t init_with_addresses(struct spw *w, const struct ir_global *g, uint64_t size, uint32_t *type)
{
    uint64_t count = (size + 7) / 8;
    uint32_t *types = arena_alloc(w->arena, count * sizeof *types),
             *parts = arena_alloc(w->arena, count * sizeof *parts);
    for (uint64_t i = 0; i < count; i++) {
        types[i] = spw_type_int(&w->m, 64, 1);
        parts[i] = spw_const_u64(&w->m, word_of(g, size, i * 8, 8));
    }
    for (uint32_t i = 0; i < g->n_addresses; i++) {
        const struct ir_address *a = &g->addresses[i];
        types[a->offset / 8] = spw_part_type(w, IR_PTR(a->target->space));
        parts[a->offset / 8] = constant_address(w, a);
    }
    *type = spw_once(&w->m, SPW_GLOBALS, SpvOpTypeStruct, 0, types, count);
    return spw_const_composite(&w->m, *type, parts, count);
}

static uint32_t global_variable(struct spw *w, const struct ir_global *g)
{
    const struct ir_module *m = w->kernel->module;
    struct map_entry *known = map_make(&w->globals, (uint64_t)(uintptr_t)g);
    if (!known) arena_no_memory(sizeof *known);
    if (known->number) return (uint32_t)known->number;
    uint64_t size = ir_type_size(m, g->type), count;
    uint32_t align = g->align > ir_type_align(m, g->type) ? g->align : ir_type_align(m, g->type), type, init = 0;
    if (g->space == IR_SPACE_LOCAL)
        type = room_type(w, size, align > 128 ? 128 : align, &count);
    else if (g->n_addresses)
        init = init_with_addresses(w, g, size, &type);
    else
        init = plain_init(w, g, size, align > 8 ? 8 : align, &type);
    uint32_t id = made_variable(w, SPW_GLOBALS, type, g->space, align, init);
    if (g->space == IR_SPACE_CONSTANT) spw_decorate(&w->m, id, SpvDecorationConstant, NULL, 0);
    if (g->space == IR_SPACE_GLOBAL && w->target->features & SPIRV_PIPES) spw_link_once(w, id, g->name);
    spw_append(&w->interface, &id, 1);
    known = map_find(&w->globals, (uint64_t)(uintptr_t)g);
    known->number = id;
    return id;
}

uint32_t spw_kernel_global(struct spw *w, const struct ir_global *g)
{
    if (ir_type_kind(g->type) == IR_KIND_PIPE) {
        spw_fail(w, "of pipe %s cannot be written", g->name);
        return spw_const_null(&w->m, spw_type_int(&w->m, 32, 1));
    }
    return bytes_at(w, g->space, global_variable(w, g));
}

/* ---- parameters ---- */

/* What a pointer points at, where the kernel says: so that who reads the module sees it, too. */
static uint32_t pointee_type(struct spw *w, const struct ir_param *p)
{
    const struct ir_module *m = w->kernel->module;
    uint64_t count;
    if (p->by_value) {
        uint32_t align = ir_type_align(m, p->elem);
        uint32_t room = room_type(w, ir_type_size(m, p->elem), align, &count);
        return spw_once(&w->m, SPW_GLOBALS, SpvOpTypeStruct, 0, &room, 1);
    }
    if (ir_type_is_number(p->elem) && ir_type_kind(p->elem) != IR_KIND_BOOL) return spw_part_type(w, p->elem);
    return spw_type_int(&w->m, 8, 1);
}

uint32_t spw_kernel_param_type(struct spw *w, const struct ir_param *p)
{
    ir_type t = p->value->type;
    if (!ir_type_is_ptr(t)) return spw_part_type(w, t);
    return spw_type_pointer(&w->m, spw_storage(ir_type_space(t)), pointee_type(w, p));
}

void spw_kernel_param(struct spw *w, const struct ir_param *p)
{
    uint32_t type = spw_kernel_param_type(w, p), id = spw_id(&w->m);
    SPW_PUT(&w->m.sections[SPW_HEAD], SpvOpFunctionParameter, type, id);
    if (p->by_value) {
        uint32_t by_value = SpvFunctionParameterAttributeByVal;
        spw_decorate(&w->m, id, SpvDecorationFuncParamAttr, &by_value, 1);
    } else if (p->access == IR_ACCESS_READ && ir_type_is_ptr(p->value->type)) {
        uint32_t no_write = SpvFunctionParameterAttributeNoWrite;
        spw_decorate(&w->m, id, SpvDecorationFuncParamAttr, &no_write, 1);
    }
    spw_name(w, id, p->value->name);
    ir_type t = p->value->type;
    spw_set1(w, p->value, ir_type_is_ptr(t) && type != spw_part_type(w, t) ? bytes_at(w, ir_type_space(t), id) : id);
}

/* ---- accesses ---- */

/* Elements of the type itself where values have it; those of structs and arrays by bytes. */
uint32_t spw_kernel_element(struct spw *w, const struct ir_inst *inst)
{
    const struct ir_value *p = inst->operands[0];
    enum ir_space space = ir_type_space(p->type);
    uint32_t pointer = spw_value1(w, p), index = spw_value1(w, inst->operands[1]), bytes = spw_part_type(w, p->type);
    if (ir_type_is_number(inst->type)) {
        uint32_t t = memory_type(w, inst->type), type = spw_type_pointer(&w->m, spw_storage(space), t);
        uint32_t place = SPW_EMIT(w, SpvOpPtrAccessChain, type, spw_kernel_pointer(w, t, space, pointer), index);
        return type == bytes ? place : bytes_at(w, space, place);
    }
    uint32_t wide = spw_type_int(&w->m, 64, 1);
    if (ir_type_bits(inst->operands[1]->type) != 64) index = SPW_EMIT(w, SpvOpSConvert, wide, index);
    uint64_t size = ir_type_size(w->kernel->module, inst->type);
    uint32_t by = SPW_EMIT(w, SpvOpIMul, wide, index, spw_const_u64(&w->m, size));
    return SPW_EMIT(w, SpvOpPtrAccessChain, bytes, pointer, by);
}

static uint32_t access_operands(uint32_t *operands, uint32_t n, uint32_t align, bool is_volatile)
{
    operands[n] = SpvMemoryAccessAlignedMask | (is_volatile ? (uint32_t)SpvMemoryAccessVolatileMask : 0);
    operands[n + 1] = align;
    return n + 2;
}

uint32_t spw_kernel_load(struct spw *w, ir_type t, enum ir_space space, uint32_t pointer, uint32_t align,
                         bool is_volatile)
{
    uint32_t type = memory_type(w, t), operands[3] = {spw_kernel_pointer(w, type, space, pointer)};
    uint32_t x = spw_emit_n(w, SpvOpLoad, type, operands, access_operands(operands, 1, align, is_volatile));
    if (ir_type_kind(t) != IR_KIND_BOOL) return x;
    uint32_t zero = spw_const_number(&w->m, IR_KIND_I8, ir_type_lanes(t), 0);
    return SPW_EMIT(w, SpvOpINotEqual, spw_part_type(w, t), x, zero);
}

void spw_kernel_store(struct spw *w, ir_type t, enum ir_space space, uint32_t pointer, uint32_t align, bool is_volatile,
                      uint32_t x)
{
    uint32_t type = memory_type(w, t), operands[4] = {spw_kernel_pointer(w, type, space, pointer), x};
    if (ir_type_kind(t) == IR_KIND_BOOL)
        operands[1] = SPW_EMIT(w, SpvOpSelect, type, x, spw_const_number(&w->m, IR_KIND_I8, ir_type_lanes(t), 1),
                               spw_const_number(&w->m, IR_KIND_I8, ir_type_lanes(t), 0));
    spw_do_n(w, SpvOpStore, operands, access_operands(operands, 2, align, is_volatile));
}
