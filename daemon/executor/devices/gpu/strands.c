/* Launches as strands. */
#include "daemon/executor/devices/gpu/strands.h"

#include <stdlib.h>

#include "daemon/executor/devices/gpu/places.h"

/* A launch's strand is found through one before it of the same, down to the first. */
struct strand {
    uint32_t before;
    uint32_t waits; /* of the first: how often launches of the strand wait for others of it, or for contents */
    uint64_t work;  /* of the first: work-items */
    uint8_t queue;  /* of the first */
};

static uint32_t first_of(const struct strand *s, uint32_t i)
{
    while (s[i].before != i) i = s[i].before;
    return i;
}

static void join(struct strand *s, uint32_t a, uint32_t b)
{
    uint32_t x = first_of(s, a), y = first_of(s, b), first = x < y ? x : y;
    s[x].before = s[y].before = first;
    s[first].waits++;
}

static bool moves(const struct gpu_used *used, int64_t place)
{
    return place >= 0 && (used[place].in.bytes || used[place].back.bytes);
}

/* Do both use what is moved? It is moved by one of the queues. */
static bool share_moved(const struct program *p, const struct gpu_used *used, const struct program_launch *a,
                        const struct program_launch *b)
{
    for (uint32_t i = 0; i < a->n_params; i++) {
        int64_t place = gpu_place(p, &a->params[i]);
        for (uint32_t k = 0; k < b->n_params && moves(used, place); k++)
            if (gpu_place(p, &b->params[k]) == place) return true;
    }
    return false;
}

static void find_strands(const struct program *p, const uint32_t *launches, uint32_t n, const struct gpu_used *used,
                         struct strand *s)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct program_launch *l = &p->launches[launches[i]];
        s[i] = (struct strand){.before = i, .work = l->range.global[0] * l->range.global[1] * l->range.global[2]};
        for (uint32_t k = 0; k < l->n_params; k++) s[i].waits |= moves(used, gpu_place(p, &l->params[k]));
        for (uint32_t k = 0; k < i; k++) {
            const struct program_launch *other = &p->launches[launches[k]];
            if (first_of(s, i) != first_of(s, k) && (gpu_meet(p, other, l) || share_moved(p, used, other, l)))
                join(s, i, k);
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t first = first_of(s, i);
        if (first == i) continue;
        s[first].work += s[i].work;
    }
}

/* Launches that wait for nothing run at the same time in one queue, too. */
static bool gains(const struct strand *s, uint32_t n)
{
    uint32_t that_wait = 0;
    for (uint32_t i = 0; i < n; i++) that_wait += s[i].before == i && s[i].waits;
    return that_wait > 1;
}

/* Each strand goes to the queue that has least to do so far. */
static uint32_t choose_queues(struct strand *s, uint32_t n, uint32_t most)
{
    uint64_t work[GPU_MOST_QUEUES] = {0};
    uint32_t used = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t least = 0;
        if (s[i].before != i) continue;
        for (uint32_t q = 1; q < most; q++)
            if (work[q] < work[least]) least = q;
        work[least] += s[i].work;
        s[i].queue = (uint8_t)least;
        if (least >= used) used = least + 1;
    }
    return used;
}

uint32_t gpu_share_out(const struct program *p, const uint32_t *launches, uint32_t n, const struct gpu_used *used,
                       uint32_t most, uint8_t *queue)
{
    for (uint32_t i = 0; i < n; i++) queue[i] = 0;
    if (most < 2 || n < 2) return 1;
    struct strand *s = malloc(n * sizeof *s);
    if (!s) abort();
    find_strands(p, launches, n, used, s);
    uint32_t queues = gains(s, n) ? choose_queues(s, n, most) : 1;
    for (uint32_t i = 0; i < n; i++) queue[i] = s[first_of(s, i)].queue;
    free(s);
    return queues;
}

bool gpu_queue_uses(const struct program *p, const uint32_t *launches, uint32_t n, const uint8_t *queue, uint32_t which,
                    uint32_t place)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct program_launch *l = &p->launches[launches[i]];
        for (uint32_t k = 0; k < l->n_params && queue[i] == which; k++)
            if (gpu_place(p, &l->params[k]) == (int64_t)place) return true;
    }
    return false;
}
