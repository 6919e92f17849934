/* What a GPU offers to programs: in the terms of the language, and as clients are told. */
#pragma once

#include <msgpack.h>

#include "daemon/gpu/description.h"

enum { GPU_MAX_SUB_GROUP_SIZES = 8 };

/* Aspects (ir/core/aspects.h) of what kernels can be written for it. */
uint64_t gpu_aspects(const struct gpu_description *d);
/* Sizes that a kernel can ask for, ascending; how many. */
uint32_t gpu_sub_group_sizes(const struct gpu_description *d, uint32_t sizes[GPU_MAX_SUB_GROUP_SIZES]);
/* What all its kernels and plans depend on, as a line of text. */
void gpu_target_text(const struct gpu_description *d, char *text, size_t size);
/* As in device.list. */
void gpu_pack_device(msgpack_packer *k, const struct gpu_description *d);
