/* Declarations of types. */
#include "ir/spirv/decode/read_types.h"

#include <string.h>

#include "ir/spirv/decode/constant_values.h"
#include "ir/spirv/decode/decorations.h"
#include "ir/spirv/decode/ids.h"
#include "ir/spirv/decode/names.h"
#include "ir/spirv/decode/types.h"

enum { MAX_DEPTH = 60 };

static void set_type(struct spirv_reader *r, uint32_t id, ir_type t)
{
    r->types[id].ir = t;
    r->types[id].leaves = 1;
    r->types[id].known = true;
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
    case 8: set_type(r, i->id, IR_I8); break;
    case 16: set_type(r, i->id, IR_I16); break;
    case 32: set_type(r, i->id, IR_I32); break;
    case 64: set_type(r, i->id, IR_I64); break;
    default: break;
    }
}

static void read_float(struct spirv_reader *r, const struct spirv_inst *i)
{
    switch (i->words[2]) {
    case 16: set_type(r, i->id, IR_F16); break;
    case 32: set_type(r, i->id, IR_F32); break;
    case 64: set_type(r, i->id, IR_F64); break;
    default: break;
    }
}

static void read_vector(struct spirv_reader *r, const struct spirv_inst *i)
{
    const struct spirv_type *element = &r->types[i->words[2]];
    uint32_t n = i->words[3];
    if (!element->known || !ir_type_is_number(element->ir)) return;
    if (n == 2 || n == 3 || n == 4 || n == 8 || n == 16) set_type(r, i->id, ir_type_with_lanes(element->ir, n));
}

static void read_pointer(struct spirv_reader *r, const struct spirv_inst *i)
{
    int space = spirv_space_of(i->words[2]);
    if (space >= 0) set_type(r, i->id, IR_PTR(space));
}

/* ---- structs and arrays ---- */

static bool in_memory(const struct spirv_type *t)
{
    return t->known && (ir_type_is_number(t->ir) || ir_type_kind(t->ir) == IR_KIND_STRUCT ||
                        ir_type_kind(t->ir) == IR_KIND_ARRAY || ir_type_is_ptr(t->ir));
}

static bool has_layout_room(uint64_t size)
{
    return size < (uint64_t)1 << 48;
}

static void read_array(struct spirv_reader *r, const struct spirv_inst *i)
{
    const struct spirv_type *element = &r->types[i->words[2]];
    uint64_t n, size;
    if (!in_memory(element) || element->depth >= MAX_DEPTH || !spirv_constant_uint(r, i->words[3], &n)) return;
    if (__builtin_mul_overflow(ir_type_size(r->module, element->ir), n, &size) || !has_layout_room(size)) return;
    if (r->module->n_arrays >= IR_MAX_ARRAYS) return;
    set_type(r, i->id, ir_array_type(r->module, element->ir, n));
    uint32_t leaves;
    bool many = n > UINT32_MAX || __builtin_mul_overflow(element->leaves, (uint32_t)n, &leaves);
    r->types[i->id].leaves = many ? UINT32_MAX : leaves;
    r->types[i->id].depth = (uint8_t)(element->depth + 1);
}

static void pack_fields(const struct ir_module *m, struct ir_struct *s)
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
        const struct spirv_type *member = &r->types[i->words[k]];
        if (!in_memory(member) || member->depth >= MAX_DEPTH) return false;
        size += ir_type_size(r->module, member->ir) + 128;
        if (size > INT32_MAX) return false;
    }
    return true;
}

static void read_struct(struct spirv_reader *r, const struct spirv_inst *i)
{
    if (!struct_fits(r, i)) return;
    const char *wish = spirv_name(r, i->id);
    if (wish && strncmp(wish, "struct.", 7) == 0) wish += 7;
    struct ir_struct *s = ir_struct_new(r->module, spirv_unique_name(r, &r->structs, wish, "anonymous"), i->n - 2);
    struct spirv_type *own = &r->types[i->id];
    set_type(r, i->id, IR_TYPE(IR_KIND_STRUCT, 1, r->module->n_structs - 1));
    own->leaves = 0;
    for (uint32_t k = 0; k < s->n_fields; k++) {
        const struct spirv_type *member = &r->types[i->words[k + 2]];
        s->fields[k].type = member->ir;
        own->leaves = capped_add(own->leaves, member->leaves);
        if (member->depth >= own->depth) own->depth = (uint8_t)(member->depth + 1);
    }
    if (spirv_decoration(r, i->id, SpvDecorationCPacked, NULL)) {
        pack_fields(r->module, s);
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
    if (form != IR_IMAGE_FORM_COUNT) set_type(r, i->id, IR_IMAGE(form, access_of(qualifier)));
}

void spirv_read_type(struct spirv_reader *r, const struct spirv_inst *i)
{
    switch (i->op) {
    case SpvOpTypeVoid:
        set_type(r, i->id, IR_VOID);
        r->types[i->id].leaves = 0;
        break;
    case SpvOpTypeBool: set_type(r, i->id, IR_BOOL); break;
    case SpvOpTypeInt: read_int(r, i); break;
    case SpvOpTypeFloat: read_float(r, i); break;
    case SpvOpTypeVector: read_vector(r, i); break;
    case SpvOpTypePointer: read_pointer(r, i); break;
    case SpvOpTypeArray: read_array(r, i); break;
    case SpvOpTypeStruct: read_struct(r, i); break;
    case SpvOpTypeImage: read_image(r, i); break;
    case SpvOpTypeSampler: set_type(r, i->id, IR_TYPE(IR_KIND_SAMPLER, 1, 0)); break;
    case SpvOpTypePipe: set_type(r, i->id, IR_TYPE(IR_KIND_PIPE, 1, access_of(i->words[2]))); break;
    case SpvOpTypePipeStorage: set_type(r, i->id, IR_TYPE(IR_KIND_PIPE, 1, IR_HANDLE_READ_WRITE)); break;
    case SpvOpTypeEvent: set_type(r, i->id, IR_I64); break; /* of copies that are done when their call returns */
    case SpvOpTypeSampledImage:
        r->types[i->id].leaves = 2;
        r->types[i->id].known = r->types[i->words[2]].known;
        r->types[i->id].ir = r->types[i->words[2]].ir;
        break;
    default: break;
    }
}

void spirv_forward_pointer(struct spirv_reader *r, const struct spirv_inst *i)
{
    int space = spirv_space_of(i->words[2]);
    if (space >= 0) set_type(r, i->words[1], IR_PTR(space));
}
