/* The devices this machine offers. */
#pragma once

#include "fuser/cpu/compile.h"
#include "fuser/graph/graph.h"
#include "proto/writer.h"

struct device {
    struct fuser_device properties; /* what the fuser must know */
    const char *description;
    char target[sizeof((struct cpu_target *)0)->text];
    uint32_t compute_units;
    /* Whether there can be code for the kernel; false: with findings. NULL: its programs carry kernels, not objects. */
    bool (*check)(const struct ir_function *kernel, struct diag_list *findings);
    bool independent_forward_progress; /* of sub-groups */
};

enum { DEVICES = 2 };

/* Called once. */
void devices_init(void);
const struct device *devices_get(unsigned index);
const struct device *devices_find(const char *name); /* NULL: none */
/* That runs what is finalized with debug, for whatever device. */
const struct device *devices_debugger(void);
/* What code for the cpu is made for. */
const struct cpu_target *devices_cpu_target(void);
enum cpu_effort devices_cpu_effort(void);
/* As in device.list. */
void devices_pack(struct proto_writer *w, const struct device *d);
