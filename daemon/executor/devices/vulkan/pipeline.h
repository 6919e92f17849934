/* A launch's kernel in the driver's form: a pipeline for each size of its work-groups. */
#pragma once

#include "daemon/executor/devices/vulkan/driver.h"
#include "daemon/executor/program/program.h"
#include "daemon/gpu/object.h"

enum { VULKAN_PIECES = 8 };

/* A box of work-groups of one size. */
struct vulkan_piece {
    VkPipeline pipeline;
    uint32_t first[3], n[3]; /* work-groups */
};

struct vulkan_pieces {
    struct vulkan_piece pieces[VULKAN_PIECES];
    uint32_t n;
};

/* local_bytes: of work-group memory, all together. 0, or -1 with the error and nothing left behind. */
int vulkan_pieces_make(struct vulkan_pieces *p, const struct gpu_object *object, const struct program_launch *launch,
                       uint32_t local_bytes, struct error *e);
void vulkan_pieces_free(struct vulkan_pieces *p);
