/* What compiled kernels call: one table, which whoever runs them puts in the launch. */
#pragma once

#include "fuser/cpu/abi/kernel_abi.h"

extern const struct kernel_functions kernel_runtime;

/* image.c, pipe.c: see struct kernel_functions */
void kernel_image_read(const struct ir_image *image, uint32_t mode, uint64_t lanes, uint32_t stride,
                       const uint32_t *coordinates, uint32_t *texels);
void kernel_image_write(const struct ir_image *image, uint32_t mode, uint64_t lanes, uint32_t stride,
                        const uint32_t *coordinates, const uint32_t *texels);
void kernel_image_block_read(const struct ir_image *image, uint32_t bytes, uint32_t n, uint64_t lanes, uint32_t stride,
                             const uint32_t *coordinates, void *numbers);
void kernel_image_block_write(const struct ir_image *image, uint32_t bytes, uint32_t n, uint64_t lanes, uint32_t stride,
                              const uint32_t *coordinates, const void *numbers);
uint32_t kernel_pipe_read(struct kernel_pipe *pipe, uint64_t packet_size, void *packet);
uint32_t kernel_pipe_write(struct kernel_pipe *pipe, uint64_t packet_size, const void *packet);
uint32_t kernel_pipe_packets(struct kernel_pipe *pipe);
uint64_t kernel_pipe_reserve(struct kernel_pipe *pipe, uint32_t writes, uint32_t n);
uint32_t kernel_pipe_read_at(struct kernel_pipe *pipe, uint64_t packet_size, void *packet, uint64_t id, uint32_t index);
uint32_t kernel_pipe_write_at(struct kernel_pipe *pipe, uint64_t packet_size, const void *packet, uint64_t id,
                              uint32_t index);
void kernel_pipe_commit(struct kernel_pipe *pipe, uint32_t writes, uint64_t id);
/* print.c */
int32_t kernel_print(struct ir_printer *printer, uint64_t item, const char *format, uint64_t size, const void *args);
