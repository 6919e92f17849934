/*
 * Memory of the session as kernels reach it: where it is, if the driver can import it and the device has no other;
 * else a copy, which gets the contents before kernels run and gives them back afterwards.
 */
#pragma once

#include "daemon/executor/devices/vulkan/memory.h"
#include "daemon/executor/program/device.h"

struct vulkan_shared {
    uint8_t *session; /* the session's memory */
    uint64_t bytes;
    uint64_t serial;           /* of no other one before or after */
    struct vulkan_memory host; /* that memory, imported, or one that it is copied to */
    struct vulkan_memory own;  /* the device's; all zeros: kernels use the host's */
    bool imported;
};

/* What is kept of memory from a page's start on, made where it is not there yet. NULL with the error. */
struct vulkan_shared *vulkan_share(struct device_memory *kept, uint8_t *memory, uint64_t bytes, const char *object,
                                   struct error *e);
/* Where kernels find it. */
static inline uint64_t vulkan_shared_address(const struct vulkan_shared *s)
{
    return s->own.buffer ? s->own.address : s->host.address;
}
/* A part of it: before and behind what the device does with it. The functions of commands come between. */
void vulkan_shared_take(struct vulkan_shared *s, uint64_t offset, uint64_t bytes);
void vulkan_shared_give(struct vulkan_shared *s, uint64_t offset, uint64_t bytes);
void vulkan_shared_record(const struct vulkan_shared *s, VkCommandBuffer commands, uint64_t offset, uint64_t bytes,
                          bool back);
