/*
 * The producer as a function. Its store becomes its result, its ids become parameters. What decides whether it stores
 * is known for the work-items of a box, so there it decides nothing any more: the function is only called for these.
 */
#include "fuser/recompute/producer.h"

#include <string.h>

#include "fuser/access/access.h"
#include "fuser/access/footprint.h"
#include "fuser/merge/pointer_offsets.h"
#include "fuser/passes/manager/pipelines.h"
#include "fuser/passes/passes.h"
#include "fuser/passes/util.h"
#include "fuser/recompute/copy.h"
#include "fuser/recompute/ways.h"

/* ---- what the kernel may do ---- */

struct use_check {
    const char *what; /* it does that it may not */
};

/* Variables of the module that are written are what others see. */
static bool is_plain(const struct ir_inst *inst)
{
    if (inst->op == IR_OP_GLOBAL) return inst->attrs.global->space == IR_SPACE_CONSTANT;
    return pass_is_by_itself(inst);
}

static void check_use(struct ir_inst *inst, void *data)
{
    struct use_check *c = data;
    if (!is_plain(inst)) c->what = ir_op_info(inst->op)->text;
}

/* ---- where it writes ---- */

struct writing {
    struct fuse *f;
    const struct recompute_request *r;
    uint32_t param; /* the buffer */
    struct ir_function *copy;
    ir_type type;
    int64_t *numbers;         /* of the function's parameters */
    struct ir_inst *variable; /* what is written goes through it; the first instruction */
};

static bool is_plain_write(const struct writing *w, const struct access_site *site, const struct access_site *first)
{
    const struct affine *x = &site->index, *y = &first->index;
    if (!site->writes || site->reads || site->atomic || site->inst->op != IR_OP_STORE || !site->found_one ||
        site->type != first->type || ir_type_is_bool(site->type))
        return false;
    if (!affine_is_exact(x) || x->jump || x->n_symbols || !affine_same_factors(x, y) || x->constant != y->constant)
        return false;
    for (unsigned i = 3; i < AFFINE_IDS; i++)
        if (x->factor[i]) return false;
    const struct nd_range *range = &w->r->producer.range;
    for (unsigned d = 0; d < 3; d++)
        if (range->global[d] > 1 && !x->factor[d]) return false;
    return true;
}

static void widen(struct access_items *box, const struct access_items *more)
{
    for (unsigned d = 0; d < 3; d++) {
        if (more->first[d] < box->first[d]) box->first[d] = more->first[d];
        if (more->last[d] > box->last[d]) box->last[d] = more->last[d];
    }
}

/* Where it writes, and the box of ids that may get to a store. */
static bool find_place(struct writing *w, struct recompute_producer *out)
{
    const struct recompute_kernel *p = &w->r->producer;
    struct ir_module *scratch = ir_module_new("numbers");
    struct ir_function *known = ir_function_copy(scratch, w->copy, NULL);
    recompute_set_numbers(known, p->numbers);
    struct access_analysis *a = access_analyse(known, &p->range, 0, w->r->small_memory, NULL);
    const struct access_summary *s = &a->params[w->param];
    bool plain = s->n_sites && !s->escapes && footprint_is_owned_by_item(s, &p->range);
    for (uint32_t i = 0; i < s->n_sites && plain; i++) plain = is_plain_write(w, &s->sites[i], &s->sites[0]);
    if (plain) {
        out->items = s->sites[0].items;
        for (uint32_t i = 1; i < s->n_sites; i++) widen(&out->items, &s->sites[i].items);
        out->place.constant = s->sites[0].index.constant;
        memcpy(out->place.factor, s->sites[0].index.factor, sizeof out->place.factor);
        w->type = s->sites[0].type;
    }
    access_analysis_free(a);
    ir_module_free(scratch);
    return plain || fuse_refuse(w->f, "that %s writes one element for each work-item is not proved", p->kernel->name);
}

/* ---- the function ---- */

static bool take_store(struct ir_inst *inst, void *data)
{
    struct writing *w = data;
    if (inst->op != IR_OP_STORE) return fuse_refuse(w->f, "kernel %s reads what it writes", w->f->part);
    inst->operands[0] = w->variable->results[0];
    inst->attrs.align = 0;
    return true;
}

static void replace_query(struct ir_inst *inst, void *data)
{
    struct writing *w = data;
    const struct nd_range *range = &w->r->producer.range;
    struct ir_function *f = w->copy;
    uint8_t d = inst->attrs.dim;
    struct ir_value *to = NULL;
    if (inst->op == IR_OP_GLOBAL_ID) to = f->params[f->n_params - 3 + d].value;
    if (inst->op == IR_OP_GLOBAL_SIZE) to = ir_const_int(f->module, IR_I64, range->global[d]);
    if (inst->op == IR_OP_GLOBAL_OFFSET) to = ir_const_int(f->module, IR_I64, range->offset[d]);
    if (inst->op == IR_OP_WORK_DIM) to = ir_const_int(f->module, IR_I32, range->dims);
    if (!to) return;
    ir_replace_uses(f->body, inst->results[0], to);
    ir_inst_remove(inst);
}

/* ---- putting it together ---- */

static void return_value(struct writing *w)
{
    struct ir_inst *end = w->copy->body->last;
    struct ir_builder b = ir_builder_before(end);
    struct ir_value *v = ir_build_load(&b, w->type, w->variable->results[0], NULL);
    pass_operands_set(end, &v, 1);
    w->copy->result = w->type;
}

static void clean_up(struct ir_function *f)
{
    static const struct pass *const passes[] = {&pass_mem2reg, &pass_fold, &pass_dce, NULL};
    static const struct pipeline pipeline = {"producer", .first = passes};
    pipeline_run(&pipeline, f);
}

static bool make_function(struct writing *w, const struct access_items *items)
{
    struct ir_function *copy = w->copy;
    struct ir_builder b = ir_builder_before(copy->body->first);
    w->variable = ir_build_ptr(&b, IR_OP_VAR, w->type, IR_SPACE_PRIVATE, NULL, 0);
    if (!pointer_offsets_make(w->f, copy, w->param, take_store, w)) return false;
    recompute_drop_param(copy, w->param);
    w->numbers = ir_alloc(copy->module, (copy->n_params + 3) * sizeof *w->numbers);
    for (uint32_t i = 0; i < copy->n_params; i++) w->numbers[i] = w->r->producer.numbers[i + (i >= w->param)];
    for (unsigned d = 0; d < 3; d++) ir_function_add_param(copy, (const char *[]){"x", "y", "z"}[d], IR_I64);
    ir_walk(copy->body, replace_query, w);
    return_value(w);
    copy->linkage = IR_LINKAGE_INTERNAL;
    if (!recompute_decide_ways(copy, items, w->numbers))
        return fuse_refuse(w->f, "that each work-item of %s writes its element is not proved", w->f->part);
    clean_up(copy);
    return true;
}

bool recompute_producer_make(struct fuse *f, const struct recompute_request *r, struct recompute_producer *out)
{
    struct writing w = {.f = f, .r = r};
    struct use_check check = {NULL};
    while (!r->producer.is_buffer[w.param]) w.param++;
    w.copy = recompute_copy(f, r->producer.kernel, r->contract);
    if (!w.copy) return false;
    if (w.copy->body->last->op != IR_OP_RETURN) return fuse_refuse(f, "kernel %s never ends", f->part);
    ir_walk(w.copy->body, check_use, &check);
    if (check.what) return fuse_refuse(f, "%s of kernel %s cannot be computed by another one", check.what, f->part);
    if (!find_place(&w, out) || !make_function(&w, &out->items)) return false;
    out->at = w.copy;
    return true;
}
