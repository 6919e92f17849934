/* A walk over a kernel that knows which numbers its integers can be. */
#pragma once

#include "fuser/passes/integers/known_ranges.h"

/* k: what is known where the walk stands, behind the instruction. */
typedef void known_ranges_visit(const struct known_ranges *k, struct ir_inst *inst, void *data);
/* Visits each instruction once, those inside of an if or a loop before it. Numbers the values (pass_number()). */
void known_ranges_walk(struct ir_function *f, known_ranges_visit *visit, void *data);
