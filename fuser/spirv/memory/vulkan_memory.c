/* Memory in Vulkan. */
#include "fuser/spirv/memory/vulkan_memory.h"

#include <spirv/unified1/spirv.h>
#include <stdlib.h>
#include <string.h>

#include "fuser/spirv/base/bits.h"
#include "fuser/spirv/base/branch.h"
#include "fuser/spirv/base/ids.h"
#include "fuser/spirv/numbers/operation.h"
#include "ir/base/arena.h"
#include "ir/base/strbuf.h"

/* ---- the arrays ---- */

struct survey {
    struct spw *w;
    uint32_t narrowest[2], atomics[2]; /* bytes, of local and private memory; 0: none */
};

static void see_access(struct survey *s, enum ir_space space, uint32_t bytes, bool atomic)
{
    for (int p = 0; p < 2; p++) {
        if (space != IR_SPACE_GENERIC && space != (p ? IR_SPACE_PRIVATE : IR_SPACE_LOCAL)) continue;
        if (!s->narrowest[p] || bytes < s->narrowest[p]) s->narrowest[p] = bytes;
        if (atomic && bytes > s->atomics[p]) s->atomics[p] = bytes;
    }
}

static uint32_t scalar_bytes(const struct ir_module *m, ir_type t)
{
    return ir_type_is_number(t) || ir_type_is_ptr(t) ? (uint32_t)ir_type_size(m, ir_type_element(t))
                                                     : ir_type_align(m, t);
}

static void see(struct ir_inst *inst, void *data)
{
    struct survey *s = data;
    const struct ir_module *m = s->w->kernel->module;
    bool atomic = ir_op_class(inst->op) == IR_CLASS_ATOMIC;
    if (inst->op != IR_OP_LOAD && inst->op != IR_OP_STORE && inst->op != IR_OP_COPY && !atomic) return;
    bool flag = inst->op == IR_OP_ATOMIC_TEST_SET || inst->op == IR_OP_ATOMIC_CLEAR;
    uint32_t bytes = flag ? 4 : scalar_bytes(m, inst->type);
    if (inst->attrs.align && inst->attrs.align < bytes) bytes = inst->attrs.align;
    if (bytes > 8) bytes = 8;
    for (uint32_t i = 0; i < inst->n_operands; i++)
        if (ir_type_is_ptr(inst->operands[i]->type) && (i == 0 || inst->op == IR_OP_COPY))
            see_access(s, ir_type_space(inst->operands[i]->type), bytes, atomic);
}

/* As narrow as the narrowest access; where there are atomics, as wide as these: what is narrower is masked. */
static uint32_t unit_of(const struct survey *s, int p)
{
    uint32_t unit = s->narrowest[p] ? s->narrowest[p] : 4;
    return s->atomics[p] > unit ? s->atomics[p] : unit;
}

static uint64_t add_variable(struct spw_array *a, uint64_t size, uint32_t align)
{
    uint64_t offset = (a->size + align - 1) / align * align;
    a->size = offset + size;
    return offset;
}

static void place_var(struct ir_inst *inst, void *data)
{
    struct spw *w = data;
    if (inst->op != IR_OP_VAR) return;
    const struct ir_module *m = w->kernel->module;
    uint32_t align = ir_type_align(m, inst->type);
    if (inst->attrs.align > align) align = inst->attrs.align;
    inst->scratch = (uint32_t)add_variable(&w->memory->private_, ir_type_size(m, inst->type), align);
}

static void place_locals(struct spw *w)
{
    const struct ir_module *m = w->kernel->module;
    for (uint32_t i = 0; i < m->n_globals; i++) {
        struct ir_global *g = m->globals[i];
        g->scratch = i;
        if (g->space != IR_SPACE_LOCAL || ir_type_kind(g->type) == IR_KIND_PIPE) continue;
        uint32_t align = g->align > ir_type_align(m, g->type) ? g->align : ir_type_align(m, g->type);
        w->memory->offsets[i] = add_variable(&w->memory->local, ir_type_size(m, g->type), align);
    }
}

void spw_arrays_open(struct spw *w)
{
    struct survey s = {.w = w};
    struct spw_memory *memory = w->memory;
    const struct ir_module *m = w->kernel->module;
    memory->offsets = arena_alloc(w->arena, (m->n_globals + 1) * sizeof *memory->offsets);
    memory->placed = arena_alloc(w->arena, m->n_globals + 1);
    ir_walk(w->kernel->body, see, &s);
    ir_walk(w->kernel->body, place_var, w);
    place_locals(w);
    memory->local.unit = unit_of(&s, 0);
    memory->private_.unit = unit_of(&s, 1);
    uint64_t size = memory->local.size;
    w->out->local_bytes = (uint32_t)((size + SPIRV_BLOCK_ALIGN - 1) / SPIRV_BLOCK_ALIGN * SPIRV_BLOCK_ALIGN);
    for (uint32_t i = 0; i < w->kernel->n_params; i++)
        memory->local.sized_by_launch |= w->kernel->params[i].value->type == IR_PTR(IR_SPACE_LOCAL);
}

void spw_arrays_close(struct spw *w)
{
    w->out->constants = (uint8_t *)w->memory->constants.text;
    w->out->constants_size = w->memory->constants.size;
}

uint32_t spw_variable_offset(struct spw *w, const struct ir_inst *var)
{
    return spw_const_u32(&w->m, var->scratch);
}

static enum ir_kind unit_kind(uint32_t bytes)
{
    return bytes == 1 ? IR_KIND_I8 : bytes == 2 ? IR_KIND_I16 : bytes == 4 ? IR_KIND_I32 : IR_KIND_I64;
}

static uint32_t array_length(struct spw *w, const struct spw_array *a)
{
    uint64_t bytes = a->size ? a->size : 1;
    if (!a->sized_by_launch) return spw_const_u32(&w->m, (uint32_t)((bytes + a->unit - 1) / a->unit));
    uint32_t word = spw_type_int(&w->m, 32, 1), id = spw_id(&w->m), number = SPIRV_SPEC_LOCAL_BYTES;
    uint32_t least = w->out->local_bytes ? w->out->local_bytes : SPIRV_BLOCK_ALIGN;
    SPW_PUT(&w->m.sections[SPW_GLOBALS], SpvOpSpecConstant, word, id, least);
    spw_decorate(&w->m, id, SpvDecorationSpecId, &number, 1);
    uint32_t divide[3] = {SpvOpUDiv, id, spw_const_u32(&w->m, a->unit)};
    return spw_once(&w->m, SPW_GLOBALS, SpvOpSpecConstantOp, word, divide, 3);
}

static struct spw_array *array_of(struct spw *w, enum ir_space space)
{
    struct spw_array *a = space == IR_SPACE_LOCAL ? &w->memory->local : &w->memory->private_;
    if (a->id) return a;
    uint32_t storage = space == IR_SPACE_LOCAL ? SpvStorageClassWorkgroup : SpvStorageClassFunction;
    uint32_t element = spw_number_type(w, unit_kind(a->unit), 1);
    uint32_t type = spw_type_array(&w->m, element, array_length(w, a));
    enum spw_section section = space == IR_SPACE_LOCAL ? SPW_GLOBALS : SPW_VARIABLES;
    uint32_t pointer = spw_type_pointer(&w->m, storage, type);
    a->id = spw_id(&w->m);
    SPW_PUT(&w->m.sections[section], SpvOpVariable, pointer, a->id, storage);
    if (space == IR_SPACE_LOCAL) spw_append(&w->interface, &a->id, 1);
    return a;
}

/* ---- constants ---- */

/* A constant lies in the block of constants, with those that it holds addresses of. */
static void place_constant(struct spw *w, const struct ir_global *g)
{
    const struct ir_module *m = w->kernel->module;
    struct spw_memory *memory = w->memory;
    uint64_t size = ir_type_size(m, g->type), align = SPIRV_BLOCK_ALIGN;
    static const char zeros[SPIRV_BLOCK_ALIGN];
    if (memory->placed[g->scratch]) return;
    memory->placed[g->scratch] = true;
    strbuf_add_bytes(&memory->constants, zeros, (align - memory->constants.size % align) % align);
    uint64_t at = memory->offsets[g->scratch] = memory->constants.size;
    if (g->init)
        strbuf_add_bytes(&memory->constants, (const char *)g->init, size);
    else
        for (uint64_t i = 0; i < size; i++) strbuf_add_bytes(&memory->constants, zeros, 1);
    for (uint32_t i = 0; i < g->n_addresses; i++) {
        const struct ir_address *a = &g->addresses[i];
        place_constant(w, a->target);
        uint64_t value = memory->offsets[a->target->scratch] + a->at;
        memcpy(memory->constants.text + at + a->offset, &value, sizeof value);
        struct spirv_module *out = w->out;
        out->relocations = arena_realloc(out->relocations, (out->n_relocations + 1) * sizeof *out->relocations);
        out->relocations[out->n_relocations++] = at + a->offset;
    }
}

uint32_t spw_module_variable(struct spw *w, const struct ir_global *g)
{
    if (ir_type_kind(g->type) == IR_KIND_PIPE || g->space == IR_SPACE_GLOBAL) {
        spw_fail(w, "of %s cannot be written: its memory is not an argument", g->name);
        return spw_const_u64(&w->m, 0);
    }
    if (g->space == IR_SPACE_LOCAL) return spw_const_u32(&w->m, (uint32_t)w->memory->offsets[g->scratch]);
    place_constant(w, g);
    uint32_t base = spw_launch_number(w, IR_KIND_I64, offsetof(struct spirv_launch, constants));
    uint32_t at[2] = {base, spw_const_u64(&w->m, w->memory->offsets[g->scratch])};
    return spw_once(&w->m, SPW_PROLOGUE, SpvOpIAdd, spw_type_int(&w->m, 64, 1), at, 2);
}

/* ---- integers in an array ---- */

static uint32_t element_at(struct spw *w, const struct spw_array *a, enum ir_space space, uint32_t offset, unsigned k)
{
    uint32_t word = spw_type_int(&w->m, 32, 1),
             storage = space == IR_SPACE_LOCAL ? SpvStorageClassWorkgroup : SpvStorageClassFunction;
    uint32_t shift = spw_const_u32(&w->m, (uint32_t)__builtin_ctz(a->unit));
    uint32_t index = a->unit > 1 ? SPW_EMIT(w, SpvOpShiftRightLogical, word, offset, shift) : offset;
    if (k) index = SPW_EMIT(w, SpvOpIAdd, word, index, spw_const_u32(&w->m, k));
    uint32_t pointer = spw_type_pointer(&w->m, storage, spw_number_type(w, unit_kind(a->unit), 1));
    return SPW_EMIT(w, SpvOpAccessChain, pointer, a->id, index);
}

/* Memory of a work-group is seen by others. */
static void access_mask(struct spw *w, enum ir_space space, bool is_volatile, uint32_t *operands, uint32_t *n)
{
    uint32_t mask = is_volatile ? SpvMemoryAccessVolatileMask : 0;
    if (space == IR_SPACE_LOCAL || (space != IR_SPACE_PRIVATE && w->shares))
        mask |= SpvMemoryAccessNonPrivatePointerMask;
    if (mask) operands[(*n)++] = mask;
}

static uint32_t load_element(struct spw *w, uint32_t type, enum ir_space space, uint32_t place, bool is_volatile)
{
    uint32_t operands[2] = {place}, n = 1;
    access_mask(w, space, is_volatile, operands, &n);
    return spw_emit_n(w, SpvOpLoad, type, operands, n);
}

static void store_element(struct spw *w, enum ir_space space, uint32_t place, bool is_volatile, uint32_t x)
{
    uint32_t operands[3] = {place, x}, n = 2;
    access_mask(w, space, is_volatile, operands, &n);
    spw_do_n(w, SpvOpStore, operands, n);
}

/* The bits that a narrower integer is shifted by in its element. */
static uint32_t bits_before(struct spw *w, const struct spw_array *a, uint32_t offset)
{
    uint32_t word = spw_type_int(&w->m, 32, 1);
    uint32_t byte = SPW_EMIT(w, SpvOpBitwiseAnd, word, offset, spw_const_u32(&w->m, a->unit - 1));
    return SPW_EMIT(w, SpvOpShiftLeftLogical, word, byte, spw_const_u32(&w->m, 3));
}

static uint32_t load_narrow(struct spw *w, const struct spw_array *a, enum ir_space space, uint32_t offset,
                            unsigned bytes, bool is_volatile)
{
    uint32_t type = spw_type_int(&w->m, a->unit * 8, 1);
    uint32_t all = load_element(w, type, space, element_at(w, a, space, offset, 0), is_volatile);
    uint32_t moved = SPW_EMIT(w, SpvOpShiftRightLogical, type, all, bits_before(w, a, offset));
    return SPW_EMIT(w, SpvOpUConvert, spw_number_type(w, unit_kind(bytes), 1), moved);
}

/* By two atomics: other work-items may write the element's other bytes. */
static void store_narrow(struct spw *w, const struct spw_array *a, enum ir_space space, uint32_t offset, unsigned bytes,
                         uint32_t x)
{
    enum ir_kind kind = unit_kind(a->unit);
    uint32_t type = spw_type_int(&w->m, a->unit * 8, 1), before = bits_before(w, a, offset);
    uint32_t ones = spw_const_number(&w->m, kind, 1, ~0ull >> (64 - bytes * 8));
    uint32_t mask = SPW_EMIT(w, SpvOpShiftLeftLogical, type, ones, before), keep = SPW_EMIT(w, SpvOpNot, type, mask);
    uint32_t wide = SPW_EMIT(w, SpvOpUConvert, type, x), put = SPW_EMIT(w, SpvOpShiftLeftLogical, type, wide, before);
    uint32_t place = element_at(w, a, space, offset, 0);
    if (space == IR_SPACE_PRIVATE) {
        uint32_t old = load_element(w, type, space, place, false);
        uint32_t kept = SPW_EMIT(w, SpvOpBitwiseAnd, type, old, keep);
        store_element(w, space, place, false, SPW_EMIT(w, SpvOpBitwiseOr, type, kept, put));
        return;
    }
    uint32_t scope = spw_const_u32(&w->m, SpvScopeWorkgroup), relaxed = spw_const_u32(&w->m, 0);
    SPW_EMIT(w, SpvOpAtomicAnd, type, place, scope, relaxed, keep);
    SPW_EMIT(w, SpvOpAtomicOr, type, place, scope, relaxed, put);
}

/* ---- addresses ---- */

static uint32_t address_pointer(struct spw *w, uint32_t type, uint32_t address)
{
    uint32_t pointer = spw_type_pointer(&w->m, SpvStorageClassPhysicalStorageBuffer, type);
    return SPW_EMIT(w, SpvOpConvertUToPtr, pointer, address);
}

static void need_storage(struct spw *w, enum ir_kind kind)
{
    if (spw_bits(kind) == 8 && spw_need(w, SPIRV_STORAGE8, "access to memory in bytes"))
        spw_capability(&w->m, SpvCapabilityStorageBuffer8BitAccess);
    if (spw_bits(kind) == 16 && spw_need(w, SPIRV_STORAGE16, "access to memory in units of 16 bits"))
        spw_capability(&w->m, SpvCapabilityStorageBuffer16BitAccess);
}

static uint32_t operands_at(struct spw *w, uint32_t *operands, uint32_t n, uint32_t align, bool is_volatile)
{
    uint32_t mask[1] = {0}, some = 0;
    access_mask(w, IR_SPACE_GLOBAL, is_volatile, mask, &some);
    operands[n] = mask[0] | SpvMemoryAccessAlignedMask;
    operands[n + 1] = align;
    return n + 2;
}

static uint32_t load_at(struct spw *w, uint32_t type, uint32_t address, uint32_t align, bool is_volatile)
{
    uint32_t operands[4] = {address_pointer(w, type, address)};
    return spw_emit_n(w, SpvOpLoad, type, operands, operands_at(w, operands, 1, align, is_volatile));
}

static void store_at(struct spw *w, uint32_t type, uint32_t address, uint32_t align, bool is_volatile, uint32_t x)
{
    uint32_t operands[5] = {address_pointer(w, type, address), x};
    spw_do_n(w, SpvOpStore, operands, operands_at(w, operands, 2, align, is_volatile));
}

void spw_load_vector(struct spw *w, enum ir_kind kind, unsigned n, uint32_t address, uint32_t align, bool is_volatile,
                     uint32_t *scalars)
{
    need_storage(w, kind);
    uint32_t type = spw_number_type(w, kind, n), all = load_at(w, type, address, align, is_volatile);
    if (n == 1) scalars[0] = all;
    for (unsigned i = 0; n > 1 && i < n; i++)
        scalars[i] = SPW_EMIT(w, SpvOpCompositeExtract, spw_number_type(w, kind, 1), all, i);
}

void spw_store_vector(struct spw *w, enum ir_kind kind, unsigned n, uint32_t address, uint32_t align, bool is_volatile,
                      const uint32_t *scalars)
{
    need_storage(w, kind);
    uint32_t type = spw_number_type(w, kind, n);
    uint32_t all = n == 1 ? scalars[0] : spw_emit_n(w, SpvOpCompositeConstruct, type, scalars, n);
    store_at(w, type, address, align, is_volatile, all);
}

/* ---- scalars anywhere ---- */

static uint32_t plus(struct spw *w, bool wide, uint32_t x, uint32_t bytes)
{
    if (!bytes) return x;
    uint32_t by = wide ? spw_const_u64(&w->m, bytes) : spw_const_u32(&w->m, bytes);
    return SPW_EMIT(w, SpvOpIAdd, spw_type_int(&w->m, wide ? 64 : 32, 1), x, by);
}

/* An integer of so many bytes, in pieces where memory is not aligned as it. */
static uint32_t load_bytes(struct spw *w, enum ir_space space, unsigned bytes, uint32_t pointer, uint32_t align,
                           bool is_volatile)
{
    uint32_t pieces[8];
    if (space == IR_SPACE_LOCAL || space == IR_SPACE_PRIVATE) {
        const struct spw_array *a = array_of(w, space);
        if (bytes < a->unit) return load_narrow(w, a, space, pointer, bytes, is_volatile);
        uint32_t type = spw_number_type(w, unit_kind(a->unit), 1);
        for (unsigned i = 0; i < bytes / a->unit; i++)
            pieces[i] = load_element(w, type, space, element_at(w, a, space, pointer, i), is_volatile);
        return spw_glue(w, a->unit * 8, pieces, bytes / a->unit);
    }
    uint32_t unit = align < bytes ? align : bytes;
    for (unsigned i = 0; i < bytes / unit; i++)
        spw_load_vector(w, unit_kind(unit), 1, plus(w, true, pointer, i * unit), unit, is_volatile, &pieces[i]);
    return spw_glue(w, unit * 8, pieces, bytes / unit);
}

static void store_bytes(struct spw *w, enum ir_space space, unsigned bytes, uint32_t pointer, uint32_t align,
                        bool is_volatile, uint32_t x)
{
    uint32_t pieces[8];
    if (space == IR_SPACE_LOCAL || space == IR_SPACE_PRIVATE) {
        const struct spw_array *a = array_of(w, space);
        if (bytes < a->unit) {
            store_narrow(w, a, space, pointer, bytes, x);
            return;
        }
        spw_cut(w, a->unit * 8, x, bytes / a->unit, pieces);
        for (unsigned i = 0; i < bytes / a->unit; i++)
            store_element(w, space, element_at(w, a, space, pointer, i), is_volatile, pieces[i]);
        return;
    }
    uint32_t unit = align < bytes ? align : bytes;
    spw_cut(w, unit * 8, x, bytes / unit, pieces);
    for (unsigned i = 0; i < bytes / unit; i++)
        spw_store_vector(w, unit_kind(unit), 1, plus(w, true, pointer, i * unit), unit, is_volatile, &pieces[i]);
}

/* ---- generic pointers: one of three ways ---- */

uint32_t spw_generic_is(struct spw *w, uint32_t pointer, enum ir_space space)
{
    uint64_t tag = space == IR_SPACE_LOCAL ? 1 : 2;
    uint32_t wide = spw_type_int(&w->m, 64, 1);
    uint32_t top = SPW_EMIT(w, SpvOpShiftRightLogical, wide, pointer, spw_const_u64(&w->m, 62));
    return SPW_EMIT(w, SpvOpIEqual, spw_type_bool(&w->m, 1), top, spw_const_u64(&w->m, tag));
}

static uint32_t generic_offset(struct spw *w, uint32_t pointer)
{
    return SPW_EMIT(w, SpvOpUConvert, spw_type_int(&w->m, 32, 1), pointer);
}

/* Loads (x 0) or stores an integer. */
static uint32_t generic_access(struct spw *w, unsigned bytes, uint32_t pointer, uint32_t align, bool is_volatile,
                               uint32_t x)
{
    static const enum ir_space spaces[] = {IR_SPACE_LOCAL, IR_SPACE_PRIVATE};
    uint32_t type = x ? 0 : spw_number_type(w, unit_kind(bytes), 1), r[3] = {0};
    struct spw_if ways[2];
    for (unsigned i = 0; i < 2; i++) {
        ways[i] = spw_if_begin(w, spw_generic_is(w, pointer, spaces[i]));
        uint32_t offset = generic_offset(w, pointer);
        if (x)
            store_bytes(w, spaces[i], bytes, offset, align, is_volatile, x);
        else
            r[i] = load_bytes(w, spaces[i], bytes, offset, align, is_volatile);
        spw_if_else(w, &ways[i], r[i]);
    }
    if (x)
        store_bytes(w, IR_SPACE_GLOBAL, bytes, pointer, align, is_volatile, x);
    else
        r[2] = load_bytes(w, IR_SPACE_GLOBAL, bytes, pointer, align, is_volatile);
    return spw_if_end(w, &ways[0], type, spw_if_end(w, &ways[1], type, r[2]));
}

uint32_t spw_load_scalar(struct spw *w, enum ir_kind kind, enum ir_space space, uint32_t pointer, uint32_t align,
                         bool is_volatile)
{
    unsigned bytes = spw_bits(kind) / 8;
    uint32_t r = space == IR_SPACE_GENERIC ? generic_access(w, bytes, pointer, align, is_volatile, 0)
                                           : load_bytes(w, space, bytes, pointer, align, is_volatile);
    return spw_bitcast(w, spw_number_type(w, kind, 1), spw_int_kind(kind), kind, r);
}

void spw_store_scalar(struct spw *w, enum ir_kind kind, enum ir_space space, uint32_t pointer, uint32_t align,
                      bool is_volatile, uint32_t x)
{
    unsigned bytes = spw_bits(kind) / 8;
    x = spw_bitcast(w, spw_number_type(w, spw_int_kind(kind), 1), kind, spw_int_kind(kind), x);
    if (space == IR_SPACE_GENERIC)
        generic_access(w, bytes, pointer, align, is_volatile, x);
    else
        store_bytes(w, space, bytes, pointer, align, is_volatile, x);
}

uint32_t spw_place(struct spw *w, enum ir_kind kind, enum ir_space space, uint32_t pointer)
{
    if (space == IR_SPACE_GLOBAL) return address_pointer(w, spw_number_type(w, kind, 1), pointer);
    const struct spw_array *a = array_of(w, space);
    if (a->unit * 8 != spw_bits(kind))
        spw_fail(w, "and atomics of another width on memory of one kind cannot be written");
    return element_at(w, a, space, pointer, 0);
}
