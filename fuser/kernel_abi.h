/*
 * How compiled CPU code is called. The contract between fuser/gccjit (which makes the code) and the
 * executor (which loads and calls it); a change of it must change KERNEL_ABI_VERSION, which is part of
 * every cache key.
 */
#pragma once

#include <stdint.h>

enum { KERNEL_ABI_VERSION = 1 };

/* Where a launch is; the same for each work-group of it. */
struct kernel_launch {
    uint64_t global_size[3];   /* work-items; unused dimensions 1 */
    uint64_t global_offset[3]; /* unused dimensions 0 */
    uint64_t local_size[3];    /* work-items of a complete work-group; unused dimensions 1 */
    uint64_t num_groups[3];    /* ceil(global / local); the last one of a dimension may be incomplete */
    uint32_t dims;             /* 1 to 3 */
    uint32_t flags;            /* enum kernel_launch_flag */
};

enum kernel_launch_flag {
    /* The buffers the kernel only writes are larger than the caches and are not read back soon:
       stores past the cache pay. */
    KERNEL_LAUNCH_STREAM = 1 << 0,
};

/*
 * Runs the work-groups first <= g < end of the launch, g = linear group id, x fastest.
 *   args   the argument block, laid out as ir_param_layout() says: buffers as addresses, scalars and
 *          by-value structs inline; of a local pointer its 8 bytes hold the offset of its memory in `local`
 *   local  work-group memory of `local_bytes` (see struct kernel_object_info), 64-byte aligned, one per
 *          calling thread; contents undefined. In this order, each part starting at a multiple of 64:
 *          the kernel's own local variables, scratch_per_item * work-items of a complete work-group,
 *          the memory of local pointers
 * Several threads call it at the same time for different groups.
 */
typedef void kernel_entry(const struct kernel_launch *launch, const void *args, uint64_t first, uint64_t end, void *local);

/* An object exports its entry under this name, and this one record about it. */
#define KERNEL_ENTRY_SYMBOL "fusion_kernel"
#define KERNEL_INFO_SYMBOL "fusion_kernel_info"

struct kernel_object_info {
    uint32_t abi_version;
    uint32_t lanes;             /* work-items computed at once, 1: scalar code */
    uint32_t args_size;         /* bytes of the argument block */
    uint32_t static_local_size; /* bytes of `local` the kernel's own local variables take, at its start */
    uint32_t scratch_per_item;  /* further bytes of `local` per work-item of a group (values across barriers) */
    uint32_t sub_group_size;
};
