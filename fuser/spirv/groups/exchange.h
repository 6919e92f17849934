/*
 * Words in memory of the work-group, by which its work-items tell each other numbers: rows of them, each with a word
 * for each work-item. In Vulkan it is a variable of the module, in the kernel dialect the beginning of the launch's
 * local memory.
 */
#pragma once

#include "fuser/spirv/base/body.h"

/* How many words a row has: the work-items of a work-group. */
uint32_t spw_exchange_items(struct spw *w);
/* A word at a work-item's place of a row is written, or read. Between the two, and before the next, work-items wait. */
void spw_exchange_put(struct spw *w, unsigned row, uint32_t at, uint32_t x);
uint32_t spw_exchange_get(struct spw *w, unsigned row, uint32_t at);
void spw_exchange_wait(struct spw *w);
/* Once the function is written, before the entry point: how many rows there are is known then. */
void spw_exchange_close(struct spw *w);
