/* Attributes of a kernel that SPIR-V has no place for, as texts (docs/spirv.md, "Attributes"). */
#pragma once

#include "fuser/spirv/base/body.h"

void spw_attributes(struct spw *w);
