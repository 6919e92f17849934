/* Operations of groups in Vulkan. */
#pragma once

#include "fuser/spirv/base/body.h"

/* Collectives, operations of sub-groups, and queries. */
void spw_written_group(struct spw *w, const struct ir_inst *inst);
