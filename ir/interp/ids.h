/* Where a work-item is: ids and sizes. */
#pragma once

#include "ir/interp/machine.h"

/* False: not one of these operations. */
bool interp_item_query(const struct machine *m, const struct item *item, const struct ir_inst *inst, uint64_t *r);
/* The linear id of a work-item. */
uint64_t interp_global_linear(const struct machine *m, const struct item *item);
void interp_item_of_number(const struct machine *m, uint32_t number, uint64_t global[3]);
