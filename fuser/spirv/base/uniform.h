/* Numbers of a launch's block, in Vulkan, as its uniform buffer has them. */
#pragma once

#include "fuser/spirv/base/body.h"

/* Of 32 or 64 bits, so many bytes behind the block's beginning, at a multiple of its size. */
uint32_t spw_uniform(struct spw *w, unsigned bits, uint32_t offset);
/* The buffer's type, once all that is read of it is known. */
void spw_uniform_close(struct spw *w);
