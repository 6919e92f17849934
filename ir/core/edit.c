/* Changes to what is built already: names, removal, movement, replacement of uses; and the walk. */
#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"
#include "ir/core/builder.h"
#include "ir/core/edit.h"
#include "ir/core/module.h"
#include "ir/core/value.h"

void ir_walk(struct ir_block *block, void (*visit)(struct ir_inst *inst, void *data), void *data)
{
    for (struct ir_inst *inst = block->first, *next; inst; inst = next) {
        next = inst->next;
        visit(inst, data);
        if (!inst->parent) continue; /* it was removed */
        for (int i = 0; i < 2; i++)
            if (inst->blocks[i]) ir_walk(inst->blocks[i], visit, data);
    }
}

/* ---- names ---- */

struct name_search {
    const struct ir_value *skip; /* the value that is to be named */
    const char *base;
    size_t length;
    bool taken;
    uint64_t suffix; /* the largest N of a name base.N */
};

static void see_name(struct name_search *s, const struct ir_value *v)
{
    if (!v || v == s->skip || !v->name || strncmp(v->name, s->base, s->length) != 0) return;
    const char *rest = v->name + s->length;
    if (!*rest) s->taken = true;
    if (rest[0] != '.' || rest[1] < '1' || rest[1] > '9') return;
    char *end;
    uint64_t n = strtoull(rest + 1, &end, 10);
    if (!*end && n > s->suffix && n < UINT64_MAX) s->suffix = n;
}

static void see_names(struct ir_inst *inst, void *data)
{
    for (uint32_t i = 0; i < inst->n_results; i++) see_name(data, inst->results[i]);
    for (int i = 0; i < 2; i++)
        for (uint32_t k = 0; inst->blocks[i] && k < inst->blocks[i]->n_args; k++)
            see_name(data, inst->blocks[i]->args[k]);
}

void ir_value_set_name(struct ir_function *f, struct ir_value *v, const char *name)
{
    if (!name) {
        v->name = NULL;
        return;
    }
    struct name_search s = {.skip = v, .base = name, .length = strlen(name)};
    for (uint32_t i = 0; i < f->n_params; i++) see_name(&s, f->params[i].value);
    if (f->body) ir_walk(f->body, see_names, &s);
    if (!s.taken) {
        v->name = ir_strdup(f->module, name);
        return;
    }
    char *numbered = ir_alloc(f->module, s.length + 22);
    memcpy(numbered, name, s.length);
    char *at = numbered + s.length, digits[21];
    int n = 0;
    for (uint64_t rest = s.suffix + 1; rest; rest /= 10) digits[n++] = (char)('0' + rest % 10);
    *at++ = '.';
    while (n) *at++ = digits[--n];
    v->name = numbered;
}

/* ---- instructions ---- */

void ir_inst_remove(struct ir_inst *inst)
{
    struct ir_block *block = inst->parent;
    *(inst->prev ? &inst->prev->next : &block->first) = inst->next;
    *(inst->next ? &inst->next->prev : &block->last) = inst->prev;
    inst->parent = NULL;
    inst->prev = inst->next = NULL;
}

void ir_inst_move_before(struct ir_inst *inst, struct ir_inst *before)
{
    if (inst == before) return;
    ir_inst_remove(inst);
    inst->parent = before->parent;
    inst->next = before;
    inst->prev = before->prev;
    *(inst->prev ? &inst->prev->next : &inst->parent->first) = inst;
    before->prev = inst;
}

struct replacement {
    const struct ir_value *from;
    struct ir_value *to;
};

static void replace_in(struct ir_inst *inst, void *data)
{
    const struct replacement *r = data;
    for (uint32_t i = 0; i < inst->n_operands; i++)
        if (inst->operands[i] == r->from) inst->operands[i] = r->to;
}

void ir_replace_uses(struct ir_block *block, const struct ir_value *from, struct ir_value *to)
{
    struct replacement r = {from, to};
    ir_walk(block, replace_in, &r);
}

void ir_function_refuse(struct ir_function *f, const char *why)
{
    f->refused = ir_strdup(f->module, why);
    f->body = ir_body_new(f);
    struct ir_builder b = ir_builder_at_end(f->body);
    b.loc = f->loc;
    ir_build(&b, IR_OP_UNREACHABLE, IR_VOID, NULL, 0);
}

static void count(struct ir_inst *inst, void *data)
{
    (void)inst;
    ++*(uint32_t *)data;
}

uint32_t ir_count(struct ir_block *block)
{
    uint32_t n = 0;
    ir_walk(block, count, &n);
    return n;
}

struct ir_value *ir_function_add_param(struct ir_function *f, const char *name, ir_type type)
{
    struct ir_param *longer = ir_alloc(f->module, (f->n_params + 1) * sizeof *longer);
    if (f->n_params) memcpy(longer, f->params, f->n_params * sizeof *longer);
    f->params = longer;
    ir_function_set_param(f, f->n_params++, NULL, type);
    struct ir_value *v = f->params[f->n_params - 1].value;
    if (name) ir_value_set_name(f, v, name);
    return v;
}
