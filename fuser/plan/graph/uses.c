/* What each node does with each buffer: from the analysis of its kernel, checked against what was declared. */
#include "fuser/plan/graph/uses.h"

#include <stdlib.h>
#include <string.h>

#include "fuser/access/access.h"
#include "fuser/graph/props.h"
#include "fuser/plan/graph/image_args.h"
#include "fuser/plan/graph/rows.h"
#include "fuser/plan/graph/sub_group_size.h"
#include "ir/base/arena.h"

/* ---- analyses, one per distinct kernel, range and numbers ---- */

struct analysis {
    const struct ir_function *kernel;
    struct nd_range range;
    const int64_t *numbers; /* by parameter */
    struct access_analysis *access;
    struct analysis *next; /* in its bucket */
};

enum { BUCKETS = 4096 };

struct plan_analyses {
    struct analysis *buckets[BUCKETS];
};

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static uint64_t hash_of(const struct ir_function *kernel, const struct nd_range *r)
{
    uint64_t hash = mix(r->dims, (uintptr_t)kernel);
    for (unsigned d = 0; d < 3; d++) hash = mix(mix(mix(hash, r->global[d]), r->offset[d]), r->local[d]);
    return hash;
}

static bool equal_ranges(const struct nd_range *a, const struct nd_range *b)
{
    return a->dims == b->dims && memcmp(a->global, b->global, sizeof a->global) == 0 &&
           memcmp(a->offset, b->offset, sizeof a->offset) == 0 && memcmp(a->local, b->local, sizeof a->local) == 0;
}

/* Kernels of a plan may share a launch, which assumes it of all or none. */
static bool graph_is_small(const struct fuser_graph *g)
{
    for (uint32_t i = 0; i < g->n_buffers; i++)
        if (g->buffers[i].bytes > IR_SMALL_MEMORY) return false;
    return true;
}

/* What integers of the node were when it was recorded; each kernel by itself goes by none. */
static const int64_t *numbers_of(struct plan_context *ctx, const struct plan_facts *f, const struct fuser_node *n)
{
    int64_t *numbers = arena_alloc(ctx->arena, (n->n_args + 1) * sizeof *numbers);
    for (uint32_t i = 0; i < n->n_args && ctx->options->mode != FUSER_MODE_NONE; i++)
        if (n->args[i].kind == FUSER_ARG_VALUE) numbers[i] = f->graph->values[n->args[i].index].number;
    return numbers;
}

/* What the kernel was made for decides, whether or not its sums show it. */
static void keep_taken(const struct fuser_node *n, struct access_analysis *a)
{
    for (uint32_t i = 0; n->taken && i < n->n_args; i++) {
        if (!n->taken[i]) continue;
        a->params[i].decides = true;
        a->params[i].number = n->taken[i];
    }
}

static const struct access_analysis *analyse(struct plan_context *ctx, struct plan_facts *f, const struct fuser_node *n,
                                             const struct nd_range *range)
{
    const struct ir_function *kernel = n->kernel;
    const int64_t *numbers = numbers_of(ctx, f, n);
    if (!f->analyses) f->analyses = arena_alloc(ctx->arena, sizeof *f->analyses);
    struct analysis **bucket = &f->analyses->buckets[hash_of(kernel, range) % BUCKETS];
    for (struct analysis *a = *bucket; a; a = a->next)
        if (a->kernel == kernel && equal_ranges(&a->range, range) &&
            memcmp(a->numbers, numbers, n->n_args * sizeof *numbers) == 0)
            return a->access;
    struct analysis *a = arena_alloc(ctx->arena, sizeof *a);
    uint32_t size = sub_group_size_of_kernel(f->device, kernel);
    *a = (struct analysis){kernel, *range, numbers, access_analyse(kernel, range, size, f->small_memory, numbers),
                           *bucket};
    keep_taken(n, a->access);
    *bucket = a;
    return a->access;
}

void uses_free(struct plan_facts *f)
{
    for (unsigned i = 0; f->analyses && i < BUCKETS; i++)
        for (struct analysis *a = f->analyses->buckets[i]; a; a = a->next) access_analysis_free(a->access);
}

/* ---- uses ---- */

static void add_use(struct plan_context *ctx, struct plan_facts *f, struct plan_use use)
{
    f->uses = arena_grow(ctx->arena, f->uses, f->n_uses, sizeof *f->uses);
    f->uses[f->n_uses++] = use;
}

static struct plan_use use_of_arg(const struct plan_facts *f, uint32_t node, uint32_t i)
{
    const struct fuser_arg *arg = &f->graph->nodes[node].args[i];
    const struct fuser_buffer *buffer = &f->graph->buffers[arg->index];
    struct plan_use use = {.node = node, .arg = i, .buffer = arg->index, .first = arg->offset};
    use.end = arg->bytes ? arg->offset + arg->bytes : buffer->bytes;
    fuser_props_inherit(&buffer->props, &arg->props, &use.props);
    return use;
}

static bool declared_write(enum ir_access access)
{
    return access == IR_ACCESS_UNKNOWN || access == IR_ACCESS_WRITE || access == IR_ACCESS_READ_WRITE;
}

static bool declared_read(enum ir_access access)
{
    return access != IR_ACCESS_WRITE;
}

/* Packets are not followed: whoever looks at a pipe changes it. */
static void use_pipe(struct plan_context *ctx, struct plan_facts *f, uint32_t node, uint32_t i)
{
    struct plan_use use = use_of_arg(f, node, i);
    use.reads = use.writes = true;
    add_use(ctx, f, use);
}

static void use_image(struct plan_context *ctx, struct plan_facts *f, uint32_t node, uint32_t i)
{
    struct plan_use use = use_of_arg(f, node, i);
    ir_type type = f->graph->nodes[node].kernel->params[i].value->type;
    use.reads = image_arg_is_read(type);
    use.writes = image_arg_is_written(type);
    add_use(ctx, f, use);
}

/* Constant memory is only read, whatever its user has said of it. */
static enum ir_access access_of_arg(struct plan_context *ctx, struct plan_facts *f, const struct fuser_node *n,
                                    uint32_t i)
{
    enum ir_access access = n->args[i].access;
    ir_type type = n->kernel->params[i].value->type;
    if (!ir_type_is_ptr(type) || ir_type_space(type) != IR_SPACE_CONSTANT) return access;
    if (access == IR_ACCESS_WRITE || access == IR_ACCESS_READ_WRITE)
        plan_remark(ctx, "access_only_read", n->name, f->graph->buffers[n->args[i].index].name,
                    "argument %u was declared to be %s, but is constant memory of kernel %s, which is only read", i,
                    access == IR_ACCESS_WRITE ? "written" : "read and written", n->kernel->name);
    return IR_ACCESS_READ;
}

/* What the kernel does counts; where it hides it, what was declared. Where it neither reads nor writes, as to prefetch
   or to compare with null, it has the address all the same. */
static bool use_by_kernel(struct plan_context *ctx, struct plan_facts *f, uint32_t node, uint32_t i)
{
    const struct fuser_node *n = &f->graph->nodes[node];
    const struct access_summary *s = &f->nodes[node].access->params[i];
    struct plan_use use = use_of_arg(f, node, i);
    enum ir_access access = access_of_arg(ctx, f, n, i);
    if (image_arg_is_use(f->graph, &use)) {
        use_image(ctx, f, node, i);
        return true;
    }
    if (ir_type_kind(n->kernel->params[i].value->type) == IR_KIND_PIPE) {
        use_pipe(ctx, f, node, i);
        return true;
    }
    if (access == IR_ACCESS_READ && s->writes) {
        uint32_t line = 0;
        for (uint32_t k = 0; k < s->n_sites && !line; k++)
            if (s->sites[k].writes) line = s->sites[k].line;
        return plan_fail(ctx, FUSER_INVALID, "node", n->name,
                         "argument %u (buffer %s) was declared to be read only, but kernel %s writes it in line %u", i,
                         f->graph->buffers[use.buffer].name, n->kernel->name, line);
    }
    use.reads = s->escapes ? declared_read(access) : s->reads;
    use.writes = s->escapes ? declared_write(access) : s->writes;
    add_use(ctx, f, use);
    return true;
}

static bool check_local_memory(struct plan_context *ctx, struct plan_facts *f, uint32_t node)
{
    const struct fuser_node *n = &f->graph->nodes[node];
    uint64_t bytes = f->nodes[node].access->local_bytes, most = f->device->max_local_bytes;
    for (uint32_t i = 0; i < n->n_args; i++)
        if (n->args[i].kind == FUSER_ARG_LOCAL && __builtin_add_overflow(bytes, n->args[i].bytes, &bytes))
            bytes = UINT64_MAX;
    if (bytes <= most) return true;
    return plan_fail(ctx, FUSER_KERNEL_NOT_SUPPORTED, "node", n->name,
                     "%llu bytes of work-group memory; device %s has %llu", (unsigned long long)bytes, f->device->name,
                     (unsigned long long)most);
}

/* The node's range with the local size the kernel requires. */
static struct nd_range range_of(const struct plan_facts *f, const struct fuser_node *n)
{
    struct nd_range range = n->range;
    const uint32_t *required = n->kernel->work_group_size;
    uint64_t items = sub_group_size_items(f->device, n->kernel);
    if (range.local[0] || !(required[0] || items)) return range;
    for (unsigned d = 0; d < 3; d++) range.local[d] = required[d] ? required[d] : 1;
    if (!required[0]) range.local[0] = items;
    return range;
}

static bool use_kernel(struct plan_context *ctx, struct plan_facts *f, uint32_t node)
{
    const struct fuser_node *n = &f->graph->nodes[node];
    struct plan_node *planned = &f->nodes[node];
    planned->range = range_of(f, n);
    planned->access = analyse(ctx, f, n, &planned->range);
    planned->operations = ir_count(planned->access->kernel->body);
    for (uint32_t i = 0; i < n->n_args; i++)
        if (n->args[i].kind == FUSER_ARG_BUFFER && !use_by_kernel(ctx, f, node, i)) return false;
    return check_local_memory(ctx, f, node);
}

static void use_by_host(struct plan_context *ctx, struct plan_facts *f, uint32_t node)
{
    const struct fuser_node *n = &f->graph->nodes[node];
    for (uint32_t i = 0; i < n->n_args; i++) {
        struct plan_use use = use_of_arg(f, node, i);
        use.reads = declared_read(n->args[i].access);
        use.writes = declared_write(n->args[i].access);
        add_use(ctx, f, use);
    }
}

static void use_by_command(struct plan_context *ctx, struct plan_facts *f, uint32_t node)
{
    const struct fuser_node *n = &f->graph->nodes[node];
    if (n->kind == FUSER_NODE_COPY)
        add_use(ctx, f,
                (struct plan_use){.node = node,
                                  .buffer = n->from.buffer,
                                  .first = n->from.offset,
                                  .end = n->from.offset + rows_span(n, &n->from),
                                  .reads = true,
                                  .props = f->graph->buffers[n->from.buffer].props});
    add_use(ctx, f,
            (struct plan_use){.node = node,
                              .arg = 1,
                              .buffer = n->to.buffer,
                              .first = n->to.offset,
                              .end = n->to.offset + rows_span(n, &n->to),
                              .writes = true,
                              .props = f->graph->buffers[n->to.buffer].props});
}

static void index_by_buffer(struct plan_context *ctx, struct plan_facts *f)
{
    uint32_t n = f->graph->n_buffers;
    uint32_t *start = f->buffer_uses_start = arena_alloc(ctx->arena, (n + 2) * sizeof *start);
    f->buffer_uses = arena_alloc(ctx->arena, (f->n_uses + 1) * sizeof *f->buffer_uses);
    for (uint32_t i = 0; i < f->n_uses; i++) start[f->uses[i].buffer + 2]++;
    for (uint32_t i = 2; i < n + 2; i++) start[i] += start[i - 1];
    for (uint32_t i = 0; i < f->n_uses; i++) f->buffer_uses[start[f->uses[i].buffer + 1]++] = i;
}

bool uses_find(struct plan_context *ctx, const struct fuser_graph *graph, struct plan_facts *f)
{
    *f = (struct plan_facts){.graph = graph,
                             .device = &ctx->options->device,
                             .small_memory = graph_is_small(graph),
                             .analyses = f->analyses};
    f->nodes = arena_alloc(ctx->arena, (graph->n_nodes + 1) * sizeof *f->nodes);
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        f->nodes[i].first_use = f->n_uses;
        switch (graph->nodes[i].kind) {
        case FUSER_NODE_KERNEL:
            if (!use_kernel(ctx, f, i)) return false;
            break;
        case FUSER_NODE_HOST: use_by_host(ctx, f, i); break;
        default: use_by_command(ctx, f, i);
        }
        f->nodes[i].n_uses = f->n_uses - f->nodes[i].first_use;
    }
    index_by_buffer(ctx, f);
    return true;
}

uint64_t uses_local_bytes(const struct plan_facts *f, uint32_t node)
{
    uint64_t bytes = f->nodes[node].access->local_bytes;
    const struct fuser_node *n = &f->graph->nodes[node];
    for (uint32_t i = 0; i < n->n_args; i++)
        if (n->args[i].kind == FUSER_ARG_LOCAL) bytes += n->args[i].bytes;
    return bytes;
}

bool uses_write(const struct plan_facts *f, uint32_t node)
{
    const struct plan_node *n = &f->nodes[node];
    for (uint32_t i = n->first_use; i < n->first_use + n->n_uses; i++)
        if (f->uses[i].writes) return true;
    return n->access->unknown_writes;
}
