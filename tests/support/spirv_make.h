/* Modules of SPIR-V for tests: from OpenCL C through the compilers of users, or from assembler. */
#pragma once

#include "ir/spirv/spirv.h"

/* clang and its translator to SPIR-V are here, in one of the versions that tests/corpus/build-module knows. */
bool spirv_make_can_compile(void);
/* What the source becomes at a level of optimization ("O0", "O2"), to be freed. Fails the test where it does not
   compile. The source may have the directives of tests/corpus/build-module. */
uint8_t *spirv_make_compiled(const char *source, const char *level, size_t *size);
/* The module that is read from it; fails the test where it cannot be. */
struct ir_module *spirv_make_module(const char *source, const char *level);
/* What the text becomes through spirv-as (SPIR-V 1.2), to be freed. */
uint8_t *spirv_make_assembled(const char *text, size_t *size);
