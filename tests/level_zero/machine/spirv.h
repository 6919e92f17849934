/*
 * What the driver must know of a module: its kernels and their parameters, the capabilities that it asks for, the
 * constants that can be specialized. Everything else is for the compiler.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum spirv_parameter_kind { SPIRV_VALUE, SPIRV_GLOBAL_POINTER, SPIRV_LOCAL_POINTER, SPIRV_OPAQUE };

struct spirv_parameter {
    enum spirv_parameter_kind kind;
    uint32_t size; /* bytes; of a local pointer: any */
};

struct spirv_kernel {
    char *name;
    uint32_t entry, function;  /* ids: the entry point's, and that of its type's function */
    uint32_t required_size[3]; /* zeros: any */
    uint32_t sub_group_size;   /* 0: any */
    uint32_t n_parameters;
    struct spirv_parameter *parameters;
};

struct spirv_module {
    uint32_t n_kernels;
    struct spirv_kernel *kernels;
    uint32_t n_capabilities;
    uint32_t *capabilities;
    bool imports; /* functions of other modules */
};

/* False where the words are no module that one can read; it must be a valid one (spirv_is_valid) to be read right. */
bool spirv_read(struct spirv_module *m, const uint32_t *words, size_t n_words);
void spirv_free(struct spirv_module *m);
const struct spirv_kernel *spirv_find_kernel(const struct spirv_module *m, const char *name);

/* Whether the validator takes it, which says nothing about capabilities; if not, *message (to be freed) says why. */
bool spirv_is_valid(const uint32_t *words, size_t n_words, char **message);

/* Gives the specialization constant of that id another value, of as many bytes as it has. False: there is none. */
bool spirv_specialize(uint32_t *words, size_t n_words, uint32_t id, const void *value);
