/* Copies and fills of a graph that a device does in its own memory. */
#include "daemon/executor/devices/gpu/transfers.h"

#include <stdio.h>

#include "daemon/executor/program/buffers.h"
#include "daemon/executor/program/slot_memory.h"

enum { MOST_ROWS = 4096 }; /* each is a command */

static uint64_t offset_of(const struct slot_memory *slot, uint64_t offset)
{
    return (uint64_t)(slot->memory - slot->buffer->memory) + offset;
}

/* Has the device the contents, in memory of its own? What the client has mapped is the host's. */
static bool is_there(const struct slot_memory *slot)
{
    return !slot->host && slot->buffer && slot->buffer->of_device.fetch && slot->buffer->of_device.valid;
}

static bool writes_all(const struct program_step *step, const struct slot_memory *slot)
{
    return !step->rows && slot->buffer && step->bytes == slot->buffer->bytes;
}

int gpu_run_transfer(const struct program_step *step, const struct slot_memory *slots, gpu_share *share,
                     gpu_transferer *transfer, struct error *e)
{
    const struct slot_memory *to = &slots[step->to];
    const struct slot_memory *from = step->kind == PROGRAM_STEP_COPY ? &slots[step->from] : NULL;
    struct gpu_transfer t = {.step = step, .n_rows = step->rows ? step->rows : 1};
    char object[300];
    if (t.n_rows > MOST_ROWS || step->bytes == 0) return 0;
    if (from && (!is_there(from) || from->buffer == to->buffer)) return 0;
    if (!is_there(to) && (to->host || !writes_all(step, to))) return 0;
    struct device_memory *kept = &to->buffer->of_device;
    t.to = share(kept, to->buffer->memory, to->buffer->bytes, to->name, e);
    if (!t.to) return -1;
    if (!kept->fetch) return 0; /* its memory is the host's */
    t.to_at = offset_of(to, step->to_offset);
    if (from) t.from = from->buffer->of_device.data;
    if (from) t.from_at = offset_of(from, step->from_offset);
    snprintf(object, sizeof object, "%s buffer %s", from ? "copy into" : "fill of", to->name);
    int result = transfer(&t, object, e);
    if (result <= 0) return result;
    kept->valid = true;
    buffer_leave_on_device(to->buffer);
    return 1;
}
