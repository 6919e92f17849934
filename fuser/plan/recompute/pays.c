/* Operations of compiled code, of which a core does those of several work-items at once, against bytes over memory. */
#include "fuser/plan/recompute/pays.h"

#include "fuser/access/access.h"
#include "fuser/passes/manager/pipelines.h"
#include "fuser/plan/graph/work.h"

/* Operations that take as long as a byte takes over memory: a core moves some 10 bytes in the nanosecond in which it
   does some 150 of them. From one launch to the next in bands a byte does not go so far. */
enum { OPERATIONS_OF_A_BYTE = 16, IN_BANDS = 4, MOST = 1 << 30 };

/* A load at a place that is no sum of ids: work-items side by side have theirs one by one. */
enum { GATHER = 12 };

/* In additions. */
static uint64_t work_of_operation(const struct ir_inst *inst)
{
    if (inst->scratch) return GATHER;
    switch (inst->op) {
    case IR_OP_MAD: return 1;
    case IR_OP_FDIV:
    case IR_OP_SQRT:
    case IR_OP_RSQRT: return 8;
    case IR_OP_UDIV:
    case IR_OP_SDIV:
    case IR_OP_UREM:
    case IR_OP_SREM: return 20;
    case IR_OP_POW:
    case IR_OP_POWN:
    case IR_OP_POWR:
    case IR_OP_ROOTN:
    case IR_OP_LGAMMA:
    case IR_OP_TGAMMA: return 60;
    default: break;
    }
    switch (ir_op_class(inst->op)) {
    case IR_CLASS_MATH: return 25;
    case IR_CLASS_IMAGE: return 60;
    case IR_CLASS_CONTROL:
    case IR_CLASS_ND_RANGE: return 0;
    default: return 1;
    }
}

static uint64_t work_of_block(const struct ir_block *block)
{
    uint64_t work = 0;
    for (const struct ir_inst *inst = block->first; inst && work < MOST; inst = inst->next) {
        work += work_of_operation(inst) * ir_type_lanes(inst->type);
        for (int b = 0; b < 2; b++)
            if (inst->blocks[b])
                work += work_of_block(inst->blocks[b]) * (inst->op == IR_OP_LOOP ? work_rounds(inst) : 1);
    }
    return work < MOST ? work : MOST;
}

static void clear_mark(struct ir_inst *inst, void *data)
{
    (void)data;
    inst->scratch = 0;
}

/* Loads by the places that analysis found for them. */
static void mark_gathers(struct ir_function *f, const struct nd_range *range, const int64_t *numbers)
{
    ir_walk(f->body, clear_mark, NULL);
    struct access_analysis *a = access_analyse_inlined(f, range, 0, true, numbers);
    for (uint32_t i = 0; i < a->n_params; i++)
        for (uint32_t k = 0; k < a->params[i].n_sites; k++) {
            const struct access_site *site = &a->params[i].sites[k];
            if (site->reads && !affine_is_exact(&site->index)) ((struct ir_inst *)site->inst)->scratch = 1;
        }
    access_analysis_free(a);
}

uint64_t pays_work_of(const struct ir_function *kernel, const struct nd_range *range, const int64_t *numbers)
{
    struct ir_module *m = ir_module_new("work");
    struct ir_function *copy = ir_function_copy(m, kernel, NULL);
    pipeline_run(&pipeline_cleanup, copy);
    mark_gathers(copy, range, numbers);
    uint64_t work = work_of_block(copy->body);
    ir_module_free(m);
    return work;
}

bool pays_to_recompute(uint64_t more, uint64_t less, uint64_t bytes, bool in_bands)
{
    return more <= less || (more - less) / (in_bands ? IN_BANDS : OPERATIONS_OF_A_BYTE) <= bytes;
}
