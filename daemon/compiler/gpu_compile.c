/* Kernels for a GPU. */
#include "daemon/compiler/gpu_compile.h"

#include <stdlib.h>

#include "daemon/gpu/description.h"
#include "daemon/gpu/object.h"
#include "fuser/spirv/abi/abi.h"
#include "fuser/spirv/writer.h"
#include "ir/base/arena.h"
#include "ir/core/edit.h"

struct search {
    const struct ir_function *kernel;
    struct diag_list *findings;
    bool found;
};

static void look_at(struct ir_inst *inst, void *data)
{
    struct search *s = data;
    bool loads = inst->op == IR_OP_LOAD || inst->op == IR_OP_INTTOPTR;
    if (s->found || !loads || !ir_type_is_ptr(inst->results[0]->type)) return;
    enum ir_space space = ir_type_space(inst->results[0]->type);
    s->found = space == IR_SPACE_GLOBAL || space == IR_SPACE_GENERIC;
    if (s->found)
        diag_add(s->findings, s->kernel->name, NULL, inst->loc.line, 0,
                 "follows a pointer that it finds in memory: the memory of this device has other addresses");
}

/* Arguments are given as the device's addresses; pointers in memory are the session's. */
static bool keeps_to_arguments(const struct ir_function *kernel, const struct gpu_description *gpu,
                               struct diag_list *findings)
{
    struct search s = {.kernel = kernel, .findings = findings};
    if (!gpu->same_addresses) ir_walk(kernel->body, look_at, &s);
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
