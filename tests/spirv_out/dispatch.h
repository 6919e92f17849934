/* Runs what is written for Vulkan (dispatch.c) or Level Zero (dispatch_level_zero.c) on whatever device the loader has
 * first, by itself: nothing of the product's executor. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fuser/spirv/abi/module.h"
#include "fuser/spirv/abi/target.h"
#include "ir/base/nd_range.h"

struct dispatcher;

/* NULL: no device that has what is needed; why is said on stderr. */
struct dispatcher *dispatch_open(void);
void dispatch_close(struct dispatcher *d);
const char *dispatch_device(const struct dispatcher *d);
/* What the device can do. */
const struct spirv_target *dispatch_target(const struct dispatcher *d);
/* The version of PoCL that computes behind it, like "3.1"; "": none does. */
const char *dispatch_pocl(const struct dispatcher *d);
/* Memory that the device sees, of one program: it goes with dispatch_reset(). */
void *dispatch_memory(struct dispatcher *d, size_t size, uint64_t *address);
void dispatch_reset(struct dispatcher *d);
/* Bytes of a work-group's memory before that of local pointers. */
uint32_t dispatch_own_local(const struct dispatcher *d, const struct spirv_module *m, const struct nd_range *range);
/* One launch with its arguments as they lie in memory; local: bytes of local pointers behind the kernel's own. items:
   of the module, or 1. */
bool dispatch_run(struct dispatcher *d, const struct spirv_module *m, const struct nd_range *range, const void *args,
                  uint32_t local_bytes, uint32_t items);
