/*
 * The work-items of a sub-group, and how one gets what another has, where the writer does that. In Vulkan a kernel's
 * sub-group is a device's where the device has that size; it is a part of one where the device's are larger. Where they
 * are smaller, or the device has none (in the kernel dialect: a work-item is one by itself), its work-items
 * exchange what they have through memory of the work-group, and must all be there: those of the whole work-group.
 */
#pragma once

#include "fuser/spirv/base/body.h"

/* Chooses the sizes of the kernel's and of the device's sub-groups; says what cannot be. */
void spw_members_open(struct spw *w);
uint32_t spw_members_query(struct spw *w, enum ir_op op);

/* Do its work-items talk through memory of the work-group? And do all come to what is being written, as they must: if
   not it is said. */
bool spw_exchanges(const struct spw *w);
bool spw_come_to_exchange(struct spw *w);

/* A word of 32 bits that the member with that id has. */
uint32_t spw_fetch(struct spw *w, uint32_t x, uint32_t id);
/* Which members have a bool: 64 bits as two words, from the member with id 0 on. */
void spw_ballot(struct spw *w, uint32_t x, uint32_t words[2]);
