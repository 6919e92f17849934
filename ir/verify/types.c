/* Structs and arrays: their layouts, names, and how deep they are inside each other. */
#include "ir/verify/types.h"

#include <stdio.h>
#include <stdlib.h>

#include "ir/base/arena.h"
#include "ir/verify/known_types.h"
#include "ir/verify/limits.h"
#include "ir/verify/names.h"
#include "ir/verify/report.h"

static bool is_power_of_two(uint64_t n)
{
    return n && !(n & (n - 1));
}

static uint64_t round_up(uint64_t n, uint64_t align)
{
    return (n + align - 1) / align * align;
}

static struct verify_layout *layout_of(struct verifier *v, ir_type t);

/* Size, alignment and depth of what a struct or an array holds; false, with a finding, where it cannot be in memory. */
static bool inner_layout(struct verifier *v, const char *name, ir_type t, struct verify_layout *out)
{
    if (!verify_type_ok(v, t)) {
        verify_report(v, "%s has a type that does not exist (%#x)", name, t);
        return false;
    }
    if (ir_type_kind(t) == IR_KIND_STRUCT || ir_type_kind(t) == IR_KIND_ARRAY) {
        struct verify_layout *inner = layout_of(v, t);
        if (inner->state == LAYOUT_IN_PROGRESS) verify_report(v, "%s contains itself", name);
        *out = *inner;
        return inner->state == LAYOUT_GOOD;
    }
    if (!ir_type_is_number(t) && !ir_type_is_ptr(t)) {
        verify_report(v, "%s is of type %s, which cannot lie in memory", name, verify_type_text(v, t));
        return false;
    }
    *out = (struct verify_layout){LAYOUT_GOOD, 0, ir_type_align(v->m, t), ir_type_size(v->m, t)};
    return true;
}

/* The struct at the bottom of arrays of arrays of it, or UINT32_MAX. Only for types with a good layout. */
static uint32_t innermost_struct(const struct verifier *v, ir_type t)
{
    while (ir_type_kind(t) == IR_KIND_ARRAY) t = v->m->arrays[ir_type_detail(t)].element;
    return ir_type_kind(t) == IR_KIND_STRUCT ? ir_type_detail(t) : UINT32_MAX;
}

static bool check_field(struct verifier *v, uint32_t index, uint32_t i, uint64_t *end, struct verify_layout *out)
{
    const struct ir_struct *s = v->m->structs[index];
    const struct ir_field *field = &s->fields[i];
    char name[96];
    snprintf(name, sizeof name, "field %u of struct %s", i, s->name ? s->name : "?");
    if (!inner_layout(v, name, field->type, out)) return false;

    bool good = true;
    uint32_t inner = innermost_struct(v, field->type);
    if (inner != UINT32_MAX && inner >= index) {
        verify_report(v, "%s holds a struct that does not come before it", name);
        good = false;
    }
    uint32_t align = out->align < s->align ? out->align : s->align; /* a packed struct has alignment 1 */
    if (is_power_of_two(s->align) && field->offset % align) {
        verify_report(v, "%s is at offset %u, which is not a multiple of %u", name, field->offset, align);
        good = false;
    }
    if (field->offset < *end) {
        verify_report(v, "%s is at offset %u and overlaps the field before it, which ends at %llu", name, field->offset,
                      (unsigned long long)*end);
        good = false;
    }
    if (field->offset + out->size > s->size) {
        verify_report(v, "%s ends at %llu, beyond the struct's size of %u", name,
                      (unsigned long long)(field->offset + out->size), s->size);
        good = false;
    }
    *end = field->offset + out->size;
    return good;
}

static void check_struct(struct verifier *v, uint32_t index)
{
    const struct ir_struct *s = v->m->structs[index];
    struct verify_layout *layout = &v->structs[index];
    bool good = true;
    uint64_t end = 0;
    const char *name = s->name ? s->name : "?";
    layout->size = s->size;
    layout->align = s->align;
    if (!is_power_of_two(s->align)) {
        verify_report(v, "struct %s has alignment %u, which is not a power of two", name, s->align);
        good = false;
    } else if (s->size % s->align) {
        verify_report(v, "struct %s has size %u, which is not a multiple of its alignment %u", name, s->size, s->align);
        good = false;
    }
    if (s->n_fields && !s->fields) {
        verify_report(v, "struct %s has no list of fields", name);
        layout->state = LAYOUT_BAD;
        return;
    }
    for (uint32_t i = 0; i < s->n_fields; i++) {
        struct verify_layout inner = {0};
        if (!check_field(v, index, i, &end, &inner)) good = false;
        if (inner.depth > layout->depth) layout->depth = inner.depth;
    }
    layout->depth++;
    layout->state = good ? LAYOUT_GOOD : LAYOUT_BAD;
}

static void check_array(struct verifier *v, uint32_t index)
{
    const struct ir_array *a = &v->m->arrays[index];
    struct verify_layout *layout = &v->arrays[index];
    struct verify_layout inner;
    char name[64];
    snprintf(name, sizeof name, "the element of array type %u", index);
    layout->state = LAYOUT_BAD;
    if (ir_type_kind(a->element) == IR_KIND_ARRAY && ir_type_detail(a->element) >= index) {
        verify_report(v, "array type %u has as element an array type that does not come before it", index);
        return;
    }
    if (!inner_layout(v, name, a->element, &inner)) return;
    if (!a->count) {
        verify_report(v, "array type %u has no elements", index);
        return;
    }
    uint64_t stride = round_up(inner.size, inner.align);
    if (stride && a->count > (IR_MAX_TYPE_SIZE - 1) / stride) {
        verify_report(v, "array type %u, %llu times %llu bytes, is not smaller than 2^48 bytes", index,
                      (unsigned long long)a->count, (unsigned long long)stride);
        return;
    }
    *layout = (struct verify_layout){LAYOUT_GOOD, inner.depth + 1, inner.align, a->count * stride};
}

/* Works as deep as types nest, which it therefore limits on the way down and up. */
static struct verify_layout *layout_of(struct verifier *v, ir_type t)
{
    uint32_t index = ir_type_detail(t);
    bool is_struct = ir_type_kind(t) == IR_KIND_STRUCT;
    struct verify_layout *layout = is_struct ? &v->structs[index] : &v->arrays[index];
    if (layout->state != LAYOUT_UNKNOWN) return layout;
    layout->state = LAYOUT_IN_PROGRESS;
    if (v->type_depth++ >= IR_MAX_TYPE_DEPTH) {
        layout->depth = IR_MAX_TYPE_DEPTH + 1;
    } else if (is_struct) {
        check_struct(v, index);
    } else {
        check_array(v, index);
    }
    v->type_depth--;
    if (layout->depth > IR_MAX_TYPE_DEPTH) {
        if (layout->state != LAYOUT_BAD)
            verify_report(v, "%s type %u holds others more than %d deep", is_struct ? "struct" : "array", index,
                          IR_MAX_TYPE_DEPTH);
        layout->state = LAYOUT_BAD;
        layout->depth = 0; /* said once is enough */
    }
    return layout;
}

static void layout_all(struct verifier *v)
{
    for (uint32_t i = 0; i < v->m->n_structs; i++) layout_of(v, IR_TYPE(IR_KIND_STRUCT, 1, i));
    for (uint32_t i = 0; i < v->m->n_arrays; i++) layout_of(v, IR_TYPE(IR_KIND_ARRAY, 1, i));
}

static void check_field_names(struct verifier *v, const struct ir_struct *s)
{
    const char **names = arena_realloc(NULL, s->n_fields * sizeof *names);
    for (uint32_t i = 0; i < s->n_fields; i++) {
        names[i] = s->fields[i].name;
        if (names[i] && !verify_name_ok(names[i]))
            verify_report(v, "field %u of struct %s has a name that cannot be written", i, s->name ? s->name : "?");
    }
    char what[96];
    snprintf(what, sizeof what, "fields of struct %s", s->name ? s->name : "?");
    verify_unique(v, names, s->n_fields, what);
    free(names);
}

static int compare_arrays(const void *a, const void *b)
{
    const struct ir_array *x = *(const struct ir_array *const *)a, *y = *(const struct ir_array *const *)b;
    if (x->element != y->element) return x->element < y->element ? -1 : 1;
    return x->count < y->count ? -1 : x->count > y->count;
}

static void check_arrays_differ(struct verifier *v)
{
    uint32_t n = v->m->n_arrays;
    const struct ir_array **sorted = arena_realloc(NULL, n * sizeof(*sorted));
    for (uint32_t i = 0; i < n; i++) sorted[i] = &v->m->arrays[i];
    qsort(sorted, n, sizeof(*sorted), compare_arrays);
    for (uint32_t i = 1; i < n; i++)
        if (compare_arrays(&sorted[i - 1], &sorted[i]) == 0)
            verify_report(v, "array types %td and %td are the same", sorted[i - 1] - v->m->arrays,
                          sorted[i] - v->m->arrays);
    free(sorted);
}

void verify_types(struct verifier *v)
{
    const struct ir_module *m = v->m;
    layout_all(v);
    const char **names = arena_realloc(NULL, m->n_structs * sizeof *names);
    for (uint32_t i = 0; i < m->n_structs; i++) {
        names[i] = m->structs[i]->name;
        if (!names[i] || !verify_name_ok(names[i]))
            verify_report(v, "struct type %u has no name that can be written", i);
        if (m->structs[i]->fields) check_field_names(v, m->structs[i]);
    }
    verify_unique(v, names, m->n_structs, "structs");
    free(names);
    if (m->n_arrays > IR_MAX_ARRAYS) verify_report(v, "the module has more than %d array types", IR_MAX_ARRAYS);
    check_arrays_differ(v);
}
