/*
 * The devices that programs name (program/device.h): each is a folder, with one table of functions. They use the rooms
 * program and run; nobody but the executor's main knows of them.
 */
#pragma once

#include <stddef.h>

#include "daemon/executor/program/device.h"

struct gpu_description;

enum { DEVICES_MAX_GPUS = 2 };

/* What looking for a GPU gave: a description, or why there is none. */
struct devices_gpu {
    const char *name;
    const struct gpu_description *description; /* NULL: absent */
    char absent[256];
    bool tested; /* the driver was tried out here */
};

/* Once, before any program is loaded. threads: that a launch may run on. */
void devices_init(unsigned threads);
/* Once there is a session, and before the filter of system calls: the threads that devices have. -1 with errno. */
int devices_start(void);
/* Says, behind the reason of a submission that ran too long, what its kernels wait for. */
void devices_explain(struct running *r, char *out, size_t room);
/* In a process for GPUs instead: loads the drivers, while files may still be opened. known: what another process found
   out, of n devices; no others are there. NULL: nobody knows yet. Gives how many were looked for. */
unsigned devices_init_gpus(const struct gpu_description *known, unsigned n, struct devices_gpu gpus[DEVICES_MAX_GPUS]);
/* In a process for that alone: loads the driver of one. -1 with the error. */
int devices_open_gpu(const char *name, struct error *e);
/* What its driver makes of the object in a sealed memfd, which stays the caller's, behind the key that says what it is
   for (daemon/gpu/binary.h), to be freed. NULL with the error. */
uint8_t *devices_make_binary(const char *name, int fd, const void *key, size_t key_size, size_t *size, struct error *e);
const struct device *devices_find(const char *name); /* NULL: there is none */
