/* Translation units: modules from files, with the targets that a command line fixes. */
#pragma once

#include <stdbool.h>

#include "fuser/features/device_config.h"
#include "ir/core/ir.h"

struct units {
    uint32_t n;
    struct ir_module **modules;
};

/* Every function that is defined in them is for the fixed targets (names with commas; NULL: none are fixed), but those
   that say something themselves. Warnings go to standard error, and so does what is wrong with a file; what else is
   wrong is the error. To be cleared either way. */
bool units_read(struct units *u, uint32_t n, char *const *paths, const char *fixed, const struct device_config *c,
                struct error *e);
void units_clear(struct units *u);
/* An ir_warn that prints. */
bool units_warn(void *data, const char *text);
