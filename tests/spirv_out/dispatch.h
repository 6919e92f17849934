/* Runs what is written for Vulkan on whatever device the loader has first, by itself: nothing of the product's
 * executor. */
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
/* Memory that the device sees, of one program: it goes with dispatch_reset(). */
void *dispatch_memory(struct dispatcher *d, size_t size, uint64_t *address);
void dispatch_reset(struct dispatcher *d);
/* One launch with its arguments as they lie in memory; local: bytes of local pointers behind the kernel's own. */
bool dispatch_run(struct dispatcher *d, const struct spirv_module *m, const struct nd_range *range, const void *args,
                  uint32_t local_bytes);
