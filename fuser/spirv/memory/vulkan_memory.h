/*
 * Memory in Vulkan. Global and constant memory is reached through addresses, 64-bit numbers that become a pointer at
 * each access. That of a work-group and that of a work-item are an array each, of integers as wide as the narrowest
 * access to it; pointers into them are offsets in bytes.
 */
#pragma once

#include "fuser/spirv/base/body.h"
#include "ir/base/strbuf.h"

struct spw_array {
    uint32_t id;          /* the variable; 0: not made yet */
    uint32_t unit;        /* bytes of an element */
    uint64_t size;        /* bytes */
    bool sized_by_launch; /* local pointers come behind */
};

struct spw_memory {
    struct spw_array local, private_;
    uint64_t *offsets; /* of variables of the module, by scratch: in local memory, or in the constants */
    bool *placed;      /* those constants that are there */
    struct strbuf constants;
};

/* Looks at the kernel, and gives each variable its place. */
void spw_arrays_open(struct spw *w);
void spw_arrays_close(struct spw *w);
uint32_t spw_variable_offset(struct spw *w, const struct ir_inst *var); /* a var's */
/* The address of a module's variable: a number as pointers to its space are. */
uint32_t spw_module_variable(struct spw *w, const struct ir_global *g);

/* A scalar number, not a bool, at a pointer. */
uint32_t spw_load_scalar(struct spw *w, enum ir_kind kind, enum ir_space space, uint32_t pointer, uint32_t align,
                         bool is_volatile);
void spw_store_scalar(struct spw *w, enum ir_kind kind, enum ir_space space, uint32_t pointer, uint32_t align,
                      bool is_volatile, uint32_t x);
/* Several of them side by side in global memory, at most four, whose alignment is at least their own. */
void spw_load_vector(struct spw *w, enum ir_kind kind, unsigned n, uint32_t address, uint32_t align, bool is_volatile,
                     uint32_t *scalars);
void spw_store_vector(struct spw *w, enum ir_kind kind, unsigned n, uint32_t address, uint32_t align, bool is_volatile,
                      const uint32_t *scalars);
/* Whether a generic pointer is one to local, or to private memory: a bool. */
uint32_t spw_generic_is(struct spw *w, uint32_t pointer, enum ir_space space);
/* A pointer of SPIR-V to an integer there, for an atomic. */
uint32_t spw_place(struct spw *w, enum ir_kind kind, enum ir_space space, uint32_t pointer);
