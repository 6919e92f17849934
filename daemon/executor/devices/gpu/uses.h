/* Memory that the launches of a batch use, and what of it is moved: the same for all devices with memory of their own.
 */
#pragma once

#include "daemon/executor/devices/gpu/moves.h"
#include "daemon/executor/program/executables.h"

struct buffer;
struct ring;

/* What a device keeps of memory of the session (device_memory.data): each begins with this. */
struct gpu_shared {
    uint8_t *session; /* the session's memory */
    uint64_t bytes;
    uint64_t serial; /* of no other one before or after */
};

/* What is kept of memory from a page's start on, made where it is not there yet. NULL with the error. */
typedef struct gpu_shared *gpu_share(struct device_memory *kept, uint8_t *memory, uint64_t bytes, const char *object,
                                     struct error *e);
/* A number for a new one. Only the thread that runs submissions makes any. */
uint64_t gpu_shared_serial(void);

/* A part of a buffer, or a variable of the program. */
struct gpu_used {
    struct gpu_shared *shared; /* NULL: nothing uses it */
    uint64_t serial;
    struct device_memory *kept;
    struct buffer *buffer; /* NULL: a variable */
    struct gpu_use part;
    struct gpu_move in, back;
};

/* By place (gpu_places()) of so many launches of the program. 0, or -1 with the error. */
int gpu_find_used(struct gpu_used *used, struct executable *x, const uint32_t *launches, uint32_t n,
                  const struct slot_memory *slots, gpu_share *share, struct error *e);
/* Would the same commands move all of both? They name memory only where they copy. */
bool gpu_same_moves(const struct gpu_used *a, const struct gpu_used *b, uint32_t n);
/* Commands have run: who has the contents now, and how much was moved. */
void gpu_used_moved(const struct gpu_used *used, uint32_t n, struct ring *ring);
