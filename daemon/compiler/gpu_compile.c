/* Kernels for a GPU. */
#include "daemon/compiler/gpu_compile.h"

#include <stdlib.h>

#include "daemon/gpu/description.h"
#include "daemon/gpu/object.h"
#include "fuser/spirv/abi/abi.h"
#include "fuser/spirv/print.h"
#include "fuser/spirv/writer.h"
#include "ir/base/arena.h"
#include "ir/base/map.h"
#include "ir/core/edit.h"

/* ---- addresses: arguments are given as the device's, what lies in memory are the session's ---- */

struct search {
    const struct ir_function *kernel;
    struct diag_list *findings;
    struct map numbers; /* by value: integers that addresses have become */
    bool found;
};

static void refuse(struct search *s, const struct ir_inst *inst, const char *what)
{
    s->found = true;
    diag_add(s->findings, s->kernel->name, NULL, inst->loc.line, 0, "%s: the memory of this device has other addresses",
             what);
}

/* Constants' addresses may be kept as long as the kernel runs. */
static bool is_address(const struct ir_value *v, bool stays)
{
    if (!ir_type_is_ptr(v->type)) return false;
    enum ir_space space = ir_type_space(v->type);
    return space == IR_SPACE_GLOBAL || space == IR_SPACE_GENERIC || (space == IR_SPACE_CONSTANT && !stays);
}

static bool is_number(const struct search *s, const struct ir_value *v)
{
    return map_find(&s->numbers, (uint64_t)(uintptr_t)v);
}

static void put_number(struct search *s, struct ir_value *v)
{
    if (!map_put(&s->numbers, (uint64_t)(uintptr_t)v, v)) arena_no_memory(sizeof v);
}

/* An address may be computed with, compared and be part of a distance; kept or told it would be of no use to others. */
static void look_at_number(struct search *s, const struct ir_inst *inst)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < inst->n_operands; i++) n += is_number(s, inst->operands[i]);
    if (!n || (inst->op == IR_OP_SUB && n == 2)) return;
    switch (ir_op_class(inst->op)) {
    case IR_CLASS_COMPARISON: break;
    case IR_CLASS_ARITHMETIC:
    case IR_CLASS_CONVERSION:
    case IR_CLASS_VECTOR: put_number(s, inst->results[0]); break;
    default: refuse(s, inst, "keeps an address as a number");
    }
}

static void look_at(struct ir_inst *inst, void *data)
{
    struct search *s = data;
    if (s->found) return;
    bool finds = inst->op == IR_OP_LOAD || inst->op == IR_OP_INTTOPTR;
    if (finds && is_address(inst->results[0], true)) {
        refuse(s, inst, "follows a pointer that it finds in memory");
    } else if (inst->op == IR_OP_STORE &&
               is_address(inst->operands[1], ir_type_space(inst->operands[0]->type) == IR_SPACE_PRIVATE)) {
        if (!spirv_stores_to_print(inst)) refuse(s, inst, "stores a pointer");
    } else {
        look_at_number(s, inst);
        if (inst->op == IR_OP_PTRTOINT && is_address(inst->operands[0], false)) put_number(s, inst->results[0]);
    }
}

static bool keeps_to_arguments(const struct ir_function *kernel, const struct gpu_description *gpu,
                               struct diag_list *findings)
{
    struct search s = {.kernel = kernel, .findings = findings};
    if (!gpu->same_addresses) ir_walk(kernel->body, look_at, &s);
    map_clear(&s.numbers);
    return !s.found;
}

bool gpu_can_compile(const struct ir_function *kernel, const struct gpu_description *gpu, struct diag_list *findings)
{
    if (!keeps_to_arguments(kernel, gpu, findings)) return false;
    struct spirv_module module;
    int result = spirv_write(kernel, &gpu->target, &module, findings);
    if (result == 0) spirv_module_clear(&module);
    return result == 0;
}

static void pack(const struct spirv_module *m, uint8_t **bytes, size_t *size)
{
    const struct gpu_object object = {
        .header = {.magic = GPU_OBJECT_MAGIC,
                   .abi_version = SPIRV_ABI_VERSION,
                   .args_size = m->args_size,
                   .local_bytes = m->local_bytes,
                   .item_bytes = m->item_bytes,
                   .sub_group_size = m->sub_group_size,
                   .whole_groups = m->whole_groups,
                   .items = m->items,
                   .prints = m->prints,
                   .n_words = m->n_words,
                   .n_relocations = m->n_relocations,
                   .constants_size = m->constants_size},
        .words = m->words,
        .relocations = m->relocations,
        .constants = m->constants,
    };
    *size = gpu_object_bytes(&object.header);
    *bytes = arena_realloc(NULL, *size);
    gpu_object_encode(&object, *bytes);
}

int gpu_compile(const struct ir_function *kernel, const struct gpu_description *gpu, uint8_t **bytes, size_t *size,
                struct diag_list *findings)
{
    struct spirv_module module;
    int result = spirv_write(kernel, &gpu->target, &module, findings);
    if (result != 0) return result;
    pack(&module, bytes, size);
    spirv_module_clear(&module);
    return 0;
}
