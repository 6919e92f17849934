/* What SPIR-V is written for: who reads it, and what the device behind that can do. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum spirv_dialect {
    SPIRV_KERNEL, /* OpenCL and Level Zero */
    SPIRV_VULKAN,
};

/* What a device can do beyond the least, as bits of 64; names as in Vulkan. */
enum spirv_feature {
    SPIRV_INT8 = 1ull << 0,
    SPIRV_INT16 = 1ull << 1,
    SPIRV_INT64 = 1ull << 2,
    SPIRV_FLOAT16 = 1ull << 3,
    SPIRV_FLOAT64 = 1ull << 4,
    SPIRV_STORAGE8 = 1ull << 5,        /* memory is accessed in bytes */
    SPIRV_STORAGE16 = 1ull << 6,       /* and in units of 16 bits */
    SPIRV_ATOMIC64_GLOBAL = 1ull << 7, /* atomics of 64 bits, by the memory they are in */
    SPIRV_ATOMIC64_LOCAL = 1ull << 8,
    SPIRV_ATOMIC_FADD32 = 1ull << 9, /* float sums: atomics in global memory, in the kernel dialect in all */
    SPIRV_ATOMIC_FADD64 = 1ull << 10,
    SPIRV_FMA32 = 1ull << 11,            /* GLSL.std.450's Fma rounds once, by width */
    SPIRV_EXACT_DIVISION32 = 1ull << 12, /* OpFDiv is correctly rounded */
    SPIRV_EXACT_SQRT32 = 1ull << 13,
    SPIRV_KEEPS_DENORMALS32 = 1ull << 14, /* DenormPreserve can be asked for, by width */
    SPIRV_KEEPS_DENORMALS16 = 1ull << 15,
    SPIRV_KEEPS_DENORMALS64 = 1ull << 16,
    SPIRV_KEEPS_SPECIALS = 1ull << 17, /* so can SignedZeroInfNanPreserve, in all widths that the device has */
    SPIRV_ROUNDS_TO_EVEN = 1ull << 18, /* and RoundingModeRTE */
    SPIRV_EXPLICIT_LOCAL = 1ull << 19, /* workgroup_memory_explicit_layout, of all widths */
    SPIRV_SUB_GROUP_ROTATE = 1ull << 20,
    SPIRV_KEEPS_LOOP_VALUES = 1ull << 21, /* what a work-item leaves a loop with stays so while others go on in it */
    SPIRV_FMA64 = 1ull << 22,
    SPIRV_EXACT_DIVISION64 = 1ull << 23,
    SPIRV_EXACT_SQRT64 = 1ull << 24,
    SPIRV_LONG_LOOPS = 1ull << 25,  /* loops end when the kernel says; else launches tell where they did not */
    SPIRV_LONE_FENCES = 1ull << 26, /* work-items of a work-group may come to different fences, and numbers of them */
    SPIRV_KNOWS_SPECIALS = 1ull << 27, /* zeros, infinities and NaNs that are constants are no worse than others */
    /* Of the kernel dialect, which of the others asks for numbers and atomics only. */
    SPIRV_LAUNCH_BLOCK = 1ull << 28, /* kernels are given a launch's block (abi.h) instead of their parameters */
    SPIRV_GROUPS = 1ull << 29,       /* the device has instructions of groups; else SPIRV_LAUNCH_BLOCK is needed */
    SPIRV_SPECIALIZES = 1ull << 30,  /* who loads a module gives its specialization constants */
    SPIRV_PIPES = 1ull << 31,        /* pipes of modules are pipes, for whoever compiles it */
    /* Of float quotients and roots, where they are not exact. */
    SPIRV_NORMAL_DIVISION32 = 1ull << 32, /* OpFDiv is where operands and the quotient are normal; others become 0 */
    SPIRV_QUICK_SQRT32 = 1ull << 33,      /* a step from InverseSqrt gives the nearest root (ir/formula/quotient.h) */
    /* Float extremes by atomics: the kernel dialect's. */
    SPIRV_ATOMIC_FMINMAX32 = 1ull << 34,
    SPIRV_ATOMIC_FMINMAX64 = 1ull << 35,
};

/* Those that no driver tells, which are found out by trying. */
enum {
    SPIRV_TRIED = SPIRV_FMA32 | SPIRV_FMA64 | SPIRV_EXACT_DIVISION32 | SPIRV_EXACT_DIVISION64 | SPIRV_EXACT_SQRT32 |
                  SPIRV_EXACT_SQRT64 | SPIRV_KEEPS_LOOP_VALUES | SPIRV_LONG_LOOPS | SPIRV_LONE_FENCES |
                  SPIRV_KNOWS_SPECIALS | SPIRV_NORMAL_DIVISION32 | SPIRV_QUICK_SQRT32
};

struct spirv_target {
    enum spirv_dialect dialect;
    uint32_t version;                      /* of SPIR-V, as in a module's second word: 0x00010500 */
    uint64_t features;                     /* enum spirv_feature */
    uint32_t min_sub_group, max_sub_group; /* work-items in a sub-group that can be asked for; 0: none */
    uint32_t sub_group;                    /* without being asked */
};
