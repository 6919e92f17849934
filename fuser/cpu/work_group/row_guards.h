/* Ifs around all that work-items do. */
#pragma once

#include "fuser/cpu/emit/control.h"

/* The if without whose branches a work-item does nothing from `first` up to `end`; NULL: it does. */
const struct ir_inst *row_guard(const struct ir_inst *first, const struct ir_inst *end);
/* Goes to `skip` where one of the conditions that are computed already (by instruction number) keeps all work-items
   from doing anything. Else they hold: which, by instruction number; NULL: none. */
const int8_t *row_guards_ask(struct emit *e, const struct ir_inst *first, const lval *conditions, gcc_jit_block *skip);
