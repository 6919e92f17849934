/* Texels for compiled kernels: the functions of struct kernel_functions. */
#pragma once

#include "fuser/cpu/abi/kernel_abi.h"

void kernel_image_read(const struct ir_image *image, uint32_t mode, uint64_t lanes, uint32_t stride,
                       const uint32_t *coordinates, uint32_t *texels);
void kernel_image_write(const struct ir_image *image, uint32_t mode, uint64_t lanes, uint32_t stride,
                        const uint32_t *coordinates, const uint32_t *texels);
void kernel_image_block_read(const struct ir_image *image, uint32_t bytes, uint32_t n, uint64_t lanes, uint32_t stride,
                             const uint32_t *coordinates, void *numbers);
void kernel_image_block_write(const struct ir_image *image, uint32_t bytes, uint32_t n, uint64_t lanes, uint32_t stride,
                              const uint32_t *coordinates, const void *numbers);
