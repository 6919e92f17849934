/*
 * Which loops are such that work-items of a group go over a row together. The counter is an id at first and grows by a
 * step that is the same for all; it is compared in one place with a bound that is the same for all, and nothing else
 * leaves the loop. In its 32 bits it may not wrap: what each round accesses would lie outside of small memory.
 */
#include "fuser/cpu/prepare/strided_loop.h"

#include "fuser/passes/util.h"
#include "ir/core/facts.h"

enum { LEAST_STEP = 32, LARGEST_STEP = 1 << 20, DEEPEST = 12, MOST_CARRIED = 6 };

static bool is_uniform(const struct strided_search *s, const struct ir_value *v)
{
    if (v->kind == IR_VALUE_CONST || v->kind == IR_VALUE_PARAM) return true;
    return v->kind != IR_VALUE_UNDEF && s->group.values[v->scratch].kind == SHAPE_UNIFORM;
}

/* The same for all, and known before the loop. */
static bool is_fixed(const struct strided_search *s, const struct strided_loop *l, const struct ir_value *v)
{
    return is_uniform(s, v) && !pass_is_inside(v, l->exit.loop);
}

static struct ir_inst *made_by(const struct ir_value *v, enum ir_op op)
{
    return v->kind == IR_VALUE_RESULT && v->of.inst->op == op ? v->of.inst : NULL;
}

static const struct ir_value *without_extension(const struct ir_value *v)
{
    const struct ir_inst *inst = made_by(v, IR_OP_SEXT);
    if (!inst) inst = made_by(v, IR_OP_ZEXT);
    return inst ? inst->operands[0] : v;
}

/* ---- the counter ---- */

static bool is_size(const struct ir_value *v, unsigned depth)
{
    if (v->kind == IR_VALUE_CONST) return true;
    if (v->kind != IR_VALUE_RESULT || depth > 3) return false;
    const struct ir_inst *inst = v->of.inst;
    switch (inst->op) {
    case IR_OP_LOCAL_SIZE:
    case IR_OP_ENQUEUED_LOCAL_SIZE:
    case IR_OP_GLOBAL_SIZE:
    case IR_OP_NUM_GROUPS: return true;
    case IR_OP_ITRUNC:
    case IR_OP_SEXT:
    case IR_OP_ZEXT: return is_size(inst->operands[0], depth + 1);
    case IR_OP_MUL:
    case IR_OP_SHL: return is_size(inst->operands[0], depth + 1) && is_size(inst->operands[1], depth + 1);
    default: return false;
    }
}

static bool is_step(const struct ir_value *v)
{
    uint64_t bits;
    if (ir_value_uint(v, &bits)) return bits >= LEAST_STEP && bits <= LARGEST_STEP;
    return is_size(v, 0);
}

/* What is added to the counter for the next round. */
static struct ir_value *step_between(const struct ir_value *counter, const struct ir_value *next)
{
    const struct ir_inst *narrowed = made_by(next, IR_OP_ITRUNC);
    const struct ir_inst *sum = made_by(narrowed ? narrowed->operands[0] : next, IR_OP_ADD);
    for (unsigned i = 0; sum && i < 2; i++) {
        const struct ir_value *v = narrowed ? without_extension(sum->operands[i]) : sum->operands[i];
        if (v == counter) return sum->operands[1 - i];
    }
    return NULL;
}

/* An id that numbers work-items of a group one by one, if the value is one in as many bits as the counter has. */
static struct ir_inst *id_of(const struct strided_search *s, const struct ir_value *v)
{
    const struct ir_inst *narrowed = made_by(v, IR_OP_ITRUNC);
    if (narrowed && ir_type_bits(narrowed->type) < 32) return NULL;
    struct ir_inst *local = made_by(narrowed ? narrowed->operands[0] : v, IR_OP_LOCAL_ID);
    struct ir_inst *global = made_by(narrowed ? narrowed->operands[0] : v, IR_OP_GLOBAL_ID);
    if (global && narrowed && !(s->kernel->assumes & IR_ASSUME_SMALL_IDS)) return NULL;
    struct ir_inst *id = local ? local : global;
    return id && id->attrs.dim == 0 ? id : NULL;
}

static bool find_start(const struct strided_search *s, struct strided_loop *l)
{
    const struct ir_value *start = l->exit.loop->operands[l->counter];
    if ((l->id = id_of(s, start))) return true;
    const struct ir_inst *sum = made_by(start, IR_OP_ADD);
    for (unsigned i = 0; sum && ir_type_bits(start->type) == 64 && i < 2 && !l->id; i++) {
        l->id = id_of(s, sum->operands[i]);
        l->offset = sum->operands[1 - i];
    }
    return l->id && is_uniform(s, l->offset);
}

/* ---- the comparison ---- */

/* The counter among the loop's arguments, by what is compared where it ends. */
static bool find_counter(const struct strided_search *s, struct strided_loop *l)
{
    struct less less;
    const struct ir_block *body = l->exit.loop->blocks[0];
    if (!less_of_loop(&l->exit, &less)) return false;
    for (l->counter = 0; l->counter < body->n_args; l->counter++) {
        const struct ir_value *v = body->args[l->counter], *next = l->exit.on->operands[l->counter];
        l->tests_next = less.value == next;
        if (less.value != v && !(l->tests_next && !l->exit.tests_first)) continue;
        l->step = step_between(v, next);
        l->bound = (struct ir_value *)less.bound;
        l->is_unsigned = less.is_unsigned;
        l->up_to = less.up_to;
        unsigned bits = ir_type_bits(v->type);
        return l->step && is_step(l->step) && is_fixed(s, l, l->step) && is_fixed(s, l, l->bound) &&
               (bits == 64 || (bits == 32 && s->kernel->assumes & IR_ASSUME_SMALL_MEMORY)) && find_start(s, l);
    }
    return false;
}

/* ---- around it ---- */

static bool all_come_to(const struct strided_search *s, const struct ir_inst *inst)
{
    for (const struct ir_inst *i = inst->parent->parent; i; i = i->parent->parent)
        if (s->group.divergent[i->scratch]) return false;
    return true;
}

/* What work-items may take differently around the loop: nothing, or an if that has the loop in its first branch. */
static bool find_guard(const struct strided_search *s, struct strided_loop *l)
{
    struct ir_inst *around = l->exit.loop->parent->parent;
    if (!around || !s->group.divergent[around->scratch]) return all_come_to(s, l->exit.loop);
    struct less less;
    if (around->op != IR_OP_IF || !all_come_to(s, around)) return false;
    l->guard = around;
    l->guard_is_test = less_of_if(around, l->exit.loop->parent == around->blocks[1], &less) && l->tests_next &&
                       ir_value_same(less.value, l->exit.loop->operands[l->counter]) &&
                       ir_value_same(less.bound, l->bound) && less.is_unsigned == l->is_unsigned &&
                       less.up_to == l->up_to;
    return true;
}

/* ---- what it does ---- */

static void see_work(struct ir_inst *inst, void *data)
{
    enum ir_op_class class = ir_op_class(inst->op);
    if (ir_is_convergent(inst) || class == IR_CLASS_PRINT || class == IR_CLASS_PIPE || inst->op == IR_OP_RETURN ||
        inst->op == IR_OP_VAR)
        *(bool *)data = true;
}

static bool depends_on(const struct ir_value *v, const struct ir_value *on, unsigned depth)
{
    if (v == on) return true;
    if (v->kind != IR_VALUE_RESULT || depth == DEEPEST) return false;
    for (uint32_t i = 0; i < v->of.inst->n_operands; i++)
        if (depends_on(v->of.inst->operands[i], on, depth + 1)) return true;
    return false;
}

/* Whether each round accesses what lies one after the other for neighbours, and further on in the next round. */
static bool walks_rows(const struct strided_search *s, const struct strided_loop *l, const struct ir_block *round)
{
    for (const struct ir_inst *i = round->first; i; i = i->next) {
        if ((i->op != IR_OP_LOAD && i->op != IR_OP_STORE) || i->operands[0]->kind != IR_VALUE_RESULT) continue;
        struct shape shape = s->row.values[i->operands[0]->scratch];
        bool contiguous =
            shape.kind == SHAPE_LINEAR && shape.stride == (int64_t)ir_type_size(s->kernel->module, i->type);
        bool far = ir_type_space(i->operands[0]->type) == IR_SPACE_GLOBAL;
        if (contiguous && far && depends_on(i->operands[0], l->exit.loop->blocks[0]->args[l->counter], 0)) return true;
    }
    return false;
}

/* Whether a loop that is left before a round has only results that are there after the last one. */
static bool gives_what_it_carries(const struct strided_loop *l)
{
    const struct ir_block *body = l->exit.loop->blocks[0];
    for (uint32_t i = 0; l->exit.tests_first && i < l->exit.out->n_operands; i++) {
        const struct ir_value *v = l->exit.out->operands[i];
        bool carried = v->kind == IR_VALUE_BLOCK_ARG && v->of.block == body && v->index != l->counter;
        if (!carried && pass_is_inside(v, l->exit.loop)) return false;
    }
    return true;
}

bool strided_loop_find(const struct strided_search *s, struct ir_inst *loop, struct strided_loop *found)
{
    bool prevented = false;
    *found = (struct strided_loop){0};
    if (loop->blocks[0]->n_args > MOST_CARRIED || !loop_test_find(loop, &found->exit) || !find_counter(s, found))
        return false;
    ir_walk(loop->blocks[0], see_work, &prevented);
    if (prevented || !gives_what_it_carries(found) || !find_guard(s, found)) return false;
    bool in_test = found->exit.tests_first && found->exit.on->parent != loop->blocks[0];
    return walks_rows(s, found, in_test ? found->exit.on->parent : loop->blocks[0]);
}
