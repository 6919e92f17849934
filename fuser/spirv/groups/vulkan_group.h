/* Operations of groups in Vulkan. */
#pragma once

#include "fuser/spirv/base/body.h"

void spw_vulkan_group(struct spw *w, const struct ir_inst *inst);
