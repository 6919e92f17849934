/* Allocations and addresses. */
#pragma once

#include "ir/interp/machine.h"

void interp_memory_init(struct memory *memory);
void interp_memory_finish(struct memory *memory);
/* The address of a new allocation; 0 when there are too many. */
uint64_t interp_memory_add(struct memory *memory, const struct allocation *allocation);
void interp_memory_end(struct memory *memory, uint64_t address); /* later accesses are use after return */
struct allocation *interp_memory_find(struct memory *memory, uint64_t address); /* NULL: no such allocation */
int64_t interp_memory_offset(uint64_t address);
/* Where it is in this process: the same for addresses of the same byte, by whatever allocations; 0 for null. */
uint64_t interp_memory_place(struct memory *memory, uint64_t address);
/* An address that may be one in this process as one of the interpreter's; as it is where no memory is known there. */
uint64_t interp_memory_own(struct machine *m, uint64_t address);
/* "argument 2 `t` (4096 bytes)" into buf; returns buf. */
const char *interp_memory_describe(const struct allocation *a, char *buf, size_t size);
