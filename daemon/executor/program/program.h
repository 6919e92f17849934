/*
 * What an executable does, as the compiler described it: docs/protocol.md, "The program". This room holds all that is
 * loaded: programs, executables made of them, and the memory they use (attached buffers, variables and pipes). Bytes
 * and descriptors of the broker come in; what goes out is checked, so that running it needs no further checks. It knows
 * devices as tables of functions (device.h).
 */
#pragma once

#include "daemon/executor/program/program_types.h"

/* Trusts nothing: whatever comes out has all indices, offsets and sizes checked. NULL with the error. */
struct program *program_decode(const void *bytes, size_t size, device_finder *find_device, struct error *e);
void program_free(struct program *p); /* NULL is fine */
