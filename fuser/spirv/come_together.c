/* Which instructions all work-items of a work-group come to: those in no if or loop where they may part ways. */
#include "fuser/spirv/come_together.h"

#include "fuser/cpu/prepare/uniformity.h"
#include "ir/base/arena.h"
#include "ir/core/facts.h"

struct search {
    struct spw *w;
    struct uniformity u;
};

static void see(struct ir_inst *inst, void *data)
{
    struct search *s = data;
    if (!ir_is_sub_group_op(inst) && inst->op != IR_OP_FENCE) return;
    for (const struct ir_inst *i = inst->parent->parent; i; i = i->parent->parent)
        if (s->u.divergent[i->scratch]) return;
    if (!map_put(&s->w->uniform, (uint64_t)(uintptr_t)inst, inst)) arena_no_memory(sizeof inst);
}

void spw_come_together(struct spw *w)
{
    struct search s = {.w = w};
    uniformity_find(&s.u, w->arena, w->kernel, TOGETHER_GROUP);
    ir_walk(w->kernel->body, see, &s);
}
