/* The launches of an executable on device level_zero: a module and a kernel of the driver's for each. */
#pragma once

#include "daemon/executor/devices/level_zero/driver.h"
#include "daemon/executor/devices/level_zero/pieces.h"
#include "daemon/executor/program/executables.h"

struct level_zero_launch {
    struct launch_code code;
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
    struct level_zero_piece pieces[LEVEL_ZERO_PIECES];
    uint32_t n_pieces;
};

/* executable.of_device */
struct level_zero_executable {
    struct level_zero_batch *batches; /* commands.c */
};

/* From the object in a sealed memfd, which stays the caller's. NULL with the error. */
struct launch_code *level_zero_launch_load(struct executable *x, uint32_t launch, int fd, struct error *e);
