/* Random valid modules from a seed: every operation, every type, every attribute. For tests of what
   must hold for all modules. They are not meant to be run: see random_kernel.h for that. */
#pragma once

#include "ir/core/ir.h"

struct random_module_options {
    uint32_t functions;    /* 0: up to 5 */
    uint32_t instructions; /* in a function, about; 0: 40 */
    uint32_t depth;        /* of blocks; 0: 3 */
};

/* options may be NULL. */
struct ir_module *random_module(uint64_t seed, const struct random_module_options *options);
