/* A kernel becomes a module: prepared, written, looked at. */
#include "fuser/spirv/writer.h"

#include <spirv/unified1/spirv.h>
#include <stdlib.h>
#include <string.h>

#include "fuser/passes/manager/pass_manager.h"
#include "fuser/passes/passes.h"
#include "fuser/passes/util.h"
#include "fuser/spirv/attributes.h"
#include "fuser/spirv/base/branch.h"
#include "fuser/spirv/base/ids.h"
#include "fuser/spirv/base/kernel_ids.h"
#include "fuser/spirv/base/uniform.h"
#include "fuser/spirv/come_together.h"
#include "fuser/spirv/flow/control.h"
#include "fuser/spirv/groups/exchange.h"
#include "fuser/spirv/groups/members.h"
#include "fuser/spirv/memory/kernel_memory.h"
#include "fuser/spirv/memory/memory.h"
#include "fuser/spirv/numbers/operation.h"
#include "fuser/spirv/prepare.h"
#include "fuser/spirv/validate.h"
#include "ir/base/arena.h"
#include "ir/core/facts.h"

enum {
    VULKAN_FEATURES = SPIRV_LAUNCH_BLOCK - 1,
    KERNEL_FEATURES = SPIRV_GROUPS | SPIRV_INT8 | SPIRV_INT16 | SPIRV_INT64 | SPIRV_FLOAT16 | SPIRV_FLOAT64 |
                      SPIRV_STORAGE8 | SPIRV_STORAGE16 | SPIRV_ATOMIC64_GLOBAL | SPIRV_ATOMIC64_LOCAL,
};

const struct spirv_target spirv_target_kernel = {
    .dialect = SPIRV_KERNEL, .version = 0x00010200, .features = KERNEL_FEATURES | SPIRV_PIPES};
const struct spirv_target spirv_target_level_zero = {
    .dialect = SPIRV_KERNEL, .version = 0x00010200, .features = KERNEL_FEATURES | SPIRV_LAUNCH_BLOCK};
const struct spirv_target spirv_target_vulkan = {.dialect = SPIRV_VULKAN,
                                                 .version = 0x00010500,
                                                 .features = VULKAN_FEATURES,
                                                 .min_sub_group = 1,
                                                 .max_sub_group = 128,
                                                 .sub_group = 32};

/* ---- facts about the kernel ---- */

static void see_sharing(struct ir_inst *inst, void *data)
{
    struct spw *w = data;
    bool atomic = ir_op_class(inst->op) == IR_CLASS_ATOMIC;
    if (atomic || inst->op == IR_OP_FENCE || inst->op == IR_OP_BARRIER) w->shares = true;
    if (ir_is_convergent(inst) || ir_sees_sub_group(inst)) w->out->whole_groups = true;
    if (ir_sees_sub_group(inst)) w->sub_group = 1;
}

/* ---- Vulkan ---- */

static void vulkan_head(struct spw *w)
{
    spw_capability(&w->m, SpvCapabilityShader);
    spw_capability(&w->m, SpvCapabilityVulkanMemoryModel);
    spw_capability(&w->m, SpvCapabilityPhysicalStorageBufferAddresses);
    SPW_PUT(&w->m.sections[SPW_MEMORY_MODEL], SpvOpMemoryModel, SpvAddressingModelPhysicalStorageBuffer64,
            SpvMemoryModelVulkan);
    spw_declare_group_size(w);
}

/* Kernels of whole groups have no work-items outside; all others pass these by. */
static void vulkan_body(struct spw *w)
{
    spw_params(w);
    if (w->out->whole_groups) {
        spw_block(w, w->kernel->body);
        return;
    }
    uint32_t inside = spw_inside_range(w), body = spw_id(&w->m), end = spw_id(&w->m);
    SPW_DO(w, SpvOpSelectionMerge, end, SpvSelectionControlMaskNone);
    SPW_DO(w, SpvOpBranchConditional, inside, body, end);
    spw_label(w, body);
    spw_block(w, w->kernel->body);
    spw_label(w, end);
    spw_do_n(w, SpvOpReturn, NULL, 0);
}

static void float_mode(struct spw *w, uint32_t function, enum spirv_feature feature, uint32_t mode, uint32_t capability,
                       uint32_t bits)
{
    if (!(w->target->features & feature)) return;
    spw_capability(&w->m, capability);
    SPW_PUT(&w->m.sections[SPW_MODES], SpvOpExecutionMode, function, mode, bits);
}

static void vulkan_modes(struct spw *w, uint32_t function)
{
    static const struct {
        uint32_t bits;
        enum spirv_feature has, keeps_denormals;
    } widths[] = {{16, SPIRV_FLOAT16, SPIRV_KEEPS_DENORMALS16},
                  {32, 0, SPIRV_KEEPS_DENORMALS32},
                  {64, SPIRV_FLOAT64, SPIRV_KEEPS_DENORMALS64}};
    for (unsigned i = 0; i < 3; i++) {
        if (widths[i].has && !(w->target->features & widths[i].has)) continue;
        uint32_t bits = widths[i].bits;
        float_mode(w, function, widths[i].keeps_denormals, SpvExecutionModeDenormPreserve, SpvCapabilityDenormPreserve,
                   bits);
        float_mode(w, function, SPIRV_KEEPS_SPECIALS, SpvExecutionModeSignedZeroInfNanPreserve,
                   SpvCapabilitySignedZeroInfNanPreserve, bits);
        float_mode(w, function, SPIRV_ROUNDS_TO_EVEN, SpvExecutionModeRoundingModeRTE, SpvCapabilityRoundingModeRTE,
                   bits);
    }
}

/* ---- kernel dialect ---- */

static void kernel_head(struct spw *w)
{
    static const uint32_t capabilities[] = {SpvCapabilityAddresses, SpvCapabilityKernel, SpvCapabilityLinkage};
    for (unsigned i = 0; i < 3; i++) spw_capability(&w->m, capabilities[i]);
    spw_import(&w->m, "OpenCL.std");
    SPW_PUT(&w->m.sections[SPW_MEMORY_MODEL], SpvOpMemoryModel, SpvAddressingModelPhysical64, SpvMemoryModelOpenCL);
    SPW_PUT(&w->m.sections[SPW_DEBUG], SpvOpSource, SpvSourceLanguageOpenCL_C, 200000);
}

static void kernel_modes(struct spw *w, uint32_t function)
{
    const struct ir_function *k = w->kernel;
    struct spw_words *modes = &w->m.sections[SPW_MODES];
    const uint32_t *size = k->work_group_size, *hint = k->work_group_size_hint;
    /* With a block a launch's last work-groups may be smaller, which drivers would not take. */
    if (size[0] && spw_has_block(w)) hint = size;
    if (size[0] && !spw_has_block(w))
        SPW_PUT(modes, SpvOpExecutionMode, function, SpvExecutionModeLocalSize, size[0], size[1], size[2]);
    if (hint[0]) SPW_PUT(modes, SpvOpExecutionMode, function, SpvExecutionModeLocalSizeHint, hint[0], hint[1], hint[2]);
    SPW_PUT(modes, SpvOpExecutionMode, function, SpvExecutionModeContractionOff);
    bool sized = k->sub_group_size && k->sub_group_size < IR_SUB_GROUP_AUTOMATIC;
    if (spw_writes_groups(w) || (!sized && !k->sub_groups_per_work_group)) return;
    spw_capability(&w->m, SpvCapabilitySubgroupDispatch);
    if (sized) SPW_PUT(modes, SpvOpExecutionMode, function, SpvExecutionModeSubgroupSize, k->sub_group_size);
    if (k->sub_groups_per_work_group)
        SPW_PUT(modes, SpvOpExecutionMode, function, SpvExecutionModeSubgroupsPerWorkgroup,
                k->sub_groups_per_work_group);
}

/* ---- the function ---- */

static uint32_t function_type(struct spw *w)
{
    uint32_t *types = arena_alloc(w->arena, (w->kernel->n_params + SPIRV_KERNEL_PARAMETERS + 1) * sizeof *types), n = 0;
    types[n++] = spw_type_void(&w->m);
    for (uint32_t i = 0; spw_has_block(w) && i < SPIRV_KERNEL_PARAMETERS; i++) types[n++] = spw_block_param_type(w, i);
    for (uint32_t i = 0; spw_has_parameters(w) && i < w->kernel->n_params; i++)
        types[n++] = spw_kernel_param_type(w, &w->kernel->params[i]);
    return spw_once(&w->m, SPW_GLOBALS, SpvOpTypeFunction, 0, types, n);
}

/* From SPIR-V 1.4 on all variables of the module, before that inputs only. */
static void put_entry_point(struct spw *w, uint32_t function)
{
    struct spw_words words = {0};
    uint32_t name[256];
    spw_append(&words, (uint32_t[]){w->vulkan ? SpvExecutionModelGLCompute : SpvExecutionModelKernel, function}, 2);
    spw_append(&words, name, spw_string(w->vulkan ? SPIRV_ENTRY_NAME : w->kernel->name, name, 256));
    if (w->target->version >= 0x00010400) spw_append(&words, w->interface.words, w->interface.n);
    for (size_t i = 1; w->target->version < 0x00010400 && i < w->builtins.n; i += 2)
        spw_append(&words, &w->builtins.words[i], 1);
    spw_put(&w->m.sections[SPW_ENTRY_POINT], SpvOpEntryPoint, words.words, words.n);
    free(words.words);
}

static void put_function(struct spw *w)
{
    uint32_t function = spw_id(&w->m), label = spw_id(&w->m), type = function_type(w);
    SPW_PUT(&w->m.sections[SPW_HEAD], SpvOpFunction, spw_type_void(&w->m), function, SpvFunctionControlMaskNone, type);
    w->label = label;
    w->at = SPW_BODY;
    if (w->vulkan) {
        vulkan_modes(w, function);
        if (!(w->target->features & SPIRV_KNOWS_SPECIALS)) w->unseen = spw_unseen_zero(w, IR_KIND_I32);
        vulkan_body(w);
    } else {
        kernel_modes(w, function);
        spw_params(w);
        spw_block(w, w->kernel->body);
    }
    SPW_PUT(&w->m.sections[SPW_HEAD], SpvOpLabel, label);
    spw_do_n(w, SpvOpFunctionEnd, NULL, 0);
    spw_uniform_close(w);
    spw_exchange_close(w);
    put_entry_point(w, function);
}

/* ---- all of it ---- */

static void write_module(struct spw *w)
{
    w->formula = spw_formula(w);
    if (spw_writes_groups(w)) spw_come_together(w);
    w->ids = arena_alloc(w->arena, pass_number(w->kernel) * sizeof *w->ids);
    w->m.version = w->target->version;
    ir_walk(w->kernel->body, see_sharing, w);
    if (spw_writes_groups(w) && w->sub_group) spw_members_open(w);
    spw_memory_open(w);
    if (w->vulkan)
        vulkan_head(w);
    else
        kernel_head(w);
    put_function(w);
    spw_memory_close(w);
    if (!w->vulkan) spw_attributes(w); /* behind all names */
}

int spirv_write(const struct ir_function *kernel, const struct spirv_target *target, struct spirv_module *out,
                struct diag_list *list)
{
    *out = (struct spirv_module){0};
    struct spw *w = calloc(1, sizeof *w);
    if (!w) arena_no_memory(sizeof *w);
    *w = (struct spw){.target = target, .vulkan = target->dialect == SPIRV_VULKAN, .list = list, .out = out};
    w->kernel = spirv_prepare(kernel, target, out);
    w->arena = arena_new();
    write_module(w);
    int result = w->failed ? -1 : 0;
    if (!w->failed) {
        out->words = spw_assemble(&w->m, &out->n_words);
        if (!spirv_validate(out, target, kernel->name, list)) result = -2;
    }
    if (result) spirv_module_clear(out);
    spw_clear(&w->m);
    free(w->interface.words);
    free(w->builtins.words);
    free(w->uniforms.words);
    map_clear(&w->globals);
    map_clear(&w->uniform);
    ir_module_free(w->kernel->module);
    arena_free(w->arena);
    free(w);
    return result;
}

void spirv_module_clear(struct spirv_module *m)
{
    free(m->words);
    free(m->constants);
    free(m->relocations);
    *m = (struct spirv_module){0};
}
