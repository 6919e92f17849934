/* Which submissions run one after another. */
#include "daemon/executor/ring/order.h"

#include "daemon/executor/program/executables.h"
#include "daemon/executor/ring/submission.h"

static bool overlap(const struct place *a, const struct place *b)
{
    return a->device == b->device && a->inode == b->inode && a->first < b->end && b->first < a->end;
}

static bool share_written_memory(const struct submission *a, const struct submission *b)
{
    for (uint32_t i = 0; i < a->n_places; i++)
        for (uint32_t k = 0; k < b->n_places; k++)
            if ((a->places[i].written || b->places[k].written) && overlap(&a->places[i], &b->places[k])) return true;
    return false;
}

/* By a variable or pipe that both use. */
static enum order order_by(const struct program_state *a, const struct program_state *b)
{
    if (!a->packet_size) return a->written || b->written ? ORDER_AFTER : ORDER_NONE;
    if ((a->takes && b->takes) || (a->puts && b->puts)) return ORDER_AFTER;
    return a->polls || b->polls ? ORDER_POLLS : ORDER_NONE;
}

static enum order order_by_states(const struct executable *a, const struct executable *b)
{
    enum order most = ORDER_NONE;
    for (uint32_t i = 0; i < a->program->n_states; i++)
        for (uint32_t k = 0; k < b->program->n_states; k++) {
            if (a->states[i] != b->states[k]) continue;
            enum order order = order_by(&a->program->states[i], &b->program->states[k]);
            if (order > most) most = order;
        }
    return most;
}

static bool runs(const struct submission *s, const struct executable *x)
{
    return s->x == x || s->other == x;
}

static bool share_executable(const struct submission *a, const struct submission *b)
{
    return runs(a, b->x) || (b->other && runs(a, b->other));
}

/* Where a submission has two executables they are of one graph: variables and pipes are those of either. */
enum order order_of(const struct submission *first, const struct submission *second)
{
    const struct executable *a = first->x, *b = second->x;
    if (first->alone || second->alone) return ORDER_AFTER;
    if (!a || !b) return ORDER_NONE; /* there is nothing to run, but an error */
    if (submission_is_after(second, first)) return ORDER_AFTER;
    if (share_executable(first, second) || a->program->anywhere || b->program->anywhere) return ORDER_AFTER;
    return share_written_memory(first, second) ? ORDER_AFTER : order_by_states(a, b);
}
