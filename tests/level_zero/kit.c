#include "tests/level_zero/kit.h"

#include <stdio.h>
#include <stdlib.h>

void kit_start(struct kit *k, const char *folder)
{
    k->folder = folder;
    good(zeInit(0));
    uint32_t n = 1;
    good(zeDriverGet(&n, &k->driver));
    n = 1;
    good(zeDeviceGet(k->driver, &n, &k->device));
    ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    good(zeContextCreate(k->driver, &context, &k->context));
    ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                     .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    good(zeCommandQueueCreate(k->context, k->device, &queue, &k->queue));
    ze_event_pool_desc_t pool = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                 .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP,
                                 .count = 8};
    good(zeEventPoolCreate(k->context, &pool, 1, &k->device, &k->pool));
}

void kit_stop(struct kit *k)
{
    good(zeEventPoolDestroy(k->pool));
    good(zeCommandQueueDestroy(k->queue));
    good(zeContextDestroy(k->context));
}

uint8_t *kit_read(const struct kit *k, const char *name, size_t *size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", k->folder, name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    uint8_t *bytes = malloc(*size + 1);
    assert_int_equal(fread(bytes, 1, *size, f), *size);
    fclose(f);
    return bytes;
}

static void print_log(ze_module_build_log_handle_t log)
{
    char text[4096] = "";
    size_t size = sizeof text;
    if (zeModuleBuildLogGetString(log, &size, text) == ZE_RESULT_SUCCESS && *text) print_error("%s\n", text);
    good(zeModuleBuildLogDestroy(log));
}

ze_module_handle_t kit_module(const struct kit *k, const char *name)
{
    size_t size;
    uint8_t *bytes = kit_read(k, name, &size);
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_IL_SPIRV,
                             .inputSize = size,
                             .pInputModule = bytes};
    ze_module_handle_t module;
    ze_module_build_log_handle_t log;
    ze_result_t result = zeModuleCreate(k->context, k->device, &desc, &module, &log);
    print_log(log);
    free(bytes);
    good(result);
    return module;
}

ze_kernel_handle_t kit_kernel(ze_module_handle_t module, const char *name)
{
    ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
    ze_kernel_handle_t kernel;
    good(zeKernelCreate(module, &desc, &kernel));
    return kernel;
}

void *kit_shared(const struct kit *k, size_t size)
{
    ze_device_mem_alloc_desc_t at_device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    ze_host_mem_alloc_desc_t at_host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    void *p;
    good(zeMemAllocShared(k->context, &at_device, &at_host, size, 64, k->device, &p));
    return p;
}

void kit_free(const struct kit *k, void *p)
{
    good(zeMemFree(k->context, p));
}

ze_event_handle_t kit_event(const struct kit *k, uint32_t index)
{
    ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
                            .index = index,
                            .signal = ZE_EVENT_SCOPE_FLAG_HOST,
                            .wait = ZE_EVENT_SCOPE_FLAG_HOST};
    ze_event_handle_t event;
    good(zeEventCreate(k->pool, &desc, &event));
    return event;
}

ze_command_list_handle_t kit_list(const struct kit *k)
{
    ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    ze_command_list_handle_t list;
    good(zeCommandListCreate(k->context, k->device, &desc, &list));
    return list;
}

void kit_append(ze_command_list_handle_t list, ze_kernel_handle_t kernel, uint32_t groups)
{
    ze_group_count_t count = {groups, 1, 1};
    good(zeCommandListAppendLaunchKernel(list, kernel, &count, NULL, 0, NULL));
}

void kit_submit(const struct kit *k, ze_command_list_handle_t list)
{
    good(zeCommandListClose(list));
    good(zeCommandQueueExecuteCommandLists(k->queue, 1, &list, NULL));
}

void kit_run(const struct kit *k, ze_command_list_handle_t list)
{
    kit_submit(k, list);
    good(zeCommandQueueSynchronize(k->queue, UINT64_MAX));
    good(zeCommandListDestroy(list));
}
