/* Aspects: optional features of devices (SYCL 2020 section 4.6.4.5), as a bit set. Each has the number that the
   standard's implementations give it, which files of requirements are written with; ours, which SYCL does not have, are
   numbered from IR_ASPECT_OWN_NUMBERS on. Modules may know others (ir/core/module_aspects.h), whose bits follow. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { IR_ASPECT_OWN_NUMBERS = 0x10000 };

/* clang-format off */
#define IR_ASPECTS(X) \
    X(CPU, "cpu", 1) \
    X(GPU, "gpu", 2) \
    X(ACCELERATOR, "accelerator", 3) \
    X(FP16, "fp16", 5) \
    X(FP64, "fp64", 6) \
    X(ATOMIC64, "atomic64", 28) \
    X(IMAGE, "image", 9) \
    X(ONLINE_COMPILER, "online_compiler", 10) \
    X(USM_DEVICE, "usm_device_allocations", 13) \
    X(USM_HOST, "usm_host_allocations", 14) \
    X(USM_SHARED, "usm_shared_allocations", 15) \
    X(SUB_GROUPS, "sub_groups", IR_ASPECT_OWN_NUMBERS) \
    X(PIPES, "pipes", IR_ASPECT_OWN_NUMBERS + 1) \
    X(FLOAT_ATOMICS, "float_atomics", IR_ASPECT_OWN_NUMBERS + 2) \
    X(GENERIC_SPACE, "generic_address_space", IR_ASPECT_OWN_NUMBERS + 3) \
    X(GRAPH_FUSION, "ext_oneapi_graph_fusion", IR_ASPECT_OWN_NUMBERS + 4) \
    X(HOST, "host", 0) \
    X(CUSTOM, "custom", 4) \
    X(ONLINE_LINKER, "online_linker", 11) \
    X(QUEUE_PROFILING, "queue_profiling", 12) \
    X(USM_SYSTEM, "usm_system_allocations", 17) \
    X(USM_ATOMIC_HOST, "usm_atomic_host_allocations", 26) \
    X(USM_ATOMIC_SHARED, "usm_atomic_shared_allocations", 27) \
    X(HOST_DEBUGGABLE, "host_debuggable", 32) \
    X(EMULATED, "emulated", 40)
/* clang-format on */

enum {
#define X(id, text, number) IR_ASPECT_BIT_##id,
    IR_ASPECTS(X)
#undef X
        IR_ASPECT_COUNT
};

enum {
#define X(id, text, number) IR_ASPECT_##id = 1 << IR_ASPECT_BIT_##id,
    IR_ASPECTS(X)
#undef X
};

/* Extensions whose functions a device with these aspects has, one after the other; *i begins with 0. NULL: there are no
   more. */
const char *ir_extension_next(unsigned *i, uint64_t aspects);

/* The name of bit number `bit`, or NULL. */
const char *ir_aspect_name(unsigned bit);
/* The bit number of a name, or -1. */
int ir_aspect_find(const char *name);
/* The number of bit number `bit`, which is one of those above. */
uint32_t ir_aspect_number(unsigned bit);
