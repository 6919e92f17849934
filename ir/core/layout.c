/* Types: interning, size and alignment in memory, layout of structs and of kernel arguments. */
#include "ir/core/layout.h"

#include <string.h>

#include "ir/base/arena.h"

ir_type ir_array_type(struct ir_module *m, ir_type element, uint64_t count)
{
    uint32_t i = 0;
    while (i < m->n_arrays && !(m->arrays[i].element == element && m->arrays[i].count == count)) i++;
    if (i == m->n_arrays) {
        m->arrays = arena_grow(m->arena, m->arrays, m->n_arrays, sizeof *m->arrays);
        m->arrays[m->n_arrays++] = (struct ir_array){element, count};
    }
    return IR_TYPE(IR_KIND_ARRAY, 1, i);
}

struct ir_struct *ir_struct_new(struct ir_module *m, const char *name, uint32_t n_fields)
{
    struct ir_struct *s = ir_alloc(m, sizeof *s);
    s->name = ir_strdup(m, name);
    s->n_fields = n_fields;
    s->fields = ir_alloc(m, n_fields * sizeof *s->fields);
    s->align = 1;
    m->structs = arena_grow(m->arena, m->structs, m->n_structs, sizeof *m->structs);
    m->structs[m->n_structs++] = s;
    return s;
}

ir_type ir_struct_type(const struct ir_module *m, const struct ir_struct *s)
{
    uint32_t i = m->n_structs;
    while (i && m->structs[i - 1] != s) i--; /* the newest ones are asked for most */
    return i ? IR_TYPE(IR_KIND_STRUCT, 1, i - 1) : IR_VOID;
}

const struct ir_struct *ir_type_struct(const struct ir_module *m, ir_type t)
{
    if (ir_type_kind(t) != IR_KIND_STRUCT || ir_type_detail(t) >= m->n_structs) return NULL;
    return m->structs[ir_type_detail(t)];
}

const struct ir_array *ir_type_array(const struct ir_module *m, ir_type t)
{
    if (ir_type_kind(t) != IR_KIND_ARRAY || ir_type_detail(t) >= m->n_arrays) return NULL;
    return &m->arrays[ir_type_detail(t)];
}

/* The element of an array of arrays. count gets the number of elements in all; at most 2^64 - 1 is
   told apart. The steps are bounded, so that a malformed type that holds itself ends too. */
static ir_type innermost(const struct ir_module *m, ir_type t, uint64_t *count)
{
    *count = 1;
    for (uint32_t steps = 0; steps <= m->n_arrays; steps++) {
        const struct ir_array *a = ir_type_array(m, t);
        if (!a) break;
        if (__builtin_mul_overflow(*count, a->count, count)) *count = UINT64_MAX;
        t = a->element;
    }
    return t;
}

uint64_t ir_type_size(const struct ir_module *m, ir_type t)
{
    uint64_t count, size;
    t = innermost(m, t, &count);
    unsigned lanes = ir_type_lanes(t) == 3 ? 4 : ir_type_lanes(t);
    switch (ir_type_kind(t)) {
    case IR_KIND_STRUCT: size = ir_type_struct(m, t) ? ir_type_struct(m, t)->size : 0; break;
    case IR_KIND_BOOL: size = lanes; break;
    case IR_KIND_VOID:
    case IR_KIND_ARRAY: size = 0; break;
    case IR_KIND_IMAGE:
    case IR_KIND_SAMPLER:
    case IR_KIND_PIPE: size = 8; break;
    default: size = (uint64_t)ir_type_bits(t) / 8 * lanes;
    }
    return __builtin_mul_overflow(size, count, &size) ? UINT64_MAX : size;
}

uint32_t ir_type_align(const struct ir_module *m, ir_type t)
{
    uint64_t count;
    t = innermost(m, t, &count);
    const struct ir_struct *s = ir_type_struct(m, t);
    if (s) return s->align ? s->align : 1;
    uint64_t size = ir_type_size(m, t);
    return size && ir_type_kind(t) != IR_KIND_ARRAY ? (uint32_t)size : 1;
}

static uint64_t round_up(uint64_t n, uint64_t align)
{
    uint64_t up;
    return __builtin_add_overflow(n, align - 1, &up) ? UINT64_MAX : up / align * align;
}

static uint64_t add_saturated(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static uint32_t saturate32(uint64_t n)
{
    return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

void ir_struct_natural_layout(const struct ir_module *m, struct ir_struct *s)
{
    uint64_t at = 0;
    s->align = 1;
    for (uint32_t i = 0; i < s->n_fields; i++) {
        uint32_t align = ir_type_align(m, s->fields[i].type);
        if (align > s->align) s->align = align;
        at = round_up(at, align);
        s->fields[i].offset = saturate32(at);
        at = add_saturated(at, ir_type_size(m, s->fields[i].type));
    }
    s->size = saturate32(round_up(at, s->align));
}

uint32_t ir_param_layout(const struct ir_function *f, uint32_t *offsets)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < f->n_params; i++) {
        const struct ir_param *p = &f->params[i];
        ir_type t = p->by_value ? p->elem : p->value->type;
        at = round_up(at, ir_type_align(f->module, t));
        offsets[i] = saturate32(at);
        at = add_saturated(at, ir_type_size(f->module, t));
    }
    at = round_up(at, 8);
    return at > UINT32_MAX ? UINT32_MAX & ~7u : (uint32_t)at;
}
