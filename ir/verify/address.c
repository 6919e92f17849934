/* The verifier's part for addresses in initial values. */
#include "ir/verify/address.h"

#include "ir/verify/known_types.h"
#include "ir/verify/report.h"

static bool is_of_module(const struct verifier *v, const struct ir_global *g)
{
    return g && g->scratch < v->m->n_globals && v->m->globals[g->scratch] == g;
}

/* The last field that begins there or before: fields lie in their order. */
static const struct ir_field *field_at(const struct ir_struct *s, uint64_t at)
{
    uint32_t low = 0, high = s->n_fields;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->fields[middle].offset <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &s->fields[low - 1] : NULL;
}

/* The type of the pointer that lies there, or IR_VOID: what else has room for an address may hold any. */
static ir_type pointer_at(const struct ir_module *m, ir_type t, uint64_t at)
{
    for (;;) {
        const struct ir_array *a = ir_type_array(m, t);
        const struct ir_struct *s = ir_type_struct(m, t);
        if (!a && !s) return ir_type_is_ptr(t) && at == 0 ? t : IR_VOID;
        if (a) {
            uint64_t size = ir_type_size(m, a->element);
            if (!size) return IR_VOID;
            t = a->element;
            at %= size;
            continue;
        }
        const struct ir_field *f = field_at(s, at);
        if (!f || at - f->offset >= ir_type_size(m, f->type)) return IR_VOID;
        t = f->type;
        at -= f->offset;
    }
}

static bool is_zero(const uint8_t *bytes)
{
    for (int i = 0; i < 8; i++)
        if (bytes[i]) return false;
    return true;
}

static bool space_fits(ir_type pointer, const struct ir_global *target)
{
    if (pointer == IR_VOID || ir_type_space(pointer) == target->space) return true;
    return ir_type_space(pointer) == IR_SPACE_GENERIC && target->space == IR_SPACE_GLOBAL;
}

static void check_target(struct verifier *v, const struct ir_global *g, const struct ir_address *a)
{
    const struct ir_global *t = a->target;
    const char *name = t->name ? t->name : "?";
    if (t->space == IR_SPACE_LOCAL || ir_type_kind(t->type) == IR_KIND_PIPE) {
        verify_report(v, "global %s holds the address of %s, which is %s", g->name, name,
                      t->space == IR_SPACE_LOCAL ? "local" : "a pipe");
        return;
    }
    if (g->space == IR_SPACE_CONSTANT && t->space != IR_SPACE_CONSTANT)
        verify_report(v, "global %s is constant and holds the address of %s, which is not", g->name, name);
    ir_type pointer = pointer_at(v->m, g->type, a->offset);
    if (!space_fits(pointer, t))
        verify_report(v, "global %s holds the address of %s at offset %llu, where a %s lies", g->name, name,
                      (unsigned long long)a->offset, verify_type_text(v, pointer));
    if (verify_type_memory(v, t->type) && a->at > ir_type_size(v->m, t->type))
        verify_report(v, "global %s holds an address %llu bytes into %s, which has %llu", g->name,
                      (unsigned long long)a->at, name, (unsigned long long)ir_type_size(v->m, t->type));
}

void verify_addresses(struct verifier *v, const struct ir_global *g)
{
    if (!g->n_addresses || !g->name || !verify_type_memory(v, g->type)) return;
    if (!g->init || !g->addresses) {
        verify_report(v, "global %s holds addresses, but has no initial bytes", g->name);
        return;
    }
    uint64_t size = ir_type_size(v->m, g->type), end = 0;
    for (uint32_t i = 0; i < g->n_addresses; i++) {
        const struct ir_address *a = &g->addresses[i];
        unsigned long long offset = a->offset;
        if (a->offset % 8 || size < 8 || a->offset > size - 8) {
            verify_report(v, "global %s has %llu bytes and holds an address at offset %llu", g->name,
                          (unsigned long long)size, offset);
            continue;
        }
        if (a->offset < end)
            verify_report(v, "global %s holds two addresses at offset %llu, or not in order", g->name, offset);
        if (!is_zero(g->init + a->offset))
            verify_report(v, "global %s has bytes other than 0 under its address at offset %llu", g->name, offset);
        end = a->offset + 8;
        if (is_of_module(v, a->target))
            check_target(v, g, a);
        else
            verify_report(v, "global %s holds the address of a variable that is none of the module's", g->name);
    }
}
