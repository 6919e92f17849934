/* Binaries of the driver that are kept from session to session: found behind an object, or made of one. */
#pragma once

#include "daemon/executor/program/device.h"
#include "daemon/gpu/binary.h"
#include "daemon/gpu/object.h"
#include "ir/base/error.h"

/* Of a launch: what a binary for it is called. */
struct gpu_kept {
    struct launch_binary told;
    struct gpu_binary_key key;
};

/* driver: GPU_UUID_BYTES. */
void gpu_kept_begin(struct gpu_kept *kept, const struct gpu_description *gpu, const uint8_t *driver,
                    const struct gpu_shape *shape);
/* The one behind the object, without its key. NULL: there is none. */
const uint8_t *gpu_kept_find(const struct gpu_kept *kept, const struct gpu_object *o, size_t *size);
/* Is it one of these, whoever it is for? */
bool gpu_is_kept(const uint8_t *binary, size_t size);

/* The driver's binary of an object, in memory to be freed, with so many bytes free before it. NULL with the error. */
typedef uint8_t *gpu_binary_maker(const struct gpu_object *o, const struct gpu_shape *shape, size_t before,
                                  size_t *size, struct error *e);
/* Of the object in a sealed memfd, which stays the caller's, with its key before it. NULL with the error. */
uint8_t *gpu_binary_make(gpu_binary_maker *make, int fd, const void *key, size_t key_size, size_t *size,
                         struct error *e);
