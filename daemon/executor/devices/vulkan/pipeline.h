/* A launch's kernel in the driver's form: a pipeline for each size of its work-groups. */
#pragma once

#include "daemon/executor/devices/gpu/kept.h"
#include "daemon/executor/devices/gpu/pieces.h"
#include "daemon/executor/devices/vulkan/driver.h"
#include "daemon/gpu/object.h"

struct vulkan_pieces {
    struct gpu_piece pieces[GPU_PIECES];
    VkPipeline pipelines[GPU_PIECES];
    uint32_t n;
};

/* local_bytes: of work-group memory, all together. From the binary that is kept of it, where the object has that: what
   became of it is said in *kept. 0, or -1 with the error and nothing left behind. */
int vulkan_pieces_make(struct vulkan_pieces *p, const struct gpu_object *object, const struct program_launch *launch,
                       uint32_t local_bytes, struct gpu_kept *kept, struct error *e);
void vulkan_pieces_free(struct vulkan_pieces *p);
/* Of the pipelines of a launch, for which the driver alone has been opened. */
gpu_binary_maker vulkan_make_binary;
