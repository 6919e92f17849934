/* Kernels: their facts, and what the next launch of them is to have. */
#include <stdlib.h>
#include <string.h>

#include "tests/level_zero/driver/calls.h"
#include "tests/level_zero/driver/limits.h"
#include "tests/level_zero/driver/objects.h"

static void free_kernel(ze_kernel_handle_t k)
{
    for (uint32_t i = 0; k->arguments && i < k->kernel->n_parameters; i++) free(k->arguments[i].bytes);
    free(k->arguments);
    machine_free_kernel(k->code);
    free(k);
}

ze_result_t ZE_APICALL level_kernel_create(ze_module_handle_t module, const ze_kernel_desc_t *desc,
                                           ze_kernel_handle_t *kernel)
{
    if (!module) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!desc || !desc->pKernelName || !kernel) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (desc->flags > 3) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (!module->program) return ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED;
    const struct spirv_kernel *facts = spirv_find_kernel(&module->spirv, desc->pKernelName);
    if (!facts) return ZE_RESULT_ERROR_INVALID_KERNEL_NAME;
    ze_kernel_handle_t k = calloc(1, sizeof *k);
    if (!k) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    *k = (struct _ze_kernel_handle_t){.module = module, .kernel = facts, .group_size = {1, 1, 1}};
    if (facts->required_size[0]) memcpy(k->group_size, facts->required_size, sizeof k->group_size);
    k->arguments = calloc(facts->n_parameters + 1, sizeof *k->arguments);
    k->code = machine_kernel(module->program, facts->name, &k->local_bytes);
    if (k->arguments && k->code) {
        *kernel = k;
        return ZE_RESULT_SUCCESS;
    }
    ze_result_t result = k->code ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY : ZE_RESULT_ERROR_INVALID_KERNEL_NAME;
    free_kernel(k);
    return result;
}

ze_result_t ZE_APICALL level_kernel_destroy(ze_kernel_handle_t kernel)
{
    if (!kernel) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    free_kernel(kernel);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL level_kernel_set_cache_config(ze_kernel_handle_t kernel, ze_cache_config_flags_t flags)
{
    if (!kernel) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    return flags > 3 ? ZE_RESULT_ERROR_INVALID_ENUMERATION : ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL level_kernel_set_group_size(ze_kernel_handle_t kernel, uint32_t x, uint32_t y, uint32_t z)
{
    if (!kernel) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    uint32_t size[3] = {x, y, z};
    const uint32_t *required = kernel->kernel->required_size;
    bool fits = x && y && z && (uint64_t)x * y <= limit_group_size() && (uint64_t)x * y * z <= limit_group_size();
    if (!fits || (required[0] && memcmp(required, size, sizeof size) != 0))
        return ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION;
    memcpy(kernel->group_size, size, sizeof size);
    return ZE_RESULT_SUCCESS;
}

/* The largest divisor of n that is at most so much. */
static uint32_t divisor(uint32_t n, uint32_t most)
{
    uint32_t d = n < most ? n : most;
    while (n % d != 0) d--;
    return d;
}

ze_result_t ZE_APICALL level_kernel_suggest_group_size(ze_kernel_handle_t kernel, uint32_t global_x, uint32_t global_y,
                                                       uint32_t global_z, uint32_t *x, uint32_t *y, uint32_t *z)
{
    if (!kernel) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!x || !y || !z) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (!global_x || !global_y || !global_z) return ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION;
    const uint32_t *required = kernel->kernel->required_size;
    uint32_t most = limit_group_size();
    *x = required[0] ? required[0] : divisor(global_x, most);
    *y = required[0] ? required[1] : divisor(global_y, most / *x);
    *z = required[0] ? required[2] : divisor(global_z, most / (*x * *y));
    return ZE_RESULT_SUCCESS;
}

/* Groups that wait for each other: only one is sure to run. */
ze_result_t ZE_APICALL level_kernel_suggest_max_cooperative_group_count(ze_kernel_handle_t kernel, uint32_t *count)
{
    if (!kernel) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!count) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    *count = 1;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL level_kernel_set_argument_value(ze_kernel_handle_t kernel, uint32_t index, size_t size,
                                                       const void *value)
{
    if (!kernel) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (index >= kernel->kernel->n_parameters) return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX;
    const struct spirv_parameter *parameter = &kernel->kernel->parameters[index];
    bool local = parameter->kind == SPIRV_LOCAL_POINTER;
    if (parameter->kind == SPIRV_OPAQUE) return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    if (local ? size == 0 : size != parameter->size) return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
    if (local && value) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    uint8_t *bytes = local ? NULL : calloc(1, size); /* no value is a null pointer, or zero */
    if (!local && !bytes) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    if (value) memcpy(bytes, value, size);
    free(kernel->arguments[index].bytes);
    kernel->arguments[index] = (struct machine_argument){bytes, size};
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL level_kernel_set_indirect_access(ze_kernel_handle_t kernel,
                                                        ze_kernel_indirect_access_flags_t flags)
{
    if (!kernel) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (flags > 7) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    kernel->indirect = flags;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL level_kernel_get_indirect_access(ze_kernel_handle_t kernel,
                                                        ze_kernel_indirect_access_flags_t *flags)
{
    if (!kernel) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!flags) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    *flags = kernel->indirect;
    return ZE_RESULT_SUCCESS;
}

/* No attributes of the source are kept in SPIR-V. */
ze_result_t ZE_APICALL level_kernel_get_source_attributes(ze_kernel_handle_t kernel, uint32_t *size, char **text)
{
    if (!kernel) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!size) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (text && *text && *size > 0) (*text)[0] = 0;
    *size = 1;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL level_kernel_set_global_offset(ze_kernel_handle_t kernel, uint32_t x, uint32_t y, uint32_t z)
{
    if (!kernel) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    kernel->offset[0] = x;
    kernel->offset[1] = y;
    kernel->offset[2] = z;
    return ZE_RESULT_SUCCESS;
}

static void fill_preferred(ze_kernel_properties_t *p)
{
    ze_kernel_preferred_group_size_properties_t *preferred = p->pNext;
    if (preferred && preferred->stype == ZE_STRUCTURE_TYPE_KERNEL_PREFERRED_GROUP_SIZE_PROPERTIES)
        preferred->preferredMultiple = 8;
}

ze_result_t ZE_APICALL level_kernel_get_properties(ze_kernel_handle_t kernel, ze_kernel_properties_t *p)
{
    if (!kernel) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!p) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    const struct spirv_kernel *k = kernel->kernel;
    p->numKernelArgs = k->n_parameters;
    p->requiredGroupSizeX = k->required_size[0];
    p->requiredGroupSizeY = k->required_size[1];
    p->requiredGroupSizeZ = k->required_size[2];
    p->requiredNumSubGroups = 0;
    p->requiredSubgroupSize = k->sub_group_size;
    p->maxSubgroupSize = LIMIT_SUB_GROUP_SIZE;
    p->maxNumSubgroups = limit_group_size() / LIMIT_SUB_GROUP_SIZE;
    p->localMemSize = (uint32_t)kernel->local_bytes;
    p->privateMemSize = p->spillMemSize = 0;
    memset(&p->uuid, 0, sizeof p->uuid);
    p->uuid.kid[0] = (uint8_t)(1 + (k - kernel->module->spirv.kernels));
    fill_preferred(p);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL level_kernel_get_name(ze_kernel_handle_t kernel, size_t *size, char *name)
{
    if (!kernel) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!size) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    size_t needed = strlen(kernel->kernel->name) + 1;
    if (name && *size < needed) return ZE_RESULT_ERROR_INVALID_SIZE;
    if (name) memcpy(name, kernel->kernel->name, needed);
    *size = needed;
    return ZE_RESULT_SUCCESS;
}
