/* Modules: SPIR-V that the validator takes, that asks for nothing that the device lacks, and that compiles. */
#include <spirv/unified1/spirv.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/level_zero/driver/calls.h"
#include "tests/level_zero/driver/native.h"
#include "tests/level_zero/driver/objects.h"
#include "tests/level_zero/driver/state.h"

static bool has_capability(uint32_t capability)
{
    const struct machine_facts *f = machine_facts();
    switch (capability) {
    case SpvCapabilityAddresses:
    case SpvCapabilityLinkage:
    case SpvCapabilityKernel:
    case SpvCapabilityVector16:
    case SpvCapabilityInt8:
    case SpvCapabilityInt16:
    case SpvCapabilityInt64:
    case SpvCapabilityGenericPointer:
    case SpvCapabilityFloat16Buffer: return true;
    case SpvCapabilityFloat16: return f->fp16;
    case SpvCapabilityFloat64: return f->fp64;
    case SpvCapabilityInt64Atomics: return f->int64_atomics;
    case SpvCapabilityGroups: return f->work_group_functions || f->sub_groups;
    case SpvCapabilitySubgroupDispatch:
    case SpvCapabilityGroupNonUniform: return f->sub_groups;
    default: return false;
    }
}

__attribute__((format(printf, 2, 3))) static ze_result_t fail(char **log, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(log, format, arguments) < 0) *log = NULL;
    va_end(arguments);
    return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
}

static ze_result_t check_capabilities(const struct spirv_module *m, char **log)
{
    for (uint32_t i = 0; i < m->n_capabilities; i++)
        if (!has_capability(m->capabilities[i]))
            return fail(log, "error: the device has not the capability %u that the module asks for\n",
                        m->capabilities[i]);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t specialize(ze_module_handle_t m, const ze_module_constants_t *constants, char **log)
{
    for (uint32_t i = 0; constants && i < constants->numConstants; i++)
        if (!spirv_specialize((uint32_t *)m->words, m->size / 4, constants->pConstantIds[i],
                              constants->pConstantValues[i]))
            return fail(log, "error: the module has no specialization constant %u\n", constants->pConstantIds[i]);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t build(ze_module_handle_t m, const ze_module_constants_t *constants, char **log)
{
    char *message = NULL;
    if (m->size % 4 != 0) return fail(log, "error: a module is whole words\n");
    if (!spirv_is_valid((uint32_t *)m->words, m->size / 4, &message)) {
        ze_result_t result = fail(log, "error: no valid module: %s\n", message);
        free(message);
        return result;
    }
    ze_result_t result = specialize(m, constants, log);
    if (result != ZE_RESULT_SUCCESS) return result;
    if (!spirv_read(&m->spirv, (uint32_t *)m->words, m->size / 4)) return fail(log, "error: no module\n");
    result = check_capabilities(&m->spirv, log);
    if (result != ZE_RESULT_SUCCESS || m->spirv.imports) return result; /* to be linked before it is compiled */
    m->program = machine_build(m->words, m->size, log);
    return m->program ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
}

static void free_module(ze_module_handle_t m)
{
    machine_free_program(m->program);
    spirv_free(&m->spirv);
    free(m->words);
    free(m);
}

/* The log is made whether building went well or not. */
static ze_result_t give_log(ze_module_build_log_handle_t *log, char *text)
{
    if (!log) {
        free(text);
        return ZE_RESULT_SUCCESS;
    }
    *log = calloc(1, sizeof **log);
    if (*log) (*log)->text = text ? text : strdup("");
    return *log && (*log)->text ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

static ze_result_t check(const ze_module_desc_t *desc, const uint8_t **input, size_t *size)
{
    if (desc->format > ZE_MODULE_FORMAT_NATIVE) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (!desc->pInputModule) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (desc->inputSize == 0) return ZE_RESULT_ERROR_INVALID_SIZE;
    if (state_device_is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
    *input = desc->pInputModule;
    *size = desc->inputSize;
    if (desc->format == ZE_MODULE_FORMAT_NATIVE) *input = native_read(desc->pInputModule, desc->inputSize, size);
    return *input ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_NATIVE_BINARY;
}

ze_result_t ZE_APICALL level_module_create(ze_context_handle_t context, ze_device_handle_t device,
                                           const ze_module_desc_t *desc, ze_module_handle_t *module,
                                           ze_module_build_log_handle_t *log)
{
    if (!context || !device) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!desc || !module) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    const uint8_t *input = NULL;
    size_t size = 0;
    ze_result_t result = check(desc, &input, &size);
    if (result != ZE_RESULT_SUCCESS) return result;
    ze_module_handle_t m = calloc(1, sizeof *m);
    if (!m) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    m->device = device;
    m->size = size;
    m->words = malloc(size);
    char *text = NULL;
    if (m->words) memcpy(m->words, input, size);
    result = m->words ? build(m, desc->pConstants, &text) : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    ze_result_t logged = give_log(log, text);
    if (result == ZE_RESULT_SUCCESS) result = logged;
    if (result == ZE_RESULT_SUCCESS)
        *module = m;
    else
        free_module(m);
    return result;
}

ze_result_t ZE_APICALL level_module_destroy(ze_module_handle_t module)
{
    if (!module) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    free_module(module);
    return ZE_RESULT_SUCCESS;
}

/* Modules without imports are linked by nature; others cannot be. */
ze_result_t ZE_APICALL level_module_dynamic_link(uint32_t n, ze_module_handle_t *modules,
                                                 ze_module_build_log_handle_t *log)
{
    if (!modules) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    for (uint32_t i = 0; i < n; i++)
        if (modules[i]->spirv.imports) return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    return give_log(log, NULL);
}

ze_result_t ZE_APICALL level_module_get_native_binary(ze_module_handle_t module, size_t *size, uint8_t *binary)
{
    if (!module) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!size) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (binary && *size < native_size(module->size)) return ZE_RESULT_ERROR_INVALID_SIZE;
    if (binary) native_write(binary, module->words, module->size);
    *size = native_size(module->size);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL level_module_get_kernel_names(ze_module_handle_t module, uint32_t *count, const char **names)
{
    if (!module) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!count) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    uint32_t n = module->spirv.n_kernels;
    for (uint32_t i = 0; names && i < n && i < *count; i++) names[i] = module->spirv.kernels[i].name;
    if (*count == 0 || *count > n) *count = n;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL level_module_get_properties(ze_module_handle_t module, ze_module_properties_t *properties)
{
    if (!module) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!properties) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    properties->flags = module->spirv.imports ? ZE_MODULE_PROPERTY_FLAG_IMPORTS : 0;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL level_build_log_destroy(ze_module_build_log_handle_t log)
{
    if (!log) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    free(log->text);
    free(log);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL level_build_log_get_string(ze_module_build_log_handle_t log, size_t *size, char *text)
{
    if (!log) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!size) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    size_t needed = strlen(log->text) + 1;
    if (text && *size < needed) return ZE_RESULT_ERROR_INVALID_SIZE;
    if (text) memcpy(text, log->text, needed);
    *size = needed;
    return ZE_RESULT_SUCCESS;
}
