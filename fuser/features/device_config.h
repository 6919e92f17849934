/* The device configuration file: which aspects and sizes each target has (YAML). */
#pragma once

#include "ir/base/error.h"
#include "ir/features/targets.h"

struct device_config {
    struct ir_targets targets;
    struct arena *arena;
};

/* 0, or -1 with the error, which names the line. name is what the error calls the file. */
int device_config_read(struct device_config *c, const char *text, size_t size, const char *name, struct error *e);
/* The file at a path; NULL: the one that comes with fusiond. */
int device_config_open(struct device_config *c, const char *path, struct error *e);
void device_config_clear(struct device_config *c); /* all zeros is fine */

const struct ir_target *device_config_find(const struct device_config *c, const char *name); /* NULL: none */

/* The number of the aspect that stands for a target: the target has it, and no other. */
uint32_t device_config_target_aspect(const char *name);
