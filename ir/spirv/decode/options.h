/* What a caller may say about a module that is read. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* A specialization constant that gets another value than its default one. */
struct ir_spirv_constant {
    uint32_t id;   /* SpecId */
    uint32_t size; /* of the value in bytes (of a bool 1); 0: whatever the constant has */
    uint64_t bits; /* of the value, zero-extended */
};

struct ir_spirv_options {
    const struct ir_spirv_constant *constants;
    size_t n_constants;
};
