/* Kernels for a GPU: SPIR-V, as an object that its executor takes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/diag.h"
#include "ir/core/ir.h"

struct gpu_description;

/* Whether it can be written for the GPU; false: with findings. */
bool gpu_can_compile(const struct ir_function *kernel, const struct gpu_description *gpu, struct diag_list *findings);
/* 0 with bytes to be freed; -1 with findings: the kernel cannot be said or the device lacks something; -2 with
   findings: a defect. */
int gpu_compile(const struct ir_function *kernel, const struct gpu_description *gpu, uint8_t **bytes, size_t *size,
                struct diag_list *findings);
