/* Runs what is written for Level Zero, through its loader: as few calls as will do. */
#include <level_zero/ze_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuser/spirv/abi/abi.h"
#include "ir/base/arena.h"
#include "tests/corpus/corpus.h"
#include "tests/spirv_out/dispatch.h"

enum { POOL_BYTES = 256 << 20, ALIGN = 4096, MOST_SIZES = 8, WRITTEN_SUB_GROUP = 16 };

struct dispatcher {
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_command_queue_handle_t queue;
    uint8_t *memory;
    size_t used;
    ze_device_properties_t properties;
    struct spirv_target target;
    char pocl[16]; /* the test driver's machine */
};

static bool said(ze_result_t r, const char *what)
{
    if (r != ZE_RESULT_SUCCESS) fprintf(stderr, "# %s: Level Zero's result %#x\n", what, (unsigned)r);
    return r != ZE_RESULT_SUCCESS;
}

static void describe(struct dispatcher *d)
{
    ze_device_module_properties_t m = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES};
    ze_device_compute_properties_t c = {.stype = ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES};
    zeDeviceGetModuleProperties(d->device, &m);
    zeDeviceGetComputeProperties(d->device, &c);
    uint64_t features = SPIRV_LAUNCH_BLOCK | SPIRV_SPECIALIZES | SPIRV_INT8 | SPIRV_INT16 | SPIRV_INT64 |
                        SPIRV_STORAGE8 | SPIRV_STORAGE16;
    uint32_t sub_group = 0;
    for (uint32_t i = 0; i < c.numSubGroupSizes && i < MOST_SIZES; i++)
        if (c.subGroupSizes[i] > sub_group) sub_group = c.subGroupSizes[i];
    if (sub_group > 1) features |= SPIRV_GROUPS;
    if (m.flags & ZE_DEVICE_MODULE_FLAG_FP16) features |= SPIRV_FLOAT16;
    if (m.flags & ZE_DEVICE_MODULE_FLAG_FP64) features |= SPIRV_FLOAT64;
    if (m.flags & ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS) features |= SPIRV_ATOMIC64_GLOBAL | SPIRV_ATOMIC64_LOCAL;
    d->target = (struct spirv_target){.dialect = SPIRV_KERNEL,
                                      .version = 0x00010200,
                                      .features = features,
                                      .sub_group = sub_group > 1 ? sub_group : WRITTEN_SUB_GROUP};
}

static bool open_device(struct dispatcher *d)
{
    const ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                           .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    const ze_device_mem_alloc_desc_t at_device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const ze_host_mem_alloc_desc_t at_host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    uint32_t n = 1;
    d->properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
    if (said(zeInit(0), "init") || said(zeDriverGet(&n, &d->driver), "driver") || n == 0) return false;
    n = 1;
    if (said(zeDeviceGet(d->driver, &n, &d->device), "device") || n == 0) return false;
    zeDeviceGetProperties(d->device, &d->properties);
    describe(d);
    corpus_pocl_version(d->pocl, sizeof d->pocl);
    return !said(zeContextCreate(d->driver, &context, &d->context), "context") &&
           !said(zeCommandQueueCreate(d->context, d->device, &queue, &d->queue), "queue") &&
           !said(zeMemAllocShared(d->context, &at_device, &at_host, POOL_BYTES, ALIGN, d->device, (void **)&d->memory),
                 "memory");
}

struct dispatcher *dispatch_open(void)
{
    struct dispatcher *d = arena_realloc(NULL, sizeof *d);
    memset(d, 0, sizeof *d);
    if (open_device(d)) return d;
    dispatch_close(d);
    return NULL;
}

void dispatch_close(struct dispatcher *d)
{
    if (!d) return;
    if (d->memory) zeMemFree(d->context, d->memory);
    if (d->queue) zeCommandQueueDestroy(d->queue);
    if (d->context) zeContextDestroy(d->context);
    free(d);
}

const char *dispatch_device(const struct dispatcher *d)
{
    return d->properties.name;
}

const struct spirv_target *dispatch_target(const struct dispatcher *d)
{
    return &d->target;
}

const char *dispatch_pocl(const struct dispatcher *d)
{
    return d->pocl;
}

void *dispatch_memory(struct dispatcher *d, size_t size, uint64_t *address)
{
    size_t at = d->used;
    if (size > POOL_BYTES - at) return NULL;
    d->used = (at + size + ALIGN - 1) / ALIGN * ALIGN;
    *address = (uintptr_t)(d->memory + at);
    return d->memory + at;
}

void dispatch_reset(struct dispatcher *d)
{
    d->used = 0;
}

/* ---- a launch ---- */

uint32_t dispatch_own_local(const struct dispatcher *d, const struct spirv_module *m, const struct nd_range *range)
{
    uint64_t exchange = m->item_bytes * range->local[0] * range->local[1] * range->local[2];
    (void)d;
    return (uint32_t)((exchange + SPIRV_BLOCK_ALIGN - 1) / SPIRV_BLOCK_ALIGN * SPIRV_BLOCK_ALIGN);
}

static void *put_block(struct dispatcher *d, const struct spirv_module *m, const struct nd_range *r, const void *args,
                       uint32_t items)
{
    struct spirv_launch launch = {.dims = r->dims};
    uint64_t address;
    for (unsigned i = 0; i < 3; i++) {
        launch.global_size[i] = r->global[i];
        launch.global_offset[i] = r->offset[i];
        launch.local_size[i] = r->local[i];
        uint64_t each = r->local[i] * (i ? 1 : items);
        launch.num_groups[i] = (r->global[i] + each - 1) / each;
    }
    uint8_t *to = dispatch_memory(d, SPIRV_ARGUMENTS + m->args_size + 8, &address);
    memcpy(to, &launch, sizeof launch);
    memcpy(to + SPIRV_ARGUMENTS, args, m->args_size);
    return to;
}

static bool run_list(struct dispatcher *d, ze_kernel_handle_t kernel, const ze_group_count_t *groups)
{
    const ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    ze_command_list_handle_t list;
    if (said(zeCommandListCreate(d->context, d->device, &desc, &list), "list")) return false;
    bool good = !said(zeCommandListAppendLaunchKernel(list, kernel, groups, NULL, 0, NULL), "launch") &&
                !said(zeCommandListClose(list), "close") &&
                !said(zeCommandQueueExecuteCommandLists(d->queue, 1, &list, NULL), "execute") &&
                !said(zeCommandQueueSynchronize(d->queue, UINT64_MAX), "wait");
    zeCommandListDestroy(list);
    return good;
}

/* Complete work-groups, and incomplete ones at the ends by themselves; in x there are none of those where work-items do
   several. */
static bool run_parts(struct dispatcher *d, ze_kernel_handle_t kernel, const struct nd_range *r, uint32_t items)
{
    bool good = true;
    for (unsigned part = 0; part < 8 && good; part++) {
        uint32_t size[3], groups[3];
        for (unsigned i = 0; i < 3 && good; i++) {
            uint32_t whole = (uint32_t)(r->global[i] / r->local[i]), rest = (uint32_t)(r->global[i] % r->local[i]);
            bool at_end = part >> i & 1;
            if (i == 0 && items > 1) {
                uint64_t each = r->local[0] * items;
                whole = (uint32_t)((r->global[0] + each - 1) / each);
                rest = 0;
            }
            uint32_t base = at_end ? whole : 0;
            size[i] = at_end ? rest : (uint32_t)r->local[i];
            groups[i] = at_end ? rest != 0 : whole;
            good = !said(zeKernelSetArgumentValue(kernel, SPIRV_KERNEL_BASE_X + i, sizeof base, &base), "base");
        }
        const ze_group_count_t count = {groups[0], groups[1], groups[2]};
        if (!groups[0] || !groups[1] || !groups[2]) continue;
        good = good && !said(zeKernelSetGroupSize(kernel, size[0], size[1], size[2]), "group size") &&
               run_list(d, kernel, &count);
    }
    return good;
}

static bool make_module(struct dispatcher *d, const struct spirv_module *m, uint32_t items, ze_module_handle_t *module)
{
    const uint32_t which = SPIRV_SPEC_ITEMS;
    const void *value = &items;
    const ze_module_constants_t constants = {1, &which, &value};
    const ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                   .format = ZE_MODULE_FORMAT_IL_SPIRV,
                                   .inputSize = m->n_words * sizeof *m->words,
                                   .pInputModule = (const uint8_t *)m->words,
                                   .pConstants = items > 1 ? &constants : NULL};
    ze_module_build_log_handle_t log;
    char text[4096] = "";
    size_t size = sizeof text;
    ze_result_t result = zeModuleCreate(d->context, d->device, &desc, module, &log);
    if (zeModuleBuildLogGetString(log, &size, text) == ZE_RESULT_SUCCESS && *text) fprintf(stderr, "# %s\n", text);
    zeModuleBuildLogDestroy(log);
    return !said(result, "module");
}

bool dispatch_run(struct dispatcher *d, const struct spirv_module *m, const struct nd_range *range, const void *args,
                  uint32_t local_bytes, uint32_t items)
{
    const void *block = put_block(d, m, range, args, items);
    uint32_t local = dispatch_own_local(d, m, range) + local_bytes, n = 1;
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
    const char *name;
    if (!make_module(d, m, items, &module)) return false;
    zeModuleGetKernelNames(module, &n, &name);
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
    bool good = !said(zeKernelCreate(module, &desc, &kernel), "kernel");
    if (good) {
        good = !said(zeKernelSetArgumentValue(kernel, SPIRV_KERNEL_BLOCK, sizeof block, &block), "block") &&
               !said(zeKernelSetArgumentValue(kernel, SPIRV_KERNEL_LOCAL, local ? local : 1, NULL), "local") &&
               run_parts(d, kernel, range, items);
        zeKernelDestroy(kernel);
    }
    zeModuleDestroy(module);
    return good;
}
