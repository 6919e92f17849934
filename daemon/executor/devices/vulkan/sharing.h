/*
 * Memory of the session as kernels reach it: where it is, if the driver can import it and the device has no other;
 * else a copy, which gets the contents before kernels run and gives them back afterwards.
 */
#pragma once

#include "daemon/executor/devices/gpu/transfers.h"
#include "daemon/executor/devices/vulkan/memory.h"

struct vulkan_shared {
    struct gpu_shared shared;
    struct vulkan_memory host; /* that memory, imported, or one that it is copied to */
    struct vulkan_memory own;  /* the device's; all zeros: kernels use the host's */
    bool imported;
    uint64_t lead; /* bytes of what was imported before it */
};

gpu_share vulkan_share;
/* Where kernels find it. */
uint64_t vulkan_shared_address(const struct gpu_shared *shared);
/* Does the device use the session's memory itself? Then the host sees what was written. */
bool vulkan_shared_is_direct(const struct gpu_shared *shared);

/* Do commands copy some of what is used, in or back? */
bool vulkan_moves(const struct gpu_used *used, uint32_t n, bool back);
void vulkan_record_moves(const struct gpu_used *used, uint32_t n, VkCommandBuffer commands, bool back);
/* What the host moves itself, before commands run and behind them. */
void vulkan_move_in(const struct gpu_used *used, uint32_t n);
void vulkan_move_back(const struct gpu_used *used, uint32_t n);

/* Between the device's own memories. */
gpu_transferer vulkan_transfer;
