/* Proofs that a buffer carries nothing but what flows between launches that run band by band. */
#include "fuser/plan/bands/rings.h"

#include "fuser/recompute/compose.h"
#include "ir/base/arena.h"

static bool has_node(const struct fuser_launch *l, uint32_t node)
{
    for (uint32_t i = 0; i < l->n_nodes; i++)
        if (l->nodes[i] == node) return true;
    return false;
}

static bool runs_node(const struct ring_request *r, uint32_t node)
{
    for (uint32_t i = 0; i < r->n; i++)
        if (has_node(r->launches[i], node)) return true;
    return false;
}

static bool is_of(const struct fuser_param *p, uint32_t buffer)
{
    return p->kind == FUSER_PARAM_BUFFER && p->index == buffer;
}

/* What a launch does with the buffer. */
struct user {
    const struct fuser_launch *launch;
    const int64_t *numbers;
    uint32_t params; /* that are the buffer, all of it from its first byte on */
    bool reads, writes;
};

static bool find_user(const struct ring_request *r, uint32_t i, uint32_t buffer, struct user *u)
{
    const struct plan_facts *f = r->l->facts;
    *u = (struct user){.launch = r->launches[i], .numbers = r->numbers[i]};
    for (uint32_t p = 0; p < u->launch->n_params; p++) {
        if (!is_of(&u->launch->params[p], buffer)) continue;
        if (u->launch->params[p].offset) return false;
        u->params++;
    }
    for (uint32_t k = f->buffer_uses_start[buffer]; k < f->buffer_uses_start[buffer + 1]; k++) {
        const struct plan_use *use = &f->uses[f->buffer_uses[k]];
        if (!has_node(u->launch, use->node)) continue;
        u->reads |= use->reads;
        u->writes |= use->writes;
    }
    return true;
}

static struct recompute_kernel kernel_of(const struct ring_request *r, const struct user *u, uint32_t buffer)
{
    bool *is_buffer = arena_alloc(r->l->ctx->arena, u->launch->n_params + 1);
    for (uint32_t p = 0; p < u->launch->n_params; p++) is_buffer[p] = is_of(&u->launch->params[p], buffer);
    return (struct recompute_kernel){u->launch->kernel, u->launch->range, u->numbers, is_buffer};
}

/* Each element that the reader reads was written by the writer. */
static bool is_written(const struct ring_request *r, const struct user *writer, const struct user *reader,
                       uint32_t buffer)
{
    struct recompute_request request = {.producer = kernel_of(r, writer, buffer),
                                        .consumer = kernel_of(r, reader, buffer),
                                        .small_memory = r->l->facts->small_memory};
    return writer->params == 1 && recompute_is_covered(&request);
}

/* All of its uses say that nobody else reads it; some that it is never read before it is written. */
static bool is_internal(const struct ring_request *r, uint32_t buffer, bool *no_init)
{
    const struct plan_facts *f = r->l->facts;
    *no_init = true;
    if (f->graph->buffers[buffer].image || f->graph->buffers[buffer].viewed) return false;
    for (uint32_t k = f->buffer_uses_start[buffer]; k < f->buffer_uses_start[buffer + 1]; k++) {
        const struct plan_use *use = &f->uses[f->buffer_uses[k]];
        if (!use->props.internal_memory || !runs_node(r, use->node)) return false;
        *no_init &= use->props.no_init;
    }
    return true;
}

bool ring_is_possible(const struct ring_request *r, uint32_t buffer)
{
    struct user *users = arena_alloc(r->l->ctx->arena, r->n * sizeof *users);
    bool no_init;
    if (!is_internal(r, buffer, &no_init)) return false;
    for (uint32_t i = 0; i < r->n; i++) {
        if (!find_user(r, i, buffer, &users[i])) return false;
        bool written = !users[i].reads || no_init;
        for (uint32_t k = i; k-- > 0 && !written;)
            written = users[k].writes && !users[k].reads && is_written(r, &users[k], &users[i], buffer);
        if (!written) return false;
    }
    return true;
}
