/* Where a work-item is. */
#pragma once

#include "fuser/spirv/base/body.h"

/* The value of an operation of that class, computed once at the kernel's beginning. */
uint32_t spw_id_of(struct spw *w, enum ir_op op, unsigned dim);
/* Of a launch's block: a number of struct spirv_launch or of the arguments, at its offset from the block's beginning.
 */
uint32_t spw_launch_number(struct spw *w, enum ir_kind kind, uint32_t offset);
uint32_t spw_launch_address(struct spw *w); /* of the block */
/* Vulkan: an integer that is 0, which nobody knows when the kernel is compiled. */
uint32_t spw_unseen_zero(struct spw *w, enum ir_kind kind);
/* Vulkan: whether the work-item lies in the ND-range, a bool; wherever a dispatch has more. In x a kernel whose
   work-items do several sees to that itself. */
uint32_t spw_inside_range(struct spw *w);
/* Vulkan: how many work-items of the kernel one does, as a specialization constant. */
uint32_t spw_items(struct spw *w);
/* Vulkan: the sizes of work-groups as specialization constants. */
uint32_t spw_group_size(struct spw *w, unsigned dim);
uint32_t spw_group_items(struct spw *w); /* their product */
void spw_declare_group_size(struct spw *w);
/* The linear id in the work-group, of 32 bits, where sub-groups are written out. Vulkan does not say which work-items
   are a sub-group: so there it is ids that are made of sub-groups. */
uint32_t spw_linear_in_sub_groups(struct spw *w);
