/* Parts whose ND-range is not the fused kernel's: guards around them, and their own sizes inside. */
#include "fuser/fuse/internal.h"

typedef unsigned long long ull;

/* ---- what a kernel sees of its range ---- */

struct view {
    const struct ir_inst *meets;  /* needs all work-items of a group: barriers, group operations, local ids */
    const struct ir_inst *groups; /* depends on the work-group size */
};

static bool is_of_whole_group(enum ir_op op)
{
    switch (op) {
    case IR_OP_LOCAL_ID:
    case IR_OP_LOCAL_SIZE:
    case IR_OP_LOCAL_LINEAR_ID:
    case IR_OP_SUB_GROUP_SIZE:
    case IR_OP_NUM_SUB_GROUPS:
    case IR_OP_SUB_GROUP_ID:
    case IR_OP_SUB_GROUP_LOCAL_ID: return true;
    default: return false;
    }
}

static bool depends_on_group_size(enum ir_op op)
{
    switch (op) {
    case IR_OP_GROUP_ID:
    case IR_OP_NUM_GROUPS:
    case IR_OP_ENQUEUED_LOCAL_SIZE:
    case IR_OP_ENQUEUED_NUM_SUB_GROUPS:
    case IR_OP_SUB_GROUP_MAX_SIZE: return true;
    default: return false;
    }
}

static void look(struct ir_inst *inst, void *data)
{
    struct view *v = data;
    if (ir_op_info(inst->op)->flags & IR_FLAG_CONVERGENT || is_of_whole_group(inst->op)) v->meets = v->groups = inst;
    if (depends_on_group_size(inst->op)) v->groups = inst;
}

/* ---- whether it fits ---- */

static bool local_fits(struct fuse *f, const struct fuse_part *part, const struct view *view)
{
    const uint64_t *own = part->range.local, *fused = f->request->range.local;
    for (uint32_t d = 0; d < part->range.dims && own[0] && view->groups; d++)
        if (own[d] != fused[d])
            return fuse_refuse(f, "kernel %s uses %s in work-groups of %llu in dimension %u, the fused kernel has %llu",
                               f->part, ir_op_info(view->groups->op)->text, (ull)own[d], d, (ull)fused[d]);
    return true;
}

static bool global_fits(struct fuse *f, const struct fuse_part *part, const struct view *view, uint32_t d)
{
    const struct fuser_range *own = &part->range, *fused = &f->request->range;
    if (own->global[d] > fused->global[d])
        return fuse_refuse(f, "kernel %s has %llu work-items in dimension %u, the fused kernel only %llu", f->part,
                           (ull)own->global[d], d, (ull)fused->global[d]);
    if (fused->offset[d])
        return fuse_refuse(
            f, "kernel %s has %llu work-items in dimension %u, the fused kernel %llu, and both an offset of %llu",
            f->part, (ull)own->global[d], d, (ull)fused->global[d], (ull)fused->offset[d]);
    if (view->meets)
        return fuse_refuse(f, "kernel %s has %llu work-items in dimension %u, the fused kernel %llu, and uses %s",
                           f->part, (ull)own->global[d], d, (ull)fused->global[d], ir_op_info(view->meets->op)->text);
    return true;
}

static bool range_fits(struct fuse *f, const struct fuse_part *part, const struct view *view, bool *guarded)
{
    const struct fuser_range *own = &part->range, *fused = &f->request->range;
    *guarded = false;
    if (own->dims != fused->dims)
        return fuse_refuse(f, "kernel %s has %u dimensions, the fused kernel %u", f->part, own->dims, fused->dims);
    if (!local_fits(f, part, view)) return false;
    for (uint32_t d = 0; d < own->dims; d++) {
        if (own->offset[d] != fused->offset[d])
            return fuse_refuse(f, "kernel %s has the offset %llu in dimension %u, the fused kernel %llu", f->part,
                               (ull)own->offset[d], d, (ull)fused->offset[d]);
        if (own->global[d] == fused->global[d]) continue;
        if (!global_fits(f, part, view, d)) return false;
        *guarded = true;
    }
    return true;
}

/* ---- the part's own sizes ---- */

struct sizes {
    struct fuse *f;
    const struct fuse_part *part;
    struct ir_function *copy;
    bool failed;
};

static void replace(struct ir_inst *inst, struct ir_value *by)
{
    ir_replace_uses(inst->parent, inst->results[0], by);
    ir_inst_remove(inst);
}

static uint64_t ceil_div(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

static void replace_num_groups(struct sizes *s, struct ir_inst *inst)
{
    uint64_t local = s->f->request->range.local[inst->attrs.dim];
    if (!local) {
        s->failed = true;
        fuse_refuse(s->f, "kernel %s asks for its number of work-groups, whose size is not decided", s->f->part);
        return;
    }
    uint64_t groups = ceil_div(s->part->range.global[inst->attrs.dim], local);
    replace(inst, ir_const_int(s->f->module, IR_I64, groups));
}

/* x + size x * (y + size y * z), with the part's sizes; a guarded part has no offset. */
static void replace_linear_id(const struct sizes *s, struct ir_inst *inst)
{
    const struct fuser_range *own = &s->part->range;
    struct ir_builder b = ir_builder_before(inst);
    struct ir_value *id = ir_build_id(&b, IR_OP_GLOBAL_ID, own->dims - 1);
    for (uint32_t d = own->dims - 1; d--;) {
        struct ir_value *size = ir_const_int(b.module, IR_I64, own->global[d]);
        id = ir_build2(&b, IR_OP_MUL, IR_I64, id, size);
        id = ir_build2(&b, IR_OP_ADD, IR_I64, ir_build_id(&b, IR_OP_GLOBAL_ID, d), id);
    }
    replace(inst, id);
}

static void replace_size(struct ir_inst *inst, void *data)
{
    struct sizes *s = data;
    const struct fuser_range *own = &s->part->range, *fused = &s->f->request->range;
    if (inst->op == IR_OP_GLOBAL_LINEAR_ID) {
        replace_linear_id(s, inst);
        return;
    }
    uint8_t d = inst->attrs.dim;
    if (d >= own->dims || own->global[d] == fused->global[d]) return;
    if (inst->op == IR_OP_GLOBAL_SIZE) replace(inst, ir_const_int(s->f->module, IR_I64, own->global[d]));
    if (inst->op == IR_OP_NUM_GROUPS) replace_num_groups(s, inst);
}

bool fuse_range_fit(struct fuse *f, const struct fuse_part *part, const struct ir_function *copy, bool *guarded)
{
    struct view view = {NULL, NULL};
    ir_walk(copy->body, look, &view);
    return range_fits(f, part, &view, guarded);
}

bool fuse_range_apply(struct fuse *f, const struct fuse_part *part, struct ir_function *copy)
{
    struct sizes sizes = {f, part, copy, false};
    ir_walk(copy->body, replace_size, &sizes);
    return !sizes.failed;
}

struct ir_value *fuse_range_condition(const struct fuse *f, const struct fuse_part *part, struct ir_builder *b)
{
    struct ir_value *all = NULL;
    for (uint32_t d = 0; d < part->range.dims; d++) {
        uint64_t size = part->range.global[d];
        if (size == f->request->range.global[d]) continue;
        struct ir_value *id = ir_build_id(b, IR_OP_GLOBAL_ID, d);
        struct ir_value *in = ir_build2(b, IR_OP_ULT, IR_I64, id, ir_const_int(f->module, IR_I64, size));
        all = all ? ir_build2(b, IR_OP_AND, IR_BOOL, all, in) : in;
    }
    return all;
}
