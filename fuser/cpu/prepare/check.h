/* What there is no code for. */
#pragma once

#include <stdbool.h>

#include "ir/base/diag.h"
#include "ir/core/ir.h"

/* Adds a finding for each operation of a kernel that there is no code for; pipeline_code has run on it. */
bool check_kernel(const struct ir_function *kernel, struct diag_list *list);
