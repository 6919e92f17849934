/*
 * A copy of the consumer has, in place of each call, a store behind each way in which the ids could be outside of the
 * box. Scalars are what they are taken to be. What then is left by the passes that know the ranges of integers, and by
 * the analysis of accesses, is not proved.
 */
#include "fuser/recompute/proof.h"

#include "fuser/access/access.h"
#include "fuser/passes/manager/pipelines.h"
#include "fuser/recompute/copy.h"

struct probing {
    struct ir_function *copy;
    const struct recompute_producer *producer;
    struct ir_value *outside, *inside; /* parameters: where a way out of the box stores; what calls give */
    uint64_t n_stores, n_calls;
};

static void probe_way(struct probing *p, struct ir_builder *b, enum ir_op compare, struct ir_value *id, int64_t bound)
{
    struct ir_module *m = p->copy->module;
    struct ir_value *operands[2] = {id, ir_const_int(m, IR_I64, (uint64_t)bound)};
    struct ir_inst *out = ir_build(b, compare, IR_I64, operands, 2);
    struct ir_inst *inst = ir_build_if(b, out->results[0], NULL, 0);
    for (int i = 0; i < 2; i++) {
        struct ir_builder in = ir_builder_at_end(inst->blocks[i]);
        if (i == 0)
            ir_build_store(&in, IR_I8, p->outside, ir_const_int(m, IR_I64, p->n_stores++), ir_const_int(m, IR_I8, 1));
        ir_build(&in, IR_OP_YIELD, IR_VOID, NULL, 0);
    }
}

static void probe_call(struct ir_inst *inst, void *data)
{
    struct probing *p = data;
    if (inst->op != IR_OP_CALL) return;
    struct ir_builder b = ir_builder_before(inst);
    ir_type type = inst->attrs.callee->result;
    for (unsigned d = 0; d < 3; d++) {
        struct ir_value *id = inst->operands[inst->n_operands - 3 + d];
        probe_way(p, &b, IR_OP_SLT, id, p->producer->items.first[d]);
        probe_way(p, &b, IR_OP_SGT, id, p->producer->items.last[d]);
    }
    struct ir_value *value = ir_build_load(&b, type, p->inside, ir_const_int(p->copy->module, IR_I64, p->n_calls++));
    ir_replace_uses(p->copy->body, inst->results[0], value);
    ir_inst_remove(inst);
}

static bool is_empty(const struct access_items *items)
{
    for (unsigned d = 0; d < 3; d++)
        if (items->first[d] > items->last[d]) return true;
    return false;
}

static bool never_stores(const struct access_summary *s)
{
    for (uint32_t i = 0; i < s->n_sites; i++)
        if (!is_empty(&s->sites[i].items)) return false;
    return !s->escapes;
}

bool recompute_is_proved(struct fuse *f, const struct recompute_request *r, const struct ir_function *consumer,
                         const int64_t *numbers, const struct recompute_producer *producer)
{
    const struct nd_range *range = &r->consumer.range;
    struct ir_module *scratch = ir_module_new("proof");
    struct probing p = {.copy = ir_function_copy(scratch, consumer, NULL), .producer = producer};
    recompute_set_numbers(p.copy, numbers);
    uint32_t param = p.copy->n_params;
    p.outside = ir_function_add_param(p.copy, "outside", IR_PTR(IR_SPACE_GLOBAL));
    p.inside = ir_function_add_param(p.copy, "inside", IR_PTR(IR_SPACE_GLOBAL));
    ir_walk(p.copy->body, probe_call, &p);
    if (nd_range_is_small(range)) p.copy->assumes = IR_ASSUME_SMALL_IDS;
    pipeline_run(&pipeline_cleanup, p.copy);
    struct access_analysis *a = access_analyse(p.copy, range, 0, r->small_memory, NULL);
    bool proved = never_stores(&a->params[param]);
    access_analysis_free(a);
    ir_module_free(scratch);
    return proved || fuse_refuse(f, "that all elements which %s reads are written by %s is not proved",
                                 r->consumer.kernel->name, r->producer.kernel->name);
}
