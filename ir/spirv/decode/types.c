/* What is asked about types. */
#include "ir/spirv/decode/types.h"

#include <stdio.h>

#include "ir/spirv/decode/constant_values.h"
#include "ir/spirv/decode/fail.h"
#include "ir/spirv/decode/ids.h"
#include "ir/spirv/decode/tools.h"

int spirv_space_of(uint32_t storage_class)
{
    switch (storage_class) {
    case SpvStorageClassFunction: return IR_SPACE_PRIVATE;
    case SpvStorageClassCrossWorkgroup: return IR_SPACE_GLOBAL;
    case SpvStorageClassUniformConstant: return IR_SPACE_CONSTANT;
    case SpvStorageClassWorkgroup: return IR_SPACE_LOCAL;
    case SpvStorageClassGeneric: return IR_SPACE_GENERIC;
    case SpvStorageClassDeviceOnlyINTEL:
    case SpvStorageClassHostOnlyINTEL: return IR_SPACE_GLOBAL;
    default: return -1;
    }
}

enum ir_space spirv_space(struct spirv_reader *r, const struct spirv_inst *user, uint32_t storage_class)
{
    int space = spirv_space_of(storage_class);
    if (space < 0) spirv_fail(r, user, "storage class %u is none of OpenCL's", storage_class);
    return space < 0 ? IR_SPACE_PRIVATE : (enum ir_space)space;
}

static void describe(const struct spirv_inst *t, char *text, size_t size)
{
    static const char *const dims[] = {"1D", "2D", "3D", "Cube", "Rect", "Buffer", "SubpassData"};
    const char *op = tools_op_name(t->op);
    switch (t->op) {
    case SpvOpTypeInt: snprintf(text, size, "Op%s of %u bits", op, t->words[2]); break;
    case SpvOpTypeFloat: snprintf(text, size, "Op%s of %u bits", op, t->words[2]); break;
    case SpvOpTypeVector: snprintf(text, size, "Op%s of %u components", op, t->words[3]); break;
    case SpvOpTypeImage:
        snprintf(text, size, "Op%s %s%s%s", op, t->words[3] < 7 ? dims[t->words[3]] : "?", t->words[5] ? " array" : "",
                 t->words[6] ? " multi-sampled" : "");
        break;
    case SpvOpTypeOpaque: snprintf(text, size, "Op%s %s", op, spirv_string(t->words + 2)); break;
    default: snprintf(text, size, "Op%s", op); break;
    }
}

ir_type spirv_type(struct spirv_reader *r, const struct spirv_inst *user, uint32_t type)
{
    if (r->types[type].known) return r->types[type].ir;
    if (!spirv_def(r, type)) {
        spirv_fail(r, user, "has an operand that is no pointer");
        return IR_I32;
    }
    char text[160];
    describe(spirv_def(r, type), text, sizeof text);
    spirv_fail(r, user, "uses %s, which cannot be read", text);
    return IR_I32;
}

uint32_t spirv_leaves(const struct spirv_reader *r, uint32_t type)
{
    return type ? r->types[type].leaves : 0;
}

uint32_t spirv_pointee(const struct spirv_reader *r, uint32_t type)
{
    const struct spirv_inst *t = spirv_def(r, type);
    return t && t->op == SpvOpTypePointer ? t->words[3] : 0;
}

uint32_t spirv_part(const struct spirv_reader *r, uint32_t type, uint32_t index)
{
    const struct spirv_inst *t = spirv_def(r, type);
    if (t->op == SpvOpTypeStruct) return index < t->n - 2u ? t->words[index + 2] : 0;
    return t->op == SpvOpTypeArray || t->op == SpvOpTypeVector ? t->words[2] : 0;
}

uint32_t spirv_n_parts(const struct spirv_reader *r, uint32_t type)
{
    const struct spirv_inst *t = spirv_def(r, type);
    uint64_t n = 0;
    if (t->op == SpvOpTypeStruct) return t->n - 2u;
    if (t->op == SpvOpTypeVector) return t->words[3];
    if (t->op == SpvOpTypeArray) spirv_constant_uint(r, t->words[3], &n);
    return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

uint32_t spirv_part_leaf(const struct spirv_reader *r, uint32_t type, uint32_t index)
{
    const struct spirv_inst *t = spirv_def(r, type);
    if (t->op != SpvOpTypeStruct) return index * spirv_leaves(r, spirv_part(r, type, 0));
    uint32_t leaf = 0;
    for (uint32_t k = 0; k < index; k++) leaf += spirv_leaves(r, t->words[k + 2]);
    return leaf;
}

struct leaf_walk {
    const struct spirv_reader *r;
    spirv_leaf_visitor *visit;
    void *data;
    uint32_t next;
};

/* As deep as types are inside each other, which read_array() and read_struct() bound. */
static void walk_leaves(struct leaf_walk *w, uint32_t type, uint64_t offset)
{
    const struct spirv_reader *r = w->r;
    const struct spirv_inst *t = spirv_def(r, type);
    if (!r->types[type].leaves) return;
    if (t->op == SpvOpTypeStruct) {
        const struct ir_struct *s = ir_type_struct(r->module, r->types[type].ir);
        for (uint32_t k = 0; k < s->n_fields; k++) walk_leaves(w, t->words[k + 2], offset + s->fields[k].offset);
    } else if (t->op == SpvOpTypeArray) {
        uint32_t n = spirv_n_parts(r, type);
        uint64_t size = ir_type_size(r->module, r->types[t->words[2]].ir);
        for (uint32_t k = 0; k < n; k++) walk_leaves(w, t->words[2], offset + k * size);
    } else {
        w->visit(w->data, w->next++, r->types[type].ir, offset);
    }
}

void spirv_each_leaf(const struct spirv_reader *r, uint32_t type, spirv_leaf_visitor *visit, void *data)
{
    struct leaf_walk w = {r, visit, data, 0};
    walk_leaves(&w, type, 0);
}

static void note_type(void *data, uint32_t leaf, ir_type type, uint64_t offset)
{
    (void)offset;
    ((ir_type *)data)[leaf] = type;
}

const ir_type *spirv_leaf_types(const struct spirv_reader *r, uint32_t type)
{
    ir_type *all = arena_alloc(r->arena, spirv_leaves(r, type) * sizeof *all);
    spirv_each_leaf(r, type, note_type, all);
    return all;
}
