/* Binaries of the driver that are kept. */
#include "daemon/executor/devices/gpu/kept.h"

#include <string.h>

#include "daemon/executor/devices/gpu/object_file.h"
#include "proto/include/fusiond/status.h"

void gpu_kept_begin(struct gpu_kept *kept, const struct gpu_description *gpu, const uint8_t *driver,
                    const struct gpu_shape *shape)
{
    struct gpu_binary_key *key = &kept->key;
    *key = (struct gpu_binary_key){.magic = GPU_BINARY_MAGIC, .dialect = gpu->target.dialect, .shape = *shape};
    memcpy(key->driver, driver, sizeof key->driver);
    kept->told = (struct launch_binary){.key = key, .key_bytes = sizeof *key};
}

bool gpu_is_kept(const uint8_t *binary, size_t size)
{
    const uint32_t magic = GPU_BINARY_MAGIC;
    return size > sizeof(struct gpu_binary_key) && memcmp(binary, &magic, sizeof magic) == 0;
}

const uint8_t *gpu_kept_find(const struct gpu_kept *kept, const struct gpu_object *o, size_t *size)
{
    const uint8_t *binary;
    for (size_t at = 0; (binary = gpu_object_binary(o, &at, size));) {
        if (!gpu_is_kept(binary, *size) || memcmp(binary, &kept->key, sizeof kept->key) != 0) continue;
        *size -= sizeof kept->key;
        return binary + sizeof kept->key;
    }
    return NULL;
}

uint8_t *gpu_binary_make(gpu_binary_maker *make, int fd, const void *key, size_t key_size, size_t *size,
                         struct error *e)
{
    struct gpu_object_file file;
    struct gpu_binary_key read;
    if (key_size != sizeof read || gpu_object_open(&file, fd, e) != 0) {
        if (key_size != sizeof read) error_set(e, FUSION_INVALID, NULL, "what it is to be for is not understood");
        return NULL;
    }
    memcpy(&read, key, sizeof read);
    uint8_t *binary = make(&file.object, &read.shape, sizeof read, size, e);
    gpu_object_close(&file);
    if (!binary) return NULL;
    memcpy(binary, &read, sizeof read);
    *size += sizeof read;
    return binary;
}
