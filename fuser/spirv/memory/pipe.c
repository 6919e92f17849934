/*
 * Pipes as pipes. One of the module is a variable of pipe storage, which kernels make a pipe of; its host access,
 * properties and name say the rest. A file has one kernel, so the pipe is one that linking makes one again.
 */
#include "fuser/spirv/memory/pipe.h"

#include <spirv/unified1/spirv.h>
#include <string.h>

#include "fuser/spirv/memory/kernel_memory.h"
#include "fuser/spirv/memory/linkage.h"
#include "ir/base/arena.h"

enum {
    CAPABILITY_HOST_ACCESS = 6187, /* SPV_INTEL_global_variable_host_access, which headers do not have yet */
    HOST_ACCESS = 6188,
    HOST_READS_AND_WRITES = 3,
    READ_BLOCKING = 5946, /* SPV_INTEL_blocking_pipes */
    WRITE_BLOCKING = 5947,
};

static bool names_pipe(const struct ir_inst *inst)
{
    return inst->op == IR_OP_GLOBAL && ir_type_kind(inst->results[0]->type) == IR_KIND_PIPE;
}

static void see_pipe(struct ir_inst *inst, void *data)
{
    *(bool *)data |= names_pipe(inst);
}

bool spw_is_pipe(const struct spw *w, const struct ir_inst *inst)
{
    return w->target->features & SPIRV_PIPES && names_pipe(inst);
}

bool spirv_keeps_pipes(const struct ir_function *kernel, const struct spirv_target *target)
{
    bool some = false;
    if (target->features & SPIRV_PIPES) ir_walk(kernel->body, see_pipe, &some);
    return some;
}

/* ---- declarations ---- */

static uint32_t storage_type(struct spw *w)
{
    spw_capability(&w->m, SpvCapabilityPipeStorage);
    return spw_once(&w->m, SPW_GLOBALS, SpvOpTypePipeStorage, 0, NULL, 0);
}

static void say_who_has_it(struct spw *w, uint32_t id, const struct ir_global *g)
{
    spw_link_once(w, id, g->name);
    if (!g->host_access) return;
    spw_capability(&w->m, CAPABILITY_HOST_ACCESS);
    spw_extension(&w->m, "SPV_INTEL_global_variable_host_access");
    spw_decorate_with_name(w, id, HOST_ACCESS, HOST_READS_AND_WRITES, g->host_access, true);
}

static uint32_t variable(struct spw *w, const struct ir_global *g)
{
    const struct ir_module *m = w->kernel->module;
    struct map_entry *known = map_make(&w->globals, (uint64_t)(uintptr_t)g);
    if (!known) arena_no_memory(sizeof *known);
    if (known->number) return (uint32_t)known->number;
    uint32_t said[] = {(uint32_t)ir_type_size(m, g->packet), ir_type_align(m, g->packet), g->capacity};
    uint32_t type = storage_type(w), storage = SpvStorageClassCrossWorkgroup, id = spw_id(&w->m);
    uint32_t init = spw_once(&w->m, SPW_GLOBALS, SpvOpConstantPipeStorage, type, said, 3);
    SPW_PUT(&w->m.sections[SPW_GLOBALS], SpvOpVariable, spw_type_pointer(&w->m, storage, type), id, storage, init);
    spw_name(w, id, g->name);
    say_who_has_it(w, id, g);
    known->number = id;
    return id;
}

/* ---- the pipe of an operation ---- */

static const struct ir_inst *made_by(const struct ir_value *v)
{
    return v->kind == IR_VALUE_RESULT ? v->of.inst : NULL;
}

static const struct ir_global *global_of(const struct ir_inst *inst)
{
    const struct ir_inst *def = made_by(inst->operands[0]);
    return def && def->op == IR_OP_GLOBAL ? def->attrs.global : NULL;
}

/* Made at the kernel's beginning, once for each end that it has. */
static uint32_t pipe_of(struct spw *w, const struct ir_inst *inst, bool writes)
{
    const struct ir_global *g = global_of(inst);
    if (!g && inst->operands[0]->kind != IR_VALUE_PARAM)
        spw_fail(w, "uses a pipe that is neither one of the module nor a parameter");
    if (!g) return spw_value1(w, inst->operands[0]);
    uint32_t from = variable(w, g);
    uint32_t loaded = spw_once(&w->m, SPW_PROLOGUE, SpvOpLoad, storage_type(w), &from, 1);
    uint32_t type = spw_part_type(w, IR_TYPE(IR_KIND_PIPE, 1, writes ? IR_HANDLE_WRITE : IR_HANDLE_READ));
    return spw_once(&w->m, SPW_PROLOGUE, SpvOpCreatePipeFromPipeStorage, type, &loaded, 1);
}

/* As SPIR-V wants them behind the other operands: bytes of a packet, and their alignment. */
static void packet_size(struct spw *w, const struct ir_inst *inst, uint32_t out[2])
{
    const struct ir_module *m = w->kernel->module;
    const struct ir_global *g = global_of(inst);
    ir_type packet = g ? g->packet : inst->type;
    if (packet == IR_VOID) spw_fail(w, "is of a pipe whose packets are not known");
    out[0] = spw_const_u32(&w->m, packet == IR_VOID ? 1 : (uint32_t)ir_type_size(m, packet));
    out[1] = spw_const_u32(&w->m, packet == IR_VOID ? 1 : ir_type_align(m, packet));
}

/* The pointer as one to a packet, and generic, as pipes have it. */
static uint32_t packet_pointer(struct spw *w, const struct ir_inst *inst)
{
    const struct ir_value *p = inst->operands[1];
    enum ir_space space = ir_type_space(p->type);
    bool number = ir_type_is_number(inst->type) && ir_type_kind(inst->type) != IR_KIND_BOOL;
    uint32_t type = number ? spw_part_type(w, inst->type) : spw_type_int(&w->m, 8, 1);
    uint32_t pointer = spw_kernel_pointer(w, type, space, spw_value1(w, p));
    if (space == IR_SPACE_CONSTANT) spw_fail(w, "puts a packet that lies in constant memory");
    if (space == IR_SPACE_GENERIC || space == IR_SPACE_CONSTANT) return pointer;
    spw_capability(&w->m, SpvCapabilityGenericPointer);
    return SPW_EMIT(w, SpvOpPtrCastToGeneric, spw_type_pointer(&w->m, SpvStorageClassGeneric, type), pointer);
}

/* ---- operations ---- */

/* They give 0 where it was done. */
static void set_done(struct spw *w, const struct ir_inst *inst, uint32_t result)
{
    uint32_t zero = spw_const_u32(&w->m, 0);
    spw_set1(w, inst->results[0], SPW_EMIT(w, SpvOpIEqual, spw_type_bool(&w->m, 1), result, zero));
}

static void move_packet(struct spw *w, const struct ir_inst *inst, unsigned opcode, bool writes)
{
    uint32_t o[4] = {pipe_of(w, inst, writes), packet_pointer(w, inst)};
    packet_size(w, inst, o + 2);
    set_done(w, inst, spw_emit_n(w, opcode, spw_type_int(&w->m, 32, 1), o, 4));
}

static void move_packet_of(struct spw *w, const struct ir_inst *inst, unsigned opcode, bool writes)
{
    uint32_t o[6] = {pipe_of(w, inst, writes), spw_value1(w, inst->operands[2]), spw_value1(w, inst->operands[3]),
                     packet_pointer(w, inst)};
    packet_size(w, inst, o + 4);
    set_done(w, inst, spw_emit_n(w, opcode, spw_type_int(&w->m, 32, 1), o, 6));
}

static void wait_for_packet(struct spw *w, const struct ir_inst *inst, unsigned opcode, bool writes)
{
    uint32_t o[4] = {pipe_of(w, inst, writes), packet_pointer(w, inst)};
    packet_size(w, inst, o + 2);
    spw_capability(&w->m, SpvCapabilityBlockingPipesINTEL);
    spw_extension(&w->m, "SPV_INTEL_blocking_pipes");
    spw_do_n(w, opcode, o, 4);
}

static bool is_reservation(const struct ir_value *v)
{
    const struct ir_inst *def = made_by(v);
    return def && (def->op == IR_OP_PIPE_RESERVE_READ || def->op == IR_OP_PIPE_RESERVE_WRITE);
}

static bool asks_whether(const struct ir_inst *inst)
{
    uint64_t n;
    return inst->op == IR_OP_SGT && is_reservation(inst->operands[0]) && ir_value_uint(inst->operands[1], &n) && !n;
}

/* SPIR-V's reservations are no numbers. */
static void see_number(struct ir_inst *inst, void *data)
{
    struct spw *w = data;
    if (ir_op_class(inst->op) == IR_CLASS_PIPE || asks_whether(inst)) return;
    for (uint32_t i = 0; i < inst->n_operands; i++)
        if (is_reservation(inst->operands[i])) spw_fail(w, "uses a reservation of a pipe as a number");
}

static void reserve(struct spw *w, const struct ir_inst *inst, unsigned opcode, bool writes)
{
    uint32_t o[4] = {pipe_of(w, inst, writes), spw_value1(w, inst->operands[1])};
    packet_size(w, inst, o + 2);
    uint32_t type = spw_once(&w->m, SPW_GLOBALS, SpvOpTypeReserveId, 0, NULL, 0);
    ir_walk(w->kernel->body, see_number, w);
    spw_set1(w, inst->results[0], spw_emit_n(w, opcode, type, o, 4));
}

static void commit(struct spw *w, const struct ir_inst *inst, unsigned opcode, bool writes)
{
    uint32_t o[4] = {pipe_of(w, inst, writes), spw_value1(w, inst->operands[1])};
    packet_size(w, inst, o + 2);
    spw_do_n(w, opcode, o, 4);
}

bool spw_pipe_asked(struct spw *w, const struct ir_inst *inst)
{
    if (!(w->target->features & SPIRV_PIPES) || !asks_whether(inst)) return false;
    uint32_t id = spw_value1(w, inst->operands[0]);
    spw_set1(w, inst->results[0], SPW_EMIT(w, SpvOpIsValidReserveId, spw_type_bool(&w->m, 1), id));
    return true;
}

static void count(struct spw *w, const struct ir_inst *inst, unsigned opcode)
{
    uint32_t o[3] = {pipe_of(w, inst, false)};
    packet_size(w, inst, o + 1);
    spw_set1(w, inst->results[0], spw_emit_n(w, opcode, spw_type_int(&w->m, 32, 1), o, 3));
}

void spw_pipe(struct spw *w, const struct ir_inst *inst)
{
    switch (inst->op) {
    case IR_OP_PIPE_READ: move_packet(w, inst, SpvOpReadPipe, false); break;
    case IR_OP_PIPE_WRITE: move_packet(w, inst, SpvOpWritePipe, true); break;
    case IR_OP_PIPE_READ_WAIT: wait_for_packet(w, inst, READ_BLOCKING, false); break;
    case IR_OP_PIPE_WRITE_WAIT: wait_for_packet(w, inst, WRITE_BLOCKING, true); break;
    case IR_OP_PIPE_READ_AT: move_packet_of(w, inst, SpvOpReservedReadPipe, false); break;
    case IR_OP_PIPE_WRITE_AT: move_packet_of(w, inst, SpvOpReservedWritePipe, true); break;
    case IR_OP_PIPE_RESERVE_READ: reserve(w, inst, SpvOpReserveReadPipePackets, false); break;
    case IR_OP_PIPE_RESERVE_WRITE: reserve(w, inst, SpvOpReserveWritePipePackets, true); break;
    case IR_OP_PIPE_COMMIT_READ: commit(w, inst, SpvOpCommitReadPipe, false); break;
    case IR_OP_PIPE_COMMIT_WRITE: commit(w, inst, SpvOpCommitWritePipe, true); break;
    case IR_OP_PIPE_NUM_PACKETS: count(w, inst, SpvOpGetNumPipePackets); break;
    default: count(w, inst, SpvOpGetMaxPipePackets); break;
    }
}
