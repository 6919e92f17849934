/* Where a work-item stands: its frames and their slots. */
#pragma once

#include "ir/interp/machine.h"

static inline struct frame *interp_item_frame(const struct item *item)
{
    return &item->frames[item->n_frames - 1];
}
static inline const struct code_inst *interp_item_at(const struct item *item)
{
    return interp_item_frame(item)->pc;
}
const uint64_t *interp_item_value(const struct item *item, const struct operand *o);
uint64_t *interp_item_slot(const struct item *item, uint32_t index);
/* Operand i of the instruction the work-item is at, and the slots of its result. */
const uint64_t *interp_item_operand(const struct item *item, uint32_t i);
uint64_t *interp_item_result(const struct item *item);
void interp_item_advance(struct item *item); /* behind that instruction */
