/* Every module is looked at before anybody uses it. */
#pragma once

#include <stdbool.h>

#include "fuser/spirv/abi/module.h"
#include "fuser/spirv/abi/target.h"
#include "ir/base/diag.h"

/* By SPIRV-Tools, for the target's environment, and by rules of Vulkan that these do not know (rules.h). False: with
 * what it says, as a finding. */
bool spirv_validate(const struct spirv_module *m, const struct spirv_target *target, const char *kernel,
                    struct diag_list *list);
