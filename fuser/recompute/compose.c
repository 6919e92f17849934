/* The producer's function in place of each read of the buffer. */
#include "fuser/recompute/compose.h"

#include "fuser/merge/pointer_offsets.h"
#include "fuser/passes/inline.h"
#include "fuser/passes/manager/pipelines.h"
#include "fuser/passes/passes.h"
#include "fuser/recompute/copy.h"
#include "fuser/recompute/producer.h"
#include "fuser/recompute/proof.h"
#include "ir/verify/verify.h"

enum { MAX_OPERATIONS = 1 << 14 };

struct composing {
    struct fuse f;
    const struct recompute_request *r;
    struct recompute_producer producer;
    struct ir_function *copy; /* the consumer; the producer's parameters follow its own */
    int64_t *numbers;         /* of all of them */
    uint32_t n_own, n_reads;
};

static struct ir_value *first_id(const struct composing *c, unsigned d)
{
    return ir_const_int(c->f.module, IR_I64, (uint64_t)c->producer.items.first[d]);
}

static bool replace_read(struct ir_inst *inst, void *data)
{
    struct composing *c = data;
    struct ir_builder b = ir_builder_before(inst);
    struct ir_function *at = c->producer.at;
    struct ir_value **operands = ir_alloc(c->f.module, at->n_params * sizeof(*operands)), *ids[3];
    if (inst->op != IR_OP_LOAD || inst->type != at->result || inst->attrs.is_volatile)
        return fuse_refuse(&c->f, "kernel %s reads it as something else", c->f.part);
    if (!written_place_ids(&b, &c->producer.place, inst->operands[0], c->numbers,
                           nd_range_is_small(&c->r->consumer.range), ids))
        return fuse_refuse(&c->f, "which work-item of %s writes what %s reads in line %u is not known",
                           c->r->producer.kernel->name, c->f.part, inst->loc.line);
    uint32_t n = at->n_params - 3;
    for (uint32_t i = 0; i < n; i++) operands[i] = c->copy->params[c->n_own + i].value;
    for (unsigned d = 0; d < 3; d++) operands[n + d] = ids[d] ? ids[d] : first_id(c, d);
    struct ir_inst *call = ir_build_call(&b, at, operands, at->n_params);
    ir_replace_uses(c->copy->body, inst->results[0], call->results[0]);
    ir_inst_remove(inst);
    c->n_reads++;
    return true;
}

static void add_params(struct composing *c)
{
    const struct ir_function *at = c->producer.at;
    const struct recompute_kernel *p = &c->r->producer;
    c->n_own = c->copy->n_params;
    c->numbers = ir_alloc(c->f.module, (c->n_own + at->n_params) * sizeof *c->numbers);
    for (uint32_t i = 0; i < c->n_own; i++) c->numbers[i] = c->r->consumer.numbers[i];
    for (uint32_t i = 0, k = 0; i < p->kernel->n_params; i++) {
        if (p->is_buffer[i]) continue;
        const struct ir_param *from = &at->params[k];
        ir_function_add_param(c->copy, from->value->name, from->value->type);
        struct ir_param *to = &c->copy->params[c->n_own + k];
        to->elem = from->elem;
        to->by_value = from->by_value;
        c->numbers[c->n_own + k++] = p->numbers[i];
    }
}

/* The producer in place of each read. */
static bool is_small(struct composing *c)
{
    uint32_t n = ir_count(c->producer.at->body);
    return (uint64_t)n * c->n_reads <= MAX_OPERATIONS ||
           fuse_refuse(&c->f, "%u reads times %u operations are too many", c->n_reads, n);
}

static bool replace_reads(struct composing *c)
{
    for (uint32_t i = 0; i < c->n_own; i++)
        if (c->r->consumer.is_buffer[i] && !pointer_offsets_make(&c->f, c->copy, i, replace_read, c)) return false;
    return (c->n_reads || fuse_refuse(&c->f, "kernel %s reads nothing of it", c->f.part)) && is_small(c);
}

static void drop_buffer(struct composing *c)
{
    for (uint32_t i = c->n_own; i-- > 0;)
        if (c->r->consumer.is_buffer[i]) recompute_drop_param(c->copy, i);
}

/* Only the kernel stays. */
static bool finish(struct composing *c)
{
    struct diag_list list = {.limit = 1};
    pass_run(&pass_inline, c->copy);
    c->f.module->functions[0] = c->copy;
    c->f.module->n_functions = 1;
    drop_buffer(c);
    pipeline_run(&pipeline_cleanup, c->copy);
    bool valid = ir_verify(c->f.module, &list);
    if (!valid) fuse_refuse(&c->f, "the kernel is not valid: %s", list.n ? list.items[0].text : "?");
    diag_clear(&list);
    return valid;
}

/* A call of the producer in place of each read, of what it is proved to write. */
static bool put_in(struct composing *c)
{
    const struct recompute_request *r = c->r;
    if (!recompute_producer_make(&c->f, r, &c->producer)) return false;
    c->copy = recompute_copy(&c->f, r->consumer.kernel, r->contract);
    if (!c->copy) return false;
    add_params(c);
    return replace_reads(c) && recompute_is_proved(&c->f, r, c->copy, c->numbers, &c->producer);
}

bool recompute_is_covered(const struct recompute_request *r)
{
    char why[256];
    struct composing c = {.r = r, .f = {.why = why, .why_size = sizeof why}};
    c.f.module = ir_module_new(r->consumer.kernel->module->name);
    bool covered = put_in(&c);
    ir_module_free(c.f.module);
    return covered;
}

struct ir_module *recompute_compose(const struct recompute_request *r, char *why, size_t why_size)
{
    struct composing c = {.r = r, .f = {.why = why, .why_size = why_size}};
    c.f.module = ir_module_new(r->consumer.kernel->module->name);
    if (put_in(&c) && finish(&c)) return c.f.module;
    ir_module_free(c.f.module);
    return NULL;
}
