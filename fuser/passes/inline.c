/* Calls replaced by the callee's body. */
#include "fuser/passes/inline.h"
#include "fuser/passes/byval_copy.h"
#include "fuser/passes/lower_returns.h"
#include "fuser/passes/passes.h"
#include "fuser/passes/util.h"
#include "ir/verify/verify.h"

/* ---- by-value parameters ---- */

/* The callee owns its copy of a by-value argument; where it leaves it alone it can as well look at the
   caller's. */
static struct ir_value *argument(struct ir_inst *call, const struct ir_function *callee, uint32_t i)
{
    const struct ir_param *p = &callee->params[i];
    struct ir_value *given = call->operands[i];
    if (!p->by_value || !byval_copy_needed(callee->body, p->value)) return given;
    struct ir_builder b = ir_builder_before(call);
    return byval_copy_make(&b, p->elem, given);
}

/* ---- the body ---- */

/* The instruction and what is in it belong to f from now on; its names give way to those of f. */
static void adopt(struct ir_inst *inst, struct ir_function *f, struct rename *names)
{
    for (uint32_t i = 0; i < inst->n_results; i++) rename_value(names, f->module, inst->results[i]);
    for (int b = 0; b < 2; b++) {
        struct ir_block *block = inst->blocks[b];
        if (!block) continue;
        block->function = f;
        for (uint32_t i = 0; i < block->n_args; i++) rename_value(names, f->module, block->args[i]);
        for (struct ir_inst *i = block->first; i; i = i->next) adopt(i, f, names);
    }
}

static void end_here(struct ir_inst *call)
{
    struct ir_builder b = ir_builder_before(call);
    struct ir_block *block = call->parent;
    pass_cut_tail(call);
    b.before = NULL;
    b.block = block;
    ir_build(&b, IR_OP_UNREACHABLE, IR_VOID, NULL, 0);
}

struct ir_value *inline_splice(struct ir_inst *call, struct ir_function *callee, struct rename *names)
{
    struct ir_function *f = call->parent->function;
    for (uint32_t i = 0; i < callee->n_params; i++)
        ir_replace_uses(callee->body, callee->params[i].value, argument(call, callee, i));
    struct ir_inst *end = callee->body->last;
    for (struct ir_inst *inst = callee->body->first, *next; inst != end; inst = next) {
        next = inst->next;
        ir_inst_move_before(inst, call);
        adopt(inst, f, names);
    }
    if (end->op != IR_OP_RETURN) {
        end_here(call);
        return NULL;
    }
    ir_inst_remove(call);
    return end->n_operands ? end->operands[0] : NULL;
}

void inline_forget(struct ir_function *f)
{
    struct ir_module *m = f->module;
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->n_functions; i++)
        if (m->functions[i] != f) m->functions[n++] = m->functions[i];
    m->n_functions = n;
}

/* ---- the pass ---- */

/* A function grows to this many instructions; calls beyond that stay. Without a bound a few lines of
   functions that call each other twice would fill the memory. */
enum { MAX_INSTRUCTIONS = 1 << 18 };

/* Blocks inside each other. */
static unsigned height(const struct ir_block *block)
{
    unsigned most = 0;
    for (const struct ir_inst *inst = block->first; inst; inst = inst->next)
        for (int b = 0; b < 2; b++) {
            unsigned h = inst->blocks[b] ? height(inst->blocks[b]) : 0;
            if (h > most) most = h;
        }
    return most + 1;
}

static unsigned depth(const struct ir_block *block)
{
    unsigned n = 1;
    for (; block->parent; block = block->parent->parent) n++;
    return n;
}

struct inliner {
    uint32_t size; /* of the function, callees put in so far included */
    struct rename names;
    bool changed;
};

static bool inline_call(struct inliner *in, struct ir_inst *call)
{
    const struct ir_function *callee = call->attrs.callee;
    if (!callee->body) return false;
    uint32_t size = ir_count(callee->body);
    if (in->size + size > MAX_INSTRUCTIONS) return false;
    struct ir_function *copy = ir_function_copy(callee->module, callee, NULL);
    inline_forget(copy);
    pass_lower_returns.run(copy) /* in the making: not to be verified yet */;
    if (depth(call->parent) + height(copy->body) > IR_MAX_BLOCK_DEPTH) return false;
    struct ir_value *result = inline_splice(call, copy, &in->names);
    if (result) { /* kept with the call, for resolve() */
        call->operands = ir_alloc(copy->module, sizeof(struct ir_value *));
        call->operands[0] = result;
    }
    in->size += size;
    in->changed = true;
    return true;
}

static void inline_block(struct inliner *in, struct ir_block *block)
{
    for (struct ir_inst *inst = block->first, *next; inst; inst = next) {
        struct ir_inst *prev = inst->prev;
        if (inst->op == IR_OP_CALL && inline_call(in, inst)) {
            next = prev ? prev->next : block->first; /* what was put in may call too */
            continue;
        }
        for (int b = 0; b < 2; b++)
            if (inst->blocks[b]) inline_block(in, inst->blocks[b]);
        next = inst->next;
    }
}

/* Uses of the results of calls that are gone are found all at once: looking for them after each call would
   take time in the square of their number. */
static void resolve(struct ir_inst *inst, void *data)
{
    (void)data;
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        struct ir_value **v = &inst->operands[i];
        while ((*v)->kind == IR_VALUE_RESULT && (*v)->of.inst->op == IR_OP_CALL && !(*v)->of.inst->parent)
            *v = (*v)->of.inst->operands[0];
    }
}

static bool run_inline(struct ir_function *f)
{
    struct inliner in = {.size = ir_count(f->body)};
    rename_open(&in.names, f);
    inline_block(&in, f->body);
    rename_close(&in.names);
    if (in.changed) ir_walk(f->body, resolve, NULL);
    return in.changed;
}

const struct pass pass_inline = {"inline", "calls of functions with a body", run_inline};
