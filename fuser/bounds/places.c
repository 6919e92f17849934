/*
 * Where pointers are. What a pointer may come from flows along its uses until nothing changes; where it is there is
 * computed beside it: a sum beside each address, a choice beside each choice, and one more value carried beside each
 * pointer that an if gives or a loop carries.
 */
#include "fuser/bounds/places.h"

#include <inttypes.h>
#include <stdlib.h>

#include "fuser/passes/util.h"
#include "ir/base/arena.h"
#include "ir/base/strbuf.h"
#include "ir/core/facts.h"

/* ---- memory ---- */

static const char *text_of(struct places *p, struct strbuf *text)
{
    char *kept = arena_strndup(p->arena, text->text, text->size);
    text->size = 0;
    return kept;
}

static int32_t add_root(struct places *p, const struct bounds_root *root)
{
    p->roots = arena_grow(p->arena, p->roots, p->n_roots, sizeof *p->roots);
    p->roots[p->n_roots++] = *root;
    return (int32_t)p->n_roots - 1;
}

static int32_t root_of_variable(struct places *p, const struct ir_inst *var)
{
    struct strbuf text = {0};
    const char *name = var->results[0]->name ? var->results[0]->name : "?";
    uint64_t bytes = ir_type_size(p->kernel->module, var->type);
    strbuf_printf(&text, "variable `%.40s` of function `%.40s` (%" PRIu64 " bytes)", name, p->kernel->name, bytes);
    int32_t root = add_root(p, &(struct bounds_root){bytes, text_of(p, &text)});
    free(text.text);
    return root;
}

static int32_t root_of_global(struct places *p, const struct ir_global *g)
{
    if (ir_type_kind(g->type) == IR_KIND_PIPE) return PLACE_UNKNOWN;
    struct strbuf text = {0};
    uint64_t bytes = ir_type_size(p->kernel->module, g->type);
    strbuf_printf(&text, "variable `%.40s` of the module (%" PRIu64 " bytes)", g->name, bytes);
    int32_t root = add_root(p, &(struct bounds_root){bytes, text_of(p, &text)});
    free(text.text);
    return root;
}

/* ---- what pointers come from ---- */

static bool is_pointer(const struct ir_value *v)
{
    return ir_type_is_ptr(v->type);
}

int32_t places_root(const struct places *p, const struct ir_value *pointer)
{
    if (pointer->kind == IR_VALUE_UNDEF) return PLACE_NONE;
    if (pointer->kind == IR_VALUE_CONST || !pointer->scratch || pointer->scratch >= p->n_values) return PLACE_UNKNOWN;
    return p->root[pointer->scratch];
}

/* True where that is new. What mixes known memory with what is not known is not known. */
static bool flow(struct places *p, const struct ir_value *to, int32_t root)
{
    int32_t *now = &p->root[to->scratch], before = *now;
    if (!is_pointer(to) || root == PLACE_NONE || before == root || before == PLACE_UNKNOWN) return false;
    if (root == PLACE_UNKNOWN || before == PLACE_NONE)
        *now = root;
    else
        *now = PLACE_MANY;
    return *now != before;
}

static bool flow_out(struct places *p, const struct ir_inst *inst)
{
    const struct ir_inst *to = ir_terminator_target(inst);
    bool changed = false;
    for (uint32_t i = 0; to && i < inst->n_operands; i++)
        if (is_pointer(inst->operands[i]))
            changed |= flow(p, inst->op == IR_OP_CONTINUE ? to->blocks[0]->args[i] : to->results[i],
                            places_root(p, inst->operands[i]));
    return changed;
}

static bool flow_through(struct places *p, const struct ir_inst *inst)
{
    bool changed = false;
    switch (inst->op) {
    case IR_OP_ELEM:
    case IR_OP_FIELD:
    case IR_OP_SPACECAST: return flow(p, inst->results[0], places_root(p, inst->operands[0]));
    case IR_OP_SELECT:
        changed = flow(p, inst->results[0], places_root(p, inst->operands[1]));
        return flow(p, inst->results[0], places_root(p, inst->operands[2])) || changed;
    case IR_OP_LOOP:
        for (uint32_t i = 0; i < inst->n_operands; i++)
            if (is_pointer(inst->operands[i]))
                changed |= flow(p, inst->blocks[0]->args[i], places_root(p, inst->operands[i]));
        return changed;
    case IR_OP_YIELD:
    case IR_OP_BREAK:
    case IR_OP_CONTINUE: return flow_out(p, inst);
    case IR_OP_IF:
    case IR_OP_VAR:
    case IR_OP_GLOBAL: return false;
    default:
        for (uint32_t i = 0; i < inst->n_results; i++) changed |= flow(p, inst->results[i], PLACE_UNKNOWN);
        return changed;
    }
}

struct flowing {
    struct places *p;
    bool changed;
};

static void see_flow(struct ir_inst *inst, void *data)
{
    struct flowing *f = data;
    f->changed |= flow_through(f->p, inst);
}

static void see_variable(struct ir_inst *inst, void *data)
{
    struct places *p = data;
    if (inst->op == IR_OP_VAR) p->root[inst->results[0]->scratch] = root_of_variable(p, inst);
    if (inst->op == IR_OP_GLOBAL) p->root[inst->results[0]->scratch] = root_of_global(p, inst->attrs.global);
}

void places_find(struct places *p, struct ir_function *kernel, const struct bounds_launch *launch)
{
    *p = (struct places){.kernel = kernel, .arena = arena_new(), .n_values = pass_number(kernel)};
    p->root = arena_alloc(p->arena, p->n_values * sizeof *p->root);
    p->offsets = arena_alloc(p->arena, p->n_values * sizeof *p->offsets);
    p->memories = arena_alloc(p->arena, p->n_values * sizeof *p->memories);
    add_root(p, &(struct bounds_root){0});
    for (uint32_t i = 0; i < kernel->n_params; i++) {
        const struct bounds_memory *m = &launch->memory[i];
        if (!is_pointer(kernel->params[i].value)) continue;
        p->root[kernel->params[i].value->scratch] =
            m->text ? add_root(p, &(struct bounds_root){m->bytes, m->text}) : PLACE_UNKNOWN;
    }
    ir_walk(kernel->body, see_variable, p);
    struct flowing f = {p, true};
    while (f.changed) {
        f.changed = false;
        ir_walk(kernel->body, see_flow, &f);
    }
}

void places_clear(struct places *p)
{
    arena_free(p->arena);
}

/* ---- sums ---- */

static struct ir_value *number(struct places *p, ir_type t, uint64_t v)
{
    return ir_const_int(p->kernel->module, t, v);
}

static struct ir_builder after(struct ir_inst *inst)
{
    struct ir_builder b = ir_builder_before(inst->next);
    b.loc = inst->loc;
    return b;
}

static struct ir_value *sum(struct ir_builder *b, struct ir_value *x, struct ir_value *y)
{
    uint64_t m, n;
    bool known_x = ir_value_uint(x, &m), known_y = ir_value_uint(y, &n);
    if (known_x && known_y) return ir_const_int(b->module, IR_I64, m + n);
    if (known_y && n == 0) return x;
    return known_x && m == 0 ? y : ir_build2(b, IR_OP_ADD, IR_I64, x, y);
}

static struct ir_value *scaled(struct ir_builder *b, struct ir_value *index, uint64_t size)
{
    unsigned bits = ir_type_bits(index->type);
    uint64_t v;
    if (ir_value_uint(index, &v)) {
        int64_t known = (int64_t)(v << (64 - bits)) >> (64 - bits);
        return ir_const_int(b->module, IR_I64, (uint64_t)known * size);
    }
    if (bits < 64) index = ir_build1(b, IR_OP_SEXT, IR_I64, index);
    return size == 1 ? index : ir_build2(b, IR_OP_MUL, IR_I64, index, ir_const_int(b->module, IR_I64, size));
}

/* What is computed beside a pointer: its offset, or the number of its memory. */
enum kind { OFFSET, MEMORY };

static struct ir_value *beside(struct places *p, struct ir_value *v, enum kind kind);

static struct ir_value *beside_result(struct places *p, struct ir_inst *inst, enum kind kind)
{
    const struct ir_module *m = p->kernel->module;
    struct ir_builder b = after(inst);
    struct ir_value *x, *y;
    switch (inst->op) {
    case IR_OP_SELECT:
        x = beside(p, inst->operands[1], kind);
        y = beside(p, inst->operands[2], kind);
        return x == y ? x : ir_build3(&b, IR_OP_SELECT, x->type, inst->operands[0], x, y);
    case IR_OP_ELEM:
        x = beside(p, inst->operands[0], kind);
        return kind == MEMORY ? x : sum(&b, x, scaled(&b, inst->operands[1], ir_type_size(m, inst->type)));
    case IR_OP_FIELD:
        x = beside(p, inst->operands[0], kind);
        if (kind == MEMORY) return x;
        return sum(&b, x, number(p, IR_I64, ir_type_struct(m, inst->type)->fields[inst->attrs.index].offset));
    default: return beside(p, inst->operands[0], kind); /* another address space */
    }
}

static bool is_root(const struct ir_value *v)
{
    return v->kind == IR_VALUE_PARAM ||
           (v->kind == IR_VALUE_RESULT && (v->of.inst->op == IR_OP_VAR || v->of.inst->op == IR_OP_GLOBAL));
}

static struct ir_value *beside(struct places *p, struct ir_value *v, enum kind kind)
{
    int32_t root = places_root(p, v);
    if (kind == MEMORY && root != PLACE_MANY) return number(p, IR_I32, root > 0 ? (uint64_t)root : 0);
    if (root == PLACE_NONE || root == PLACE_UNKNOWN || is_root(v)) return number(p, IR_I64, 0);
    struct ir_value **made = &(kind == OFFSET ? p->offsets : p->memories)[v->scratch];
    if (!*made) *made = beside_result(p, v->of.inst, kind);
    return *made;
}

struct ir_value *places_offset(struct places *p, struct ir_value *pointer)
{
    return beside(p, pointer, OFFSET);
}

struct ir_value *places_memory(struct places *p, struct ir_value *pointer)
{
    return beside(p, pointer, MEMORY);
}

/* ---- what ifs give and loops carry ---- */

static bool has_place(const struct places *p, const struct ir_value *v)
{
    int32_t root = is_pointer(v) ? places_root(p, v) : PLACE_UNKNOWN;
    return root > 0 || root == PLACE_MANY;
}

static void add_places(struct ir_inst *inst, void *data)
{
    struct places *p = data;
    if (inst->op != IR_OP_IF && inst->op != IR_OP_LOOP) return;
    struct ir_block *body = inst->blocks[0];
    for (uint32_t i = 0, n = inst->n_results; i < n; i++) {
        struct ir_value *v = inst->results[i];
        if (!has_place(p, v)) continue;
        p->offsets[v->scratch] = pass_result_add(inst, IR_I64);
        if (places_root(p, v) == PLACE_MANY) p->memories[v->scratch] = pass_result_add(inst, IR_I32);
    }
    for (uint32_t i = 0, n = body->n_args; inst->op == IR_OP_LOOP && i < n; i++) {
        struct ir_value *v = body->args[i];
        if (!has_place(p, v)) continue;
        p->offsets[v->scratch] = pass_arg_add(body, IR_I64);
        if (places_root(p, v) == PLACE_MANY) p->memories[v->scratch] = pass_arg_add(body, IR_I32);
    }
}

/* In the order in which add_places() made them. */
static void pass_on(struct ir_inst *inst, void *data)
{
    struct places *p = data;
    bool enters = inst->op == IR_OP_LOOP;
    if (!enters && inst->op != IR_OP_YIELD && inst->op != IR_OP_BREAK && inst->op != IR_OP_CONTINUE) return;
    const struct ir_inst *target = enters ? inst : ir_terminator_target(inst);
    struct ir_value *const *to = enters || inst->op == IR_OP_CONTINUE ? target->blocks[0]->args : target->results;
    for (uint32_t i = 0, n = inst->n_operands; i < n; i++) {
        if (!has_place(p, to[i])) continue;
        pass_operand_add(inst, beside(p, inst->operands[i], OFFSET));
        if (places_root(p, to[i]) == PLACE_MANY) pass_operand_add(inst, beside(p, inst->operands[i], MEMORY));
    }
}

void places_carry(struct places *p)
{
    ir_walk(p->kernel->body, add_places, p);
    ir_walk(p->kernel->body, pass_on, p);
}
