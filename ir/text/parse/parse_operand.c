/* The parser's part for values: names, their scope, constants. */
#include "ir/text/parse/parse_operand.h"

#include <string.h>

#include "ir/base/arena.h"
#include "ir/base/nearest.h"
#include "ir/text/parse/parse_basic.h"
#include "ir/text/parse/parse_type.h"

bool parse_starts_operand(const struct token *t)
{
    return t->kind == TOKEN_VALUE || token_is_number(t) || token_is(t, '<') || token_is_word(t, "true") ||
           token_is_word(t, "false") || token_is_word(t, "null") || token_is_word(t, "undef") ||
           (parse_starts_type(t) && !token_is(t, '['));
}

/* ---- names ---- */

static int shown_length(const struct token *t)
{
    return (int)(t->n < 60 ? t->n : 60);
}

bool parse_define(struct parser *p, const struct token *name, struct ir_value *value)
{
    void **entry = names_put(&p->locals, name->text, name->n);
    struct parser_local *local = *entry;
    if (local && local->value)
        return parse_error(p, name, "the name %%%.*s is taken already in line %u; names are unique in a function",
                           shown_length(name), name->text, local->line);
    if (!local) *entry = local = arena_alloc(p->scratch, sizeof *local);
    *local = (struct parser_local){.value = value, .line = name->line, .visible = true};
    parse_push(&p->visible, local);
    /* A name of digits stands for an unnamed value. */
    if (value && (*name->text < '0' || *name->text > '9')) value->name = parse_copy(p, name);
    return true;
}

void parse_hide(struct parser *p, size_t n_visible)
{
    while (p->visible.n > n_visible) {
        struct parser_local *local = p->visible.items[--p->visible.n];
        local->visible = false;
    }
}

/* The name in scope that another one is like. */
static const char *nearest_value(struct parser *p, const struct token *name)
{
    struct nearest s = nearest_begin(name->text, name->n);
    for (size_t i = 0; i < p->visible.n && parse_may_hint(p); i++) {
        const struct parser_local *local = p->visible.items[i];
        if (local->value) nearest_offer(&s, local->value->name);
    }
    return s.best;
}

static bool parse_name(struct parser *p, ir_type expected, struct ir_value **v)
{
    char hint[120];
    struct token name = p->tok;
    struct parser_local *local = names_get(&p->locals, name.text, name.n);
    parse_advance(p);
    if (local && local->value && !local->visible)
        return parse_error(p, &name, "%%%.*s of line %u cannot be used here: its block has ended", shown_length(&name),
                           name.text, local->line);
    if (!local) {
        const char *meant = nearest_value(p, &name);
        parse_define(p, &name, NULL); /* one error is enough */
        return parse_error(p, &name, "%%%.*s is not defined above%s", shown_length(&name), name.text,
                           nearest_hint(meant, hint, sizeof hint));
    }
    *v = local->value ? local->value : ir_undef(p->m, expected != IR_VOID ? expected : IR_I32);
    return true;
}

/* ---- constants ---- */

bool parse_operand(struct parser *p, ir_type expected, struct ir_value **v)
{
    if (p->tok.kind == TOKEN_VALUE) return parse_name(p, expected, v);
    if (!parse_starts_operand(&p->tok)) return parse_expected(p, "a value");
    struct token first = p->tok;
    ir_type t = expected;
    if (parse_starts_type(&p->tok) && !parse_type(p, &t)) return false;
    if (t == IR_VOID)
        return parse_error(p, &first, "a constant needs its type written before it here, as in i32 %.*s",
                           shown_length(&first), first.text);
    if (parse_if_word(p, "undef")) {
        *v = ir_undef(p->m, t);
        return true;
    }
    uint64_t lanes[IR_MAX_LANES] = {0};
    struct token literal = p->tok;
    if (parse_if_word(p, "null")) {
        if (!ir_type_is_ptr(t)) return parse_error(p, &literal, "null cannot be of type %s", parse_type_name(p, t));
    } else if (!parse_lanes(p, t, lanes)) {
        return false;
    }
    *v = ir_const(p->m, t, lanes);
    return true;
}
