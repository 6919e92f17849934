/* Memory that the launches of a batch use, and what of it is moved. */
#pragma once

#include "daemon/executor/devices/gpu/moves.h"
#include "daemon/executor/devices/vulkan/sharing.h"
#include "daemon/executor/program/executables.h"

struct buffer;
struct ring;

/* A part of a buffer, or a variable of the program. */
struct vulkan_use {
    struct vulkan_shared *shared; /* NULL: nothing uses it */
    uint64_t shared_serial;
    struct device_memory *kept;
    struct buffer *buffer; /* NULL: a variable */
    struct gpu_use part;
    struct gpu_move in, back;
};

/* By place (gpu_places()) of so many launches of the program. 0, or -1 with the error. */
int vulkan_find_uses(struct vulkan_use *uses, struct executable *x, const uint32_t *launches, uint32_t n,
                     const struct slot_memory *slots, struct error *e);
/* Would the same commands move both? They name memory only where they copy. */
bool vulkan_same_moves(const struct vulkan_use *a, const struct vulkan_use *b);
/* Does the device use the session's memory itself? Then the host sees what was written. */
bool vulkan_use_is_direct(const struct vulkan_use *use);
/* Do commands copy something of these, in or back? */
bool vulkan_moves(const struct vulkan_use *uses, uint32_t n, bool back);
void vulkan_record_moves(const struct vulkan_use *uses, uint32_t n, VkCommandBuffer commands, bool back);
/* What the host moves itself, before commands run and behind them, where all that was moved is counted. */
void vulkan_move_in(const struct vulkan_use *uses, uint32_t n);
void vulkan_move_back(const struct vulkan_use *uses, uint32_t n, struct ring *ring);
