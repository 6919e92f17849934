/* The parser's part for instructions without blocks: operands and attributes as the table of operations says. */
#include "ir/text/parse/parse_inst.h"

#include <string.h>

#include "ir/text/number.h"
#include "ir/text/parse/parse_basic.h"
#include "ir/text/parse/parse_operand.h"
#include "ir/text/parse/parse_type.h"
#include "ir/text/words.h"

/* An instruction on its way: what has been read of it. */
struct draft {
    enum ir_op op;
    const struct ir_op_info *info;
    struct token mnemonic;
    struct ir_block *block;
    ir_type type;
    struct ir_attrs attrs;
    bool has_scope, has_index, has_mask;
};

/* ---- operands ---- */

/* %p[%i] stands for the address of element i. */
static bool parse_index(struct parser *p, const struct draft *d, struct ir_value **v)
{
    struct ir_value *index;
    if (d->type == IR_VOID || !ir_type_is_ptr((*v)->type))
        return parse_error(p, &p->tok, "only the address of a %s can have an index", d->info->text);
    parse_advance(p);
    if (!parse_operand(p, IR_I64, &index) || !parse_punct(p, ']')) return false;
    struct ir_builder b = ir_builder_at_end(d->block);
    *v = ir_build2(&b, IR_OP_ELEM, d->type, *v, index);
    return true;
}

static bool parse_item_operand(struct parser *p, struct draft *d)
{
    struct ir_value *v;
    uint32_t i = (uint32_t)p->operands.n, least, most;
    bool carries = d->info->flags & IR_FLAG_TERMINATOR;
    struct token first = p->tok;
    ir_operand_count(d->op, &least, &most);
    if (i >= most) return parse_error(p, &first, "%s takes no more than %u operands", d->info->text, most);
    const struct ir_value *operand0 = i ? p->operands.items[0] : NULL;
    ir_type expected = carries ? ir_carried_type(d->block, d->op, i) : ir_operand_type(d->op, d->type, operand0, i);
    if (!parse_operand(p, expected, &v)) return false;
    if (token_is(&p->tok, '[') && parse_same_line(p) && !parse_index(p, d, &v)) return false;
    parse_push(&p->operands, v);
    return true;
}

/* ---- attributes ---- */

static bool has_attr(const struct draft *d, char letter)
{
    return strchr(d->info->attrs, letter) != NULL;
}

/* Takes the word at hand if it is one of the table; its place goes to *out. */
static bool take_word(struct parser *p, const char *const *words, unsigned n, uint8_t *out)
{
    int i = parse_find_word(&p->tok, words, n);
    if (i < 0) return false;
    *out = (uint8_t)i;
    parse_advance(p);
    return true;
}

static bool take_bit(struct parser *p, const char *const *words, unsigned n, uint8_t *bits)
{
    uint8_t bit;
    if (!take_word(p, words, n, &bit)) return false;
    *bits |= (uint8_t)(1u << bit);
    return true;
}

static bool take_flag(struct parser *p, const char *word, bool *flag)
{
    if (!parse_if_word(p, word)) return false;
    *flag = true;
    return true;
}

/* Attributes that are a word: false: the word at hand is no value of this one. */
static bool take_attr(struct parser *p, struct draft *d, char letter)
{
    struct ir_attrs *a = &d->attrs;
    switch (letter) {
    case 'd': return take_word(p, ir_dim_words, 3, &a->dim);
    case 's': return take_word(p, ir_scope_words, IR_SCOPE_COUNT, &a->scope) && (d->has_scope = true);
    case 'o': return take_word(p, ir_order_words, IR_ORDER_COUNT, &a->order);
    case 'r': return take_word(p, ir_rounding_words, IR_ROUND_COUNT, &a->rounding);
    case 't': return take_flag(p, "saturate", &a->saturate);
    case 'v': return take_flag(p, "volatile", &a->is_volatile);
    case 'g': return take_word(p, ir_group_words, IR_GROUP_OP_COUNT, &a->group_op);
    case 'f': return take_bit(p, ir_fp_words, IR_FP_WORDS, &a->fp);
    case 'k': return take_bit(p, ir_fence_words, IR_FENCE_WORDS, &a->fence);
    case 'p': return take_word(p, ir_space_words, IR_SPACE_COUNT, &a->space);
    default: return false;
    }
}

static bool parse_field(struct parser *p, struct draft *d)
{
    const struct ir_struct *s = ir_type_struct(p->m, d->type);
    uint64_t index = 0;
    if (p->tok.kind == TOKEN_NUMBER) {
        if (!parse_uint(p, "a field's number", UINT32_MAX, &index)) return false;
    } else {
        while (s && index < s->n_fields && !(s->fields[index].name && token_is_word(&p->tok, s->fields[index].name)))
            index++;
        if (!s || index == s->n_fields) return parse_expected(p, "the name or number of a field");
        parse_advance(p);
    }
    d->attrs.index = (uint32_t)index;
    d->has_index = true;
    return true;
}

static bool parse_mask_lane(struct parser *p, int8_t *lane)
{
    uint64_t n;
    if (p->tok.kind == TOKEN_NUMBER && p->tok.n == 2 && memcmp(p->tok.text, "-1", 2) == 0) {
        *lane = -1;
        parse_advance(p);
        return true;
    }
    if (!parse_uint(p, "a lane of a mask", 2 * IR_MAX_LANES - 1, &n)) return false;
    *lane = (int8_t)n;
    return true;
}

static bool parse_mask(struct parser *p, struct draft *d)
{
    struct token open = p->tok;
    unsigned n = 0, lanes = ir_type_lanes(d->type);
    parse_advance(p);
    do {
        if (n == lanes) return parse_error(p, &open, "the mask has more than the %u lanes of the result", lanes);
        if (!parse_mask_lane(p, &d->attrs.mask[n++])) return false;
    } while (parse_if_punct(p, ','));
    if (n < lanes) return parse_error(p, &open, "the mask has %u of the %u lanes of the result", n, lanes);
    d->has_mask = true;
    return parse_punct(p, ']');
}

static bool parse_align(struct parser *p, struct draft *d)
{
    uint64_t n;
    parse_advance(p);
    if (!parse_uint(p, "an alignment", UINT32_MAX, &n)) return false;
    d->attrs.align = (uint32_t)n;
    return true;
}

static bool parse_fail_order(struct parser *p, struct draft *d)
{
    parse_advance(p);
    return take_word(p, ir_order_words, IR_ORDER_COUNT, &d->attrs.order_fail) || parse_expected(p, "a memory order");
}

static bool parse_global(struct parser *p, struct draft *d)
{
    struct token *t = &p->tok;
    d->attrs.global = names_get(&p->globals, t->text, t->n);
    if (!d->attrs.global && !p->heads_failed)
        return parse_error(p, t, "there is no variable or pipe @%.*s", (int)(t->n < 60 ? t->n : 60), t->text);
    parse_advance(p);
    return d->attrs.global != NULL;
}

static bool parse_item_attr(struct parser *p, struct draft *d)
{
    if (has_attr(d, 'x') && !d->has_index) return parse_field(p, d);
    if (has_attr(d, 'm') && token_is(&p->tok, '[')) return parse_mask(p, d);
    if (has_attr(d, 'a') && token_is_word(&p->tok, "align")) return parse_align(p, d);
    if (has_attr(d, 'O') && token_is_word(&p->tok, "fail")) return parse_fail_order(p, d);
    if (has_attr(d, 'y') && p->tok.kind == TOKEN_SYMBOL) return parse_global(p, d);
    if (has_attr(d, 's')) parse_if_word(p, "scope");
    for (const char *letter = d->info->attrs; *letter; letter++)
        if (take_attr(p, d, *letter)) return true;
    char what[80] = "an operand or attribute of ";
    return parse_expected(p, strcat(what, d->info->text));
}

/* ---- the whole ---- */

static bool is_attr_next(const struct parser *p, const struct draft *d)
{
    if (has_attr(d, 'x')) return p->operands.n >= 1;
    return !parse_starts_operand(&p->tok);
}

static bool starts_item(const struct parser *p)
{
    const struct token *t = &p->tok;
    return parse_same_line(p) &&
           (t->kind == TOKEN_WORD || t->kind == TOKEN_SYMBOL || token_is(t, '[') || parse_starts_operand(t));
}

static bool parse_items(struct parser *p, struct draft *d)
{
    if (!starts_item(p)) return true;
    do {
        if (!(is_attr_next(p, d) ? parse_item_attr(p, d) : parse_item_operand(p, d))) return false;
    } while (parse_if_punct(p, ','));
    return true;
}

static bool check_draft(struct parser *p, const struct draft *d)
{
    uint32_t least, most, n = (uint32_t)p->operands.n;
    const char *missing = NULL;
    ir_operand_count(d->op, &least, &most);
    if (n < least)
        return parse_error(p, &d->mnemonic, "%s takes %u operand%s, here %s %u", d->info->text, least,
                           least == 1 ? "" : "s", n == 1 ? "is" : "are", n);
    if (has_attr(d, 'x') && !d->has_index) missing = "the name or number of a field";
    if (has_attr(d, 'm') && !d->has_mask) missing = "a mask of lanes, as in [0, 1, 2, 3]";
    if (has_attr(d, 'y') && !d->attrs.global) missing = "the name of a variable or pipe";
    return !missing || parse_error(p, &d->mnemonic, "%s lacks %s", d->info->text, missing);
}

static struct ir_inst *build_inst(struct parser *p, struct draft *d)
{
    struct ir_builder b = ir_builder_at_end(d->block);
    if (!d->has_scope && has_attr(d, 's')) d->attrs.scope = (uint8_t)ir_default_scope(d->op);
    if (d->op == IR_OP_GLOBAL) {
        d->attrs.space = (uint8_t)d->attrs.global->space;
        ir_build_global(&b, d->attrs.global);
    } else {
        ir_build_ptr(&b, d->op, d->type, (enum ir_space)d->attrs.space, (struct ir_value **)p->operands.items,
                     (uint32_t)p->operands.n);
    }
    d->block->last->attrs = d->attrs;
    return d->block->last;
}

bool parse_ordinary(struct parser *p, struct ir_block *block, enum ir_op op, struct ir_inst **inst)
{
    struct draft d = {.op = op, .info = ir_op_info(op), .mnemonic = p->tok, .block = block, .type = IR_VOID};
    parse_advance(p);
    p->operands.n = 0;
    if (d.info->type_class != '-' && !parse_type(p, &d.type)) return false;
    if (!parse_items(p, &d) || !check_draft(p, &d)) return false;
    *inst = build_inst(p, &d);
    return true;
}
