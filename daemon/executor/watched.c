/* What an executable for debugging needs besides: who touched what, and the memory of slots that have none. */
#include "daemon/executor/watched.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/executor/running.h"
#include "ir/base/arena.h"
#include "fuser/assertions/assertions.h"
#include "proto/include/fusiond/status.h"

enum { GARBAGE = 0xa5 }; /* what such memory holds before it is written */

struct watched {
    struct watch *watch;
    uint32_t n_slots;
    uint8_t **memory; /* by slot; NULL: the slot has memory of its own */
};

static struct watched *watched_new(const struct program *p)
{
    struct watched *w = calloc(1, sizeof *w);
    uint32_t n = p->n_slots + p->n_states;
    struct watch_buffer *buffers = arena_realloc(NULL, (n + 1) * sizeof *buffers);
    for (uint32_t i = 0; i < p->n_slots; i++)
        buffers[i] = (struct watch_buffer){p->slots[i].name, p->slots[i].bytes, p->slots[i].elem_bytes, false};
    for (uint32_t i = 0; i < p->n_states; i++)
        buffers[p->n_slots + i] = (struct watch_buffer){p->states[i].name, p->states[i].bytes, 0, true};
    if (w) w->watch = watch_new(buffers, n);
    if (w) w->memory = calloc(p->n_slots + 1, sizeof *w->memory);
    if (w) w->n_slots = p->n_slots;
    free(buffers);
    if (w && w->watch && w->memory) return w;
    watched_free(w);
    return NULL;
}

void watched_free(struct watched *w)
{
    if (!w) return;
    for (uint32_t i = 0; w->memory && i < w->n_slots; i++) free(w->memory[i]);
    free(w->memory);
    watch_free(w->watch);
    free(w);
}

struct watch *watched_watch(struct watched *w)
{
    return w ? w->watch : NULL;
}

static int give_memory(struct watched *w, const struct program_slot *slot, uint32_t i, bool fresh, struct error *e)
{
    if (!w->memory[i]) {
        w->memory[i] = malloc(slot->bytes + 1);
        if (!w->memory[i])
            return error_set(e, FUSION_OUT_OF_MEMORY, slot->name, "%" PRIu64 " bytes to debug it", slot->bytes);
        fresh = true;
    }
    if (fresh) memset(w->memory[i], GARBAGE, slot->bytes);
    return 0;
}

int watched_begin(struct executable *x, uint32_t part, struct running_slot *slots, struct error *e)
{
    const struct program *p = x->program;
    if (!p->debug) return 0;
    if (!x->watched) x->watched = watched_new(p);
    if (!x->watched) return error_set(e, FUSION_OUT_OF_MEMORY, "executable", "no memory to debug it");
    if (part == 0) watch_restart(x->watched->watch);
    for (uint32_t i = 0; i < p->n_slots; i++) {
        if (!p->slots[i].scratch) continue;
        if (give_memory(x->watched, &p->slots[i], i, part == 0, e) != 0) return -1;
        slots[i].memory = x->watched->memory[i];
    }
    return 0;
}

void watched_step(struct executable *x, const struct program_step *step)
{
    if (!x->watched) return;
    for (uint32_t i = 0; i < (step->rows ? step->rows : 1); i++)
        watch_written(x->watched->watch, step->to,
                      step->to_offset + program_row(step, i, step->to_pitch, step->to_slice_pitch), step->bytes);
}
