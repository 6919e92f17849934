/* Modules of the corpus, for tests. */
#pragma once

#include "ir/core/ir.h"

/* From a file of SPIR-V, which the reader takes. To be freed. */
struct ir_module *read_module(const char *path);
