/* What a module that can be read may still not be. */
#pragma once

#include "daemon/compiler/job.h"
#include "ir/core/ir.h"

/* 0, or -1 with the error: it has nothing in it, or a kernel writes through a parameter that it
   declares to be read, or reaches functions for targets that have none in common. */
int module_check(const struct ir_module *m, const char *name, struct error *e);
