/* What executables for debugging need besides: who touched what, and the memory of slots that have none. */
#include "daemon/executor/devices/reference/debug.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/executor/program/executables.h"
#include "daemon/executor/program/slot_memory.h"
#include "fuser/assertions/assertion_check.h"
#include "ir/base/arena.h"
#include "proto/include/fusiond/status.h"

enum { GARBAGE = 0xa5 }; /* what such memory holds before it is written */

/* What the device has for the executable, once it has run; only the thread that runs submissions touches it. */
struct debug {
    struct assertion_check *watch;
    uint32_t n_slots;
    uint8_t **memory; /* by slot; NULL: the slot has memory of its own */
};

static void destroy(struct debug *d)
{
    if (!d) return;
    for (uint32_t i = 0; d->memory && i < d->n_slots; i++) free(d->memory[i]);
    free(d->memory);
    assertion_check_free(d->watch);
    free(d);
}

static struct debug *debug_new(const struct program *p)
{
    struct debug *d = calloc(1, sizeof *d);
    uint32_t n = p->n_slots + p->n_states;
    struct assertion_buffer *buffers = arena_realloc(NULL, (n + 1) * sizeof *buffers);
    for (uint32_t i = 0; i < p->n_slots; i++)
        buffers[i] = (struct assertion_buffer){p->slots[i].name, p->slots[i].bytes, p->slots[i].elem_bytes, false};
    for (uint32_t i = 0; i < p->n_states; i++)
        buffers[p->n_slots + i] = (struct assertion_buffer){p->states[i].name, p->states[i].bytes, 0, true};
    if (d) d->watch = assertion_check_new(buffers, n);
    if (d) d->memory = calloc(p->n_slots + 1, sizeof *d->memory);
    if (d) d->n_slots = p->n_slots;
    free(buffers);
    if (d && d->watch && d->memory) return d;
    destroy(d);
    return NULL;
}

struct assertion_check *reference_debug_watch(const struct executable *x)
{
    const struct debug *d = x->of_device;
    return d ? d->watch : NULL;
}

void reference_debug_free(struct executable *x)
{
    destroy(x->of_device);
}

static int give_memory(struct debug *d, const struct program_slot *slot, uint32_t i, bool fresh, struct error *e)
{
    if (!d->memory[i]) {
        d->memory[i] = malloc(slot->bytes + 1);
        if (!d->memory[i])
            return error_set(e, FUSION_OUT_OF_MEMORY, slot->name, "%" PRIu64 " bytes to debug it", slot->bytes);
        fresh = true;
    }
    if (fresh) memset(d->memory[i], GARBAGE, slot->bytes);
    return 0;
}

int reference_debug_begin(struct executable *x, uint32_t part, struct slot_memory *slots, struct error *e)
{
    const struct program *p = x->program;
    if (!x->of_device) x->of_device = debug_new(p);
    struct debug *d = x->of_device;
    if (!d) return error_set(e, FUSION_OUT_OF_MEMORY, "executable", "no memory to debug it");
    if (part == 0) assertion_check_restart(d->watch);
    for (uint32_t i = 0; i < p->n_slots; i++) {
        if (!p->slots[i].scratch) continue;
        if (give_memory(d, &p->slots[i], i, part == 0, e) != 0) return -1;
        slots[i].memory = d->memory[i];
    }
    return 0;
}

void reference_debug_transfer(struct executable *x, const struct program_step *step)
{
    const struct debug *d = x->of_device;
    for (uint32_t i = 0; i < (step->rows ? step->rows : 1); i++)
        assertion_check_written(d->watch, step->to,
                                step->to_offset + program_row(step, i, step->to_pitch, step->to_slice_pitch),
                                step->bytes);
}
