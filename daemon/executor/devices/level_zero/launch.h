/* The launches of an executable on device level_zero: a module and a kernel of the driver's for each. */
#pragma once

#include "daemon/executor/devices/gpu/kept.h"
#include "daemon/executor/devices/gpu/pieces.h"
#include "daemon/executor/devices/level_zero/driver.h"
#include "daemon/executor/program/executables.h"

struct level_zero_launch {
    struct launch_code code;
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
    struct gpu_piece pieces[GPU_PIECES];
    uint32_t n_pieces;
    uint32_t items;       /* that each work-item does; above 1 there is one piece */
    uint64_t local_bytes; /* of the launch, for a work-group */
    void *prints;         /* memory of the host that it prints into; NULL: it does not */
    struct gpu_kept kept;
};

/* executable.of_device */
struct level_zero_executable {
    struct level_zero_batch *batches; /* commands.c */
};

/* What the driver makes of the SPIR-V, which knows of no launch. */
gpu_binary_maker level_zero_make_binary;
/* From the object in a sealed memfd, which stays the caller's. NULL with the error. */
struct launch_code *level_zero_launch_load(struct executable *x, uint32_t launch, int fd, struct error *e);
