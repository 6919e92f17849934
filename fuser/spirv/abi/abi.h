/*
 * How kernels are launched: the contract between fuser/spirv (which writes them) and the executor
 * (which dispatches them). A change of it must change SPIRV_ABI_VERSION, which is part of every cache key.
 *
 * A module of the Vulkan dialect has one entry point, of the name SPIRV_ENTRY_NAME. All it is given lies in a block of
 * memory, whose address is in the push constants: struct spirv_launch, and SPIRV_ARGUMENTS bytes from its beginning the
 * arguments as ir_param_layout() says. The first SPIRV_UNIFORM_BYTES of it are the uniform buffer of set 0, binding 0,
 * too, from where GPUs read what is the same for all for next to nothing. Among the arguments, buffers are addresses,
 * scalars and by-value structs lie inline, and the 8 bytes of a local pointer hold the offset of its memory in that of
 * the work-group.
 *
 * A kernel of the kernel dialect for a target with SPIRV_LAUNCH_BLOCK is given the same block, as the parameters that
 * enum spirv_kernel_parameter says; memory of the work-group is a parameter then, but for the kernel's own variables.
 */
#pragma once

#include <stdint.h>

#define SPIRV_ENTRY_NAME "main"

enum {
    SPIRV_ABI_VERSION = 8,
    SPIRV_ARGUMENTS = 128,       /* bytes from the block's beginning to the arguments */
    SPIRV_UNIFORM_BYTES = 16384, /* what each driver takes */
    SPIRV_BLOCK_ALIGN = 128,     /* of the block, of constants, and of each local pointer's memory */
};

/* Push constants, from offset 0 on. */
struct spirv_push {
    uint64_t launch;        /* address of the block */
    uint32_t group_base[3]; /* added to the ids of work-groups: a launch may take several dispatches */
    uint32_t zero;          /* which compilers of drivers do not know */
};

/* Where a launch is; the same for each of its dispatches. Kernels write cut_short only. */
struct spirv_launch {
    uint64_t global_size[3];   /* work-items; unused dimensions 1 */
    uint64_t global_offset[3]; /* unused dimensions 0 */
    uint64_t local_size[3];    /* work-items of a complete work-group; unused dimensions 1 */
    uint64_t num_groups[3];    /* ceil(global / local); the last one of a dimension may be incomplete */
    uint64_t constants;        /* address of struct spirv_module's constants; any where it has none */
    uint32_t dims;             /* 1 to 3 */
    uint32_t
        cut_short;   /* becomes 1 where the driver ended a loop that the kernel did not: of use are no results then */
    uint64_t prints; /* address of a struct spirv_prints (print.h), for kernels that print */
};

/* Parameters of the kernel dialect. */
enum spirv_kernel_parameter {
    SPIRV_KERNEL_BLOCK, /* address of the block, in constant memory */
    SPIRV_KERNEL_LOCAL, /* local memory: struct spirv_module's item_bytes of each work-item, then that of local pointers
                         */
    SPIRV_KERNEL_BASE_X, /* 32 bits each: added to the ids of work-groups */
    SPIRV_KERNEL_BASE_Y,
    SPIRV_KERNEL_BASE_Z,
    SPIRV_KERNEL_PARAMETERS
};

/* Specialization constants, all of 32 bits. The kernel dialect has SPIRV_SPEC_ITEMS, for a target with
   SPIRV_SPECIALIZES: with items above 1 the block's local_size and num_groups are those of the dispatch. */
enum spirv_spec {
    SPIRV_SPEC_SIZE_X, /* work-items that a dispatch's work-groups have: those of a complete one, or of an incomplete */
    SPIRV_SPEC_SIZE_Y, /* one where struct spirv_module says whole_groups */
    SPIRV_SPEC_SIZE_Z,
    SPIRV_SPEC_LOCAL_BYTES, /* of work-group memory: local_bytes, and the memory of local pointers behind that */
    SPIRV_SPEC_SURPLUS,     /* bits: dimensions in which there may be work-items outside of the range; by default all */
    SPIRV_SPEC_ITEMS,       /* work-items that one does in x: struct spirv_module's items, or 1, the default. With items
                               above 1, dispatches are of complete work-groups in x, of any size */
};
