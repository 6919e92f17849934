/* The devices this machine offers. */
#pragma once

#include "fuser/cpu/compile.h"
#include "fuser/graph/graph.h"
#include "proto/writer.h"

struct device {
    struct fuser_device properties; /* what the fuser must know */
    const char *description;
    char target[1024];
    uint32_t compute_units;
    /* Whether there can be code for the kernel; false: with findings. NULL: its programs carry kernels, not objects. */
    bool (*check)(const struct ir_function *kernel, struct diag_list *findings);
    bool independent_forward_progress; /* of sub-groups */
    const struct gpu_description *gpu; /* NULL: it is none */
};

enum { DEVICES = 2 }; /* that every machine has */

/* Called once. */
void devices_init(void);
const struct device *devices_get(unsigned index);
const struct device *devices_find(const char *name); /* NULL: none */
/* The GPU that a job came with (daemon/gpu/description.h), from then on to be found by its name. False: the bytes are
   no description. */
bool devices_add_gpu(const void *description, size_t size);
/* That was added; NULL: none. */
const struct device *devices_gpu(void);
/* That runs what is finalized with debug, for whatever device. */
const struct device *devices_debugger(void);
/* What code for the cpu is made for. */
const struct cpu_target *devices_cpu_target(void);
enum cpu_effort devices_cpu_effort(void);
/* As in device.list. */
void devices_pack(struct proto_writer *w, const struct device *d);
