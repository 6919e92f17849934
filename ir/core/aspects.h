/* Aspects: optional features of devices (SYCL 2020 section 4.6.4.5), as a bit set. */
#pragma once

#include <stdint.h>

/* clang-format off */
#define IR_ASPECTS(X) \
    X(CPU, "cpu") \
    X(GPU, "gpu") \
    X(ACCELERATOR, "accelerator") \
    X(FP16, "fp16") \
    X(FP64, "fp64") \
    X(ATOMIC64, "atomic64") \
    X(IMAGE, "image") \
    X(ONLINE_COMPILER, "online_compiler") \
    X(USM_DEVICE, "usm_device_allocations") \
    X(USM_HOST, "usm_host_allocations") \
    X(USM_SHARED, "usm_shared_allocations") \
    X(SUB_GROUPS, "sub_groups") \
    X(PIPES, "pipes") \
    X(FLOAT_ATOMICS, "float_atomics") \
    X(GENERIC_SPACE, "generic_address_space") \
    X(GRAPH_FUSION, "ext_oneapi_graph_fusion")
/* clang-format on */

enum {
#define X(id, text) IR_ASPECT_BIT_##id,
    IR_ASPECTS(X)
#undef X
        IR_ASPECT_COUNT
};

enum {
#define X(id, text) IR_ASPECT_##id = 1 << IR_ASPECT_BIT_##id,
    IR_ASPECTS(X)
#undef X
};

/* The name of bit number `bit`, or NULL. */
const char *ir_aspect_name(unsigned bit);
/* The bit number of a name, or -1. */
int ir_aspect_find(const char *name);
