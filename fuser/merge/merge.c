/*
 * One kernel of several.
 *
 * Each part is copied into a new module, made to return at its end only, fitted to the fused range, and put
 * at the end of the fused kernel, behind a guard where it has fewer work-items. Parameters that become
 * private point at a variable, which the passes then turn into a value.
 */
#include "fuser/merge/merge.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "fuser/access/access.h"
#include "fuser/graph/range.h"
#include "fuser/merge/attributes.h"
#include "fuser/merge/merge_state.h"
#include "fuser/merge/one_variable.h"
#include "fuser/merge/packets.h"
#include "fuser/merge/part_range.h"
#include "fuser/merge/pull.h"
#include "fuser/merge/remap.h"
#include "fuser/merge/row_lengths.h"
#include "fuser/merge/unseen.h"
#include "fuser/passes/inline.h"
#include "fuser/passes/manager/pipelines.h"
#include "fuser/passes/passes.h"
#include "fuser/passes/util.h"
#include "ir/analysis/reachable_globals.h"
#include "ir/verify/verify.h"

/* ---- the kernel's frame ---- */

/* Names come from buffers and users; in the language they are made of letters, digits, _ . and $. */
static char *language_name(struct ir_module *m, const char *name)
{
    size_t n = strlen(name);
    char *s = ir_alloc(m, n + 2);
    if (!isalpha((unsigned char)name[0]) && name[0] != '_') *s = '_';
    char *at = s + strlen(s);
    for (size_t i = 0; i < n; i++) *at++ = isalnum((unsigned char)name[i]) || strchr("_.$", name[i]) ? name[i] : '_';
    return s;
}

/* All parameters of the request for now, private ones too: those get a variable and are dropped at the end. */
static bool make_frame(struct fuse *f)
{
    const struct fuse_request *r = f->request;
    f->module = ir_module_new(r->name);
    f->kernel = ir_function_new(f->module, language_name(f->module, r->name), IR_LINKAGE_KERNEL, IR_VOID, r->n_params);
    f->targets = ir_alloc(f->module, r->n_params * sizeof(*f->targets));
    f->remaps = ir_alloc(f->module, r->n_params * sizeof(*f->remaps));
    f->packets = ir_alloc(f->module, r->n_params * sizeof(*f->packets));
    f->ends = ir_alloc(f->module, r->n_parts * sizeof(*f->ends));
    struct ir_builder b = ir_builder_at_end(f->kernel->body);
    for (uint32_t i = 0; i < r->n_params; i++) {
        const struct fuse_param *p = &r->params[i];
        ir_function_set_param(f->kernel, i, NULL, p->type);
        struct ir_value *v = f->kernel->params[i].value;
        if (remap_is_needed(p)) {
            remap_frame(f, &b, i);
        } else if (p->storage == FUSER_STORAGE_PRIVATE) {
            struct ir_inst *var = ir_build_ptr(&b, IR_OP_VAR, p->elem, IR_SPACE_PRIVATE, NULL, 0);
            v = var->results[0];
        }
        f->kernel->params[i].access = ir_type_is_ptr(p->type) ? p->access : IR_ACCESS_UNKNOWN;
        f->targets[i] = v;
        ir_value_set_name(f->kernel, v, language_name(f->module, p->name));
    }
    return true;
}

/* ---- parts ---- */

static void find_call(struct ir_inst *inst, void *data)
{
    const struct ir_inst **call = data;
    if (inst->op == IR_OP_CALL) *call = inst;
}

/* The part's kernel as an internal function of the module that calls nothing. */
static struct ir_function *copy_part(struct fuse *f, const struct fuse_part *part)
{
    const struct ir_inst *call = NULL;
    struct ir_function *copy = ir_function_copy(f->module, part->kernel, NULL);
    copy->linkage = IR_LINKAGE_INTERNAL;
    copy->assumes = 0;
    pass_run(&pass_inline, copy);
    ir_walk(copy->body, find_call, &call);
    if (call) {
        const struct ir_function *callee = call->attrs.callee;
        fuse_refuse(f, "kernel %s calls %s, which %s", f->part, callee->name,
                    callee->body ? "does not fit: a kernel has at most 262144 operations, and blocks 256 deep"
                                 : "has no body");
        return NULL;
    }
    return copy;
}

static bool loses_memory(const struct fuse *f, const struct fuse_part *part, uint32_t n_params)
{
    for (uint32_t i = 0; i < n_params; i++)
        if (part->params[i] < f->request->n_params &&
            (f->request->params[part->params[i]].storage != FUSER_STORAGE_MEMORY ||
             f->request->params[part->params[i]].flow != FUSE_FLOW_NONE))
            return true;
    return false;
}

/* The part's accesses to buffers that lose their memory otherwise than to one variable. */
static bool rewrite_remapped(struct fuse *f, const struct fuse_part *part, struct ir_function *copy)
{
    uint32_t n_params = copy->n_params, n_remaps = 0, n_extra = 0;
    for (uint32_t i = 0; i < n_params; i++) {
        if (part->params[i] >= f->request->n_params || !remap_is_needed(&f->request->params[part->params[i]])) continue;
        n_remaps++;
        n_extra += f->request->params[part->params[i]].n_slices;
    }
    f->n_extra = 0;
    /* As before the analysis that found where accesses are: no address is kept in a variable. */
    if (loses_memory(f, part, n_params)) pipeline_run(&pipeline_analysis, copy);
    if (!n_remaps) return true;
    f->extra = ir_alloc(f->module, (n_extra + 1) * sizeof(*f->extra));
    struct access_analysis *a = access_analyse_inlined(copy, &part->range, f->request->sub_group_size,
                                                       f->request->assumes & IR_ASSUME_SMALL_MEMORY, part->numbers);
    bool done = true;
    for (uint32_t i = 0; i < n_params && done; i++)
        if (part->params[i] < f->request->n_params && remap_is_needed(&f->request->params[part->params[i]]))
            done = remap_accesses(f, part, copy, i, &a->params[i]);
    access_analysis_free(a);
    return done;
}

/* What the part knows of a parameter, the fused kernel's knows too. */
static bool connect_param(struct fuse *f, const struct fuse_part *part, struct ir_function *copy, uint32_t i)
{
    uint32_t to = part->params[i];
    const struct ir_param *own = &copy->params[i];
    const char *name = own->value->name ? own->value->name : "?";
    if (to >= f->request->n_params)
        return fuse_refuse(f, "parameter %s of kernel %s goes to parameter %u of %u", name, f->part, to,
                           f->request->n_params);
    struct ir_param *fused = &f->kernel->params[to];
    if (ir_type_kind(own->value->type) == IR_KIND_IMAGE && ir_type_kind(fused->value->type) == IR_KIND_IMAGE)
        own->value->type = fused->value->type; /* which may be read and written, where this one reads or writes */
    if (own->value->type != fused->value->type)
        return fuse_refuse(f, "parameter %s of kernel %s and %s are of different types", name, f->part,
                           f->request->params[to].name);
    if (remap_is_needed(&f->request->params[to])) return true;
    if (f->request->params[to].storage == FUSER_STORAGE_PRIVATE)
        return one_variable_rewrite(f, copy, i, f->request->params[to].elem);
    if (fused->elem == IR_VOID) {
        fused->elem = own->elem;
        fused->by_value = own->by_value;
    } else if (fused->by_value != own->by_value || (own->by_value && fused->elem != own->elem)) {
        return fuse_refuse(f, "parameter %s of kernel %s and %s hold different structs", name, f->part,
                           f->request->params[to].name);
    }
    return true;
}

static void add_barrier(struct ir_builder *b)
{
    struct ir_inst *barrier = ir_build(b, IR_OP_BARRIER, IR_VOID, NULL, 0);
    barrier->attrs.scope = IR_SCOPE_WORK_GROUP;
    barrier->attrs.fence = IR_FENCE_LOCAL | IR_FENCE_GLOBAL;
}

/* The block the part goes to: the kernel's body, or a guard in it. */
static struct ir_block *open_guard(struct fuse *f, const struct fuse_part *part, bool guarded)
{
    if (!guarded) return f->kernel->body;
    struct ir_builder b = ir_builder_at_end(f->kernel->body);
    struct ir_inst *guard = ir_build_if(&b, part_range_guard(f, part, &b), NULL, 0);
    for (int i = 0; i < 2; i++) {
        struct ir_builder in = ir_builder_at_end(guard->blocks[i]);
        ir_build(&in, IR_OP_YIELD, IR_VOID, NULL, 0);
    }
    return guard->blocks[0];
}

static bool add_part(struct fuse *f, const struct fuse_part *part)
{
    bool guarded;
    f->part = part->kernel->name;
    struct ir_function *copy = copy_part(f, part);
    if (!copy || !attributes_merge(f, copy) || !part_range_fits(f, part, copy, &guarded)) return false;
    if (!rewrite_remapped(f, part, copy)) return false;
    pass_run(&pass_lower_returns, copy);
    if (!part_range_apply(f, part, copy)) return false;
    struct ir_value **operands = ir_alloc(f->module, copy->n_params * sizeof(*operands));
    uint32_t n_own = copy->n_params - f->n_extra;
    for (uint32_t i = 0; i < n_own; i++) {
        if (!connect_param(f, part, copy, i)) return false;
        operands[i] = f->targets[part->params[i]];
    }
    for (uint32_t i = 0; i < f->n_extra; i++) operands[n_own + i] = f->extra[i];
    struct ir_block *block = open_guard(f, part, guarded);
    struct ir_builder b = guarded ? ir_builder_before(block->last) : ir_builder_at_end(block);
    inline_splice(ir_build_call(&b, copy, operands, copy->n_params), copy, &f->names);
    f->has_part = true;
    return true;
}

static bool add_each_part(struct fuse *f)
{
    const struct fuse_request *r = f->request;
    for (uint32_t i = 0; i < r->n_parts; i++) {
        struct ir_builder b = ir_builder_at_end(f->kernel->body);
        if (i && r->parts[i].barrier) add_barrier(&b);
        if (!add_part(f, &r->parts[i]) || !packets_to_registers(f, i) || !pull_packets(f, i)) return false;
        struct ir_inst *last = f->ends[i] = f->kernel->body->last;
        if (last && pass_is_terminator(last)) return true; /* the part never ends; none comes after it */
    }
    struct ir_builder b = ir_builder_at_end(f->kernel->body);
    b.loc = f->kernel->loc;
    ir_build(&b, IR_OP_RETURN, IR_VOID, NULL, 0);
    return true;
}

static bool add_parts(struct fuse *f)
{
    for (uint32_t i = 0; i < f->request->n_parts; i++)
        f->linear |=
            !f->request->parts[i].last && (!range_is_box(&f->request->parts[i].range, &f->request->range) ||
                                           range_has_other_local(&f->request->parts[i].range, &f->request->range));
    rename_open(&f->names, f->kernel);
    bool added = add_each_part(f);
    rename_close(&f->names);
    return added;
}

/* ---- what is left over ---- */

static void note_global(struct ir_inst *inst, void *data)
{
    if (inst->attrs.global) ir_held_add(data, inst->attrs.global);
}

/* Only the kernel stays, with the globals it refers to, and those that hold each other's addresses. */
static void drop_unused_objects(struct fuse *f)
{
    struct ir_module *m = f->module;
    struct ir_held used;
    ir_held_open(&used, m);
    m->n_functions = 1;
    m->functions[0] = f->kernel;
    ir_walk(f->kernel->body, note_global, &used);
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->n_globals; i++)
        if (used.has[i]) m->globals[n++] = m->globals[i];
    m->n_globals = n;
    ir_held_close(&used);
}

static void drop_unused_params(struct fuse *f, bool *kept)
{
    struct ir_function *k = f->kernel;
    uint32_t *uses = pass_count_uses(k), n = 0;
    for (uint32_t i = 0; i < k->n_params; i++) {
        struct ir_param p = k->params[i];
        kept[i] = uses[p.value->scratch] > 0;
        if (!kept[i]) continue;
        p.value->index = n;
        k->params[n++] = p;
    }
    k->n_params = n;
    free(uses);
}

static bool is_valid(struct fuse *f)
{
    struct diag_list list = {.limit = 1};
    bool valid = ir_verify(f->module, &list);
    if (!valid) fuse_refuse(f, "the fused kernel is not valid: %s", list.n ? list.items[0].text : "?");
    diag_clear(&list);
    return valid;
}

struct ir_module *fuse_kernels(const struct fuse_request *request, bool *kept, char *why, size_t why_size)
{
    struct fuse f = {.request = request, .why = why, .why_size = why_size};
    if (!make_frame(&f) || !add_parts(&f)) goto fail;
    attributes_finish(&f);
    drop_unused_objects(&f);
    if (!is_valid(&f)) goto fail;
    pipeline_run(&pipeline_cleanup, f.kernel);
    bool fixed = row_lengths_fix(&f), dropped = unseen_drop(&f);
    if (fixed || dropped) pipeline_run(&pipeline_cleanup, f.kernel);
    drop_unused_params(&f, kept);
    drop_unused_objects(&f);
    if (!is_valid(&f)) goto fail;
    return f.module;

fail:
    ir_module_free(f.module);
    return NULL;
}
