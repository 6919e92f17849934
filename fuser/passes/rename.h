/* Names for values that move into a function: each name once. */
#pragma once

#include "ir/base/name_map.h"
#include "ir/core/ir.h"

struct rename {
    struct names names;
};

/* Learns the names of f. */
void rename_open(struct rename *r, struct ir_function *f);
void rename_close(struct rename *r);
/* The value's name, where taken, becomes name.1, name.2 ... (y.3 after y.2, not y.2.1). */
void rename_value(struct rename *r, struct ir_module *m, struct ir_value *v);
