/* The parser's part for initial values of module-scope variables. */
#include "ir/text/parse/parse_init.h"

#include <string.h>

#include "ir/base/arena.h"
#include "ir/text/parse/parse_basic.h"
#include "ir/text/parse/parse_type.h"
#include "ir/verify/limits.h"

/* A variable, and its initial value as it is being filled in. */
struct init {
    struct ir_global *g;
    uint8_t *bytes;
};

static bool parse_value(struct parser *p, struct init *in, ir_type t, uint8_t *bytes);

/* @name or @name + bytes, to lie at an offset. */
static bool parse_address(struct parser *p, struct init *in, uint64_t offset)
{
    struct parser_address *a = arena_alloc(p->scratch, sizeof *a);
    *a = (struct parser_address){.holder = in->g, .index = in->g->n_addresses, .name = p->tok};
    struct ir_address address = {.offset = offset};
    if (p->tok.kind != TOKEN_SYMBOL) return parse_expected(p, "the name of a variable");
    parse_advance(p);
    if (parse_if_punct(p, '+') && !parse_uint(p, "an offset", UINT64_MAX, &address.at)) return false;
    ir_global_add_address(p->m, in->g, &address);
    parse_push(&p->addresses, a);
    return true;
}

bool parse_resolve_addresses(struct parser *p)
{
    bool good = true;
    for (size_t i = 0; i < p->addresses.n; i++) {
        const struct parser_address *a = p->addresses.items[i];
        const struct ir_global *target = names_get(&p->globals, a->name.text, a->name.n);
        a->holder->addresses[a->index].target = target;
        if (target) continue;
        good = false;
        if (!p->heads_failed) parse_error(p, &a->name, "there is no variable @%.*s", (int)a->name.n, a->name.text);
    }
    for (size_t i = 0; i < p->addresses.n; i++) {
        const struct parser_address *a = p->addresses.items[i];
        if (!a->index) ir_global_sort_addresses(a->holder);
    }
    return good;
}

static bool parse_number(struct parser *p, struct init *in, ir_type t, uint8_t *bytes)
{
    uint64_t lanes[IR_MAX_LANES];
    if (ir_type_is_ptr(t) && parse_if_word(p, "null")) return true;
    if (ir_type_is_ptr(t) && p->tok.kind == TOKEN_SYMBOL) return parse_address(p, in, (uint64_t)(bytes - in->bytes));
    if (!parse_lanes(p, t, lanes)) return false;
    unsigned size = ir_type_is_bool(t) ? 1 : ir_type_bits(t) / 8;
    for (unsigned i = 0; i < ir_type_lanes(t); i++) memcpy(bytes + i * size, &lanes[i], size);
    return true;
}

/* Part i of an array or a struct: its type and where it lies. */
static bool part_of(struct parser *p, ir_type t, uint64_t i, ir_type *part, uint64_t *offset)
{
    const struct ir_array *a = ir_type_array(p->m, t);
    if (a) {
        *part = a->element;
        *offset = i * ir_type_size(p->m, a->element);
        return true;
    }
    const struct ir_struct *s = ir_type_struct(p->m, t);
    *part = s->fields[i].type;
    *offset = s->fields[i].offset;
    if (*offset + ir_type_size(p->m, *part) <= s->size) return true;
    return parse_error(p, &p->tok, "field %llu of struct %s lies outside of it", (unsigned long long)i, s->name);
}

static bool parse_parts(struct parser *p, struct init *in, ir_type t, uint8_t *bytes)
{
    const struct ir_array *a = ir_type_array(p->m, t);
    const struct ir_struct *s = ir_type_struct(p->m, t);
    uint64_t n = a ? a->count : s->n_fields, i = 0;
    struct token open = p->tok;
    if (!parse_punct(p, '{')) return false;
    if (p->depth++ == IR_MAX_TYPE_DEPTH)
        return parse_error(p, &open, "values are more than %d deep inside each other", IR_MAX_TYPE_DEPTH);
    while (!token_is(&p->tok, '}')) {
        ir_type part;
        uint64_t offset;
        if (i == n)
            return parse_error(p, &p->tok, "more than the %llu values of %s", (unsigned long long)n,
                               parse_type_name(p, t));
        if (!part_of(p, t, i++, &part, &offset) || !parse_value(p, in, part, bytes + offset)) return false;
        if (!parse_if_punct(p, ',')) break;
    }
    if (i < n && token_is(&p->tok, '}'))
        return parse_error(p, &open, "%llu of the %llu values of %s", (unsigned long long)i, (unsigned long long)n,
                           parse_type_name(p, t));
    p->depth--;
    return parse_punct(p, '}');
}

static bool parse_value(struct parser *p, struct init *in, ir_type t, uint8_t *bytes)
{
    if (ir_type_array(p->m, t) || ir_type_struct(p->m, t)) return parse_parts(p, in, t, bytes);
    return parse_number(p, in, t, bytes);
}

/* with { offset: address, ... } */
static bool parse_with(struct parser *p, struct init *in)
{
    uint64_t offset;
    if (!parse_punct(p, '{')) return false;
    while (!token_is(&p->tok, '}')) {
        if (!parse_uint(p, "an offset", UINT64_MAX, &offset) || !parse_punct(p, ':')) return false;
        if (!parse_address(p, in, offset)) return false;
        if (!parse_if_punct(p, ',')) break;
    }
    return parse_punct(p, '}');
}

static bool parse_hex(struct parser *p, uint8_t *bytes, uint64_t size)
{
    const struct token *t = &p->tok;
    if (t->kind != TOKEN_STRING) return parse_expected(p, "a string of hexadecimal digits");
    if (t->n != 2 * size)
        return parse_error(p, t, "%zu digits, but %llu bytes take %llu", t->n, (unsigned long long)size,
                           (unsigned long long)(2 * size));
    for (uint64_t i = 0; i < size; i++) {
        int high = parse_hex_digit(t->text[2 * i]), low = parse_hex_digit(t->text[2 * i + 1]);
        if (high < 0 || low < 0) return parse_error(p, t, "something other than the hexadecimal digits");
        bytes[i] = (uint8_t)(high << 4 | low);
    }
    parse_advance(p);
    return true;
}

bool parse_init(struct parser *p, struct ir_global *g)
{
    uint64_t size = ir_type_size(p->m, g->type);
    if (size > p->init_budget)
        return parse_error(p, &p->tok, "the initial value would take %llu bytes, far more than its text",
                           (unsigned long long)size);
    p->init_budget -= size;
    p->depth = 0;
    uint8_t *bytes = ir_alloc(p->m, size ? size : 1);
    g->init = bytes;
    struct init in = {g, bytes};
    if (!parse_if_word(p, "hex")) return parse_value(p, &in, g->type, bytes);
    return parse_hex(p, bytes, size) && (!parse_if_word(p, "with") || parse_with(p, &in));
}
