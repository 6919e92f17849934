/* Aspects, and the other sets of names that functions have. */
#include "ir/text/parse/parse_aspects.h"

#include <string.h>

#include "ir/base/arena.h"
#include "ir/core/ir.h"
#include "ir/text/parse/parse_basic.h"

static int find_assumption(struct ir_module *m, const char *name)
{
    (void)m;
    int bit = 0;
    while (ir_assumption_name((unsigned)bit) && strcmp(ir_assumption_name((unsigned)bit), name) != 0) bit++;
    return ir_assumption_name((unsigned)bit) ? bit : -1;
}

static bool parse_set(struct parser *p, int (*find)(struct ir_module *m, const char *name), const char *what,
                      uint64_t *set)
{
    if (!parse_punct(p, '(')) return false;
    while (!token_is(&p->tok, ')')) {
        if (p->tok.kind != TOKEN_WORD) return parse_expected(p, what);
        int bit = find(p->m, parse_copy(p, &p->tok));
        if (bit < 0) return parse_expected(p, what);
        *set |= 1ull << bit;
        parse_advance(p);
        if (!parse_if_punct(p, ',')) break;
    }
    return parse_punct(p, ')');
}

bool parse_aspects(struct parser *p, uint64_t *set)
{
    return parse_set(p, ir_module_aspect, "the name of an aspect", set);
}

bool parse_assumptions(struct parser *p, struct ir_function *f)
{
    uint64_t set = 0;
    bool good = parse_set(p, find_assumption, "an assumption", &set);
    f->assumes = (uint32_t)set;
    return good;
}

static bool parse_target_names(struct parser *p, const char ***names, uint32_t *n)
{
    if (!parse_punct(p, '(')) return false;
    while (!token_is(&p->tok, ')')) {
        char *name;
        if (!parse_string(p, "the name of a target", &name)) return false;
        *names = arena_grow(p->m->arena, *names, *n, sizeof **names);
        (*names)[(*n)++] = name;
        if (!parse_if_punct(p, ',')) break;
    }
    return parse_punct(p, ')');
}

bool parse_targets(struct parser *p, struct ir_function *f)
{
    f->has_targets = true;
    return parse_target_names(p, &f->targets, &f->n_targets);
}

bool parse_compiled(struct parser *p, struct ir_function *f)
{
    f->has_compiled = true;
    return parse_target_names(p, &f->compiled, &f->n_compiled);
}

static bool is_numbered(const struct ir_module *m, const char *name)
{
    for (uint32_t i = 0; i < m->n_aspect_numbers; i++)
        if (strcmp(m->aspect_numbers[i].name, name) == 0) return true;
    return false;
}

bool parse_aspect_numbers(struct parser *p)
{
    if (p->m->n_aspect_numbers) return parse_error(p, &p->tok, "the module's aspects have numbers already");
    parse_advance(p);
    if (!parse_punct(p, '{')) return false;
    while (!token_is(&p->tok, '}')) {
        struct token name = p->tok;
        uint64_t number;
        if (name.kind != TOKEN_WORD) return parse_expected(p, "the name of an aspect");
        const char *text = parse_copy(p, &name);
        if (is_numbered(p->m, text)) return parse_error(p, &name, "the aspect %.60s has a number already", text);
        parse_advance(p);
        if (!parse_punct(p, '=') || !parse_uint(p, "the number of an aspect", UINT32_MAX, &number)) return false;
        ir_module_number_aspect(p->m, text, (uint32_t)number);
        if (!parse_if_punct(p, ',')) break;
    }
    return parse_punct(p, '}');
}
