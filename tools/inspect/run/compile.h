/* Kernels written as SPIR-V into files. */
#pragma once

#include <stdbool.h>

#include "fusiond/fusiond.h"

struct compile_request {
    const char *spirv;   /* a file, or a folder, where each kernel gets a file of its name */
    const char *dialect; /* "kernel" or "vulkan"; NULL: "kernel" */
};

/* The kernels of a module, text or SPIR-V, by themselves. False with a message. */
bool compile_module(const char *path, const struct compile_request *r);
/* Those of an executable's launches. */
bool compile_launches(const fusion_exec *exec, const struct compile_request *r);
