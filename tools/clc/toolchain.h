/* The user's compiler of OpenCL C: clang, and the translator of the same LLVM version to SPIR-V. */
#pragma once

#include <limits.h>
#include <stdbool.h>

struct toolchain {
    char clang[PATH_MAX], translator[PATH_MAX];
};

/* FUSIOND_CLANG and FUSIOND_LLVM_SPIRV, where both are set; else the pair of the first known version on PATH. False:
   there is none, and *missing says what would be one. */
bool toolchain_find(struct toolchain *t, const char **missing);
