/* The devices this machine offers. */
#pragma once

#include "daemon/compiler/device.h"
#include "proto/writer.h"

enum { MAX_DEVICES = 32 };

/* Called once. False: $FUSIOND_DEVICES cannot be read; it was said why. */
bool devices_init(void);
/* That are always there: all but a GPU. */
unsigned devices_count(void);
const struct device *devices_get(unsigned index);
const struct device *devices_find(const char *name); /* NULL: none */
/* The GPU that a job came with (daemon/gpu/description.h), from then on to be found by its name. False: the bytes are
   no description. */
bool devices_add_gpu(const void *description, size_t size);
/* That was added; NULL: none. */
const struct device *devices_gpu(void);
/* The figures of the cpu's machine: as they were kept (bytes of fuser/cost; NULL: they were not), or else measured, now
   or before. False: there are none, and usual ones count. */
bool devices_take_figures(const void *bytes, size_t size);
/* That runs what is finalized with debug, for whatever device. */
const struct device *devices_debugger(void);
/* What the cache is told apart by: the processor, and devices that were configured. */
const char *devices_cache_target(void);
/* What code for the cpu is made for. */
const struct cpu_target *devices_cpu_target(void);
enum cpu_effort devices_cpu_effort(void);
/* As in device.list. */
void devices_pack(struct proto_writer *w, const struct device *d);
