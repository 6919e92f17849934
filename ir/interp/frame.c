/* Values in frames. */
#include "ir/interp/frame.h"

const uint64_t *interp_item_value(const struct item *item, const struct operand *o)
{
    return o->constant ? o->constant : item->slots + interp_item_frame(item)->base + o->slot;
}

uint64_t *interp_item_slot(const struct item *item, uint32_t index)
{
    return item->slots + interp_item_frame(item)->base + index;
}

const uint64_t *interp_item_operand(const struct item *item, uint32_t i)
{
    return interp_item_value(item, &interp_item_at(item)->operands[i]);
}

uint64_t *interp_item_result(const struct item *item)
{
    return interp_item_slot(item, interp_item_at(item)->results[0]);
}

void interp_item_advance(struct item *item)
{
    interp_item_frame(item)->pc++;
    item->state = ITEM_RUNNING;
}
