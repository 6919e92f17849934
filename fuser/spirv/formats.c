/*
 * A format that is chosen gets a number that is chosen beside it: selections select numbers, too, and ifs give them as
 * one more result. Where the format is used that number says which of the known ones it is.
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

struct formats {
    const struct ir_value *known[MAX_FORMATS];
    unsigned n;
    struct {
        const struct ir_value *format;
        struct ir_value *number; /* NULL: there is none yet */
    } choices[MAX_CHOICES];
    unsigned n_choices;
};

static struct ir_inst *choice_of(const struct ir_value *v)
{
    struct ir_inst *inst = v->kind == IR_VALUE_RESULT ? v->of.inst : NULL;
    return inst && (inst->op == IR_OP_SELECT || inst->op == IR_OP_IF) ? inst : NULL;
}

/* The i-th of the two that a choice is between; NULL: that way does not come to its end. */
static const struct ir_value *way(const struct ir_value *v, unsigned i)
{
    const struct ir_inst *inst = choice_of(v);
    if (inst->op == IR_OP_SELECT) return inst->operands[1 + i];
    const struct ir_inst *last = inst->blocks[i]->last;
    return last->op == IR_OP_YIELD ? last->operands[v->index] : NULL;
}

static struct ir_value **number_at(struct formats *f, const struct ir_value *format)
{
    for (unsigned i = 0; i < f->n_choices; i++)
        if (f->choices[i].format == format) return &f->choices[i].number;
    return NULL;
}

static unsigned place_among(const struct formats *f, const char *string)
{
    unsigned i = 0;
    while (i < f->n && spirv_known_string(f->known[i]) != string) i++;
    return i;
}

/* False: one of them is not known, or they are too many. */
static bool see(struct formats *f, const struct ir_value *format)
{
    const char *string = spirv_known_string(format);
    if (string) {
        unsigned i = place_among(f, string);
        if (i == MAX_FORMATS) return false;
        f->known[i] = format;
        if (i == f->n) f->n++;
        return true;
    }
    if (!choice_of(format)) return false;
    if (number_at(f, format)) return true;
    if (f->n_choices == MAX_CHOICES) return false;
    f->choices[f->n_choices++].format = format;
    for (unsigned i = 0; i < 2; i++) {
        const struct ir_value *other = way(format, i);
        if (other && !see(f, other)) return false;
    }
    return true;
}

static struct ir_value *number_of(struct formats *f, const struct ir_value *format)
{
    const char *string = spirv_known_string(format);
    struct ir_inst *choice = choice_of(format);
    if (string) return ir_const_int(f->known[0]->of.inst->parent->function->module, IR_I32, place_among(f, string));
    struct ir_value **number = number_at(f, format), *of[2] = {NULL, NULL};
    if (*number) return *number;
    for (unsigned i = 0; i < 2; i++)
        if (way(format, i)) of[i] = number_of(f, way(format, i));
    if (choice->op == IR_OP_SELECT) {
        struct ir_builder b = ir_builder_before(choice);
        return *number = ir_build3(&b, IR_OP_SELECT, IR_I32, choice->operands[0], of[0], of[1]);
    }
    for (unsigned i = 0; i < 2; i++)
        if (of[i]) pass_operand_add(choice->blocks[i]->last, of[i]);
    return *number = pass_result_add(choice, IR_I32);
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
    struct formats f = {0};
    const struct ir_value *format = print->operands[1];
    if (!choice_of(format) || !see(&f, format) || f.n == 0) return false;
    struct ir_value *number = number_of(&f, format);
    struct ir_builder b = ir_builder_before(print);
    struct ir_value *r = print_one(&b, &f, print, number, 0, &(struct told){made, data});
    ir_replace_uses(print->parent->function->body, print->results[0], r);
    ir_inst_remove(print);
    return true;
}
