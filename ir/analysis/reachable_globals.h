/* Variables that something needs: those it names, and those whose addresses lie in what it needs. */
#pragma once

#include <stdbool.h>

#include "ir/core/ir.h"

struct ir_held {
    const struct ir_module *module;
    bool *has;                     /* by scratch, which is the number in the module's list and must stay */
    const struct ir_global **list; /* in the order in which they were found */
    uint32_t n;
};

void ir_held_open(struct ir_held *h, const struct ir_module *m);
void ir_held_close(struct ir_held *h);
/* Adds a variable of the module, and what it holds addresses of. */
void ir_held_add(struct ir_held *h, const struct ir_global *g);
