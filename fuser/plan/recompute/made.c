#include "fuser/plan/recompute/made.h"

#include <string.h>

#include "fuser/access/access.h"
#include "fuser/graph/range.h"
#include "fuser/plan/graph/operations.h"
#include "ir/base/arena.h"

struct recompute_work {
    const struct ir_function *kernel;
    struct nd_range range;
    uint64_t work;
    struct recompute_work *next;
};

/* What decides where the kernel accesses memory is taken to be what it was. */
static const int64_t *numbers_of(const struct recomputing *r, const struct recompute_state *s)
{
    const struct fuser_node *n = &s->node;
    int64_t *numbers = arena_alloc(r->ctx->arena, (n->n_args + 1) * sizeof *numbers);
    for (uint32_t i = 0; i < n->n_args; i++)
        if (n->args[i].kind == FUSER_ARG_VALUE && s->access->params[i].decides)
            numbers[i] = r->facts->graph->values[n->args[i].index].number;
    return numbers;
}

static struct recompute_kernel kernel_of(const struct recomputing *r, const struct recompute_state *s, uint32_t buffer)
{
    bool *is_buffer = arena_alloc(r->ctx->arena, s->node.n_args + 1);
    for (uint32_t i = 0; i < s->node.n_args; i++) is_buffer[i] = recompute_arg_is_of(&s->node.args[i], buffer);
    return (struct recompute_kernel){s->node.kernel, s->node.range, numbers_of(r, s), is_buffer};
}

/* What the numbers of the reader and the writer were taken to be, by argument of the kernel made of both. */
static const int64_t *join_numbers(const struct recomputing *r, const struct recompute_state *reader,
                                   const struct recompute_state *writer, uint32_t buffer)
{
    const struct recompute_state *both[] = {reader, writer};
    uint32_t n = 0;
    int64_t *taken = arena_alloc(r->ctx->arena, (reader->node.n_args + writer->node.n_args + 1) * sizeof *taken);
    for (int k = 0; k < 2; k++) {
        const struct fuser_node *node = &both[k]->node;
        const int64_t *numbers = numbers_of(r, both[k]);
        for (uint32_t i = 0; i < node->n_args; i++)
            if (!recompute_arg_is_of(&node->args[i], buffer))
                taken[n++] = node->taken && node->taken[i] ? node->taken[i] : numbers[i];
    }
    return taken;
}

/* ---- what there is already ---- */

static bool same_ranges(const struct nd_range *a, const struct nd_range *b)
{
    return range_same(a, b) && memcmp(a->local, b->local, sizeof a->local) == 0;
}

static bool same_kernels(const struct recompute_kernel *a, const struct recompute_kernel *b)
{
    if (a->kernel != b->kernel || !same_ranges(&a->range, &b->range)) return false;
    uint32_t n = a->kernel->n_params;
    return memcmp(a->numbers, b->numbers, n * sizeof *a->numbers) == 0 && memcmp(a->is_buffer, b->is_buffer, n) == 0;
}

static void keep_module(struct recomputing *r, struct ir_module *m)
{
    struct recomputed *out = r->out;
    out->modules = arena_grow(r->ctx->arena, out->modules, out->n_modules, sizeof *out->modules);
    out->modules[out->n_modules++] = m;
}

static struct recompute_made *make(struct recomputing *r, const struct recompute_request *request)
{
    for (struct recompute_made *m = r->made; m; m = m->next)
        if (same_kernels(&m->request.producer, &request->producer) &&
            same_kernels(&m->request.consumer, &request->consumer))
            return m;
    struct recompute_made *m = arena_alloc(r->ctx->arena, sizeof *m);
    *m = (struct recompute_made){.request = *request, .next = r->made};
    r->made = m;
    m->module = recompute_compose(request, m->why, sizeof m->why);
    if (m->module) keep_module(r, m->module);
    return m;
}

static void look_at(const struct recomputing *r, struct recompute_made *m)
{
    const struct ir_function *kernel = m->module->functions[0];
    const struct nd_range *range = &m->request.consumer.range;
    m->access = access_analyse(kernel, range, 0, r->facts->small_memory, m->taken);
    m->work = operations_of_kernel(kernel, range, m->taken);
}

const struct recompute_made *recompute_make(struct recomputing *r, struct recompute_candidate *c)
{
    const struct recompute_state *writer = &r->states[c->writer];
    struct recompute_request request = {.producer = kernel_of(r, writer, c->buffer),
                                        .contract = r->ctx->options->device.fma,
                                        .small_memory = r->facts->small_memory};
    for (uint32_t i = 0; i < c->n_readers; i++) {
        const struct recompute_state *reader = &r->states[c->readers[i]];
        request.consumer = kernel_of(r, reader, c->buffer);
        struct recompute_made *m = c->made[i] = make(r, &request);
        if (!m->module) return m;
        if (m->access) continue;
        m->taken = join_numbers(r, reader, writer, c->buffer);
        look_at(r, m);
    }
    return NULL;
}

uint64_t recompute_work_of(struct recomputing *r, const struct recompute_state *s)
{
    for (const struct recompute_work *w = r->works; w; w = w->next)
        if (w->kernel == s->node.kernel && same_ranges(&w->range, &s->node.range)) return w->work;
    struct recompute_work *w = arena_alloc(r->ctx->arena, sizeof *w);
    *w = (struct recompute_work){s->node.kernel, s->node.range, 0, r->works};
    r->works = w;
    w->work = operations_of_kernel(w->kernel, &w->range, numbers_of(r, s));
    return w->work;
}

void recompute_made_free(struct recomputing *r)
{
    for (struct recompute_made *m = r->made; m; m = m->next) access_analysis_free(m->access);
}
