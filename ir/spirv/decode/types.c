/* Types, in one walk with the constants that their lengths are: SPIR-V's as those of ir. Pointers are opaque there;
 * what they point at stays with SPIR-V's ids. */
#include <stdio.h>
#include <string.h>

#include "ir/spirv/decode/reader.h"

enum { MAX_DEPTH = 60 };

static const struct spirv_inst *def(const struct spirv_reader *r, uint32_t id)
{
    return r->ids[id].def;
}

static void set(struct spirv_reader *r, uint32_t id, ir_type t)
{
    r->ids[id].type = t;
    r->ids[id].leaves = 1;
    r->ids[id].known = true;
}

static uint32_t capped_add(uint32_t a, uint32_t b)
{
    uint32_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT32_MAX : sum;
}

/* ---- scalars and vectors ---- */

static void read_int(struct spirv_reader *r, const struct spirv_inst *i)
{
    switch (i->words[2]) {
    case 8: set(r, i->id, IR_I8); break;
    case 16: set(r, i->id, IR_I16); break;
    case 32: set(r, i->id, IR_I32); break;
    case 64: set(r, i->id, IR_I64); break;
    default: break;
    }
}

static void read_float(struct spirv_reader *r, const struct spirv_inst *i)
{
    switch (i->words[2]) {
    case 16: set(r, i->id, IR_F16); break;
    case 32: set(r, i->id, IR_F32); break;
    case 64: set(r, i->id, IR_F64); break;
    default: break;
    }
}

static void read_vector(struct spirv_reader *r, const struct spirv_inst *i)
{
    const struct spirv_id *element = &r->ids[i->words[2]];
    uint32_t n = i->words[3];
    if (!element->known || !ir_type_is_number(element->type)) return;
    if (n == 2 || n == 3 || n == 4 || n == 8 || n == 16) set(r, i->id, ir_type_with_lanes(element->type, n));
}

static int space_of(uint32_t storage_class)
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
    int space = space_of(storage_class);
    if (space < 0) spirv_fail(r, user, "storage class %u is none of OpenCL's", storage_class);
    return space < 0 ? IR_SPACE_PRIVATE : (enum ir_space)space;
}

static void read_pointer(struct spirv_reader *r, const struct spirv_inst *i)
{
    int space = space_of(i->words[2]);
    if (space >= 0) set(r, i->id, IR_PTR(space));
}

/* ---- structs and arrays ---- */

static bool in_memory(const struct spirv_id *t)
{
    return t->known && (ir_type_is_number(t->type) || ir_type_kind(t->type) == IR_KIND_STRUCT ||
                        ir_type_kind(t->type) == IR_KIND_ARRAY || ir_type_is_ptr(t->type));
}

static bool has_layout_room(uint64_t size)
{
    return size < (uint64_t)1 << 48;
}

static void read_array(struct spirv_reader *r, const struct spirv_inst *i)
{
    const struct spirv_id *element = &r->ids[i->words[2]];
    uint64_t n, size;
    if (!in_memory(element) || element->depth >= MAX_DEPTH || !spirv_constant_uint(r, i->words[3], &n)) return;
    if (__builtin_mul_overflow(ir_type_size(r->module, element->type), n, &size) || !has_layout_room(size)) return;
    if (r->module->n_arrays >= IR_MAX_ARRAYS) return;
    set(r, i->id, ir_array_type(r->module, element->type, n));
    uint32_t leaves;
    bool many = n > UINT32_MAX || __builtin_mul_overflow(element->leaves, (uint32_t)n, &leaves);
    r->ids[i->id].leaves = many ? UINT32_MAX : leaves;
    r->ids[i->id].depth = (uint8_t)(element->depth + 1);
}

static void pack(const struct ir_module *m, struct ir_struct *s)
{
    uint64_t at = 0;
    for (uint32_t k = 0; k < s->n_fields; k++) {
        s->fields[k].offset = (uint32_t)at;
        at += ir_type_size(m, s->fields[k].type);
    }
    s->size = (uint32_t)at;
    s->align = 1;
}

static bool struct_fits(const struct spirv_reader *r, const struct spirv_inst *i)
{
    uint64_t size = 0;
    for (uint32_t k = 2; k < i->n; k++) {
        const struct spirv_id *member = &r->ids[i->words[k]];
        if (!in_memory(member) || member->depth >= MAX_DEPTH) return false;
        size += ir_type_size(r->module, member->type) + 128;
        if (size > INT32_MAX) return false;
    }
    return true;
}

static void read_struct(struct spirv_reader *r, const struct spirv_inst *i)
{
    if (!struct_fits(r, i)) return;
    const char *wish = r->ids[i->id].name;
    if (wish && strncmp(wish, "struct.", 7) == 0) wish += 7;
    struct ir_struct *s = ir_struct_new(r->module, spirv_unique_name(r, &r->structs, wish, "anonymous"), i->n - 2);
    struct spirv_id *own = &r->ids[i->id];
    set(r, i->id, IR_TYPE(IR_KIND_STRUCT, 1, r->module->n_structs - 1));
    own->leaves = 0;
    for (uint32_t k = 0; k < s->n_fields; k++) {
        const struct spirv_id *member = &r->ids[i->words[k + 2]];
        s->fields[k].type = member->type;
        own->leaves = capped_add(own->leaves, member->leaves);
        if (member->depth >= own->depth) own->depth = (uint8_t)(member->depth + 1);
    }
    if (spirv_decoration(r, i->id, SpvDecorationCPacked, NULL)) {
        pack(r->module, s);
    } else {
        ir_struct_natural_layout(r->module, s);
    }
}

/* ---- opaque types ---- */

static enum ir_handle_access access_of(uint32_t qualifier)
{
    return qualifier == SpvAccessQualifierReadOnly    ? IR_HANDLE_READ
           : qualifier == SpvAccessQualifierWriteOnly ? IR_HANDLE_WRITE
                                                      : IR_HANDLE_READ_WRITE;
}

/* IR_IMAGE_FORM_COUNT: none that we have. */
static enum ir_image_form form_of(uint32_t dim, bool array)
{
    switch (dim) {
    case SpvDim1D: return array ? IR_IMAGE_1D_ARRAY : IR_IMAGE_1D;
    case SpvDim2D: return array ? IR_IMAGE_2D_ARRAY : IR_IMAGE_2D;
    case SpvDim3D: return array ? IR_IMAGE_FORM_COUNT : IR_IMAGE_3D;
    case SpvDimBuffer: return array ? IR_IMAGE_FORM_COUNT : IR_IMAGE_1D_BUFFER;
    default: return IR_IMAGE_FORM_COUNT;
    }
}

static void read_image(struct spirv_reader *r, const struct spirv_inst *i)
{
    const uint32_t *w = i->words;
    enum ir_image_form form = w[6] ? IR_IMAGE_FORM_COUNT : form_of(w[3], w[5]); /* w[6]: multi-sampled */
    uint32_t qualifier = i->n > 9 ? w[9] : SpvAccessQualifierReadOnly;
    if (form != IR_IMAGE_FORM_COUNT) set(r, i->id, IR_IMAGE(form, access_of(qualifier)));
}

static void read_type(struct spirv_reader *r, const struct spirv_inst *i)
{
    switch (i->op) {
    case SpvOpTypeVoid:
        set(r, i->id, IR_VOID);
        r->ids[i->id].leaves = 0;
        break;
    case SpvOpTypeBool: set(r, i->id, IR_BOOL); break;
    case SpvOpTypeInt: read_int(r, i); break;
    case SpvOpTypeFloat: read_float(r, i); break;
    case SpvOpTypeVector: read_vector(r, i); break;
    case SpvOpTypePointer: read_pointer(r, i); break;
    case SpvOpTypeArray: read_array(r, i); break;
    case SpvOpTypeStruct: read_struct(r, i); break;
    case SpvOpTypeImage: read_image(r, i); break;
    case SpvOpTypeSampler: set(r, i->id, IR_TYPE(IR_KIND_SAMPLER, 1, 0)); break;
    case SpvOpTypePipe: set(r, i->id, IR_TYPE(IR_KIND_PIPE, 1, access_of(i->words[2]))); break;
    case SpvOpTypeEvent: set(r, i->id, IR_I64); break; /* of copies that are done when their call returns */
    case SpvOpTypeSampledImage:
        r->ids[i->id].leaves = 2;
        r->ids[i->id].known = r->ids[i->words[2]].known;
        r->ids[i->id].type = r->ids[i->words[2]].type;
        break;
    default: break;
    }
}

void spirv_types(struct spirv_reader *r)
{
    for (size_t k = 0; k < r->n_insts; k++) {
        const struct spirv_inst *i = &r->insts[k];
        if (i->op == SpvOpTypeForwardPointer) {
            int space = space_of(i->words[2]);
            if (space >= 0) set(r, i->words[1], IR_PTR(space));
        } else if (i->op == SpvOpUndef || (i->op >= SpvOpConstantTrue && i->op <= SpvOpSpecConstantOp)) {
            spirv_constant(r, i);
        } else if (i->op >= SpvOpTypeVoid && i->op <= SpvOpTypePipe) {
            read_type(r, i);
        } else if (i->op == SpvOpFunction) {
            break;
        }
    }
}

/* ---- questions ---- */

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
    if (r->ids[type].known) return r->ids[type].type;
    if (!r->ids[type].def) {
        spirv_fail(r, user, "has an operand that is no pointer");
        return IR_I32;
    }
    char text[160];
    describe(def(r, type), text, sizeof text);
    spirv_fail(r, user, "uses %s, which cannot be read", text);
    return IR_I32;
}

uint32_t spirv_leaves(const struct spirv_reader *r, uint32_t type)
{
    return type ? r->ids[type].leaves : 0;
}

uint32_t spirv_pointee(const struct spirv_reader *r, uint32_t type)
{
    const struct spirv_inst *t = def(r, type);
    return t && t->op == SpvOpTypePointer ? t->words[3] : 0;
}

uint32_t spirv_part(const struct spirv_reader *r, uint32_t type, uint32_t index)
{
    const struct spirv_inst *t = def(r, type);
    if (t->op == SpvOpTypeStruct) return index < t->n - 2u ? t->words[index + 2] : 0;
    return t->op == SpvOpTypeArray || t->op == SpvOpTypeVector ? t->words[2] : 0;
}

uint32_t spirv_n_parts(const struct spirv_reader *r, uint32_t type)
{
    const struct spirv_inst *t = def(r, type);
    uint64_t n = 0;
    if (t->op == SpvOpTypeStruct) return t->n - 2u;
    if (t->op == SpvOpTypeVector) return t->words[3];
    if (t->op == SpvOpTypeArray) spirv_constant_uint(r, t->words[3], &n);
    return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

uint32_t spirv_part_leaf(const struct spirv_reader *r, uint32_t type, uint32_t index)
{
    const struct spirv_inst *t = def(r, type);
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
    const struct spirv_inst *t = def(r, type);
    if (!r->ids[type].leaves) return;
    if (t->op == SpvOpTypeStruct) {
        const struct ir_struct *s = ir_type_struct(r->module, r->ids[type].type);
        for (uint32_t k = 0; k < s->n_fields; k++) walk_leaves(w, t->words[k + 2], offset + s->fields[k].offset);
    } else if (t->op == SpvOpTypeArray) {
        uint32_t n = spirv_n_parts(r, type);
        uint64_t size = ir_type_size(r->module, r->ids[t->words[2]].type);
        for (uint32_t k = 0; k < n; k++) walk_leaves(w, t->words[2], offset + k * size);
    } else {
        w->visit(w->data, w->next++, r->ids[type].type, offset);
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
