/* Which work-items pass a branch: a box of global ids where the condition compares one id with a constant,
   "those that pass this guard" for the rest. */
#include "fuser/access/condition.h"

#include "fuser/access/affine_value.h"
#include "ir/base/arena.h"

enum relation { BELOW, AT_MOST, ABOVE, AT_LEAST, EQUAL, DIFFERENT, NO_RELATION };

static enum relation relation_of(enum ir_op op, bool *is_signed)
{
    *is_signed = true;
    switch (op) {
    case IR_OP_SLT: return BELOW;
    case IR_OP_SLE: return AT_MOST;
    case IR_OP_SGT: return ABOVE;
    case IR_OP_SGE: return AT_LEAST;
    case IR_OP_IEQ: return EQUAL;
    case IR_OP_INE: return DIFFERENT;
    default: break;
    }
    *is_signed = false;
    switch (op) {
    case IR_OP_ULT: return BELOW;
    case IR_OP_ULE: return AT_MOST;
    case IR_OP_UGT: return ABOVE;
    case IR_OP_UGE: return AT_LEAST;
    default: return NO_RELATION;
    }
}

static enum relation opposite(enum relation r)
{
    static const enum relation of[] = {[BELOW] = AT_LEAST, [AT_MOST] = ABOVE,   [ABOVE] = AT_MOST,
                                       [AT_LEAST] = BELOW, [EQUAL] = DIFFERENT, [DIFFERENT] = EQUAL};
    return of[r];
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static void keep_nobody(struct access_state *state)
{
    state->items.first[0] = 1;
    state->items.last[0] = 0;
}

/* Keeps the ids with factor * id <= limit. */
static void limit_id(struct access_state *state, unsigned d, int64_t factor, int64_t limit)
{
    int64_t edge = floor_div(limit, factor);
    if (factor > 0) {
        if (edge < state->items.last[d]) state->items.last[d] = edge;
    } else {
        edge += limit % factor != 0; /* rounded up: the sense turns round */
        if (edge > state->items.first[d]) state->items.first[d] = edge;
    }
}

/* factor * id = value, or not. */
static bool match_id(struct access_state *state, unsigned d, int64_t factor, int64_t value, bool equal)
{
    int64_t id = value / factor;
    bool hit = value % factor == 0 && id >= state->items.first[d] && id <= state->items.last[d];
    if (equal) {
        if (!hit) {
            keep_nobody(state);
        } else {
            state->items.first[d] = state->items.last[d] = id;
        }
        return true;
    }
    if (!hit) return true;
    if (id == state->items.first[d]) {
        state->items.first[d]++;
    } else if (id == state->items.last[d]) {
        state->items.last[d]--;
    } else {
        return false;
    }
    return true;
}

/* The one global id that takes part in a sum of nothing else; 3: a constant; 4: something else. */
static unsigned only_global_id(const struct affine *a)
{
    unsigned found = 3;
    if (!affine_is_exact(a) || a->n_symbols) return 4;
    for (unsigned i = 0; i < AFFINE_IDS; i++) {
        if (!a->factor[i]) continue;
        if (i >= 3 || found != 3) return 4;
        found = i;
    }
    return found;
}

static bool holds(enum relation r, int64_t difference)
{
    switch (r) {
    case BELOW: return difference < 0;
    case AT_MOST: return difference <= 0;
    case ABOVE: return difference > 0;
    case AT_LEAST: return difference >= 0;
    case EQUAL: return difference == 0;
    default: return difference != 0;
    }
}

/* Narrows by "sum r 0"; false where a box cannot say it. */
static bool narrow(struct access_state *state, const struct affine *sum, enum relation r)
{
    unsigned d = only_global_id(sum);
    if (d == 4) return false;
    int64_t k = sum->constant;
    if (d == 3) {
        if (!holds(r, k)) keep_nobody(state);
        return true;
    }
    int64_t f = sum->factor[d];
    if (k <= -(INT64_MAX / 2) || k >= INT64_MAX / 2 || f <= -INT32_MAX || f >= INT32_MAX) return false;
    switch (r) {
    case BELOW: limit_id(state, d, f, -k - 1); return true;
    case AT_MOST: limit_id(state, d, f, -k); return true;
    case ABOVE: limit_id(state, d, -f, k - 1); return true;
    case AT_LEAST: limit_id(state, d, -f, k); return true;
    default: return match_id(state, d, f, -k, r == EQUAL);
    }
}

/* The sum is the number itself when read with this sign. */
static bool reads_as_itself(const struct access_walk *w, const struct affine *a, unsigned bits, bool is_signed)
{
    int64_t low, high;
    if (!affine_range(a, &w->bounds, &low, &high)) return false;
    int64_t least = is_signed ? INT64_MIN >> (64 - bits) : 0;
    int64_t most = is_signed ? ~least : bits < 64 ? (int64_t)(UINT64_MAX >> (64 - bits)) : INT64_MAX;
    return low >= least && high <= most;
}

static bool assume_comparison(const struct access_walk *w, const struct ir_inst *compare, bool taken,
                              struct access_state *state)
{
    bool is_signed;
    enum relation r = relation_of(compare->op, &is_signed);
    if (r == NO_RELATION || !ir_type_is_int(compare->type) || ir_type_is_vector(compare->type)) return false;
    struct affine a = affine_value(w, compare->operands[0]), b = affine_value(w, compare->operands[1]);
    unsigned bits = ir_type_bits(compare->type);
    if (!reads_as_itself(w, &a, bits, is_signed) || !reads_as_itself(w, &b, bits, is_signed)) return false;
    b = affine_scale(&b, -1);
    struct affine difference = affine_add(&a, &b);
    return narrow(state, &difference, taken ? r : opposite(r));
}

/* ---- guards ---- */

static bool is_bare_symbol(const struct affine *a)
{
    if (a->constant || a->n_symbols != 1 || a->symbols[0].factor != 1) return false;
    for (unsigned i = 0; i < AFFINE_IDS; i++)
        if (a->factor[i]) return false;
    return true;
}

/* The sum that is the number of the comparison, as a number: it does not wrap. */
static bool as_number(const struct access_walk *w, const struct ir_value *v, bool is_signed, struct affine *sum)
{
    unsigned bits = ir_type_bits(v->type);
    *sum = affine_value_widened(w, v, is_signed);
    if (!sum->known || sum->jump) return false;
    return reads_as_itself(w, sum, bits, is_signed) || (affine_is_exact(sum) && is_bare_symbol(sum));
}

/* What a comparison compares, as numbers. */
static bool compared(const struct access_walk *w, const struct ir_value *condition, bool taken, enum relation *r,
                     struct affine *a, struct affine *b)
{
    const struct ir_inst *compare = condition->kind == IR_VALUE_RESULT ? condition->of.inst : NULL;
    bool is_signed;
    if (!compare || compare->n_operands != 2 || !ir_type_is_int(compare->type) || ir_type_is_vector(compare->type))
        return false;
    *r = relation_of(compare->op, &is_signed);
    if (!taken && *r != NO_RELATION) *r = opposite(*r);
    return *r != NO_RELATION && as_number(w, compare->operands[0], is_signed, a) &&
           as_number(w, compare->operands[1], is_signed, b);
}

/* The condition as zero = 0. */
static struct affine zero_of(const struct access_walk *w, const struct ir_value *condition, bool taken)
{
    static const struct affine unknown;
    struct affine a, b;
    enum relation r;
    if (!compared(w, condition, taken, &r, &a, &b) || r != EQUAL) return unknown;
    b = affine_scale(&b, -1);
    return affine_add(&a, &b);
}

/* The condition as margin <= 0. */
static struct affine margin_of(const struct access_walk *w, const struct ir_value *condition, bool taken)
{
    static const struct affine unknown;
    struct affine a, b, one = affine_constant(1);
    enum relation r;
    if (!compared(w, condition, taken, &r, &a, &b) || r > AT_LEAST) return unknown;
    struct affine *less = r == BELOW || r == AT_MOST ? &a : &b, *more = less == &a ? &b : &a;
    *more = affine_scale(more, -1);
    struct affine margin = affine_add(less, more);
    return r == BELOW || r == ABOVE ? affine_add(&margin, &one) : margin;
}

/* Where the margin is of ids less a scalar that was known: as long as that is at least so much, all ids pass. */
static void note_scalar(const struct access_walk *w, unsigned bits, struct access_guard *g)
{
    const struct affine *m = &g->margin;
    struct affine ids = *m;
    int64_t low, high;
    if (!w->numbers || !m->known || m->jump || m->n_symbols != 1 || m->symbols[0].factor != -1) return;
    uint32_t param = m->symbols[0].param;
    ids.n_symbols = 0;
    if (ir_type_bits(w->kernel->params[param].value->type) > bits || !affine_range(&ids, &w->bounds, &low, &high))
        return;
    if (high < 1 || w->numbers[param] < high) return;
    g->scalar = &w->result->params[param];
    g->least = high;
}

/* Gives what it is given: whether items say it. */
static bool guard(const struct access_walk *w, const struct ir_value *condition, bool taken, bool in_items,
                  struct access_state *state)
{
    struct access_guard *g = arena_alloc(w->result->arena, sizeof *g);
    *g = (struct access_guard){.condition = condition,
                               .taken = taken,
                               .in_items = in_items,
                               .margin = margin_of(w, condition, taken),
                               .zero = zero_of(w, condition, taken),
                               .outer = state->guards};
    state->guards = g;
    if (g->margin.known) note_scalar(w, ir_type_bits(condition->of.inst->type), g);
    return in_items;
}

/* What an if gives is `taken`, and one of its branches never gives that: what the other one gives, which was run; NULL:
   it is not so. */
static const struct ir_value *given_by_other(const struct ir_value *condition, bool taken, bool *branch)
{
    const struct ir_inst *inst = condition->of.inst;
    for (unsigned b = 0; inst->op == IR_OP_IF && b < 2; b++) {
        const struct ir_inst *out = inst->blocks[b]->last, *in = inst->blocks[1 - b]->last;
        uint64_t constant;
        if (out->op != IR_OP_YIELD || in->op != IR_OP_YIELD) return NULL;
        if (!ir_value_uint(out->operands[condition->index], &constant) || (constant != 0) == taken) continue;
        *branch = b == 1;
        return in->operands[condition->index];
    }
    return NULL;
}

static bool assume(const struct access_walk *w, const struct ir_value *condition, bool taken,
                   struct access_state *state, unsigned depth)
{
    uint64_t constant;
    if (condition->kind == IR_VALUE_CONST && ir_value_uint(condition, &constant)) {
        if ((constant != 0) != taken) keep_nobody(state);
        return true;
    }
    if (condition->kind != IR_VALUE_RESULT || depth == 16) return guard(w, condition, taken, false, state);
    const struct ir_inst *inst = condition->of.inst;
    if (ir_type_is_bool(inst->type) && inst->op == IR_OP_NOT)
        return assume(w, inst->operands[0], !taken, state, depth + 1);
    if (ir_type_is_bool(inst->type) && inst->op == (taken ? IR_OP_AND : IR_OP_OR)) {
        bool first = assume(w, inst->operands[0], taken, state, depth + 1);
        return assume(w, inst->operands[1], taken, state, depth + 1) && first;
    }
    bool branch;
    const struct ir_value *given = given_by_other(condition, taken, &branch);
    if (given) {
        bool first = assume(w, inst->operands[0], branch, state, depth + 1);
        return assume(w, given, taken, state, depth + 1) && first;
    }
    return guard(w, condition, taken, assume_comparison(w, inst, taken, state), state);
}

void condition_assume(const struct access_walk *w, const struct ir_value *condition, bool taken,
                      struct access_state *state)
{
    if (!assume(w, condition, taken, state, 0)) state->conditional = true;
}
