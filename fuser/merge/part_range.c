/*
 * Parts whose ND-range is not the fused kernel's: guards around them, and their own ids and sizes inside. A part whose
 * range lies within the request's runs in the work-items with its global ids; any other in those with its linear ids.
 */
#include "fuser/merge/part_range.h"

#include <string.h>

#include "fuser/graph/range.h"
#include "ir/core/facts.h"

typedef unsigned long long ull;

/* ---- what a kernel sees of its range ---- */

struct view {
    const struct ir_inst *meets;  /* needs all work-items of a work-group: barriers, group operations */
    const struct ir_inst *inside; /* needs them, or looks at its place among them */
    const struct ir_inst *groups; /* depends on the work-group size */
    const struct ir_inst *sub;    /* depends on which work-items are a sub-group */
};

static void find_queries(struct ir_inst *inst, void *data)
{
    struct view *v = data;
    unsigned flags = ir_op_info(inst->op)->flags;
    bool sub = ir_is_sub_group_op(inst), meets = !sub && flags & IR_FLAG_CONVERGENT;
    if (ir_sees_sub_group(inst)) v->sub = inst;
    if (meets) v->meets = inst;
    if (meets || flags & IR_FLAG_GROUPS) v->groups = inst;
    if (v->meets == inst || inst->op == IR_OP_LOCAL_ID || inst->op == IR_OP_LOCAL_SIZE ||
        inst->op == IR_OP_LOCAL_LINEAR_ID)
        v->inside = inst;
}

/* ---- whether it fits ---- */

/* The part's local size: the fused kernel's where it has none of its own. */
static const uint64_t *local_of(const struct fuse *f, const struct fuse_part *part)
{
    return (range_has_local(&part->range) ? &part->range : &f->request->range)->local;
}

static bool sub_groups_fit(struct fuse *f, const struct fuse_part *part, const struct view *view)
{
    const struct nd_range *fused = &f->request->range;
    struct nd_range own = part->range;
    uint32_t size = f->request->sub_group_size ? f->request->sub_group_size : f->kernel->sub_group_size;
    char a[160], b[160];
    if (!view->sub) return true;
    memcpy(own.local, local_of(f, part), sizeof own.local);
    if (!size || size >= IR_SUB_GROUP_AUTOMATIC || !range_has_local(fused))
        return fuse_refuse(
            f, "kernel %s has other work-items and uses %s, but the size of sub-groups or work-groups is not decided",
            f->part, ir_op_info(view->sub->op)->text);
    if (range_has_whole_sub_groups(&own, fused, size)) return true;
    return fuse_refuse(f, "kernel %s uses %s over %s, where sub-groups of %u are others than in the fused kernel's %s",
                       f->part, ir_op_info(view->sub->op)->text, range_text(&own, a, sizeof a), size,
                       range_text(fused, b, sizeof b));
}

static bool local_fits(struct fuse *f, const struct fuse_part *part, const struct view *view)
{
    const uint64_t *own = part->range.local, *fused = f->request->range.local;
    for (uint32_t d = 0; d < part->range.dims && own[0] && view->meets; d++)
        if (own[d] != fused[d])
            return fuse_refuse(f, "kernel %s uses %s in work-groups of %llu in dimension %u, the fused kernel has %llu",
                               f->part, ir_op_info(view->meets->op)->text, (ull)own[d], d, (ull)fused[d]);
    return true;
}

static bool box_fits(struct fuse *f, const struct fuse_part *part, const struct view *view)
{
    const struct nd_range *own = &part->range, *fused = &f->request->range;
    bool other_local = range_has_other_local(own, fused);
    if ((range_same(own, fused) && !other_local) || range_has_whole_groups(own, fused)) return true;
    const struct ir_inst *inside = other_local ? view->meets : view->inside;
    for (uint32_t d = 0; d < own->dims && inside; d++)
        if (own->global[d] != fused->global[d] || own->offset[d] != fused->offset[d])
            return fuse_refuse(f, "kernel %s has %llu work-items in dimension %u, the fused kernel %llu, and uses %s",
                               f->part, (ull)own->global[d], d, (ull)fused->global[d], ir_op_info(inside->op)->text);
    return local_fits(f, part, view) && sub_groups_fit(f, part, view);
}

static bool linear_fits(struct fuse *f, const struct fuse_part *part, const struct view *view)
{
    const struct nd_range *own = &part->range, *fused = &f->request->range;
    if (range_items(own) > range_items(fused))
        return fuse_refuse(f, "kernel %s has %llu work-items, the fused kernel only %llu", f->part,
                           (ull)range_items(own), (ull)range_items(fused));
    if (view->meets)
        return fuse_refuse(f, "kernel %s would get its ids from the linear id, but uses %s", f->part,
                           ir_op_info(view->meets->op)->text);
    if (view->groups && !range_has_local(own))
        return fuse_refuse(f, "kernel %s uses %s, but its work-group size is not decided", f->part,
                           ir_op_info(view->groups->op)->text);
    return sub_groups_fit(f, part, view);
}

bool part_range_fits(struct fuse *f, const struct fuse_part *part, const struct ir_function *copy, bool *guarded)
{
    struct view view = {NULL, NULL, NULL, NULL};
    bool box = range_is_box(&part->range, &f->request->range);
    *guarded = part->last || range_items(&part->range) != range_items(&f->request->range);
    if (part->last) return true;
    ir_walk(copy->body, find_queries, &view);
    return box ? box_fits(f, part, &view) : linear_fits(f, part, &view);
}

const struct nd_range *part_range_base(const struct fuse *f, const struct fuse_part *part)
{
    return range_is_box(&part->range, &f->request->range) ? &f->request->range : &part->range;
}

/* ---- the part's own ids and sizes ---- */

struct sizes {
    struct fuse *f;
    const struct fuse_part *part;
    struct ir_function *copy;
    bool box;
    bool own_groups; /* its work-groups are not those of the fused kernel */
    const uint64_t *local;
    uint32_t sub_group_size;
    struct ir_value *position[3]; /* own_groups: where the work-item is, made at the start of the copy */
    const struct ir_inst *launch; /* the query that they are made of */
    bool failed;
};

static struct ir_value *number(const struct ir_builder *b, uint64_t v)
{
    return ir_const_int(b->module, IR_I64, v);
}

static uint64_t ceil_div(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

/* A line's global id is its linear id, and serves accesses that use it as such. */
static struct ir_value *linear_id(const struct fuse *f, struct ir_builder *b)
{
    const struct nd_range *fused = &f->request->range;
    if (fused->dims > 1) return ir_build0(b, IR_OP_GLOBAL_LINEAR_ID, IR_VOID);
    struct ir_value *id = ir_build_id(b, IR_OP_GLOBAL_ID, 0);
    return fused->offset[0] ? ir_build2(b, IR_OP_SUB, IR_I64, id, number(b, fused->offset[0])) : id;
}

/* Counted from 0. */
static struct ir_value *position_in_box(const struct sizes *s, struct ir_builder *b, unsigned d)
{
    uint64_t offset = s->part->range.offset[d];
    struct ir_value *id = ir_build_id(b, IR_OP_GLOBAL_ID, d);
    return offset ? ir_build2(b, IR_OP_SUB, IR_I64, id, number(b, offset)) : id;
}

static void make_positions(struct sizes *s)
{
    const struct nd_range *own = &s->part->range;
    struct ir_builder b = ir_builder_before(s->copy->body->first);
    for (unsigned d = 0; d < 3 && s->box; d++) s->position[d] = position_in_box(s, &b, d);
    if (s->box) return;
    struct ir_value *rest = linear_id(s->f, &b);
    s->launch = rest->of.inst;
    while (s->launch->op == IR_OP_SUB) s->launch = s->launch->operands[0]->of.inst;
    for (unsigned d = 0; d < 3; d++) {
        bool last = d + 1 >= own->dims;
        s->position[d] = d >= own->dims ? number(&b, 0) : rest;
        if (last) continue;
        s->position[d] = ir_build2(&b, IR_OP_UREM, IR_I64, rest, number(&b, own->global[d]));
        rest = ir_build2(&b, IR_OP_UDIV, IR_I64, rest, number(&b, own->global[d]));
    }
}

/* x + size x * (y + size y * z), of values and sizes of the part. */
static struct ir_value *linear(struct ir_builder *b, struct ir_value *const x[3], struct ir_value *const size[3])
{
    struct ir_value *sum = x[2];
    for (unsigned d = 2; d-- > 0;) {
        sum = ir_build2(b, IR_OP_MUL, IR_I64, sum, size[d]);
        sum = ir_build2(b, IR_OP_ADD, IR_I64, x[d], sum);
    }
    return sum;
}

static struct ir_value *global_linear(const struct sizes *s, struct ir_builder *b)
{
    struct ir_value *x[3], *size[3];
    for (unsigned d = 0; d < 3; d++) {
        x[d] = s->own_groups ? s->position[d] : position_in_box(s, b, d);
        size[d] = number(b, s->part->range.global[d]);
    }
    return linear(b, x, size);
}

/* The work-items of the group in dimension d: fewer in an incomplete one at the end. */
static struct ir_value *local_size(const struct sizes *s, struct ir_builder *b, unsigned d)
{
    uint64_t local = s->local[d], global = s->part->range.global[d];
    if (global % local == 0) return number(b, local);
    struct ir_value *group = ir_build2(b, IR_OP_UDIV, IR_I64, s->position[d], number(b, local));
    struct ir_value *before = ir_build2(b, IR_OP_MUL, IR_I64, group, number(b, local));
    struct ir_value *left = ir_build2(b, IR_OP_SUB, IR_I64, number(b, global), before);
    return ir_build2(b, IR_OP_UMIN, IR_I64, left, number(b, local));
}

static struct ir_value *local_linear(const struct sizes *s, struct ir_builder *b)
{
    struct ir_value *x[3], *size[3];
    for (unsigned d = 0; d < 3; d++) {
        x[d] = ir_build2(b, IR_OP_UREM, IR_I64, s->position[d], number(b, s->local[d]));
        size[d] = local_size(s, b, d);
    }
    return linear(b, x, size);
}

/* So many sub-groups of so many work-items, in 32 bits. */
static struct ir_value *sub_groups(const struct sizes *s, struct ir_builder *b, struct ir_value *items)
{
    struct ir_value *up = ir_build2(b, IR_OP_ADD, IR_I64, items, number(b, s->sub_group_size - 1));
    struct ir_value *n = ir_build2(b, IR_OP_UDIV, IR_I64, up, number(b, s->sub_group_size));
    return ir_build1(b, IR_OP_ITRUNC, IR_I32, n);
}

static struct ir_value *sub_group_id(const struct sizes *s, struct ir_builder *b)
{
    struct ir_value *id = ir_build2(b, IR_OP_UDIV, IR_I64, local_linear(s, b), number(b, s->sub_group_size));
    return ir_build1(b, IR_OP_ITRUNC, IR_I32, id);
}

static struct ir_value *local_items(const struct sizes *s, struct ir_builder *b)
{
    struct ir_value *items = local_size(s, b, 0);
    for (unsigned d = 1; d < 3; d++) items = ir_build2(b, IR_OP_MUL, IR_I64, items, local_size(s, b, d));
    return items;
}

/* What the query gives in the part's range; NULL: the same as in the request's. */
static struct ir_value *own_value(struct sizes *s, struct ir_builder *b, const struct ir_inst *inst)
{
    const struct nd_range *own = &s->part->range, *fused = &s->f->request->range;
    unsigned d = inst->attrs.dim;
    switch (inst->op) {
    case IR_OP_GLOBAL_ID:
        if (s->box) return NULL;
        return ir_build2(b, IR_OP_ADD, IR_I64, s->position[d], number(b, own->offset[d]));
    case IR_OP_GLOBAL_LINEAR_ID:
        if (!s->box) return NULL;
        return global_linear(s, b);
    case IR_OP_GLOBAL_SIZE: return number(b, own->global[d]);
    case IR_OP_GLOBAL_OFFSET: return number(b, own->offset[d]);
    case IR_OP_WORK_DIM: return ir_const_int(b->module, IR_I32, own->dims);
    case IR_OP_NUM_GROUPS:
        if (own->global[d] == fused->global[d] && !s->own_groups) return NULL;
        return number(b, ceil_div(own->global[d], s->local[d]));
    default: break;
    }
    if (!s->own_groups) return NULL;
    switch (inst->op) {
    case IR_OP_LOCAL_ID: return ir_build2(b, IR_OP_UREM, IR_I64, s->position[d], number(b, s->local[d]));
    case IR_OP_GROUP_ID: return ir_build2(b, IR_OP_UDIV, IR_I64, s->position[d], number(b, s->local[d]));
    case IR_OP_LOCAL_SIZE: return local_size(s, b, d);
    case IR_OP_ENQUEUED_LOCAL_SIZE: return number(b, s->local[d]);
    case IR_OP_LOCAL_LINEAR_ID: return local_linear(s, b);
    case IR_OP_SUB_GROUP_ID: return sub_group_id(s, b);
    case IR_OP_NUM_SUB_GROUPS: return sub_groups(s, b, local_items(s, b));
    case IR_OP_ENQUEUED_NUM_SUB_GROUPS: return sub_groups(s, b, number(b, s->local[0] * s->local[1] * s->local[2]));
    default: return NULL;
    }
}

/* The same of the only work-group of a part that is the last one of the fused kernel's. */
static struct ir_value *last_value(struct sizes *s, struct ir_builder *b, const struct ir_inst *inst)
{
    const struct nd_range *own = &s->part->range;
    switch (inst->op) {
    case IR_OP_GLOBAL_ID:
        if (inst->attrs.dim) return NULL;
        return ir_build2(b, IR_OP_ADD, IR_I64, ir_build_id(b, IR_OP_LOCAL_ID, 0), number(b, own->offset[0]));
    case IR_OP_GLOBAL_LINEAR_ID: return ir_build_id(b, IR_OP_LOCAL_ID, 0);
    case IR_OP_GLOBAL_SIZE: return number(b, own->global[inst->attrs.dim]);
    case IR_OP_GLOBAL_OFFSET: return number(b, own->offset[inst->attrs.dim]);
    case IR_OP_NUM_GROUPS: return number(b, 1);
    case IR_OP_GROUP_ID: return number(b, 0);
    default: return NULL;
    }
}

static void replace_query(struct ir_inst *inst, void *data)
{
    struct sizes *s = data;
    if (inst->op < IR_OP_GLOBAL_ID || inst->op > IR_OP_SUB_GROUP_LOCAL_ID || inst == s->launch || s->failed) return;
    if (inst->op == IR_OP_NUM_GROUPS && !s->local[0] && !s->part->last) {
        s->failed = true;
        fuse_refuse(s->f, "kernel %s asks for its number of work-groups, whose size is not decided", s->f->part);
        return;
    }
    struct ir_builder b = ir_builder_before(inst);
    struct ir_value *v = s->part->last ? last_value(s, &b, inst) : own_value(s, &b, inst);
    if (!v) return;
    ir_replace_uses(s->copy->body, inst->results[0], v);
    ir_inst_remove(inst);
}

/* Work-groups of the part are others than those of the request, or end before them. */
static bool has_own_groups(const struct nd_range *part, const struct nd_range *fused, const uint64_t *local)
{
    struct nd_range own = *part;
    memcpy(own.local, local, sizeof own.local);
    if (!range_is_box(part, fused)) return true;
    return range_has_local(&own) && !range_has_whole_groups(&own, fused);
}

bool part_range_apply(struct fuse *f, const struct fuse_part *part, struct ir_function *copy)
{
    const struct nd_range *own = &part->range, *fused = &f->request->range;
    struct sizes s = {.f = f, .part = part, .copy = copy, .box = range_is_box(own, fused), .local = local_of(f, part)};
    if (!part->last && range_same(own, fused) && !range_has_other_local(own, fused)) return true;
    s.own_groups = !part->last && has_own_groups(own, fused, s.local);
    s.sub_group_size = f->request->sub_group_size ? f->request->sub_group_size : f->kernel->sub_group_size;
    if (s.own_groups) make_positions(&s);
    ir_walk(copy->body, replace_query, &s);
    return !s.failed;
}

/* ---- the guard ---- */

static struct ir_value *both(struct ir_builder *b, struct ir_value *x, struct ir_value *y)
{
    return x ? ir_build2(b, IR_OP_AND, IR_BOOL, x, y) : y;
}

/* The work-group is the last one, or (IR_OP_INE) another one. Code is made for each (fuser/cpu/prepare/last_group.c).
 */
static struct ir_value *compare_with_last(struct ir_builder *b, enum ir_op op)
{
    struct ir_value *group = ir_build_id(b, IR_OP_GROUP_ID, 0), *groups = ir_build_id(b, IR_OP_NUM_GROUPS, 0);
    return ir_build2(b, op, IR_I64, group, ir_build2(b, IR_OP_SUB, IR_I64, groups, number(b, 1)));
}

static struct ir_value *last_guard(const struct nd_range *own, const struct nd_range *fused, struct ir_builder *b)
{
    struct ir_value *is_last = compare_with_last(b, IR_OP_IEQ), *local;
    if (own->global[0] == fused->local[0]) return is_last;
    local = ir_build_id(b, IR_OP_LOCAL_ID, 0);
    return both(b, is_last, ir_build2(b, IR_OP_ULT, IR_I64, local, number(b, own->global[0])));
}

struct ir_value *part_range_guard(const struct fuse *f, const struct fuse_part *part, struct ir_builder *b)
{
    const struct nd_range *own = &part->range, *fused = &f->request->range;
    struct ir_value *all = NULL;
    if (part->last) return last_guard(own, fused, b);
    if (!range_is_box(own, fused)) {
        struct ir_value *id = linear_id(f, b);
        return ir_build2(b, IR_OP_ULT, IR_I64, id, number(b, range_items(own)));
    }
    const struct nd_range others = nd_range_of_others(fused);
    if (fuse_has_last_group(f->request) && range_same(own, &others)) return compare_with_last(b, IR_OP_INE);
    bool whole = range_has_whole_groups(own, fused); /* all of a work-group, or none of it: it may meet inside */
    for (uint32_t d = 0; d < own->dims; d++) {
        if (own->global[d] == fused->global[d]) continue;
        struct ir_value *id = ir_build_id(b, whole ? IR_OP_GROUP_ID : IR_OP_GLOBAL_ID, d);
        if (!whole && own->offset[d]) id = ir_build2(b, IR_OP_SUB, IR_I64, id, number(b, own->offset[d]));
        uint64_t size = whole ? own->global[d] / own->local[d] : own->global[d];
        all = both(b, all, ir_build2(b, IR_OP_ULT, IR_I64, id, number(b, size)));
    }
    return all;
}
