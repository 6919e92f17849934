/* SPIR-V to the bitcode that an OpenCL device takes which does not read SPIR-V itself. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* To be freed; NULL: the translator does not take it, and *log (to be freed) is what it says. */
uint8_t *translate_to_bitcode(const uint8_t *spirv, size_t size, size_t *bitcode_size, char **log);
