/* Attributes of a kernel and of pipes that it has, that SPIR-V has no place for, as texts (docs/spirv.md,
 * "Attributes"). */
#pragma once

#include "fuser/spirv/base/body.h"

void spw_attributes(struct spw *w);
