/* Instructions that make pointers or touch memory. */
#include "ir/interp/access.h"

#include <inttypes.h>
#include <string.h>

#include "ir/eval/bits.h"
#include "ir/eval/float.h"
#include "ir/eval/int.h"
#include "ir/interp/frame.h"
#include "ir/interp/memory.h"
#include "ir/interp/memory_access.h"
#include "ir/interp/pipe.h"
#include "ir/interp/report.h"
#include "ir/interp/value.h"

static const uint64_t *operand_at(const struct item *item, uint32_t i)
{
    return interp_item_operand(item, i);
}

static enum ir_space space_of(const struct code_inst *at, uint32_t i)
{
    return ir_type_space(at->ir->operands[i]->type);
}

static uint32_t align_of(const struct machine *m, const struct ir_inst *inst, ir_type t)
{
    return inst->attrs.align ? inst->attrs.align : ir_type_align(m->module, t);
}

/* ---- pointers ---- */

static int64_t signed_operand(const struct item *item, const struct code_inst *at, uint32_t i)
{
    return eval_sext(operand_at(item, i)[0], ir_type_bits(at->ir->operands[i]->type));
}

static uint64_t exec_element(const struct machine *m, const struct item *item, const struct code_inst *at)
{
    return operand_at(item, 0)[0] + (uint64_t)signed_operand(item, at, 1) * ir_type_size(m->module, at->ir->type);
}

static uint64_t exec_field(const struct machine *m, const struct item *item, const struct code_inst *at)
{
    const struct ir_struct *s = ir_type_struct(m->module, at->ir->type);
    return operand_at(item, 0)[0] + s->fields[at->ir->attrs.index].offset;
}

/* From generic to a space that the memory is not in: null, as OpenCL's to_local() and its like. */
static uint64_t cast_space(struct machine *m, const struct item *item, const struct code_inst *at)
{
    uint64_t address = interp_memory_own(m, operand_at(item, 0)[0]);
    const struct allocation *a = interp_memory_find(&m->memory, address);
    enum ir_space to = at->ir->attrs.space;
    return to == IR_SPACE_GENERIC || !a || a->space == to ? address : 0;
}

static uint64_t global_address(struct machine *m, struct item *item, const struct code_inst *at)
{
    const struct ir_global *g = at->ir->attrs.global;
    if (ir_type_kind(g->type) == IR_KIND_PIPE) return interp_pipe_of_global(m, g);
    for (uint32_t i = 0; i < m->module->n_globals; i++)
        if (m->module->globals[i] == g && m->globals[i]) return m->globals[i];
    interp_report(m, INTERP_INVALID, item, at, "variable `%s` is imported and has no memory", g->name);
    m->stopped = true;
    return 0;
}

/* ---- load, store, copy ---- */

/* Others see what is stored there. */
static bool is_global(struct machine *m, uint64_t address)
{
    const struct allocation *a = interp_memory_find(&m->memory, interp_memory_own(m, address));
    return a && a->space == IR_SPACE_GLOBAL;
}

static void exec_load(struct machine *m, struct item *item, const struct code_inst *at, unsigned flags, uint64_t *r)
{
    ir_type t = at->ir->type;
    struct access a = {operand_at(item, 0)[0], interp_value_size(t), space_of(at, 0),
                       align_of(m, at->ir, t), ACCESS_READ | flags,  NULL};
    const uint8_t *bytes = interp_memory_access(m, item, at, &a);
    if (bytes) interp_value_read(t, bytes, r);
    if (bytes && ir_type_is_ptr(t)) *r = interp_memory_own(m, *r);
}

static void exec_store(struct machine *m, struct item *item, const struct code_inst *at, unsigned flags)
{
    ir_type t = at->ir->type;
    uint8_t value[IR_MAX_LANES * 8];
    interp_value_write(t, value, operand_at(item, 1));
    struct access a = {operand_at(item, 0)[0], interp_value_size(t), space_of(at, 0),
                       align_of(m, at->ir, t), ACCESS_WRITE | flags, value};
    uint8_t *bytes = interp_memory_access(m, item, at, &a);
    if (bytes && ir_type_is_ptr(t) && is_global(m, a.address)) {
        uint64_t place = interp_memory_place(&m->memory, operand_at(item, 1)[0]);
        memcpy(value, &place, sizeof place);
    }
    if (bytes) memcpy(bytes, value, a.size);
}

/* A copy takes along which bytes are written: padding may stay unwritten. */
static void copy_written(struct machine *m, const struct access *to, const struct access *from)
{
    uint64_t into = interp_memory_own(m, to->address), out = interp_memory_own(m, from->address);
    struct allocation *a = interp_memory_find(&m->memory, into), *b = interp_memory_find(&m->memory, out);
    if (!a->written || !b->written) return;
    memmove(a->written + interp_memory_offset(into), b->written + interp_memory_offset(out), to->size);
}

static void exec_copy(struct machine *m, struct item *item, const struct code_inst *at)
{
    ir_type t = at->ir->type;
    int64_t count = signed_operand(item, at, 2);
    uint64_t size, to = operand_at(item, 0)[0], from = operand_at(item, 1)[0];
    if (count < 0 || __builtin_mul_overflow((uint64_t)count, ir_type_size(m->module, t), &size)) {
        interp_report(m, INTERP_OUT_OF_BOUNDS, item, at, "copy of %" PRId64 " elements", count);
        return;
    }
    if (size == 0) return;
    if (!m->options.tolerant && to < from + size && from < to + size)
        interp_report(m, INTERP_INVALID, item, at, "copy of %" PRIu64 " bytes between places that overlap", size);
    uint32_t align = align_of(m, at->ir, t);
    struct access read = {from, size, space_of(at, 1), align, ACCESS_READ | ACCESS_COPY, NULL};
    struct access write = {to, size, space_of(at, 0), align, ACCESS_WRITE, NULL};
    const uint8_t *source = interp_memory_access(m, item, at, &read);
    write.value = source;
    uint8_t *target = source ? interp_memory_access(m, item, at, &write) : NULL;
    if (!target) return;
    memmove(target, source, size);
    copy_written(m, &write, &read);
}

/* ---- atomics ---- */

/* What is written when `old` was there: the operation's arithmetic. */
static uint64_t updated_value(const struct ir_inst *inst, uint64_t old, uint64_t x)
{
    uint64_t v[4] = {old, x}, r = x;
    unsigned bits = ir_type_bits(inst->type);
    enum ir_kind kind = ir_type_kind(inst->type);
    switch (inst->op) {
    case IR_OP_ATOMIC_ADD: eval_int(IR_OP_ADD, bits, v, &r); break;
    case IR_OP_ATOMIC_SUB: eval_int(IR_OP_SUB, bits, v, &r); break;
    case IR_OP_ATOMIC_SMIN: eval_int(IR_OP_SMIN, bits, v, &r); break;
    case IR_OP_ATOMIC_UMIN: eval_int(IR_OP_UMIN, bits, v, &r); break;
    case IR_OP_ATOMIC_SMAX: eval_int(IR_OP_SMAX, bits, v, &r); break;
    case IR_OP_ATOMIC_UMAX: eval_int(IR_OP_UMAX, bits, v, &r); break;
    case IR_OP_ATOMIC_AND: eval_int(IR_OP_AND, bits, v, &r); break;
    case IR_OP_ATOMIC_OR: eval_int(IR_OP_OR, bits, v, &r); break;
    case IR_OP_ATOMIC_XOR: eval_int(IR_OP_XOR, bits, v, &r); break;
    case IR_OP_ATOMIC_FADD: eval_float(IR_OP_FADD, kind, v, &r); break;
    case IR_OP_ATOMIC_FMIN: eval_float(IR_OP_FMIN, kind, v, &r); break;
    case IR_OP_ATOMIC_FMAX: eval_float(IR_OP_FMAX, kind, v, &r); break;
    default: break; /* exchange */
    }
    return r;
}

static void atomic_update(struct machine *m, struct item *item, const struct code_inst *at, uint64_t *r)
{
    ir_type t = at->ir->type;
    struct access a = {operand_at(item, 0)[0],
                       interp_value_size(t),
                       space_of(at, 0),
                       ir_type_align(m->module, t),
                       ACCESS_READ | ACCESS_WRITE | ACCESS_ATOMIC,
                       NULL};
    uint8_t *bytes = interp_memory_access(m, item, at, &a);
    if (!bytes) return;
    interp_value_read(t, bytes, r);
    uint64_t new[IR_MAX_LANES];
    for (unsigned lane = 0; lane < ir_type_lanes(t); lane++) {
        const uint64_t x = operand_at(item, 1)[lane];
        new[lane] = at->ir->op != IR_OP_ATOMIC_CMPXCHG ? updated_value(at->ir, r[lane], x)
                    : r[lane] == x                     ? operand_at(item, 2)[lane]
                                                       : r[lane];
    }
    interp_value_write(t, bytes, new);
}

static void atomic_flag(struct machine *m, struct item *item, const struct code_inst *at, bool set, uint64_t *r)
{
    struct access a = {operand_at(item, 0)[0], 4, space_of(at, 0), 4, ACCESS_WRITE | ACCESS_ATOMIC, NULL};
    if (set) a.flags |= ACCESS_READ;
    uint8_t *bytes = interp_memory_access(m, item, at, &a);
    if (!bytes) return;
    uint32_t old, new = set;
    memcpy(&old, bytes, sizeof old);
    memcpy(bytes, &new, sizeof new);
    if (set) *r = old != 0;
}

static bool pointer_exec(struct machine *m, struct item *item, const struct code_inst *at, uint64_t *r)
{
    switch (at->ir->op) {
    case IR_OP_PTRTOINT:
        *r = interp_memory_place(&m->memory, operand_at(item, 0)[0]) & eval_mask(ir_type_bits(at->ir->type));
        return true;
    case IR_OP_INTTOPTR: *r = interp_memory_own(m, operand_at(item, 0)[0]); return true;
    case IR_OP_SPACECAST: *r = cast_space(m, item, at); return true;
    case IR_OP_GLOBAL: *r = global_address(m, item, at); return true;
    case IR_OP_ELEM: *r = exec_element(m, item, at); return true;
    case IR_OP_FIELD: *r = exec_field(m, item, at); return true;
    default: return false;
    }
}

bool interp_access_exec(struct machine *m, struct item *item, const struct code_inst *at, uint64_t *r)
{
    if (pointer_exec(m, item, at, r)) return true;
    switch (at->ir->op) {
    case IR_OP_LOAD: exec_load(m, item, at, 0, r); return true;
    case IR_OP_STORE: exec_store(m, item, at, 0); return true;
    case IR_OP_COPY: exec_copy(m, item, at); return true;
    case IR_OP_PREFETCH:
    case IR_OP_FENCE: return true;
    case IR_OP_ATOMIC_LOAD: exec_load(m, item, at, ACCESS_ATOMIC, r); return true;
    case IR_OP_ATOMIC_STORE: exec_store(m, item, at, ACCESS_ATOMIC); return true;
    case IR_OP_ATOMIC_XCHG ... IR_OP_ATOMIC_FMAX: atomic_update(m, item, at, r); return true;
    case IR_OP_ATOMIC_TEST_SET: atomic_flag(m, item, at, true, r); return true;
    case IR_OP_ATOMIC_CLEAR: atomic_flag(m, item, at, false, r); return true;
    case IR_OP_BARRIER: return true; /* of a single work-item: the others are collective */
    default: return false;
    }
}
