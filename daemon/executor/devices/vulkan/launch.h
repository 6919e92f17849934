/* The launches of an executable on device vulkan: their pipelines, and the blocks of memory that they are given. */
#pragma once

#include "daemon/executor/devices/vulkan/memory.h"
#include "daemon/executor/devices/vulkan/pipeline.h"
#include "daemon/executor/program/executables.h"
#include "fuser/spirv/abi/abi.h"

struct vulkan_launch {
    struct launch_code code;
    struct vulkan_pieces pieces;
    struct gpu_kept kept;
    uint8_t *block;              /* struct spirv_launch and the arguments, as the host writes them */
    uint64_t address;            /* the same as kernels read them */
    struct vulkan_memory prints; /* of kernels that print, else all zeros */
    VkDescriptorSet set;         /* and as a uniform buffer, `offset` bytes into its chunk */
    uint32_t offset;
};

/* Blocks lie in few pieces of memory: drivers do not have many. */
struct vulkan_chunk {
    struct vulkan_chunk *next;
    struct vulkan_memory memory;
    VkDescriptorPool pool;
    VkDescriptorSet set; /* SPIRV_UNIFORM_BYTES of it, from any offset on */
    uint64_t used, room;
};

/* executable.of_device */
struct vulkan_executable {
    struct vulkan_chunk *chunks;
    struct vulkan_batch *batches; /* commands.c */
};

/* From the object in a sealed memfd, which stays the caller's. NULL with the error. */
struct launch_code *vulkan_launch_load(struct executable *x, uint32_t launch, int fd, struct error *e);
void vulkan_chunks_free(struct vulkan_chunk *chunks);
