/* Objects of GPUs as bytes. */
#include "daemon/gpu/object.h"

#include <string.h>

#include "fuser/spirv/abi/abi.h"

enum { MAX_PART_BYTES = 1 << 30, MOST_ITEMS = 256 };

static size_t words_bytes(const struct gpu_object_header *h)
{
    return (h->n_words * sizeof(uint32_t) + 7) & ~(size_t)7;
}

size_t gpu_object_bytes(const struct gpu_object_header *h)
{
    if (h->n_words > MAX_PART_BYTES / sizeof(uint32_t) || h->n_relocations > MAX_PART_BYTES / sizeof(uint64_t) ||
        h->constants_size > MAX_PART_BYTES)
        return 0;
    return sizeof *h + words_bytes(h) + h->n_relocations * sizeof(uint64_t) + h->constants_size;
}

static void put(uint8_t **out, const void *bytes, size_t size, size_t room)
{
    if (size) memcpy(*out, bytes, size);
    memset(*out + size, 0, room - size);
    *out += room;
}

void gpu_object_encode(const struct gpu_object *o, uint8_t *out)
{
    const struct gpu_object_header *h = &o->header;
    put(&out, h, sizeof *h, sizeof *h);
    put(&out, o->words, h->n_words * sizeof(uint32_t), words_bytes(h));
    put(&out, o->relocations, h->n_relocations * sizeof(uint64_t), h->n_relocations * sizeof(uint64_t));
    put(&out, o->constants, h->constants_size, h->constants_size);
}

static bool relocations_fit(const struct gpu_object *o)
{
    for (uint64_t i = 0; i < o->header.n_relocations; i++)
        if (o->relocations[i] > o->header.constants_size || o->header.constants_size - o->relocations[i] < 8)
            return false;
    return true;
}

const char *gpu_object_decode(struct gpu_object *o, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    if (size < sizeof o->header) return "it is too short";
    memcpy(&o->header, at, sizeof o->header);
    const struct gpu_object_header *h = &o->header;
    if (h->magic != GPU_OBJECT_MAGIC) return "it is no SPIR-V of ours";
    if (h->abi_version != SPIRV_ABI_VERSION) return "it has another version of the launch's interface";
    if (h->items == 0 || h->items > MOST_ITEMS) return "its work-items do nothing, or too much";
    size_t own = gpu_object_bytes(h);
    if (!own || own > size) return "its parts do not add up";
    o->words = (const uint32_t *)(at + sizeof *h);
    o->relocations = (const uint64_t *)(at + sizeof *h + words_bytes(h));
    o->constants = (const uint8_t *)(o->relocations + h->n_relocations);
    o->binaries = (const uint8_t *)bytes + own;
    o->binaries_size = size - own;
    if (!relocations_fit(o)) return "a relocation lies outside of its constants";
    return NULL;
}

const uint8_t *gpu_object_binary(const struct gpu_object *o, size_t *at, size_t *size)
{
    uint64_t n;
    if (*at > o->binaries_size || o->binaries_size - *at < sizeof n) return NULL;
    memcpy(&n, o->binaries + *at, sizeof n);
    *at += sizeof n;
    if (n > o->binaries_size - *at) return NULL;
    const uint8_t *binary = o->binaries + *at;
    *at += n;
    *size = n;
    return binary;
}
