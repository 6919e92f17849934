/*
 * A format that is chosen gets a number that is chosen beside it: selections select numbers, too, ifs and loops give
 * them as one more result, and loops carry them as one more parameter. Where the format is used that number says which
 * of the known ones it is.
 */
#include "fuser/spirv/formats.h"

#include <string.h>

#include "fuser/passes/util.h"

enum {
    MAX_FORMATS = 16, /* of one message */
    MAX_CHOICES = 64  /* on the way to them */
};

const struct ir_inst *spirv_place_of(const struct ir_value *p, uint64_t *offset)
{
    *offset = 0;
    for (;;) {
        if (p->kind != IR_VALUE_RESULT) return NULL;
        const struct ir_inst *inst = p->of.inst;
        const struct ir_module *m = inst->parent->function->module;
        uint64_t index;
        if (inst->op == IR_OP_VAR || inst->op == IR_OP_GLOBAL) return inst;
        if (inst->op == IR_OP_FIELD)
            *offset += ir_type_struct(m, inst->type)->fields[inst->attrs.index].offset;
        else if (inst->op == IR_OP_ELEM && ir_value_uint(inst->operands[1], &index))
            *offset += index * ir_type_size(m, inst->type);
        else
            return NULL;
        p = inst->operands[0];
    }
}

const char *spirv_known_string(const struct ir_value *p)
{
    uint64_t offset;
    const struct ir_inst *inst = spirv_place_of(p, &offset);
    if (!inst || inst->op != IR_OP_GLOBAL || inst->attrs.global->space != IR_SPACE_CONSTANT) return NULL;
    const struct ir_global *g = inst->attrs.global;
    uint64_t size = ir_type_size(inst->parent->function->module, g->type);
    if (!g->init || offset >= size || !memchr(g->init + offset, 0, size - offset)) return NULL;
    return (const char *)g->init + offset;
}

struct choice {
    const struct ir_value *format;
    struct ir_value *number;
    uint32_t place; /* of the number among the operands of those that give it */
};

struct formats {
    const struct ir_value *known[MAX_FORMATS];
    unsigned n;
    struct choice choices[MAX_CHOICES];
    unsigned n_choices;
    bool all_known;
};

/* ---- where formats come from ---- */

static struct ir_inst *made_by(const struct ir_value *v)
{
    return v->kind == IR_VALUE_RESULT ? v->of.inst : NULL;
}

/* A parameter of a loop, or a result of one, of an if or of a selection. */
static bool is_choice(const struct ir_value *v)
{
    if (v->kind == IR_VALUE_BLOCK_ARG) return true;
    const struct ir_inst *inst = made_by(v);
    return inst && (inst->op == IR_OP_SELECT || inst->op == IR_OP_IF || inst->op == IR_OP_LOOP);
}

struct givers {
    enum ir_op op;
    void (*see)(struct ir_inst *giver, void *data);
    void *data;
};

static void see_exit(struct ir_inst *exit, void *data)
{
    const struct givers *g = data;
    if (exit->op == g->op) g->see(exit, g->data);
}

/* The instructions whose operands a choice is between: all but ways that do not come to its end. */
static void walk_givers(const struct ir_value *v, void (*see)(struct ir_inst *giver, void *data), void *data)
{
    struct ir_inst *inst = made_by(v);
    if (!inst) {
        see(v->of.block->parent, data);
        pass_walk_exits(v->of.block, see_exit, &(struct givers){IR_OP_CONTINUE, see, data});
    } else if (inst->op == IR_OP_LOOP) {
        pass_walk_exits(inst->blocks[0], see_exit, &(struct givers){IR_OP_BREAK, see, data});
    } else if (inst->op == IR_OP_IF) {
        for (unsigned i = 0; i < 2; i++)
            if (inst->blocks[i]->last->op == IR_OP_YIELD) see(inst->blocks[i]->last, data);
    } else {
        see(inst, data);
    }
}

static struct choice *choice_of(struct formats *f, const struct ir_value *format)
{
    for (unsigned i = 0; i < f->n_choices; i++)
        if (f->choices[i].format == format) return &f->choices[i];
    return NULL;
}

static unsigned place_among(const struct formats *f, const char *string)
{
    unsigned i = 0;
    while (i < f->n && spirv_known_string(f->known[i]) != string) i++;
    return i;
}

/* Nobody may print it: what loops begin with that choose one in each round. */
static bool is_none(const struct ir_value *v)
{
    return v->kind == IR_VALUE_UNDEF || v->kind == IR_VALUE_CONST;
}

static void see(struct formats *f, const struct ir_value *format);

struct giving {
    struct formats *f;
    const struct ir_value *format;
};

static void see_giver(struct ir_inst *giver, void *data)
{
    const struct giving *g = data;
    if (giver->op == IR_OP_SELECT) {
        see(g->f, giver->operands[1]);
        see(g->f, giver->operands[2]);
    } else {
        see(g->f, giver->operands[g->format->index]);
    }
}

static void see(struct formats *f, const struct ir_value *format)
{
    const char *string = spirv_known_string(format);
    unsigned i = string ? place_among(f, string) : 0;
    if (string && i < MAX_FORMATS) {
        f->known[i] = format;
        if (i == f->n) f->n++;
    } else if (string || !(is_none(format) || (is_choice(format) && f->n_choices < MAX_CHOICES))) {
        f->all_known = false;
    } else if (!is_none(format) && !choice_of(f, format)) {
        f->choices[f->n_choices++].format = format;
        walk_givers(format, see_giver, &(struct giving){f, format});
    }
}

/* ---- the numbers beside them ---- */

static void add_number(struct ir_inst *giver, void *data)
{
    struct choice *c = data;
    c->place = giver->n_operands;
    pass_operand_add(giver, ir_const_int(giver->parent->function->module, IR_I32, 0));
}

/* With 0 for what is chosen, which may be numbers that there are not yet. */
static void make_number(struct choice *c)
{
    struct ir_inst *inst = made_by(c->format);
    if (inst && inst->op == IR_OP_SELECT) {
        struct ir_builder b = ir_builder_before(inst);
        struct ir_value *none = ir_const_int(b.module, IR_I32, 0);
        c->number = ir_build3(&b, IR_OP_SELECT, IR_I32, inst->operands[0], none, none);
        return;
    }
    c->number = inst ? pass_result_add(inst, IR_I32) : pass_arg_add(c->format->of.block, IR_I32);
    walk_givers(c->format, add_number, c);
}

static struct ir_value *number_of(struct formats *f, const struct ir_value *format, struct ir_module *m)
{
    const char *string = spirv_known_string(format);
    struct choice *c = choice_of(f, format);
    return c ? c->number : ir_const_int(m, IR_I32, string ? place_among(f, string) : 0);
}

static void set_number(struct ir_inst *giver, void *data)
{
    const struct giving *g = data;
    const struct choice *c = choice_of(g->f, g->format);
    struct ir_module *m = giver->parent->function->module;
    if (giver->op == IR_OP_SELECT)
        for (unsigned i = 1; i < 3; i++) c->number->of.inst->operands[i] = number_of(g->f, giver->operands[i], m);
    else
        giver->operands[c->place] = number_of(g->f, giver->operands[g->format->index], m);
}

static void number_all(struct formats *f)
{
    for (unsigned i = 0; i < f->n_choices; i++) make_number(&f->choices[i]);
    for (unsigned i = 0; i < f->n_choices; i++) {
        const struct ir_value *format = f->choices[i].format;
        walk_givers(format, set_number, &(struct giving){f, format});
    }
}

/* What a known format's address is, once more. */
static struct ir_value *address_again(struct ir_builder *b, const struct ir_value *format)
{
    uint64_t offset;
    const struct ir_inst *global = spirv_place_of(format, &offset);
    struct ir_value *start = ir_build_global(b, global->attrs.global);
    return offset ? ir_build2(b, IR_OP_ELEM, IR_I8, start, ir_const_int(b->module, IR_I64, offset)) : start;
}

struct told {
    void (*made)(struct ir_inst *print, void *data);
    void *data;
};

/* The printf of the format with the number, of those from i on; gives what it gives. */
static struct ir_value *print_one(struct ir_builder *b, const struct formats *f, const struct ir_inst *print,
                                  struct ir_value *number, unsigned i, const struct told *told)
{
    static const ir_type type = IR_I32;
    b->loc = print->loc;
    if (i == f->n - 1) {
        struct ir_value *operands[] = {print->operands[0], address_again(b, f->known[i]), print->operands[2]};
        struct ir_inst *one = ir_build(b, IR_OP_PRINTF, print->type, operands, 3);
        told->made(one, told->data);
        return one->results[0];
    }
    struct ir_value *same = ir_build2(b, IR_OP_IEQ, IR_I32, number, ir_const_int(b->module, IR_I32, i));
    struct ir_inst *is = ir_build_if(b, same, &type, 1);
    struct formats only = {.known = {f->known[i]}, .n = 1};
    struct ir_builder yes = ir_builder_at_end(is->blocks[0]), no = ir_builder_at_end(is->blocks[1]);
    struct ir_value *here = print_one(&yes, &only, print, number, 0, told);
    struct ir_value *there = print_one(&no, f, print, number, i + 1, told);
    ir_build(&yes, IR_OP_YIELD, IR_VOID, &here, 1);
    ir_build(&no, IR_OP_YIELD, IR_VOID, &there, 1);
    return is->results[0];
}

bool spirv_split_formats(struct ir_inst *print, void (*made)(struct ir_inst *print, void *data), void *data)
{
    struct formats f = {.all_known = true};
    const struct ir_value *format = print->operands[1];
    if (!is_choice(format)) return false;
    see(&f, format);
    if (!f.all_known || f.n == 0) return false;
    number_all(&f);
    struct ir_value *number = choice_of(&f, format)->number;
    struct ir_builder b = ir_builder_before(print);
    struct ir_value *r = print_one(&b, &f, print, number, 0, &(struct told){made, data});
    ir_replace_uses(print->parent->function->body, print->results[0], r);
    ir_inst_remove(print);
    return true;
}
