/* Signatures and attributes of functions. */
#include "ir/spirv/translate/signatures.h"

#include "ir/spirv/decode/constant_values.h"
#include "ir/spirv/decode/decorations.h"
#include "ir/spirv/decode/fail.h"
#include "ir/spirv/decode/ids.h"
#include "ir/spirv/decode/location.h"
#include "ir/spirv/decode/names.h"
#include "ir/spirv/decode/types.h"
#include "ir/spirv/translate/opencl_std/mangled.h"
#include "ir/spirv/translate/opencl_std/packed_dot.h"

/* ---- parameters ---- */

static bool is_by_value(struct spirv_reader *r, const struct spirv_inst *param)
{
    return spirv_has_param_attr(r, param->id, SpvFunctionParameterAttributeByVal);
}

bool spirv_returns_struct(const struct spirv_reader *r, const struct spirv_function *f)
{
    enum ir_kind kind = ir_type_kind(r->types[f->first->type].ir);
    return kind == IR_KIND_STRUCT || kind == IR_KIND_ARRAY;
}

/* A struct passed as a value comes in parts. */
static uint32_t count_params(struct spirv_reader *r, const struct spirv_function *f)
{
    uint64_t n = spirv_returns_struct(r, f) && spirv_leaves(r, f->first->type);
    for (const struct spirv_inst *i = f->first + 1; i < f->end && i->op != SpvOpLabel; i++) {
        if (i->op != SpvOpFunctionParameter) continue;
        spirv_type(r, i, i->type);
        n += spirv_leaves(r, i->type);
    }
    return n > UINT16_MAX ? UINT16_MAX : (uint32_t)n;
}

static enum ir_access access_of(const struct spirv_reader *r, const struct spirv_inst *param, enum ir_space space)
{
    if (space == IR_SPACE_LOCAL) return IR_ACCESS_UNKNOWN;
    if (space == IR_SPACE_CONSTANT) return IR_ACCESS_READ;
    return spirv_has_param_attr(r, param->id, SpvFunctionParameterAttributeNoWrite) ? IR_ACCESS_READ
                                                                                    : IR_ACCESS_UNKNOWN;
}

static void describe_pointer(struct spirv_reader *r, const struct spirv_function *f, const struct spirv_inst *i,
                             struct ir_param *p)
{
    const struct spirv_type *pointee = &r->types[spirv_pointee(r, i->type)];
    enum ir_space space = ir_type_space(p->value->type);
    bool in_memory = pointee->known && pointee->leaves && ir_type_kind(pointee->ir) != IR_KIND_IMAGE &&
                     ir_type_kind(pointee->ir) != IR_KIND_SAMPLER && ir_type_kind(pointee->ir) != IR_KIND_PIPE;
    if (in_memory) p->elem = pointee->ir;
    bool aggregate = ir_type_kind(p->elem) == IR_KIND_STRUCT || ir_type_kind(p->elem) == IR_KIND_ARRAY;
    p->by_value = space == IR_SPACE_PRIVATE && is_by_value(r, i) && (aggregate || f->entry);
    if (!f->entry) return;
    if (!p->by_value) p->access = access_of(r, i, space);
    if (space == IR_SPACE_GENERIC || (space == IR_SPACE_PRIVATE && !p->by_value))
        spirv_fail(r, i, "is a kernel's pointer that is neither global, constant, local nor by value");
    if (p->by_value && !aggregate) spirv_fail(r, i, "is passed by value and is neither a struct nor an array");
}

static void make_params(struct spirv_reader *r, const struct spirv_function *f, struct ir_function *ir)
{
    struct names names = {.arena = r->arena};
    uint32_t n = 0;
    for (const struct spirv_inst *i = f->first + 1; i < f->end && i->op != SpvOpLabel; i++) {
        if (i->op != SpvOpFunctionParameter || !r->types[i->type].known) continue;
        const ir_type *types = spirv_leaf_types(r, i->type);
        for (uint32_t k = 0; k < spirv_leaves(r, i->type) && n < ir->n_params; k++, n++) {
            const char *wish = spirv_name(r, i->id);
            const char *name = wish && *wish ? spirv_unique_name(r, &names, wish, "p") : NULL;
            ir_function_set_param(ir, n, name, types[k]);
            if (ir_type_is_ptr(types[k]) && spirv_leaves(r, i->type) == 1) describe_pointer(r, f, i, &ir->params[n]);
        }
        if (f->entry && spirv_leaves(r, i->type) != 1) spirv_fail(r, i, "is a kernel's parameter of a struct type");
    }
    if (n < ir->n_params) ir_function_set_param(ir, n, NULL, IR_PTR(IR_SPACE_PRIVATE));
}

/* ---- attributes ---- */

/* Number k of a mode: a literal, or the id of a constant where the mode's name ends in Id. */
static uint32_t mode_number(const struct spirv_reader *r, const struct spirv_inst *i, uint32_t k, bool is_id)
{
    uint64_t v = 0;
    if (3 + k >= i->n) return 0;
    if (is_id) return spirv_constant_uint(r, i->words[3 + k], &v) ? (uint32_t)v : 0;
    return i->words[3 + k];
}

/* What a kernel may say once, by bit. */
enum said { SAID_SIZE = 1, SAID_HINT = 2, SAID_SUB_GROUP_SIZE = 4, SAID_SUB_GROUPS = 8 };

static void read_sizes(struct spirv_reader *r, const struct spirv_inst *i, bool is_id, uint32_t size[3])
{
    for (uint32_t k = 0; k < 3; k++) size[k] = mode_number(r, i, k, is_id);
    if (!size[0] || !size[1] || !size[2])
        spirv_fail(r, i, "gives work-groups of %u x %u x %u work-items", size[0], size[1], size[2]);
}

static void read_sub_group_size(struct spirv_reader *r, const struct spirv_inst *i, uint32_t *size)
{
    *size = mode_number(r, i, 0, false);
    if (!*size || (*size & (*size - 1)))
        spirv_fail(r, i, "gives sub-groups of %u work-items, which is no power of two", *size);
}

static enum said read_mode(struct spirv_reader *r, struct ir_function *ir, const struct spirv_inst *i)
{
    uint32_t mode = i->words[2];
    switch (mode) {
    case SpvExecutionModeLocalSize:
    case SpvExecutionModeLocalSizeId:
        read_sizes(r, i, mode == SpvExecutionModeLocalSizeId, ir->work_group_size);
        return SAID_SIZE;
    case SpvExecutionModeLocalSizeHint:
    case SpvExecutionModeLocalSizeHintId:
        for (uint32_t k = 0; k < 3; k++)
            ir->work_group_size_hint[k] = mode_number(r, i, k, mode == SpvExecutionModeLocalSizeHintId);
        return SAID_HINT;
    case SpvExecutionModeSubgroupSize: read_sub_group_size(r, i, &ir->sub_group_size); return SAID_SUB_GROUP_SIZE;
    case SpvExecutionModeSubgroupsPerWorkgroup:
    case SpvExecutionModeSubgroupsPerWorkgroupId:
        ir->sub_groups_per_work_group = mode_number(r, i, 0, mode == SpvExecutionModeSubgroupsPerWorkgroupId);
        if (!ir->sub_groups_per_work_group) spirv_fail(r, i, "gives work-groups of 0 sub-groups");
        return SAID_SUB_GROUPS;
    default: return 0; /* the rest promises or asks for what is so here anyway, or is a hint */
    }
}

static void read_modes(struct spirv_reader *r, const struct spirv_function *f, struct ir_function *ir)
{
    uint32_t id = f->wrapped_by ? f->wrapped_by->id : f->id;
    unsigned said = 0;
    for (size_t k = 0; k < r->index.n_modes; k++) {
        const struct spirv_inst *i = r->index.modes[k];
        if (i->words[1] != id) continue;
        unsigned now = read_mode(r, ir, i);
        if (said & now)
            spirv_fail(r, i, "gives kernel %s a second %s", ir->name,
                       now == SAID_SUB_GROUP_SIZE ? "sub-group size"
                       : now == SAID_SUB_GROUPS   ? "number of sub-groups"
                       : now == SAID_HINT         ? "work-group size hint"
                                                  : "work-group size");
        said |= now;
    }
}

static enum ir_linkage linkage_of(const struct spirv_reader *r, const struct spirv_function *f)
{
    uint32_t n;
    const uint32_t *linkage = spirv_decoration(r, f->id, SpvDecorationLinkageAttributes, &n);
    if (!f->has_body) return IR_LINKAGE_IMPORT;
    if (linkage && linkage[n - 1] == SpvLinkageTypeExport) return IR_LINKAGE_EXPORT;
    return linkage && linkage[n - 1] == SpvLinkageTypeLinkOnceODR ? IR_LINKAGE_EXPORT_ONCE : IR_LINKAGE_INTERNAL;
}

/* ---- functions ---- */

/* Functions that have no counterpart: their calls become instructions. */
static bool is_builtin(const struct spirv_reader *r, const struct spirv_function *f)
{
    return spirv_is_mangled_builtin(r, f) || spirv_is_named_dot(r, f);
}

/* Names that users and other modules know are taken first, so that no other function has them. */
static void name_functions(struct spirv_reader *r)
{
    for (size_t k = 0; k < r->functions.n; k++) {
        struct spirv_function *f = &r->functions.items[k];
        if (f->entry && !f->wraps)
            f->name = spirv_unique_name(r, &r->functions.names, spirv_string(f->entry->words + 3), "function");
    }
    for (size_t k = 0; k < r->functions.n; k++) {
        struct spirv_function *f = &r->functions.items[k];
        const uint32_t *linkage = spirv_decoration(r, f->id, SpvDecorationLinkageAttributes, NULL);
        if (!f->entry && linkage && !is_builtin(r, f))
            f->name = spirv_unique_name(r, &r->functions.names, spirv_string(linkage), "function");
    }
}

/* Where it is not told where a function begins: the first line of it that is. */
static struct ir_loc first_loc(struct spirv_reader *r, const struct spirv_function *f)
{
    struct ir_loc loc = {0, 0, 0};
    for (const struct spirv_inst *i = f->first; i < f->end && !loc.line; i++)
        if (i->op != SpvOpLine) loc = spirv_loc(r, i);
    return loc;
}

static void make_function(struct spirv_reader *r, struct spirv_function *f)
{
    spirv_begin_function(r, f);
    ir_type result = spirv_returns_struct(r, f) ? IR_VOID : spirv_type(r, f->first, f->first->type);
    enum ir_linkage linkage = f->entry ? IR_LINKAGE_KERNEL : linkage_of(r, f);
    if (!f->name) f->name = spirv_unique_name(r, &r->functions.names, spirv_name(r, f->id), "function");
    if (f->entry && result != IR_VOID) spirv_fail(r, f->first, "is a kernel that returns a value");
    f->ir = ir_function_new(r->module, f->name, linkage, result, count_params(r, f));
    f->ir->loc = first_loc(r, f);
    make_params(r, f, f->ir);
    if (f->entry) read_modes(r, f, f->ir);
    f->no_signature = spirv_failed(r);
    spirv_begin_function(r, NULL);
}

void spirv_make_signatures(struct spirv_reader *r)
{
    name_functions(r);
    for (size_t k = 0; k < r->functions.n; k++)
        if (r->functions.items[k].entry && !r->functions.items[k].wraps) make_function(r, &r->functions.items[k]);
    for (size_t k = 0; k < r->functions.n; k++)
        if (!r->functions.items[k].entry && !is_builtin(r, &r->functions.items[k]))
            make_function(r, &r->functions.items[k]);
}
