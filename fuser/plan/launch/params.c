/* The parameters of a launch: arguments of its kernels that are the same memory, or the same value, become one. Values
   that were alike when the graph was finalized are one on condition that they still are.
   Accessors that overlap share a parameter too: distinct parameters of a kernel never alias. */
#include "fuser/plan/launch/params.h"

#include <stdlib.h>

#include "ir/base/arena.h"

/* An argument that is a buffer. */
struct accessor {
    uint32_t node, arg; /* node: counted from the first of the run */
    uint32_t buffer;
    ir_type type;
    uint64_t first, end;
    const void *view;
    uint32_t cluster; /* accessors that share a parameter */
};

/* What a kernel reads as an image and another one writes is one, which is read and written. */
static ir_type parameter_type(ir_type type, ir_type other)
{
    if (type == other || ir_type_kind(type) != IR_KIND_IMAGE) return type;
    return IR_IMAGE(ir_type_image_form(type), IR_HANDLE_READ_WRITE);
}

static bool is_same_type(const struct accessor *a, const struct accessor *b)
{
    return a->type == b->type ||
           (ir_type_kind(a->type) == IR_KIND_IMAGE && ir_type_kind(b->type) == IR_KIND_IMAGE && !a->view && !b->view);
}

static int compare_accessors(const void *x, const void *y)
{
    const struct accessor *a = x, *b = y;
    if (a->buffer != b->buffer) return a->buffer < b->buffer ? -1 : 1;
    if (a->type != b->type) return a->type < b->type ? -1 : 1;
    if (a->first != b->first) return a->first < b->first ? -1 : 1;
    if (a->node != b->node) return a->node < b->node ? -1 : 1;
    return a->arg < b->arg ? -1 : a->arg > b->arg;
}

struct making {
    struct plan_context *ctx;
    const struct plan_facts *facts;
    struct node_run run;
    struct plan_params *out;
    uint32_t n_accessors;
    struct accessor *accessors;
    uint64_t *cluster_first, *cluster_end;
    uint32_t *cluster_param;
    uint32_t n_leaders, *leaders; /* of values that are alike the first that decides */
};

static const struct fuser_node *node_at(const struct making *m, uint32_t i)
{
    return &m->facts->graph->nodes[m->run.nodes[i]];
}

static void gather_accessors(struct making *m)
{
    for (uint32_t i = 0; i < m->run.n; i++) {
        const struct fuser_node *n = node_at(m, i);
        for (uint32_t k = 0; k < n->n_args; k++) {
            const struct fuser_arg *arg = &n->args[k];
            if (arg->kind != FUSER_ARG_BUFFER) continue;
            uint64_t end = arg->bytes ? arg->offset + arg->bytes : m->facts->graph->buffers[arg->index].bytes;
            m->accessors = arena_grow(m->ctx->arena, m->accessors, m->n_accessors, sizeof *m->accessors);
            m->accessors[m->n_accessors++] =
                (struct accessor){i, k, arg->index, n->kernel->params[k].value->type, arg->offset, end, arg->view, 0};
        }
    }
    if (m->n_accessors) qsort(m->accessors, m->n_accessors, sizeof *m->accessors, compare_accessors);
}

static void cluster_accessors(struct making *m)
{
    m->cluster_first = arena_alloc(m->ctx->arena, (m->n_accessors + 1) * sizeof *m->cluster_first);
    m->cluster_end = arena_alloc(m->ctx->arena, (m->n_accessors + 1) * sizeof *m->cluster_end);
    m->cluster_param = arena_alloc(m->ctx->arena, (m->n_accessors + 1) * sizeof *m->cluster_param);
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->n_accessors; i++) {
        struct accessor *accessor = &m->accessors[i];
        const struct accessor *before = i ? accessor - 1 : NULL;
        if (!before || before->buffer != accessor->buffer || !is_same_type(before, accessor) || accessor->view ||
            before->view || accessor->first >= m->cluster_end[n - 1]) {
            m->cluster_param[n] = UINT32_MAX;
            m->cluster_end[n] = accessor->end;
            m->cluster_first[n++] = accessor->first;
        }
        if (accessor->end > m->cluster_end[n - 1]) m->cluster_end[n - 1] = accessor->end;
        accessor->cluster = n - 1;
        m->out->of_node[accessor->node][accessor->arg] = n - 1; /* for now */
    }
}

static uint32_t add_param(struct making *m, struct plan_param param)
{
    struct plan_params *out = m->out;
    out->params = arena_grow(m->ctx->arena, out->params, out->n, sizeof *out->params);
    out->params[out->n] = param;
    return out->n++;
}

static uint32_t buffer_param(struct making *m, const struct fuser_arg *arg, const struct ir_param *param,
                             uint32_t cluster)
{
    if (m->cluster_param[cluster] == UINT32_MAX)
        m->cluster_param[cluster] = add_param(m, (struct plan_param){.kind = FUSER_PARAM_BUFFER,
                                                                     .name = m->facts->graph->buffers[arg->index].name,
                                                                     .index = arg->index,
                                                                     .first = m->cluster_first[cluster],
                                                                     .end = m->cluster_end[cluster],
                                                                     .view = arg->view,
                                                                     .type = param->value->type});
    struct plan_param *to = &m->out->params[m->cluster_param[cluster]];
    to->type = parameter_type(to->type, param->value->type);
    return m->cluster_param[cluster];
}

static void add_condition(struct making *m, struct fuser_condition condition)
{
    struct plan_params *out = m->out;
    for (uint32_t i = 0; i < out->n_conditions; i++) {
        struct fuser_condition *have = &out->conditions[i];
        if (have->is_pipe || have->value != condition.value || have->like != condition.like ||
            have->at_least != condition.at_least)
            continue;
        if (have->number < condition.number) have->number = condition.number; /* equal ones are equal */
        return;
    }
    out->conditions = arena_grow(m->ctx->arena, out->conditions, out->n_conditions, sizeof *out->conditions);
    out->conditions[out->n_conditions++] = condition;
}

/* The first value that decides of those alike: the others are compared with it. */
static uint32_t leader_of(struct making *m, uint32_t value)
{
    const struct fuser_value *values = m->facts->graph->values;
    if (!values[value].alike) return value;
    for (uint32_t i = 0; i < m->n_leaders; i++)
        if (values[m->leaders[i]].alike == values[value].alike) return m->leaders[i];
    m->leaders = arena_grow(m->ctx->arena, m->leaders, m->n_leaders, sizeof *m->leaders);
    m->leaders[m->n_leaders++] = value;
    return value;
}

/* What proofs may have gone by: that the argument, which decides, is the number that it was, and like others. */
static void find_conditions(struct making *m, const struct fuser_arg *arg, const struct access_summary *summary)
{
    if (m->ctx->options->mode == FUSER_MODE_NONE || !summary->decides) return;
    uint32_t leader = leader_of(m, arg->index);
    if (leader != arg->index) add_condition(m, (struct fuser_condition){.value = arg->index, .like = leader});
    if (summary->number)
        add_condition(m, (struct fuser_condition){.value = leader, .like = leader, .number = summary->number});
    if (summary->least)
        add_condition(
            m, (struct fuser_condition){.value = leader, .like = leader, .number = summary->least, .at_least = true});
}

/* Both are given the same: one value, or on condition (of find_conditions()). A kernel by itself goes by no conditions.
 */
static bool are_one(const struct making *m, const struct plan_param *a, const struct plan_param *b)
{
    const struct fuser_value *values = m->facts->graph->values;
    if (a->kind != FUSER_PARAM_VALUE || a->type != b->type || a->elem != b->elem || a->module != b->module)
        return false;
    if (a->index == b->index) return true;
    return m->run.n > 1 && a->decides && b->decides && values[a->index].alike &&
           values[a->index].alike == values[b->index].alike;
}

static uint32_t value_param(struct making *m, const struct fuser_arg *arg, const struct ir_function *kernel, uint32_t i,
                            const struct access_summary *summary)
{
    const struct ir_param *param = &kernel->params[i];
    struct plan_param made = {.kind = FUSER_PARAM_VALUE,
                              .name = param->value->name ? param->value->name : "value",
                              .index = arg->index,
                              .type = param->value->type,
                              .elem = param->by_value ? param->elem : IR_VOID,
                              .module = param->by_value ? kernel->module : NULL,
                              .by_value = param->by_value,
                              .decides = summary->decides && m->ctx->options->mode != FUSER_MODE_NONE};
    for (uint32_t k = 0; k < m->out->n; k++) {
        struct plan_param *have = &m->out->params[k];
        if (!are_one(m, have, &made)) continue;
        have->decides |= made.decides;
        return k;
    }
    return add_param(m, made);
}

static void assign(struct making *m)
{
    for (uint32_t i = 0; i < m->run.n; i++) {
        const struct fuser_node *n = node_at(m, i);
        uint32_t *to = m->out->of_node[i];
        const struct access_analysis *access = m->facts->nodes[m->run.nodes[i]].access;
        for (uint32_t k = 0; k < n->n_args; k++) {
            const struct ir_param *param = &n->kernel->params[k];
            const struct fuser_arg *arg = &n->args[k];
            if (arg->kind == FUSER_ARG_BUFFER) to[k] = buffer_param(m, arg, param, to[k]);
            if (arg->kind == FUSER_ARG_VALUE) find_conditions(m, arg, &access->params[k]);
            if (arg->kind == FUSER_ARG_VALUE) to[k] = value_param(m, arg, n->kernel, k, &access->params[k]);
            if (arg->kind == FUSER_ARG_LOCAL)
                to[k] = add_param(m, (struct plan_param){.kind = FUSER_PARAM_LOCAL,
                                                         .name = param->value->name ? param->value->name : "local",
                                                         .end = arg->bytes,
                                                         .type = param->value->type});
        }
        const struct plan_node *planned = &m->facts->nodes[m->run.nodes[i]];
        for (uint32_t k = planned->first_use; k < planned->first_use + planned->n_uses; k++) {
            struct plan_param *used = &m->out->params[to[m->facts->uses[k].arg]];
            used->reads |= m->facts->uses[k].reads;
            used->writes |= m->facts->uses[k].writes;
        }
    }
}

void params_find(struct plan_context *ctx, const struct plan_facts *facts, struct node_run run, struct plan_params *out)
{
    struct making m = {.ctx = ctx, .facts = facts, .run = run, .out = out};
    *out = (struct plan_params){.of_node = arena_alloc(ctx->arena, (run.n + 1) * sizeof *out->of_node)};
    for (uint32_t i = 0; i < run.n; i++)
        out->of_node[i] = arena_alloc(ctx->arena, (node_at(&m, i)->n_args + 1) * sizeof **out->of_node);
    gather_accessors(&m);
    cluster_accessors(&m);
    assign(&m);
}

/* What the value is compared with, which may be a number, or another value that is one. */
static const struct fuser_condition *condition_of(const struct plan_params *params, uint32_t value, bool is_number)
{
    for (uint32_t i = 0; i < params->n_conditions; i++) {
        const struct fuser_condition *c = &params->conditions[i];
        if (!c->is_pipe && !c->at_least && c->value == value && (c->like == value) == is_number) return c;
    }
    return NULL;
}

int64_t params_number(const struct plan_params *params, uint32_t param)
{
    const struct plan_param *p = &params->params[param];
    if (p->kind != FUSER_PARAM_VALUE || p->by_value || !ir_type_is_int(p->type)) return 0;
    const struct fuser_condition *like = condition_of(params, p->index, false);
    const struct fuser_condition *number = condition_of(params, like ? like->like : p->index, true);
    return number ? number->number : 0;
}
