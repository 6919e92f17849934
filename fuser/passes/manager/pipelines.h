/* The lists of passes that planning uses. Those of code generation are in fuser/cpu. */
#pragma once

#include "fuser/passes/manager/pass_manager.h"

extern const struct pipeline pipeline_cleanup; /* a fused kernel, and what it is compared with */
extern const struct pipeline
    pipeline_analysis; /* a copy whose accesses can be told: no calls, no variables, no short loops */
extern const struct pipeline pipeline_contract; /* a kernel as it came becomes one with fma where it may */
