/* Kernels for a GPU. */
#include "daemon/compiler/gpu_compile.h"

#include <stdlib.h>

#include "daemon/gpu/description.h"
#include "daemon/gpu/object.h"
#include "fuser/spirv/abi/abi.h"
#include "fuser/spirv/writer.h"
#include "ir/base/arena.h"

bool gpu_can_compile(const struct ir_function *kernel, const struct gpu_description *gpu, struct diag_list *findings)
{
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
