/*
 * Compiling ahead of time (seed 004, "Changes specific to AOT mode"): modules are split into images, each target takes
 * those whose features it has, and each of these is compiled for it. All goes into one bundle.
 */
#pragma once

#include "fuser/ahead/launches.h"
#include "fuser/features/bundle.h"
#include "fuser/features/device_config.h"
#include "fuser/features/groups.h"
#include "ir/features/warnings.h"

struct ahead_request {
    uint32_t n_units;
    const struct ir_module *const *units;
    enum split_mode mode;
    const struct device_config *config;
    uint32_t n_targets; /* none: images are compiled where they run, whatever they require */
    const char *const *targets;
    uint32_t n_sizes; /* besides the one that the service chooses */
    const struct ahead_local_size *sizes;
    ir_warn *warn;
    void *data;
};

/* Fills a bundle that was initialized. False, with the error. */
bool ahead_compile(const struct ahead_request *r, struct bundle *out, struct error *e);
