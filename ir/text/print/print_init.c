/* The printer's part for initial values of module-scope variables. */
#include "ir/text/print/print_init.h"

#include <string.h>

#include "ir/text/print/print_type.h"

/* A variable whose value is being looked through from its beginning to its end. */
struct init {
    struct strbuf *out;
    const struct ir_module *m;
    const struct ir_global *g;
    uint32_t address; /* the next of its addresses */
};

/* ---- is it said by numbers and addresses in braces? ---- */

static bool is_zero(const struct init *in, uint64_t from, uint64_t to)
{
    for (; from < to; from++)
        if (in->g->init[from]) return false;
    return true;
}

static bool takes_address(struct init *in, uint64_t at)
{
    const struct ir_global *g = in->g;
    if (in->address == g->n_addresses || g->addresses[in->address].offset != at) return false;
    in->address++;
    return true;
}

static bool is_plain(struct init *in, ir_type t, uint64_t at);

/* Fields one behind the other, and nothing in the gaps. */
static bool is_plain_struct(struct init *in, const struct ir_struct *s, uint64_t at)
{
    uint64_t end = 0;
    for (uint32_t i = 0; i < s->n_fields; i++) {
        const struct ir_field *f = &s->fields[i];
        if (f->offset < end || !is_zero(in, at + end, at + f->offset) || !is_plain(in, f->type, at + f->offset))
            return false;
        end = f->offset + ir_type_size(in->m, f->type);
    }
    return is_zero(in, at + end, at + s->size);
}

/* Bools may be neither true nor false, and vectors of 3 have a fourth lane: their bytes are printed. */
static bool is_plain(struct init *in, ir_type t, uint64_t at)
{
    const struct ir_array *a = ir_type_array(in->m, t);
    const struct ir_struct *s = ir_type_struct(in->m, t);
    uint64_t size = ir_type_size(in->m, t);
    if (!size) return false; /* so that there are never more parts than bytes */
    if (s) return is_plain_struct(in, s, at);
    if (ir_type_is_ptr(t)) return is_zero(in, at, at + size) && (takes_address(in, at), true);
    if (!a) return ir_type_is_number(t) && !ir_type_is_bool(t) && ir_type_lanes(t) != 3;
    for (uint64_t i = 0; i < a->count; i++)
        if (!is_plain(in, a->element, at + i * ir_type_size(in->m, a->element))) return false;
    return true;
}

/* ---- printing ---- */

static void print_address(const struct init *in, const struct ir_address *a)
{
    strbuf_printf(in->out, "@%s", a->target->name);
    if (a->at) strbuf_printf(in->out, " + %llu", (unsigned long long)a->at);
}

static void print_number(struct init *in, ir_type t, uint64_t at)
{
    uint64_t lanes[IR_MAX_LANES] = {0};
    unsigned size = ir_type_bits(t) / 8;
    for (unsigned i = 0; i < ir_type_lanes(t); i++) memcpy(&lanes[i], in->g->init + at + i * size, size);
    ir_print_lanes(in->out, t, lanes);
}

static void print_plain(struct init *in, ir_type t, uint64_t at)
{
    const struct ir_array *a = ir_type_array(in->m, t);
    const struct ir_struct *s = ir_type_struct(in->m, t);
    if (ir_type_is_ptr(t)) {
        if (takes_address(in, at))
            print_address(in, &in->g->addresses[in->address - 1]);
        else
            strbuf_add(in->out, "null");
        return;
    }
    if (!a && !s) {
        print_number(in, t, at);
        return;
    }
    uint64_t n = a ? a->count : s->n_fields, stride = a ? ir_type_size(in->m, a->element) : 0;
    strbuf_add(in->out, "{");
    for (uint64_t i = 0; i < n; i++) {
        strbuf_add(in->out, i ? ", " : " ");
        print_plain(in, a ? a->element : s->fields[i].type, at + (a ? i * stride : s->fields[i].offset));
    }
    strbuf_add(in->out, n ? " }" : "}");
}

static void print_bytes(const struct init *in)
{
    const struct ir_global *g = in->g;
    uint64_t size = ir_type_size(in->m, g->type);
    strbuf_add(in->out, "hex\"");
    for (uint64_t i = 0; i < size; i++) strbuf_printf(in->out, "%02x", g->init[i]);
    strbuf_add(in->out, "\"");
    for (uint32_t i = 0; i < g->n_addresses; i++) {
        strbuf_printf(in->out, "%s%llu: ", i ? ", " : " with { ", (unsigned long long)g->addresses[i].offset);
        print_address(in, &g->addresses[i]);
    }
    if (g->n_addresses) strbuf_add(in->out, " }");
}

void ir_print_init(struct strbuf *b, const struct ir_module *m, const struct ir_global *g)
{
    struct init in = {.out = b, .m = m, .g = g};
    if (is_plain(&in, g->type, 0) && in.address == g->n_addresses) {
        in.address = 0;
        print_plain(&in, g->type, 0);
    } else {
        print_bytes(&in);
    }
}
