/*
 * A walk over a kernel's structured code with some work-items of one group at once. What they compute from their ids
 * alone is known, all else is not. A set has those that stand where the walk is: it is split at each known condition.
 * An if that is not known is passed by, unless it may end the walk; of a loop only the first round is looked at. So
 * whatever the walk comes to, every run of the group comes to.
 */
#include "ir/analysis/barrier_divergence.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ir/base/arena.h"
#include "ir/core/facts.h"
#include "ir/eval/eval.h"

enum { MAX_SAMPLE = 64, MAX_OPERANDS = 4, MAX_STEPS = 20000 };

struct sample {
    uint32_t n;
    uint64_t linear[MAX_SAMPLE], local[MAX_SAMPLE][3];
};

typedef uint64_t item_set; /* by place in the sample */

struct walk {
    const struct ir_function *kernel;
    const struct ir_barrier_group *group;
    struct sample sample;
    uint32_t sub_group_size; /* 0: not known */
    struct arena *arena;
    uint64_t **values; /* by scratch: one word per work-item of the sample; NULL: not known */
    uint32_t n_values;
    const struct ir_inst *diverged_at; /* the last condition that split the set */
    unsigned steps;                    /* instructions looked at: what takes longer is not proved */
    bool ended;                        /* how it goes on is not known */
    struct ir_barrier_divergence *finding;
    bool found;
};

/* ---- what is known ---- */

static void number_inst(struct ir_inst *inst, void *data)
{
    struct walk *w = data;
    for (uint32_t i = 0; i < inst->n_results; i++) inst->results[i]->scratch = w->n_values++;
    for (int b = 0; b < 2; b++)
        for (uint32_t i = 0; inst->blocks[b] && i < inst->blocks[b]->n_args; i++)
            inst->blocks[b]->args[i]->scratch = w->n_values++;
}

static uint64_t *new_words(struct walk *w)
{
    return arena_alloc(w->arena, w->sample.n * sizeof(uint64_t));
}

/* The words of a value, one per work-item; NULL: not known. */
static const uint64_t *known_words(struct walk *w, const struct ir_value *v)
{
    uint64_t bits;
    if (v->kind == IR_VALUE_RESULT || v->kind == IR_VALUE_BLOCK_ARG) return w->values[v->scratch];
    if (v->kind != IR_VALUE_CONST || ir_type_is_vector(v->type) || ir_type_is_ptr(v->type)) return NULL;
    bits = v->of.lanes[0];
    uint64_t *words = new_words(w);
    for (uint32_t i = 0; i < w->sample.n; i++) words[i] = bits;
    return words;
}

static bool id_of_item(const struct walk *w, const struct ir_inst *inst, uint32_t i, uint64_t *word)
{
    const struct ir_barrier_group *g = w->group;
    unsigned d = inst->attrs.dim;
    switch (inst->op) {
    case IR_OP_LOCAL_ID: *word = w->sample.local[i][d]; return true;
    case IR_OP_LOCAL_SIZE: *word = g->size[d]; return true;
    case IR_OP_LOCAL_LINEAR_ID: *word = w->sample.linear[i]; return true;
    case IR_OP_SUB_GROUP_ID: *word = w->sub_group_size ? w->sample.linear[i] / w->sub_group_size : 0; break;
    case IR_OP_SUB_GROUP_LOCAL_ID: *word = w->sub_group_size ? w->sample.linear[i] % w->sub_group_size : 0; break;
    case IR_OP_GLOBAL_ID: *word = g->offset[d] + g->id[d] * g->local[d] + w->sample.local[i][d]; return g->placed;
    case IR_OP_GROUP_ID: *word = g->id[d]; return g->placed;
    case IR_OP_GLOBAL_SIZE: *word = g->global[d]; return g->placed;
    case IR_OP_GLOBAL_OFFSET: *word = g->offset[d]; return g->placed;
    case IR_OP_ENQUEUED_LOCAL_SIZE: *word = g->local[d]; return g->placed;
    case IR_OP_NUM_GROUPS: *word = g->placed ? (g->global[d] + g->local[d] - 1) / g->local[d] : 0; return g->placed;
    case IR_OP_WORK_DIM: *word = g->dims; return g->placed;
    case IR_OP_GLOBAL_LINEAR_ID:
        *word = 0;
        for (d = 3; d-- > 0;) *word = *word * g->global[d] + g->id[d] * g->local[d] + w->sample.local[i][d];
        return g->placed;
    default: return false;
    }
    return w->sub_group_size != 0;
}

static bool compute(const struct walk *w, const struct ir_inst *inst, const uint64_t *const *operands, uint64_t *words)
{
    for (uint32_t i = 0; i < w->sample.n; i++) {
        const uint64_t *lanes[MAX_OPERANDS];
        uint64_t result[IR_MAX_LANES];
        for (uint32_t k = 0; k < inst->n_operands; k++) lanes[k] = &operands[k][i];
        if (!ir_eval(inst, lanes, result)) return false;
        words[i] = result[0];
    }
    return true;
}

static void evaluate(struct walk *w, const struct ir_inst *inst)
{
    const uint64_t *operands[MAX_OPERANDS];
    if (inst->n_results != 1 || inst->blocks[0] || inst->n_operands > MAX_OPERANDS) return;
    ir_type t = inst->results[0]->type;
    if (ir_type_is_vector(t) || ir_type_is_ptr(t)) return;
    uint64_t *words = new_words(w);
    if (inst->n_operands == 0) {
        for (uint32_t i = 0; i < w->sample.n; i++)
            if (!id_of_item(w, inst, i, &words[i])) return;
    } else {
        if (!(ir_op_info(inst->op)->flags & IR_FLAG_PURE)) return;
        for (uint32_t k = 0; k < inst->n_operands; k++)
            if (!(operands[k] = known_words(w, inst->operands[k]))) return;
        if (!compute(w, inst, operands, words)) return;
    }
    w->values[inst->results[0]->scratch] = words;
}

/* ---- findings ---- */

static void report_pair(struct walk *w, const struct ir_inst *at, uint32_t a, uint32_t b, const char *before,
                        const char *between, const char *after)
{
    const uint64_t *x = w->sample.local[a], *y = w->sample.local[b];
    struct ir_barrier_divergence *f = w->finding;
    w->found = w->ended = true;
    f->at = at;
    snprintf(f->text, sizeof f->text,
             "%s (%" PRIu64 ",%" PRIu64 ",%" PRIu64 ")%s (%" PRIu64 ",%" PRIu64 ",%" PRIu64 ")%s", before, x[0], x[1],
             x[2], between, y[0], y[1], y[2], after);
}

/* Operations of the scope concern both work-items. */
static bool together(const struct walk *w, bool work_group, uint32_t a, uint32_t b)
{
    if (work_group) return true;
    return w->sub_group_size && w->sample.linear[a] / w->sub_group_size == w->sample.linear[b] / w->sub_group_size;
}

/* at is the operation itself, or the call that leads to it. */
static void check_divergence(struct walk *w, const struct ir_inst *at, const struct ir_inst *collective, item_set here)
{
    char path[64] = "", condition[64] = "", before[192];
    for (uint32_t a = 0; a < w->sample.n; a++)
        for (uint32_t b = 0; b < w->sample.n; b++) {
            if (!(here >> a & 1) || here >> b & 1 || !together(w, ir_is_work_group_collective(collective), a, b))
                continue;
            if (at != collective)
                snprintf(path, sizeof path, "leads to %s in line %u, ", ir_op_info(collective->op)->text,
                         collective->loc.line);
            if (w->diverged_at)
                snprintf(condition, sizeof condition, "by the condition of line %u, ", w->diverged_at->loc.line);
            snprintf(before, sizeof before, "%sin divergent control flow: %slocal work-item", path, condition);
            report_pair(w, at, a, b, before, " reaches it and", " does not");
            return;
        }
}

/* A value that must be the same for all that the operation concerns. */
static void check_same(struct walk *w, const struct ir_inst *inst, const struct ir_value *v, const char *what)
{
    const uint64_t *words = known_words(w, v);
    for (uint32_t b = 1; words && b < w->sample.n && !w->found; b++)
        for (uint32_t a = 0; a < b && !w->found; a++)
            if (words[a] != words[b] && together(w, ir_is_work_group_collective(inst), a, b))
                report_pair(w, inst, a, b, what, " and", "");
}

static void check_operands(struct walk *w, const struct ir_inst *inst)
{
    if (inst->op == IR_OP_GROUP_BROADCAST)
        for (uint32_t i = 1; i < inst->n_operands; i++)
            check_same(w, inst, inst->operands[i], "its source differs between local work-items");
    if (inst->op != IR_OP_BLOCK_READ && inst->op != IR_OP_BLOCK_WRITE) return;
    const struct ir_value *p = inst->operands[0];
    if (p->kind == IR_VALUE_RESULT && p->of.inst->op == IR_OP_ELEM && p->of.inst->operands[0]->kind == IR_VALUE_PARAM)
        check_same(w, inst, p->of.inst->operands[1], "its pointer differs between local work-items");
}

/* ---- the walk ---- */

static item_set walk_block(struct walk *w, const struct ir_block *block, item_set here);

/* Control may leave the block, other than at its end, on one of these. */
static bool leaves_block(const struct ir_block *block, bool in_loop)
{
    for (const struct ir_inst *inst = block->first; inst; inst = inst->next) {
        if (inst->op == IR_OP_RETURN || inst->op == IR_OP_UNREACHABLE) return true;
        if (!in_loop && (inst->op == IR_OP_BREAK || inst->op == IR_OP_CONTINUE)) return true;
        for (int i = 0; i < 2; i++)
            if (inst->blocks[i] && leaves_block(inst->blocks[i], in_loop || inst->op == IR_OP_LOOP)) return true;
    }
    return false;
}

/* The first operation for all of a group that each call of the function comes to. */
static const struct ir_inst *sure_collective(struct walk *w, const struct ir_function *f)
{
    for (const struct ir_inst *inst = f->body ? f->body->first : NULL; inst; inst = inst->next) {
        if (++w->steps > MAX_STEPS) return NULL;
        if (ir_is_collective(inst)) return inst;
        const struct ir_inst *inner = inst->op == IR_OP_CALL ? sure_collective(w, inst->attrs.callee) : NULL;
        if (inner) return inner;
        for (int i = 0; i < 2; i++)
            if (inst->blocks[i] && leaves_block(inst->blocks[i], inst->op == IR_OP_LOOP)) return NULL;
    }
    return NULL;
}

/* What the sets of both sides yielded is what the if gives. */
static void take_results(struct walk *w, const struct ir_inst *inst, const item_set sides[2])
{
    for (uint32_t r = 0; r < inst->n_results; r++) {
        if (ir_type_is_vector(inst->results[r]->type) || ir_type_is_ptr(inst->results[r]->type)) continue;
        uint64_t *words = new_words(w);
        bool good = true;
        for (int side = 0; side < 2 && good; side++) {
            if (!sides[side]) continue;
            const struct ir_inst *yield = inst->blocks[side]->last;
            const uint64_t *given = yield->op == IR_OP_YIELD ? known_words(w, yield->operands[r]) : NULL;
            good = given || yield->op != IR_OP_YIELD;
            for (uint32_t i = 0; given && i < w->sample.n; i++)
                if (sides[side] >> i & 1) words[i] = given[i];
        }
        if (good) w->values[inst->results[r]->scratch] = words;
    }
}

static item_set walk_if(struct walk *w, const struct ir_inst *inst, item_set here)
{
    const uint64_t *condition = known_words(w, inst->operands[0]);
    if (!condition) {
        w->ended |= leaves_block(inst->blocks[0], false) || (inst->blocks[1] && leaves_block(inst->blocks[1], false));
        return here;
    }
    item_set sides[2] = {0}, after = 0;
    for (uint32_t i = 0; i < w->sample.n; i++)
        if (here >> i & 1) sides[!(condition[i] & 1)] |= (item_set)1 << i;
    const struct ir_inst *outer = w->diverged_at;
    if (sides[0] && sides[1]) w->diverged_at = inst;
    for (int side = 0; side < 2; side++)
        if (sides[side]) after |= inst->blocks[side] ? walk_block(w, inst->blocks[side], sides[side]) : sides[side];
    if (w->ended) return after;
    take_results(w, inst, sides);
    if (after == here) w->diverged_at = outer;
    return after;
}

static item_set walk_loop(struct walk *w, const struct ir_inst *inst, item_set here)
{
    const struct ir_block *body = inst->blocks[0];
    for (uint32_t i = 0; i < body->n_args && i < inst->n_operands; i++) {
        const uint64_t *words = known_words(w, inst->operands[i]);
        w->values[body->args[i]->scratch] = words ? memcpy(new_words(w), words, w->sample.n * sizeof *words) : NULL;
    }
    const struct ir_inst *outer = w->diverged_at;
    walk_block(w, body, here);
    /* A later round may return where the first one did not. */
    if (!w->found) w->ended = leaves_block(body, true);
    w->diverged_at = outer;
    return here;
}

/* Those of `here` that come to the end of the block and fall out of it. */
static item_set walk_block(struct walk *w, const struct ir_block *block, item_set here)
{
    for (const struct ir_inst *inst = block->first; inst && here && !w->ended; inst = inst->next) {
        if (++w->steps > MAX_STEPS) {
            w->ended = true;
            return here;
        }
        const struct ir_inst *collective = inst->op == IR_OP_CALL ? sure_collective(w, inst->attrs.callee) : NULL;
        if (ir_is_collective(inst)) collective = inst;
        if (collective) check_divergence(w, inst, collective, here);
        if (collective == inst && !w->found) check_operands(w, inst);
        if (inst->op == IR_OP_IF)
            here = walk_if(w, inst, here);
        else if (inst->op == IR_OP_LOOP)
            here = walk_loop(w, inst, here);
        else
            evaluate(w, inst);
        if (inst->op == IR_OP_UNREACHABLE) w->ended = true;
        if (inst->op == IR_OP_RETURN || inst->op == IR_OP_BREAK || inst->op == IR_OP_CONTINUE) here = 0;
    }
    return here;
}

/* The first and the last work-items: where conditions on ids differ. */
static void take_sample(struct walk *w)
{
    const uint64_t *size = w->group->size;
    uint64_t n = size[0] * size[1] * size[2];
    w->sample.n = n < MAX_SAMPLE ? (uint32_t)n : MAX_SAMPLE;
    for (uint32_t i = 0; i < w->sample.n; i++) {
        uint64_t rest = i < w->sample.n / 2 ? i : n - (w->sample.n - i);
        w->sample.linear[i] = rest;
        for (int d = 0; d < 3; d++) {
            w->sample.local[i][d] = rest % size[d];
            rest /= size[d];
        }
    }
}

static void note_collective(struct ir_inst *inst, void *data)
{
    bool *any = data;
    *any = *any || inst->op == IR_OP_CALL || ir_is_collective(inst);
}

bool ir_find_barrier_divergence(const struct ir_function *kernel, const struct ir_barrier_group *group,
                                struct ir_barrier_divergence *finding)
{
    bool any = false;
    if (kernel->body) ir_walk(kernel->body, note_collective, &any);
    if (!any) return false;
    struct walk w = {.kernel = kernel, .group = group, .finding = finding, .arena = arena_new()};
    if (kernel->sub_group_size && kernel->sub_group_size < IR_SUB_GROUP_AUTOMATIC)
        w.sub_group_size = kernel->sub_group_size;
    take_sample(&w);
    ir_walk(kernel->body, number_inst, &w);
    w.values = arena_alloc(w.arena, (w.n_values + 1) * sizeof *w.values);
    walk_block(&w, kernel->body, w.sample.n == MAX_SAMPLE ? UINT64_MAX : ((item_set)1 << w.sample.n) - 1);
    arena_free(w.arena);
    return w.found;
}
