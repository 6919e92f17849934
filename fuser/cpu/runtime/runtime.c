/* The table of what compiled kernels call. */
#include "fuser/cpu/runtime/runtime.h"

#include "fuser/cpu/runtime/image.h"
#include "fuser/cpu/runtime/pipe.h"
#include "fuser/cpu/runtime/print.h"

const struct kernel_functions kernel_runtime = {
    .image_read = kernel_image_read,
    .image_write = kernel_image_write,
    .image_block_read = kernel_image_block_read,
    .image_block_write = kernel_image_block_write,
    .pipe_read = kernel_pipe_read,
    .pipe_write = kernel_pipe_write,
    .pipe_read_wait = kernel_pipe_read_wait,
    .pipe_write_wait = kernel_pipe_write_wait,
    .pipe_packets = kernel_pipe_packets,
    .pipe_reserve = kernel_pipe_reserve,
    .pipe_read_at = kernel_pipe_read_at,
    .pipe_write_at = kernel_pipe_write_at,
    .pipe_commit = kernel_pipe_commit,
    .print = kernel_print,
    .finding = kernel_finding,
};
