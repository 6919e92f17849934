/* Operations of groups in Vulkan. */
#include "fuser/spirv/groups/vulkan_group.h"

void spw_vulkan_group(struct spw *w, const struct ir_inst *inst)
{
    (void)inst;
    spw_fail(w, "cannot be written for Vulkan yet");
}
