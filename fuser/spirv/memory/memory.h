/* Variables, addresses, loads, stores and copies. */
#pragma once

#include "fuser/spirv/base/body.h"

/* Before the body: looks at what the kernel does with its own memory, and lays that out. */
void spw_memory_open(struct spw *w);
void spw_memory_close(struct spw *w);
/* The kernel's parameters get their values. */
void spw_params(struct spw *w);
void spw_memory_access(struct spw *w, const struct ir_inst *inst);

/* A value of type t at a pointer into a space; the alignment in bytes, at most that of the type. */
void spw_load(struct spw *w, ir_type t, enum ir_space space, uint32_t pointer, uint32_t align, bool is_volatile,
              uint32_t *parts);
void spw_store(struct spw *w, ir_type t, enum ir_space space, uint32_t pointer, uint32_t align, bool is_volatile,
               const uint32_t *parts);
/* A pointer and so many bytes: `by` is an i64. */
uint32_t spw_advance(struct spw *w, enum ir_space space, uint32_t pointer, uint32_t by);
uint32_t spw_advance_by(struct spw *w, enum ir_space space, uint32_t pointer, uint64_t bytes);
