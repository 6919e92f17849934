/*
 * Whether a loop takes less time if each lane runs it by itself. Mostly it is one that lanes leave one by one; but also
 * one that they leave together, if each walks along a row of its own and much is loaded and stored. What is weighed, in
 * quarters of a cycle, for a simple operation takes about one:
 *
 * All lanes at once: an operation takes one for each register that its lanes fill. Lanes that are anywhere in memory
 * take a cycle and a half each: the processor takes a gather apart, and sees less far ahead for the misses of its
 * caches the more there is of it. Lanes that small steps of their ids tell apart are near each other. Whatever a branch
 * or a round decides takes masks. Lanes that are done wait for others.
 *
 * Each by itself: an operation takes one for each lane. A round that needs a float of the one before waits for it, and
 * one that needs a load's result longer. When it leaves the loop the processor mostly has guessed wrong, and at times
 * in a branch. Lanes that each walk through memory in their own way are what its caches expect. But where they are side
 * by side and leap, each comes to every line that they share, when it may be gone from the cache again.
 */
#include "fuser/cpu/prepare/lane_cost.h"

#include "fuser/cpu/prepare/read_back.h"
#include "fuser/cpu/prepare/walk.h"
#include "ir/core/edit.h"
#include "ir/core/facts.h"

enum {
    ROUNDS = 16, /* of a loop */
    MATH = 16,   /* operations of a function */
    /* all at once */
    ANYWHERE = 6, /* of one lane */
    NEAR = 2,     /* the same where lanes are near each other, */
    FEW = 16,     /* with so small steps from one to the next */
    PICKED = 10,  /* the same without an instruction for it */
    MASKS = 6,
    WAITING = 3, /* rounds of the lane that takes longest, to two of a middling one */
    /* each by itself */
    FLOAT_LATENCY = 12,
    LOAD_LATENCY = 40,
    GUESSED_WRONG = 64,
    LEAP = 24,      /* from line to line of the cache */
    MOST = 1 << 24, /* where sums end */
};

/* Of one pass through something: of all lanes at once, and of one. */
struct cost {
    uint64_t all, one;
};

static struct shape shape_of(const struct lane_cost_of *c, const struct ir_value *v)
{
    if (v->kind == IR_VALUE_CONST || v->kind == IR_VALUE_UNDEF) return (struct shape){.kind = SHAPE_UNIFORM};
    return c->uniformity->values[v->scratch];
}

/* Registers that the lanes of such a value fill. */
static unsigned registers(const struct lane_cost_of *c, ir_type t)
{
    unsigned bytes = ir_type_is_ptr(t) || ir_type_bits(t) < 32 ? 4 : ir_type_bits(t) / 8;
    return (c->width * bytes + c->vector_bytes - 1) / c->vector_bytes * ir_type_lanes(t);
}

static bool is_side_by_side(const struct lane_cost_of *c, const struct ir_inst *access)
{
    struct shape p = shape_of(c, access->operands[0]);
    return p.kind == SHAPE_LINEAR && p.stride == (int64_t)ir_type_size(c->module, access->type);
}

static struct cost cost_side_by_side(const struct lane_cost_of *c, const struct ir_inst *access)
{
    enum ir_space space = ir_type_space(access->operands[0]->type);
    bool may_be_far = space != IR_SPACE_LOCAL && space != IR_SPACE_PRIVATE;
    uint64_t leap = may_be_far && walk_leaps(c->module, access) ? LEAP : 0;
    return (struct cost){registers(c, access->type), ir_type_lanes(access->type) + leap};
}

/* Numbers of a small vector that are moved as one. */
static bool is_word(const struct ir_inst *access)
{
    unsigned n = ir_type_lanes(access->type);
    return n > 1 && !ir_type_is_ptr(access->type) && ir_type_bits(access->type) * n == 32;
}

static bool is_small_number(const struct ir_value *v)
{
    uint64_t bits;
    return ir_value_uint(v, &bits) && bits <= FEW;
}

/* Makes large steps of small ones: rows of ids. */
static bool is_steep(const struct ir_inst *inst)
{
    if (inst->op == IR_OP_SHL) return !is_small_number(inst->operands[1]);
    return inst->op == IR_OP_MUL && !is_small_number(inst->operands[0]) && !is_small_number(inst->operands[1]);
}

/* Whether what differs between lanes is made of their ids, in small steps, and of nothing that they have read. */
static bool is_near(const struct lane_cost_of *c, const struct ir_value *v, unsigned depth)
{
    enum { DEEPEST = 10 };
    struct shape s = shape_of(c, v);
    if (s.kind != SHAPE_VARYING) return s.kind == SHAPE_UNIFORM || (s.stride <= FEW && s.stride >= -FEW);
    if (v->kind != IR_VALUE_RESULT || depth == DEEPEST || ir_type_is_float(v->type)) return false;
    const struct ir_inst *inst = v->of.inst;
    if (!(ir_op_info(inst->op)->flags & IR_FLAG_PURE) || inst->blocks[0] || is_steep(inst)) return false;
    for (uint32_t i = 0; i < inst->n_operands; i++)
        if (!is_near(c, inst->operands[i], depth + 1)) return false;
    return true;
}

static struct cost cost_of_access(const struct lane_cost_of *c, const struct ir_inst *inst)
{
    unsigned n = ir_type_lanes(inst->type);
    if (is_side_by_side(c, inst)) return cost_side_by_side(c, inst);
    if (shape_of(c, inst->operands[0]).kind == SHAPE_UNIFORM) return (struct cost){n, n};
    unsigned moves = is_word(inst) ? 1 : n;
    bool has_instruction = c->gathers && (ir_type_is_ptr(inst->type) || ir_type_bits(inst->type) * n / moves >= 32);
    uint64_t taken_apart = moves < n ? registers(c, inst->type) : 0;
    bool near = inst->op == IR_OP_LOAD && is_near(c, inst->operands[0], 0);
    unsigned of_lane = !has_instruction ? PICKED : near ? NEAR : ANYWHERE;
    return (struct cost){(uint64_t)c->width * moves * of_lane + taken_apart, n};
}

/* What one work-item's code has no instruction for: it is part of an access. */
static bool is_address(enum ir_op op)
{
    return op == IR_OP_ELEM || op == IR_OP_FIELD || op == IR_OP_SEXT || op == IR_OP_ZEXT;
}

static unsigned operations_of(enum ir_op op)
{
    if (op == IR_OP_MAD) return 2;
    return ir_op_is_function(op) ? MATH : 1;
}

static struct cost cost_of_operation(const struct lane_cost_of *c, const struct ir_inst *inst)
{
    if (inst->op == IR_OP_LOAD || inst->op == IR_OP_STORE) return cost_of_access(c, inst);
    if (ir_op_class(inst->op) == IR_CLASS_ATOMIC) return (struct cost){c->width * PICKED, PICKED};
    if (!(ir_op_info(inst->op)->flags & IR_FLAG_PURE) || !inst->n_results) return (struct cost){0, 0};
    const struct ir_value *r = inst->results[0];
    unsigned times = operations_of(inst->op);
    uint64_t all = times * (shape_of(c, r).kind == SHAPE_VARYING ? registers(c, r->type) : 1);
    return (struct cost){all, is_address(inst->op) ? 0 : times * ir_type_lanes(r->type)};
}

static struct cost cost_of_block(const struct lane_cost_of *c, const struct ir_block *block);

/* One that decides whether the loop goes on is counted there. */
static bool goes_on_or_leaves(const struct ir_inst *inst)
{
    return inst->blocks[0]->last->op != IR_OP_YIELD || inst->blocks[1]->last->op != IR_OP_YIELD;
}

static struct cost cost_of_if(const struct lane_cost_of *c, const struct ir_inst *inst)
{
    struct cost a = cost_of_block(c, inst->blocks[0]), b = cost_of_block(c, inst->blocks[1]);
    if (!c->uniformity->divergent[inst->scratch])
        return (struct cost){1 + (a.all + b.all) / 2, 1 + (a.one + b.one) / 2};
    uint64_t guess = goes_on_or_leaves(inst) ? 1 : GUESSED_WRONG / 4;
    return (struct cost){MASKS + a.all + b.all, guess + (a.one + b.one) / 2};
}

/* ---- loops ---- */

struct latency {
    const struct ir_inst *loop;
    unsigned longest;
};

enum { DEEPEST = 4 };

/* Whether a value is, or is computed in the loop's body of, an argument of the loop. */
static bool depends_on(const struct ir_value *v, const struct ir_value *arg, const struct ir_inst *loop, unsigned depth)
{
    if (v == arg) return true;
    if (v->kind != IR_VALUE_RESULT || depth == DEEPEST || ir_enclosing_loop(v->of.inst) != loop) return false;
    for (uint32_t i = 0; i < v->of.inst->n_operands; i++)
        if (depends_on(v->of.inst->operands[i], arg, loop, depth + 1)) return true;
    return false;
}

/* Whether what an argument becomes comes out of memory, from where the argument says: a sum of what is loaded is there
   as soon as the number is that is loaded ahead, but who walks along a list waits. */
static bool comes_from_load(const struct ir_value *v, const struct ir_value *arg, const struct ir_inst *loop,
                            unsigned depth)
{
    if (v->kind != IR_VALUE_RESULT || depth == DEEPEST || ir_enclosing_loop(v->of.inst) != loop) return false;
    const struct ir_inst *inst = v->of.inst;
    if (inst->op == IR_OP_LOAD) return depends_on(inst->operands[0], arg, loop, 0);
    for (uint32_t i = 0; i < inst->n_operands && inst->op != IR_OP_SELECT; i++)
        if (comes_from_load(inst->operands[i], arg, loop, depth + 1)) return true;
    return false;
}

static void see_carried(struct ir_inst *inst, void *data)
{
    struct latency *l = data;
    if (inst->op != IR_OP_CONTINUE || ir_terminator_target(inst) != l->loop) return;
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        const struct ir_value *v = inst->operands[i];
        unsigned latency = 0;
        if (ir_type_is_float(v->type))
            latency = FLOAT_LATENCY;
        else if (comes_from_load(v, l->loop->blocks[0]->args[i], l->loop, 0))
            latency = LOAD_LATENCY;
        if (latency > l->longest) l->longest = latency;
    }
}

static struct cost cost_of_loop(const struct lane_cost_of *c, const struct ir_inst *loop)
{
    struct cost round = cost_of_block(c, loop->blocks[0]);
    struct latency l = {.loop = loop};
    ir_walk(loop->blocks[0], see_carried, &l);
    if (round.one < l.longest) round.one = l.longest;
    uint64_t all = ROUNDS * (round.all + MASKS) * WAITING / 2;
    if (!c->uniformity->divergent[loop->scratch]) all = ROUNDS * round.all;
    return (struct cost){all, ROUNDS * round.one + GUESSED_WRONG};
}

static struct cost cost_of_block(const struct lane_cost_of *c, const struct ir_block *block)
{
    struct cost sum = {0, 0};
    for (const struct ir_inst *i = block->first; i && sum.all < MOST; i = i->next) {
        struct cost cost = i->op == IR_OP_IF     ? cost_of_if(c, i)
                           : i->op == IR_OP_LOOP ? cost_of_loop(c, i)
                                                 : cost_of_operation(c, i);
        sum.all += cost.all;
        sum.one += cost.one;
    }
    return sum;
}

/* ---- what each may do by itself ---- */

static void see_use(struct ir_inst *inst, void *data)
{
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        const struct ir_value *v = inst->operands[i];
        if (v->kind == IR_VALUE_RESULT && ir_op_class(v->of.inst->op) == IR_CLASS_ATOMIC) *(bool *)data = true;
    }
}

/* Not where a lane may wait for others, by atomics or what is volatile: they would never come. Nor what has no code of
   one work-item among others: variables, groups, images and their like, and an end in the midst of it. */
static void see_obstacle(struct ir_inst *inst, void *data)
{
    bool is_obstacle;
    switch (ir_op_class(inst->op)) {
    case IR_CLASS_MEMORY:
        is_obstacle =
            inst->op == IR_OP_VAR || inst->op == IR_OP_COPY || (inst->attrs.is_volatile && !is_read_back(inst));
        break;
    case IR_CLASS_ATOMIC: is_obstacle = inst->op == IR_OP_ATOMIC_LOAD; break;
    case IR_CLASS_CONTROL: is_obstacle = inst->op == IR_OP_RETURN || inst->op == IR_OP_UNREACHABLE; break;
    case IR_CLASS_SUB_GROUP_QUERY:
    case IR_CLASS_COLLECTIVE:
    case IR_CLASS_SUB_GROUP:
    case IR_CLASS_BLOCK:
    case IR_CLASS_IMAGE:
    case IR_CLASS_PIPE:
    case IR_CLASS_PRINT: is_obstacle = true; break;
    default: is_obstacle = inst->op == IR_OP_CALL; break;
    }
    if (is_obstacle) *(bool *)data = true;
}

bool lane_cost_favours_each(const struct lane_cost_of *c, const struct ir_inst *loop)
{
    bool obstacle = false;
    ir_walk(loop->blocks[0], see_obstacle, &obstacle);
    ir_walk(loop->blocks[0], see_use, &obstacle);
    struct cost cost = cost_of_loop(c, loop);
    return !obstacle && cost.one * c->width < cost.all;
}
