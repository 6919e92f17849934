/*
 * The object of a launch on a GPU: what fuser/spirv wrote, on its way from a compiler to an executor. A header, then
 * words, relocations (after padding to 8 bytes) and constants. Behind that may be binaries of drivers, each after its
 * size in 8 bytes: made ahead of time of the same kernel, by whoever loaded its module (docs/bundles.md).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GPU_OBJECT_MAGIC = 0x56505346 /* "FSPV" */ };

struct gpu_object_header {
    uint32_t magic, abi_version;
    uint32_t args_size, local_bytes, item_bytes, sub_group_size, whole_groups, items; /* as in struct spirv_module */
    uint32_t prints, unused;
    uint64_t n_words, n_relocations, constants_size;
};

/* Pointers into the object's bytes. */
struct gpu_object {
    struct gpu_object_header header;
    const uint32_t *words;
    const uint64_t *relocations;
    const uint8_t *constants;
    const uint8_t *binaries;
    size_t binaries_size;
};

/* What the header says that the parts have together; 0: more than an object can be. */
size_t gpu_object_bytes(const struct gpu_object_header *h);
/* Writes that many bytes. */
void gpu_object_encode(const struct gpu_object *o, uint8_t *out);
/* Trusts nothing but that the bytes do not change, and are aligned to 8. NULL, or what is wrong. */
const char *gpu_object_decode(struct gpu_object *o, const void *bytes, size_t size);
/* The next binary; NULL: there are no more. *at begins with 0. */
const uint8_t *gpu_object_binary(const struct gpu_object *o, size_t *at, size_t *size);
