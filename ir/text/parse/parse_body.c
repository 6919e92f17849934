/* The parser's part for bodies: blocks, if, loop, calls. */
#include "ir/text/parse/parse_body.h"

#include <stdlib.h>

#include "ir/base/arena.h"
#include "ir/base/nearest.h"
#include "ir/text/parse/parse_basic.h"
#include "ir/text/parse/parse_inst.h"
#include "ir/text/parse/parse_operand.h"
#include "ir/text/parse/parse_type.h"
#include "ir/text/words.h"
#include "ir/verify/limits.h"

static bool parse_block(struct parser *p, struct ir_block *block);

/* Goes on where the next line of the same block begins: past the rest of this one and the blocks in it. */
static void skip_instruction(struct parser *p)
{
    unsigned depth = 0;
    while (p->tok.kind != TOKEN_END && !parse_starts_function(p) &&
           (depth || (parse_same_line(p) && !token_is(&p->tok, '}')))) {
        if (token_is(&p->tok, '{')) depth++;
        if (token_is(&p->tok, '}')) depth--;
        parse_advance(p);
    }
}

/* ---- instructions with rules of their own ---- */

/* -> f32, i64; the types go to the end of *types, a list of ir_type. */
static bool parse_result_types(struct parser *p, ir_type **types, uint32_t *n)
{
    struct parser_list list = {0};
    bool good = true;
    if (p->tok.kind != TOKEN_ARROW) return true;
    parse_advance(p);
    do {
        ir_type t;
        good = parse_type(p, &t);
        if (good) parse_push(&list, (void *)(uintptr_t)t);
    } while (good && parse_if_punct(p, ','));
    *n = (uint32_t)list.n;
    *types = arena_alloc(p->scratch, list.n * sizeof **types);
    for (size_t i = 0; i < list.n; i++) (*types)[i] = (ir_type)(uintptr_t)list.items[i];
    free(list.items);
    return good;
}

static struct ir_builder builder_for(struct ir_block *block, struct ir_loc loc)
{
    struct ir_builder b = ir_builder_at_end(block);
    b.loc = loc;
    return b;
}

/* What a reader supplies at the end of a block that has no terminator, where it carries nothing. */
static void imply_terminator(struct parser *p, struct ir_block *block, uint32_t line)
{
    enum ir_op op;
    if (block->last && ir_op_info(block->last->op)->flags & IR_FLAG_TERMINATOR) return;
    if (!block->parent) {
        op = IR_OP_RETURN;
        if (block->function->result != IR_VOID) return;
    } else if (block->parent->op == IR_OP_IF) {
        op = IR_OP_YIELD;
        if (block->parent->n_results) return;
    } else {
        op = IR_OP_CONTINUE;
        if (block->n_args) return;
    }
    struct ir_loc here = p->marked ? p->loc : (struct ir_loc){p->file, line, 0};
    struct ir_builder b = builder_for(block, here);
    ir_build(&b, op, IR_VOID, NULL, 0);
}

static bool parse_if(struct parser *p, struct ir_block *block, struct ir_inst **inst)
{
    struct token mnemonic = p->tok;
    struct ir_value *cond;
    struct ir_loc loc;
    ir_type *types = NULL;
    uint32_t n = 0;
    parse_advance(p);
    if (!parse_operand(p, IR_BOOL, &cond) || !parse_result_types(p, &types, &n)) return false;
    if (!parse_location(p, mnemonic.line, &loc)) return false;
    struct ir_builder b = builder_for(block, loc);
    *inst = ir_build_if(&b, cond, types, n);
    if (!parse_block(p, (*inst)->blocks[0])) return false;
    if (parse_if_word(p, "else")) return parse_block(p, (*inst)->blocks[1]);
    if (n) return parse_error(p, &mnemonic, "an if with results needs an else block too");
    imply_terminator(p, (*inst)->blocks[1], p->last_line);
    return true;
}

/* (%acc: f32 = %r, %j: i64 = 0): the values become operands, the names go to the end of p->results. */
static bool parse_loop_params(struct parser *p)
{
    p->operands.n = 0;
    if (!parse_if_punct(p, '(')) return true;
    while (!token_is(&p->tok, ')')) {
        struct ir_value *v;
        ir_type t;
        struct token *name = arena_alloc(p->scratch, sizeof *name);
        *name = p->tok;
        if (p->tok.kind != TOKEN_VALUE) return parse_expected(p, "the name of a loop's parameter");
        parse_advance(p);
        if (!parse_punct(p, ':') || !parse_type(p, &t) || !parse_punct(p, '=')) return false;
        struct token first = p->tok;
        if (!parse_operand(p, t, &v)) return false;
        if (v->type != t)
            return parse_error(p, &first, "%%%.*s is a %s but starts as a %s", (int)(name->n < 60 ? name->n : 60),
                               name->text, parse_type_name(p, t), parse_type_name(p, v->type));
        parse_push(&p->operands, v);
        parse_push(&p->results, name);
        if (!parse_if_punct(p, ',')) break;
    }
    return parse_punct(p, ')');
}

static bool parse_loop(struct parser *p, struct ir_block *block, struct ir_inst **inst)
{
    struct token mnemonic = p->tok;
    struct ir_loc loc;
    ir_type *types = NULL;
    uint32_t n = 0;
    size_t first_name = p->results.n;
    parse_advance(p);
    if (!parse_loop_params(p) || !parse_result_types(p, &types, &n)) return false;
    if (!parse_location(p, mnemonic.line, &loc)) return false;
    struct ir_builder b = builder_for(block, loc);
    *inst = ir_build_loop(&b, (struct ir_value **)p->operands.items, (uint32_t)p->operands.n, types, n);
    struct ir_block *body = (*inst)->blocks[0];
    size_t visible = p->visible.n;
    for (uint32_t i = 0; i < body->n_args; i++) parse_define(p, p->results.items[first_name + i], body->args[i]);
    p->results.n = first_name;
    bool good = parse_block(p, body);
    parse_hide(p, visible);
    return good;
}

static const char *nearest_function(const struct parser *p, const struct token *name)
{
    struct nearest s = nearest_begin(name->text, name->n);
    for (uint32_t i = 0; i < p->m->n_functions && parse_may_hint(p); i++) nearest_offer(&s, p->m->functions[i]->name);
    return s.best;
}

static bool parse_call(struct parser *p, struct ir_block *block, struct ir_inst **inst)
{
    char hint[120];
    parse_advance(p);
    struct token name = p->tok;
    if (name.kind != TOKEN_SYMBOL) return parse_expected(p, "the name of a function");
    struct ir_function *callee = names_get(&p->functions, name.text, name.n);
    int shown = (int)(name.n < 60 ? name.n : 60);
    if (!callee && p->heads_failed) return false;
    if (!callee)
        return parse_error(p, &name, "there is no function @%.*s%s", shown, name.text,
                           nearest_hint(nearest_function(p, &name), hint, sizeof hint));
    parse_advance(p);
    if (!parse_punct(p, '(')) return false;
    p->operands.n = 0;
    while (!token_is(&p->tok, ')')) {
        struct ir_value *v;
        if (p->operands.n == callee->n_params)
            return parse_error(p, &p->tok, "@%.*s has no more than %u parameters", shown, name.text, callee->n_params);
        if (!parse_operand(p, ir_argument_type(callee, (uint32_t)p->operands.n), &v)) return false;
        parse_push(&p->operands, v);
        if (!parse_if_punct(p, ',')) break;
    }
    if (!parse_punct(p, ')')) return false;
    if (p->operands.n < callee->n_params)
        return parse_error(p, &name, "@%.*s takes %u arguments, here %s %zu", shown, name.text, callee->n_params,
                           p->operands.n == 1 ? "is" : "are", p->operands.n);
    struct ir_builder b = ir_builder_at_end(block);
    *inst = ir_build_call(&b, callee, (struct ir_value **)p->operands.items, (uint32_t)p->operands.n);
    return true;
}

/* ---- one instruction ---- */

/* The names before the =, at the end of p->results. */
static bool parse_result_names(struct parser *p)
{
    if (p->tok.kind != TOKEN_VALUE) return true;
    for (;;) {
        struct token *name = arena_alloc(p->scratch, sizeof *name);
        *name = p->tok;
        if (p->tok.kind != TOKEN_VALUE) return parse_expected(p, "the name of a result");
        parse_push(&p->results, name);
        parse_advance(p);
        if (parse_if_punct(p, '=')) return true;
        if (!parse_if_punct(p, ',')) return parse_expected(p, "=");
    }
}

/* Gives what was added to the block after `before` its location. */
static void locate_inst(struct ir_block *block, struct ir_inst *before, struct ir_loc loc)
{
    for (struct ir_inst *inst = before ? before->next : block->first; inst; inst = inst->next) inst->loc = loc;
}

/* The instruction that a word of the text is like. */
static const char *nearest_instruction(const struct parser *p, const struct token *t)
{
    struct nearest s = nearest_begin(t->text, t->n);
    for (unsigned op = 0; op < IR_OP_COUNT && parse_may_hint(p); op++)
        nearest_offer(&s, ir_op_info((enum ir_op)op)->text);
    return s.best;
}

static bool parse_operation(struct parser *p, struct ir_block *block, struct ir_inst **inst)
{
    char text[40];
    struct token mnemonic = p->tok;
    if (mnemonic.kind != TOKEN_WORD) return parse_expected(p, "an instruction");
    size_t n = mnemonic.n < sizeof text ? mnemonic.n : 0;
    for (size_t i = 0; i < n; i++) text[i] = mnemonic.text[i];
    text[n] = 0;
    enum ir_op op = ir_op_find(text);
    if (op == IR_OP_COUNT) return parse_expected_like(p, "an instruction", nearest_instruction(p, &mnemonic));
    if (op == IR_OP_IF) return parse_if(p, block, inst);
    if (op == IR_OP_LOOP) return parse_loop(p, block, inst);

    struct ir_inst *before = block->last;
    struct ir_loc loc;
    bool good = op == IR_OP_CALL ? parse_call(p, block, inst) : parse_ordinary(p, block, op, inst);
    if (!good || !parse_location(p, mnemonic.line, &loc)) return false;
    locate_inst(block, before, loc);
    return true;
}

static bool parse_line_end(struct parser *p)
{
    if (!parse_same_line(p) || token_is(&p->tok, '}') || token_is(&p->tok, ';')) return true;
    /* Another instruction on the line begins with a name or a mnemonic. */
    return p->tok.kind == TOKEN_VALUE || p->tok.kind == TOKEN_WORD || parse_expected(p, "the end of the line");
}

static void parse_instruction(struct parser *p, struct ir_block *block)
{
    struct ir_inst *inst = NULL;
    struct token first = p->tok;
    size_t first_name = p->results.n;
    bool good = parse_result_names(p) && parse_operation(p, block, &inst) && parse_line_end(p);
    size_t n = p->results.n - first_name;
    if (good && n && n != inst->n_results)
        good = parse_error(p, &first, "%s has %u result%s, but %zu name%s before the =", ir_op_info(inst->op)->text,
                           inst->n_results, inst->n_results == 1 ? "" : "s", n, n == 1 ? "" : "s");
    for (size_t i = 0; i < n; i++) {
        const struct token *name = p->results.items[first_name + i];
        bool defined = good || !names_get(&p->locals, name->text, name->n);
        if (defined) parse_define(p, name, good ? inst->results[i] : NULL);
    }
    p->results.n = first_name;
    if (good) return;
    if (p->tok.text == first.text) parse_advance(p);
    skip_instruction(p);
}

/* ---- blocks ---- */

/* False where the block has no end, or none that could be found. */
static bool parse_block(struct parser *p, struct ir_block *block)
{
    struct token open = p->tok;
    size_t visible = p->visible.n;
    if (p->depth == IR_MAX_BLOCK_DEPTH)
        return parse_error(p, &open, "blocks are more than %d deep inside each other", IR_MAX_BLOCK_DEPTH);
    if (!parse_punct(p, '{')) return false;
    p->depth++;
    while (p->tok.kind != TOKEN_END && !token_is(&p->tok, '}') && !parse_starts_function(p)) {
        if (!parse_if_punct(p, ';')) parse_instruction(p, block);
    }
    p->depth--;
    parse_hide(p, visible);
    imply_terminator(p, block, p->tok.line);
    if (parse_if_punct(p, '}')) return true;
    if (!p->unclosed) parse_error(p, &open, "this block has no end"); /* and those around it neither */
    p->unclosed = true;
    return false;
}

bool parse_body(struct parser *p)
{
    p->depth = 0;
    p->unclosed = false;
    p->operands.n = p->results.n = 0;
    return parse_block(p, p->function->body);
}
