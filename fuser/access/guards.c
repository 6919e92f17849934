/* Are the work-items of one access among those of others: by the boxes of ids that they are in, and guard by guard. */
#include "fuser/access/guards.h"

#include "fuser/access/same_place.h"

enum { DEEPEST = 12, MOST_ASSUMED = 2 };

/* A bool of an access, taken to be `is`. */
struct said {
    const struct launched_access *of;
    const struct ir_value *condition;
    bool is;
};

/* What is known of the work-items that get there. */
struct known {
    const struct launched_access *there;
    struct guards_taken *taken; /* NULL: none may be */
    unsigned n_assumed;
    struct said assumed[MOST_ASSUMED];
};

static bool in_global_ids(const struct affine *a)
{
    for (unsigned i = AFFINE_LOCAL; i < AFFINE_IDS; i++)
        if (a->factor[i]) return false;
    return true;
}

/* From what `known` keeps at 0 or below, the margin of `wanted` follows. */
static bool margin_follows(const struct launched_access *here, const struct access_guard *wanted,
                           const struct launched_access *there, const struct access_guard *known)
{
    const struct affine *x = &wanted->margin, *y = &known->margin;
    if (here->linear || there->linear || !affine_is_exact(x) || !affine_is_exact(y)) return false;
    return in_global_ids(x) && in_global_ids(y) && same_place_factors(here, x, there, y) && x->constant <= y->constant;
}

/* ---- bools ---- */

static bool is_both(const struct ir_inst *inst, bool taken)
{
    return inst->op == (taken ? IR_OP_AND : IR_OP_OR);
}

static bool says(struct said s, bool taken, const struct launched_access *here, const struct ir_value *v,
                 unsigned depth);

static bool says_of_part(struct said s, const struct ir_value *part, bool is, bool taken,
                         const struct launched_access *here, const struct ir_value *v, unsigned depth)
{
    return says((struct said){s.of, part, is}, taken, here, v, depth + 1);
}

/* Where one branch of an if gives the opposite, the other has been taken, and what it gives is so. */
static bool if_says(struct said s, bool taken, const struct launched_access *here, const struct ir_value *v,
                    unsigned depth)
{
    const struct ir_inst *inst = s.condition->of.inst;
    uint64_t constant;
    for (unsigned b = 0; b < 2; b++) {
        const struct ir_inst *out = inst->blocks[b]->last, *in = inst->blocks[1 - b]->last;
        if (out->op != IR_OP_YIELD || in->op != IR_OP_YIELD) return false;
        const struct ir_value *never = out->operands[s.condition->index], *given = in->operands[s.condition->index];
        if (never->kind != IR_VALUE_CONST || !ir_value_uint(never, &constant) || (constant != 0) == s.is) continue;
        return says_of_part(s, inst->operands[0], b == 1, taken, here, v, depth) ||
               says_of_part(s, given, s.is, taken, here, v, depth);
    }
    return false;
}

/* What is said means that v is as `taken` says: it is of v, or of something made of it and of more that is so. */
static bool says(struct said s, bool taken, const struct launched_access *here, const struct ir_value *v,
                 unsigned depth)
{
    bool is_itself = v == s.condition && here->args == s.of->args; /* of one node */
    if (s.is == taken && (is_itself || same_place_value(here, v, s.of, s.condition))) return true;
    if (s.condition->kind != IR_VALUE_RESULT || depth == DEEPEST) return false;
    const struct ir_inst *inst = s.condition->of.inst;
    if (inst->op == IR_OP_NOT) return says_of_part(s, inst->operands[0], !s.is, taken, here, v, depth);
    if (inst->op == IR_OP_IF) return if_says(s, taken, here, v, depth);
    return is_both(inst, s.is) && (says_of_part(s, inst->operands[0], s.is, taken, here, v, depth) ||
                                   says_of_part(s, inst->operands[1], s.is, taken, here, v, depth));
}

static bool is_said(const struct known *k, const struct launched_access *here, const struct ir_value *v, bool taken)
{
    for (const struct access_guard *g = k->there->site->guards; g; g = g->outer)
        if (says((struct said){k->there, g->condition, g->taken}, taken, here, v, 0)) return true;
    for (unsigned i = 0; i < k->n_assumed; i++)
        if (says(k->assumed[i], taken, here, v, 0)) return true;
    return false;
}

/* A bool of `here` is as `taken` says, because something says so of it or of what it is made of: of an if, what both
   branches give, whichever is taken. */
static bool holds(const struct known *k, const struct launched_access *here, const struct ir_value *v, bool taken,
                  unsigned depth)
{
    uint64_t constant;
    if (v->kind == IR_VALUE_CONST) return ir_value_uint(v, &constant) && (constant != 0) == taken;
    if (is_said(k, here, v, taken)) return true;
    if (v->kind != IR_VALUE_RESULT || depth == DEEPEST) return false;
    const struct ir_inst *inst = v->of.inst;
    if (inst->op == IR_OP_NOT) return holds(k, here, inst->operands[0], !taken, depth + 1);
    if (inst->op == IR_OP_AND || inst->op == IR_OP_OR) {
        bool first = holds(k, here, inst->operands[0], taken, depth + 1);
        return first == is_both(inst, taken) ? holds(k, here, inst->operands[1], taken, depth + 1) : first;
    }
    if (inst->op != IR_OP_IF) return false;
    for (unsigned b = 0; b < 2; b++) {
        const struct ir_inst *last = inst->blocks[b]->last;
        if (last->op == IR_OP_YIELD && !holds(k, here, last->operands[v->index], taken, depth + 1)) return false;
    }
    return true;
}

/* ---- accesses ---- */

static bool follows(const struct known *k, const struct launched_access *here, const struct access_guard *wanted)
{
    for (const struct access_guard *g = k->there->site->guards; g; g = g->outer)
        if (margin_follows(here, wanted, k->there, g)) return true;
    return holds(k, here, wanted->condition, wanted->taken, 0);
}

static bool is_inside(const struct access_items *inner, const struct access_items *outer)
{
    for (unsigned d = 0; d < 3; d++)
        if (inner->first[d] < outer->first[d] || inner->last[d] > outer->last[d]) return false;
    return true;
}

/* The work-items that the kernel has at all. */
static bool is_inside_range(const struct access_items *items, const struct launched_access *here)
{
    struct access_items all;
    if (here->linear || !here->own) return false;
    for (unsigned d = 0; d < 3; d++) {
        all.first[d] = (int64_t)here->own->offset[d];
        all.last[d] = (int64_t)(here->own->offset[d] + here->own->global[d]) - 1;
    }
    return is_inside(items, &all);
}

/* It holds as long as a scalar is as large as it was. */
static bool takes(const struct known *k, const struct access_guard *g)
{
    if (!k->taken || !g->scalar || k->taken->n == GUARDS_MOST_TAKEN) return false;
    k->taken->guards[k->taken->n++] = g;
    return true;
}

/* The first guard of `here` that does not follow; NULL: all do. */
static const struct access_guard *find_open(const struct known *k, const struct launched_access *here)
{
    bool inside = is_inside(&k->there->site->items, &here->site->items);
    for (const struct access_guard *g = here->site->guards; g; g = g->outer)
        if (!(g->in_items && inside) && !follows(k, here, g) && !takes(k, g)) return g;
    return NULL;
}

static bool may_pass(const struct known *k, const struct launched_access *here)
{
    const struct access_items *items = &k->there->site->items;
    return !here->site->unsure && (is_inside(items, &here->site->items) || is_inside_range(items, here));
}

/* Whether a guard of one of the accesses holds or not, another access has been passed. */
static bool are_passed(const struct known *k, const struct launched_access *here, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (may_pass(k, &here[i]) && !find_open(k, &here[i])) return true;
    for (uint32_t i = 0; i < n && k->n_assumed < MOST_ASSUMED; i++) {
        const struct access_guard *open = may_pass(k, &here[i]) ? find_open(k, &here[i]) : NULL;
        struct known more = *k;
        if (!open) continue;
        more.assumed[more.n_assumed++] = (struct said){&here[i], open->condition, open->taken};
        bool is = are_passed(&more, here, n);
        more.assumed[more.n_assumed - 1].is = !open->taken;
        if (is && are_passed(&more, here, n)) return true;
    }
    return false;
}

bool guards_let_pass(const struct launched_access *here, uint32_t n, const struct launched_access *there,
                     struct guards_taken *taken)
{
    struct known k = {.there = there};
    if (are_passed(&k, here, n)) return true;
    if (!taken) return false;
    unsigned before = taken->n;
    k.taken = taken;
    if (are_passed(&k, here, n)) return true;
    taken->n = before;
    return false;
}

void guards_keep(const struct guards_taken *taken)
{
    for (unsigned i = 0; i < taken->n; i++)
        if (taken->guards[i]->scalar->least < taken->guards[i]->least)
            taken->guards[i]->scalar->least = taken->guards[i]->least;
}
