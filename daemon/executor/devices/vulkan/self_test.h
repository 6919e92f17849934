/* What the driver's arithmetic, and its addresses, are worth: computed by it and compared, as its promises are weaker
 * than what kernels need. */
#pragma once

#include "daemon/gpu/description.h"
#include "ir/base/error.h"

/* Sets what it says of how arithmetic rounds. 0, or -1 where the device does not compute what kernels need. */
int vulkan_self_test(struct gpu_description *d, struct error *e);
