/* What is wrong with a module as a whole, so that nothing of it can be read. */
#pragma once

#include <stdbool.h>

#include "ir/base/diag.h"

struct spirv_findings {
    struct diag_list *list;
    bool failed; /* for a reason that concerns the whole module */
};

void spirv_fail_module(struct spirv_findings *findings, const char *format, ...) __attribute__((format(printf, 2, 3)));
