/* What can be relied on of a type. */
#include "ir/verify/known_types.h"

#include <stdio.h>

#include "ir/text/print/print_type.h"

static bool lanes_ok(unsigned lanes)
{
    return lanes == 1 || lanes == 2 || lanes == 3 || lanes == 4 || lanes == 8 || lanes == 16;
}

static uint32_t detail_limit(const struct verifier *v, enum ir_kind kind)
{
    switch (kind) {
    case IR_KIND_PTR: return IR_SPACE_COUNT;
    case IR_KIND_STRUCT: return v->m->n_structs;
    case IR_KIND_ARRAY: return v->m->n_arrays;
    case IR_KIND_IMAGE: return IR_IMAGE_FORM_COUNT << 2;
    case IR_KIND_PIPE: return IR_HANDLE_ACCESS_COUNT;
    default: return 1;
    }
}

bool verify_type_ok(const struct verifier *v, ir_type t)
{
    if (ir_type_kind(t) >= IR_KIND_COUNT || !lanes_ok(ir_type_lanes(t))) return false;
    if (ir_type_is_vector(t) && !ir_type_is_number(t)) return false;
    if (ir_type_kind(t) == IR_KIND_IMAGE && ir_type_handle_access(t) >= IR_HANDLE_ACCESS_COUNT) return false;
    return ir_type_detail(t) < detail_limit(v, ir_type_kind(t));
}

bool verify_type_memory(const struct verifier *v, ir_type t)
{
    if (!verify_type_ok(v, t)) return false;
    switch (ir_type_kind(t)) {
    case IR_KIND_STRUCT: return v->structs[ir_type_detail(t)].state == LAYOUT_GOOD;
    case IR_KIND_ARRAY: return v->arrays[ir_type_detail(t)].state == LAYOUT_GOOD;
    default: return ir_type_is_number(t) || ir_type_is_ptr(t);
    }
}

const char *verify_type_text(struct verifier *v, ir_type t)
{
    char *text = v->texts[v->next_text++ % 4];
    size_t size = sizeof v->texts[0];
    if (!verify_type_ok(v, t)) {
        snprintf(text, size, "a type that does not exist (%#x)", t);
    } else if (ir_type_kind(t) == IR_KIND_STRUCT && !v->m->structs[ir_type_detail(t)]->name) {
        snprintf(text, size, "struct type %u", ir_type_detail(t));
    } else if (ir_type_kind(t) == IR_KIND_ARRAY && v->arrays[ir_type_detail(t)].state != LAYOUT_GOOD) {
        snprintf(text, size, "array type %u", ir_type_detail(t));
    } else {
        return ir_print_type(v->m, t, text, size);
    }
    return text;
}
