/* The printer's part for instructions and blocks. */
#include "ir/text/print/print_inst.h"

#include "ir/text/print/print_basic.h"
#include "ir/text/print/print_type.h"
#include "ir/text/words.h"

static void print_value(struct printer *p, const struct ir_value *v, ir_type expected)
{
    if (!v || (v->kind != IR_VALUE_CONST && v->kind != IR_VALUE_UNDEF)) {
        print_name(p, v);
        return;
    }
    if (v->type != expected) {
        print_type(p, v->type);
        strbuf_add(&p->out, " ");
    }
    if (v->kind == IR_VALUE_UNDEF) {
        strbuf_add(&p->out, "undef");
    } else if (ir_type_is_number(v->type)) {
        ir_print_lanes(&p->out, v->type, v->of.lanes);
    } else {
        strbuf_add(&p->out, "null");
    }
}

/* ---- attributes ---- */

/* Attributes and operands of an instruction in a row: the first after a space, the rest after commas. */
static void next_item(struct printer *p, bool *first)
{
    strbuf_add(&p->out, *first ? " " : ", ");
    *first = false;
}

static void print_word(struct printer *p, bool *first, const char *const *words, unsigned n, unsigned i)
{
    next_item(p, first);
    strbuf_add(&p->out, i < n && words[i] ? words[i] : "?");
}

static void print_bits(struct printer *p, bool *first, const char *const *words, unsigned n, unsigned bits)
{
    for (unsigned i = 0; i < n; i++)
        if (bits >> i & 1) print_word(p, first, words, n, i);
}

static void print_field(struct printer *p, bool *first, const struct ir_inst *inst)
{
    const struct ir_struct *s = ir_type_struct(p->m, inst->type);
    uint32_t i = inst->attrs.index;
    next_item(p, first);
    if (s && i < s->n_fields && s->fields[i].name) {
        strbuf_add(&p->out, s->fields[i].name);
    } else {
        strbuf_printf(&p->out, "%u", i);
    }
}

static void print_mask(struct printer *p, bool *first, const struct ir_inst *inst)
{
    next_item(p, first);
    for (unsigned i = 0; i < ir_type_lanes(inst->type) && i < IR_MAX_LANES; i++)
        strbuf_printf(&p->out, "%s%d", i ? ", " : "[", inst->attrs.mask[i]);
    strbuf_add(&p->out, "]");
}

/* One attribute, where it differs from what its absence means. */
static void print_attr(struct printer *p, bool *first, const struct ir_inst *inst, char letter)
{
    const struct ir_attrs *a = &inst->attrs;
    switch (letter) {
    case 'd': print_word(p, first, ir_dim_words, 3, a->dim); break;
    case 's': print_word(p, first, ir_scope_words, IR_SCOPE_COUNT, a->scope); break;
    case 'o':
        if (a->order) print_word(p, first, ir_order_words, IR_ORDER_COUNT, a->order);
        break;
    case 'O':
        if (!a->order_fail) break;
        next_item(p, first);
        strbuf_printf(&p->out, "fail %s", a->order_fail < IR_ORDER_COUNT ? ir_order_words[a->order_fail] : "?");
        break;
    case 'r':
        if (a->rounding) print_word(p, first, ir_rounding_words, IR_ROUND_COUNT, a->rounding);
        break;
    case 't':
        if (a->saturate) next_item(p, first), strbuf_add(&p->out, "saturate");
        break;
    case 'a':
        if (a->align) next_item(p, first), strbuf_printf(&p->out, "align %u", a->align);
        break;
    case 'v':
        if (a->is_volatile) next_item(p, first), strbuf_add(&p->out, "volatile");
        break;
    case 'g': print_word(p, first, ir_group_words, IR_GROUP_OP_COUNT, a->group_op); break;
    case 'f': print_bits(p, first, ir_fp_words, IR_FP_WORDS, a->fp); break;
    case 'k': print_bits(p, first, ir_fence_words, IR_FENCE_WORDS, a->fence); break;
    case 'p':
        if (a->space && inst->op != IR_OP_GLOBAL) print_word(p, first, ir_space_words, IR_SPACE_COUNT, a->space);
        break;
    case 'x': print_field(p, first, inst); break;
    case 'm': print_mask(p, first, inst); break;
    case 'y': next_item(p, first), strbuf_printf(&p->out, "@%s", a->global ? a->global->name : "?"); break;
    default: break;
    }
}

/* ---- the line ---- */

static void print_results(struct printer *p, const struct ir_inst *inst)
{
    for (uint32_t i = 0; i < inst->n_results; i++) {
        if (i) strbuf_add(&p->out, ", ");
        print_name(p, inst->results[i]);
    }
    if (inst->n_results) strbuf_add(&p->out, " = ");
    strbuf_add(&p->out, ir_op_info(inst->op)->text);
}

static void print_result_types(struct printer *p, const struct ir_inst *inst)
{
    for (uint32_t i = 0; i < inst->n_results; i++) {
        strbuf_add(&p->out, i ? ", " : " -> ");
        print_type(p, inst->results[i]->type);
    }
}

static void print_call(struct printer *p, const struct ir_inst *inst)
{
    const struct ir_function *callee = inst->attrs.callee;
    strbuf_printf(&p->out, " @%s(", callee ? callee->name : "?");
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        if (i) strbuf_add(&p->out, ", ");
        print_value(p, inst->operands[i], ir_argument_type(callee, i));
    }
    strbuf_add(&p->out, ")");
}

static void print_loop_head(struct printer *p, const struct ir_inst *inst)
{
    const struct ir_block *body = inst->blocks[0];
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        strbuf_add(&p->out, i ? ", " : " (");
        const struct ir_value *arg = body && i < body->n_args ? body->args[i] : NULL;
        ir_type t = arg ? arg->type : IR_VOID;
        print_name(p, arg);
        strbuf_add(&p->out, ": ");
        print_type(p, t);
        strbuf_add(&p->out, " = ");
        print_value(p, inst->operands[i], t);
    }
    if (inst->n_operands) strbuf_add(&p->out, ")");
    print_result_types(p, inst);
}

static bool is_terminator(enum ir_op op)
{
    return ir_op_info(op)->flags & IR_FLAG_TERMINATOR;
}

static void print_ordinary(struct printer *p, const struct ir_inst *inst)
{
    const struct ir_op_info *info = ir_op_info(inst->op);
    if (info->type_class != '-') {
        strbuf_add(&p->out, " ");
        print_type(p, inst->type);
    }
    bool first = true;
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        next_item(p, &first);
        ir_type expected = is_terminator(inst->op) ? ir_carried_type(inst->parent, inst->op, i)
                                                   : ir_operand_type(inst->op, inst->type, inst->operands[0], i);
        print_value(p, inst->operands[i], expected);
    }
    for (const char *letter = info->attrs; *letter; letter++) print_attr(p, &first, inst, *letter);
}

void print_inst_head(struct printer *p, const struct ir_inst *inst)
{
    print_results(p, inst);
    switch (inst->op) {
    case IR_OP_CALL: print_call(p, inst); break;
    case IR_OP_LOOP: print_loop_head(p, inst); break;
    case IR_OP_IF:
        strbuf_add(&p->out, " ");
        print_value(p, inst->n_operands ? inst->operands[0] : NULL, IR_BOOL);
        print_result_types(p, inst);
        break;
    default: print_ordinary(p, inst);
    }
}

/* ---- blocks ---- */

static void print_inst(struct printer *p, const struct ir_inst *inst);

static void new_line(struct printer *p)
{
    strbuf_add(&p->out, "\n");
    for (unsigned i = 0; i < p->depth; i++) strbuf_add(&p->out, "    ");
}

void print_block(struct printer *p, const struct ir_block *block)
{
    strbuf_add(&p->out, " {");
    p->depth++;
    for (const struct ir_inst *inst = block ? block->first : NULL; inst; inst = inst->next) {
        new_line(p);
        print_inst(p, inst);
    }
    p->depth--;
    new_line(p);
    strbuf_add(&p->out, "}");
}

/* An else block that a reader would supply by itself. */
static bool implied_else(const struct printer *p, const struct ir_inst *inst)
{
    const struct ir_inst *only = inst->blocks[1] ? inst->blocks[1]->first : NULL;
    return only && !only->next && only->op == IR_OP_YIELD && !only->n_operands && !inst->n_results &&
           print_is_here(p, only->loc);
}

static void print_inst(struct printer *p, const struct ir_inst *inst)
{
    print_inst_head(p, inst);
    print_loc(p, inst->loc);
    if (inst->op != IR_OP_IF && inst->op != IR_OP_LOOP) return;
    print_block(p, inst->blocks[0]);
    if (inst->op == IR_OP_IF && !implied_else(p, inst)) {
        strbuf_add(&p->out, " else");
        print_block(p, inst->blocks[1]);
    }
}
