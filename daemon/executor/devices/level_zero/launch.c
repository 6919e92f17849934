/* Loading the launches of an executable. */
#include "daemon/executor/devices/level_zero/launch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/executor/devices/gpu/block.h"
#include "daemon/executor/devices/gpu/object_file.h"
#include "daemon/executor/devices/gpu/prints.h"
#include "fuser/spirv/abi/abi.h"
#include "proto/include/fusiond/status.h"

/* ---- what the device can launch ---- */

/* The launch's memory of a work-group: what its work-items exchange words in, then that of local pointers. */
static uint64_t lay_out_local(const struct gpu_object *o, const struct program_launch *p, uint8_t *args)
{
    uint64_t exchange = o->header.item_bytes * p->group_items;
    return gpu_lay_out_local(p, (exchange + SPIRV_BLOCK_ALIGN - 1) & -(uint64_t)SPIRV_BLOCK_ALIGN, args);
}

static int check(const struct gpu_object *o, const struct program_launch *p, uint64_t local_bytes, struct error *e)
{
    const struct gpu_description *g = &level_zero.description;
    uint64_t local = o->header.local_bytes + local_bytes;
    if (o->header.args_size != p->args_size)
        return error_set(e, FUSION_INTERNAL, NULL, "its object takes %u bytes of arguments, the program has %u",
                         o->header.args_size, p->args_size);
    if (local > g->max_local_bytes)
        return error_set(e, FUSION_FEATURE_NOT_SUPPORTED, NULL,
                         "a work-group needs %" PRIu64
                         " bytes of work-group memory; device level_zero (%s) has %" PRIu64,
                         local, g->name, g->max_local_bytes);
    return 0;
}

/* ---- the driver's form ---- */

/* What the driver's compiler says of a module that it does not take. */
static int fail_to_build(ze_module_build_log_handle_t log, ze_result_t result, struct error *e)
{
    char text[600] = "";
    size_t size = sizeof text;
    if (ze.ModuleBuildLogGetString(log, &size, text) != ZE_RESULT_SUCCESS || !text[0])
        return level_zero_fail(e, NULL, "its SPIR-V is not taken", result);
    return error_set(e, FUSION_INTERNAL, NULL, "its SPIR-V is not taken by device level_zero (%s): %.500s",
                     level_zero.description.name, text);
}

/* A binary that was kept, or came with the module; false: it is not for this device, or not for this driver. */
static bool take_binary(struct level_zero_launch *l, const uint8_t *binary, size_t size)
{
    const ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                   .format = ZE_MODULE_FORMAT_NATIVE,
                                   .inputSize = size,
                                   .pInputModule = binary};
    if (ze.ModuleCreate(level_zero.context, level_zero.device, &desc, &l->module, NULL) == ZE_RESULT_SUCCESS)
        return true;
    l->module = NULL;
    return false;
}

/* Made ahead of time, of a kernel whose work-items do one each. */
static bool take_bundled(struct level_zero_launch *l, const struct gpu_object *o)
{
    const uint8_t *binary;
    for (size_t at = 0, size; (binary = gpu_object_binary(o, &at, &size));) {
        if (gpu_is_kept(binary, size) || !take_binary(l, binary, size)) continue;
        l->items = 1;
        return true;
    }
    return false;
}

/* What came with the module comes first: somebody chose to bring it. */
static bool take_any_binary(struct level_zero_launch *l, const struct gpu_object *o)
{
    const uint8_t *binary;
    size_t size;
    if (take_bundled(l, o)) return true;
    l->code.binary = &l->kept.told;
    gpu_kept_begin(&l->kept, &level_zero.description, level_zero.description.uuid,
                   &(struct gpu_shape){.items = l->items});
    binary = gpu_kept_find(&l->kept, o, &size);
    l->kept.told.found = binary && take_binary(l, binary, size);
    l->kept.told.refused = binary && !l->kept.told.found;
    return l->kept.told.found;
}

static int build_module(struct level_zero_launch *l, const struct gpu_object *o, struct error *e)
{
    const uint32_t which = SPIRV_SPEC_ITEMS;
    const void *value = &l->items;
    const ze_module_constants_t constants = {1, &which, &value};
    const ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                   .format = ZE_MODULE_FORMAT_IL_SPIRV,
                                   .inputSize = o->header.n_words * sizeof *o->words,
                                   .pInputModule = (const uint8_t *)o->words,
                                   .pConstants = l->items > 1 ? &constants : NULL};
    ze_module_build_log_handle_t log = NULL;
    ze_result_t result = ze.ModuleCreate(level_zero.context, level_zero.device, &desc, &l->module, &log);
    int built = result == ZE_RESULT_SUCCESS ? 0 : fail_to_build(log, result, e);
    if (log) ze.ModuleBuildLogDestroy(log);
    if (built != 0) l->module = NULL;
    return built;
}

static int make_module(struct level_zero_launch *l, const struct gpu_object *o, struct error *e)
{
    return take_any_binary(l, o) ? 0 : build_module(l, o, e);
}

uint8_t *level_zero_make_binary(const struct gpu_object *o, const struct gpu_shape *shape, size_t before, size_t *size,
                                struct error *e)
{
    struct level_zero_launch l = {.items = shape->items};
    if (l.items != 1 && l.items != o->header.items) {
        error_set(e, FUSION_INVALID, NULL, "its work-items cannot do so many");
        return NULL;
    }
    if (build_module(&l, o, e) != 0) return NULL;
    ze_result_t result = ze.ModuleGetNativeBinary(l.module, size, NULL);
    uint8_t *binary = result == ZE_RESULT_SUCCESS ? malloc(before + *size) : NULL;
    if (result == ZE_RESULT_SUCCESS)
        result =
            binary ? ze.ModuleGetNativeBinary(l.module, size, binary + before) : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    ze.ModuleDestroy(l.module);
    if (result == ZE_RESULT_SUCCESS) return binary;
    free(binary);
    level_zero_fail(e, NULL, "its binary cannot be had", result);
    return NULL;
}

/* Whatever addresses are found in memory, the kernel may follow. */
static int make_kernel(struct level_zero_launch *l, struct error *e)
{
    const ze_kernel_indirect_access_flags_t all = ZE_KERNEL_INDIRECT_ACCESS_FLAG_DEVICE |
                                                  ZE_KERNEL_INDIRECT_ACCESS_FLAG_HOST |
                                                  ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED;
    const char *name = NULL;
    uint32_t n = 1;
    ze_result_t result = ze.ModuleGetKernelNames(l->module, &n, &name);
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
    if (result == ZE_RESULT_SUCCESS) result = ze.KernelCreate(l->module, &desc, &l->kernel);
    if (result == ZE_RESULT_SUCCESS) result = ze.KernelSetIndirectAccess(l->kernel, all);
    return result == ZE_RESULT_SUCCESS ? 0 : level_zero_fail(e, NULL, "its kernel cannot be had", result);
}

/* ---- loading ---- */

static void free_code(struct launch_code *code)
{
    struct level_zero_launch *l = (struct level_zero_launch *)code;
    if (l->kernel) ze.KernelDestroy(l->kernel);
    if (l->module) ze.ModuleDestroy(l->module);
    if (l->prints) ze.MemFree(level_zero.context, l->prints);
    free(l);
}

static int never_run(struct launch_code *code, struct executable *x, uint32_t launch, uint64_t *next, uint64_t end,
                     const struct launch_context *context, struct error *e)
{
    (void)code, (void)next, (void)end, (void)context;
    return error_set(e, FUSION_INTERNAL, x->program->launches[launch].name, "is run with others, or not at all");
}

static int make_prints(struct level_zero_launch *l, struct error *e)
{
    const ze_host_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    ze_result_t result = ze.MemAllocHost(level_zero.context, &desc, GPU_PRINT_BYTES, sizeof(uint64_t), &l->prints);
    if (result == ZE_RESULT_SUCCESS) return 0;
    l->prints = NULL;
    return level_zero_fail(e, NULL, "memory for what it prints cannot be had", result);
}

static int make(struct level_zero_launch *l, struct executable *x, uint32_t launch, const struct gpu_object *o,
                struct error *e)
{
    const struct program_launch *p = &x->program->launches[launch];
    l->local_bytes = lay_out_local(o, p, x->launches[launch].args);
    if (check(o, p, l->local_bytes, e) != 0) return -1;
    if (o->header.prints && make_prints(l, e) != 0) return -1;
    int n = gpu_pieces_make(l->pieces, p, true, &level_zero.description, e);
    l->items = gpu_items_of(p, o->header.items);
    if (n < 0 || make_module(l, o, e) != 0) return -1;
    if (l->items > 1) n = gpu_coarse_piece(&l->pieces[0], p, l->items, true);
    l->n_pieces = (uint32_t)n;
    return make_kernel(l, e);
}

static int load(struct level_zero_launch *l, struct executable *x, uint32_t launch, int fd, struct error *e)
{
    struct gpu_object_file file;
    if (gpu_object_open(&file, fd, e) != 0) return -1;
    int result = make(l, x, launch, &file.object, e);
    gpu_object_close(&file);
    return result;
}

struct launch_code *level_zero_launch_load(struct executable *x, uint32_t launch, int fd, struct error *e)
{
    struct level_zero_launch *l = calloc(1, sizeof *l);
    if (!l) abort();
    l->code = (struct launch_code){.run = never_run, .free = free_code};
    if (load(l, x, launch, fd, e) == 0) return &l->code;
    error_about(e, "kernel %s", x->program->launches[launch].name);
    free_code(&l->code);
    return NULL;
}
