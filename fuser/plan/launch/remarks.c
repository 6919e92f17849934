/* What is said of a launch that was made: its kernels, its buffers without memory, what it goes by. */
#include "fuser/plan/launch/remarks.h"

#include <stdio.h>
#include <string.h>

#include "fuser/plan/graph/traffic.h"

typedef unsigned long long ull;

static void names_text(const struct launching *l, struct node_run run, char *buf, size_t size)
{
    size_t used = 0;
    buf[0] = '\0';
    for (uint32_t i = 0; i < run.n && used < size; i++) {
        const char *name = launch_node_name(l, run.nodes[i]);
        if (used + strlen(name) + 24 > size) {
            snprintf(buf + used, size - used, " and %u more", run.n - i);
            return;
        }
        used += (size_t)snprintf(buf + used, size - used, "%s%s", i ? ", " : "", name);
    }
}

/* ---- buffers ---- */

static void storage_text(const struct plan_storage *storage, char *buf, size_t size)
{
    uint64_t elements = 0;
    for (uint32_t i = 0; i < storage->n_slices; i++) elements += storage->slices[i].count;
    if (storage->storage == FUSER_STORAGE_LOCAL) {
        snprintf(buf, size, "work-group memory, %llu bytes for each work-group,", (ull)storage->local_bytes);
    } else if (elements > 1) {
        snprintf(buf, size, "registers, %llu elements for each work-item,", (ull)elements);
    } else {
        snprintf(buf, size, "registers");
    }
}

static void remark_buffer(struct launching *l, const struct attempt *r, const struct plan_param *param,
                          const char *names)
{
    char where[96];
    uint64_t traffic = 0, bytes = l->facts->graph->buffers[param->index].bytes;
    const uint32_t *start = &l->facts->buffer_uses_start[param->index];
    for (uint32_t k = start[0]; k < start[1]; k++) {
        const struct plan_use *use = &l->facts->uses[l->facts->buffer_uses[k]];
        if (order_run_has(l->order, r->run, use->node)) traffic += traffic_of_use(l->facts, use);
    }
    bool local = param->storage.storage == FUSER_STORAGE_LOCAL;
    const char *assertion = param->storage.assertion;
    l->plan->storage[param->index] = param->storage.storage;
    l->plan->saved[param->index] += traffic;
    if (param->storage.storage == FUSER_STORAGE_NOWHERE) {
        plan_remark(l->ctx, "internalized_unread", launch_node_name(l, r->run.nodes[0]), param->name,
                    "buffer %s needs no memory: all that is read of it, the same work-item of %s has stored just "
                    "before; saves %llu bytes of memory and %llu bytes of traffic",
                    param->name, names, (ull)bytes, (ull)traffic);
        return;
    }
    storage_text(&param->storage, where, sizeof where);
    plan_remark(
        l->ctx, local ? "internalized_local" : "internalized_private", launch_node_name(l, r->run.nodes[0]),
        param->name, "buffer %s is kept in %s of %s: saves %llu bytes of memory and %llu bytes of traffic%s%s%s",
        param->name, where, names, (ull)bytes, (ull)traffic, assertion ? "; that no element belongs to two work-" : "",
        assertion ? (local ? "groups is not proved, but asserted by " : "items is not proved, but asserted by ") : "",
        assertion ? assertion : "");
}

/* An earlier parameter is of the same buffer. */
static bool is_again(const struct attempt *r, uint32_t param)
{
    for (uint32_t i = 0; i < param; i++)
        if (r->params.params[i].kind == FUSER_PARAM_BUFFER &&
            r->params.params[i].index == r->params.params[param].index)
            return true;
    return false;
}

static void remark_storage(struct launching *l, const struct attempt *r, const char *names)
{
    for (uint32_t i = 0; i < r->params.n; i++)
        if (r->params.params[i].storage.storage != FUSER_STORAGE_MEMORY && !is_again(r, i))
            remark_buffer(l, r, &r->params.params[i], names);
}

static const char *barriers_text(const struct attempt *r, char *buf, size_t size)
{
    uint32_t n = attempt_n_barriers(r->group, r->run);
    buf[0] = '\0';
    if (n && n == r->run.n - 1) snprintf(buf, size, ", with a work-group barrier between each two");
    if (n && n < r->run.n - 1) snprintf(buf, size, ", with %u work-group barrier%s between them", n, n > 1 ? "s" : "");
    return buf;
}

void launch_remark_run(struct launching *l, const struct attempt *r)
{
    char names[512], barriers[80];
    names_text(l, r->run, names, sizeof names);
    if (r->run.n > 1)
        plan_remark(l->ctx, "fused", launch_node_name(l, r->run.nodes[0]), NULL, "%u kernels are one launch%s: %s",
                    r->run.n, barriers_text(r, barriers, sizeof barriers), names);
    remark_storage(l, r, names);
}

/* ---- conditions ---- */

/* The first node of the run that is given the value, and the argument's name; NULL: none is. */
static const char *value_in_run(const struct launching *l, struct node_run run, uint32_t value, char *buf, size_t size)
{
    for (uint32_t i = 0; i < run.n; i++) {
        const struct fuser_node *n = &l->facts->graph->nodes[run.nodes[i]];
        for (uint32_t k = 0; n->kind == FUSER_NODE_KERNEL && k < n->n_args; k++) {
            const char *name = n->kernel->params[k].value->name;
            if (n->args[k].kind != FUSER_ARG_VALUE || n->args[k].index != value) continue;
            snprintf(buf, size, "%.60s of %.80s", name ? name : "an argument", n->name);
            return buf;
        }
    }
    return NULL;
}

static const char *value_text(const struct launching *l, struct node_run run, uint32_t value, char *buf, size_t size)
{
    const char *text = value_in_run(l, run, value, buf, size);
    if (!text) text = value_in_run(l, (struct node_run){l->order->nodes, l->order->n}, value, buf, size);
    return text ? text : "a value";
}

/* "w of second is w of first, w of first is 640": the first few of them. */
static void conditions_text(const struct launching *l, const struct attempt *r, char *buf, size_t size)
{
    char value[160], like[160];
    uint32_t n = r->params.n_conditions, told = n < 6 ? n : 5;
    size_t used = 0;
    for (uint32_t i = 0; i < told && used < size; i++) {
        const struct fuser_condition *c = &r->params.conditions[i];
        bool equal = c->like != c->value;
        if (c->is_pipe) {
            used += (size_t)snprintf(buf + used, size - used, "%spipe @%.80s is empty", i ? ", " : "",
                                     l->scope->variables[c->value].global->name);
            continue;
        }
        if (!equal) snprintf(like, sizeof like, "%lld", (long long)c->number);
        used += (size_t)snprintf(buf + used, size - used, "%s%s is %s%s", i ? ", " : "",
                                 value_text(l, r->run, c->value, value, sizeof value), c->at_least ? "at least " : "",
                                 equal ? value_text(l, r->run, c->like, like, sizeof like) : like);
    }
    if (told < n && used < size) snprintf(buf + used, size - used, " and %u more", n - told);
}

void launch_remark_conditions(struct launching *l, const struct attempt *r)
{
    char text[1200];
    conditions_text(l, r, text, sizeof text);
    plan_remark(l->ctx, "conditional", launch_node_name(l, r->run.nodes[0]), NULL,
                "the launch of %s goes by %s; a submission for which that is not so runs its kernels one by one",
                launch_node_name(l, r->run.nodes[0]), text);
}
