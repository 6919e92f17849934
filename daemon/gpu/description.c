/* Descriptions of GPUs as bytes. */
#include "daemon/gpu/description.h"

#include <msgpack.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 22 };

/* All that is a number, in the order in which it is written. */
static void to_numbers(const struct gpu_description *d, uint64_t n[NUMBERS])
{
    const struct spirv_target *t = &d->target;
    const uint64_t all[NUMBERS] = {d->is_cpu,
                                   d->shares_memory,
                                   d->max_work_group_size,
                                   d->max_group_sides[0],
                                   d->max_group_sides[1],
                                   d->max_group_sides[2],
                                   d->max_groups[0],
                                   d->max_groups[1],
                                   d->max_groups[2],
                                   d->max_local_bytes,
                                   d->max_buffer_bytes,
                                   d->compute_units,
                                   t->dialect,
                                   t->version,
                                   t->features,
                                   t->min_sub_group,
                                   t->max_sub_group,
                                   t->sub_group,
                                   d->flushes_denormals32,
                                   d->flushes_denormals64,
                                   d->same_addresses,
                                   d->architecture};
    memcpy(n, all, sizeof all);
}

static void from_numbers(struct gpu_description *d, const uint64_t n[NUMBERS])
{
    d->is_cpu = n[0];
    d->shares_memory = n[1];
    d->max_work_group_size = n[2];
    memcpy(d->max_group_sides, &n[3], sizeof d->max_group_sides);
    memcpy(d->max_groups, &n[6], sizeof d->max_groups);
    d->max_local_bytes = n[9];
    d->max_buffer_bytes = n[10];
    d->compute_units = (uint32_t)n[11];
    d->flushes_denormals32 = n[18];
    d->flushes_denormals64 = n[19];
    d->same_addresses = n[20];
    d->architecture = (uint32_t)n[21];
    d->target = (struct spirv_target){.dialect = n[12] == SPIRV_KERNEL ? SPIRV_KERNEL : SPIRV_VULKAN,
                                      .version = (uint32_t)n[13],
                                      .features = n[14],
                                      .min_sub_group = (uint32_t)n[15],
                                      .max_sub_group = (uint32_t)n[16],
                                      .sub_group = (uint32_t)n[17]};
}

/* What is told by the driver, without what was tried out. */
static struct gpu_description told_of(const struct gpu_description *d)
{
    struct gpu_description told = *d;
    told.target.features &= ~(uint64_t)SPIRV_TRIED;
    told.flushes_denormals32 = told.flushes_denormals64 = told.same_addresses = false;
    return told;
}

bool gpu_description_learn(struct gpu_description *d, const struct gpu_description *known)
{
    uint64_t a[NUMBERS], b[NUMBERS];
    const struct gpu_description x = told_of(d), y = told_of(known);
    to_numbers(&x, a);
    to_numbers(&y, b);
    if (memcmp(a, b, sizeof a) != 0 || strcmp(x.device, y.device) != 0 || strcmp(x.name, y.name) != 0 ||
        strcmp(x.driver, y.driver) != 0 || memcmp(x.uuid, y.uuid, sizeof x.uuid) != 0)
        return false;
    *d = *known;
    return true;
}

static void put_text(msgpack_packer *k, const char *text)
{
    msgpack_pack_str_with_body(k, text, strlen(text));
}

uint8_t *gpu_description_encode(const struct gpu_description *d, size_t *size)
{
    uint64_t numbers[NUMBERS];
    msgpack_sbuffer bytes;
    msgpack_packer k;
    msgpack_sbuffer_init(&bytes);
    msgpack_packer_init(&k, &bytes, msgpack_sbuffer_write);
    msgpack_pack_array(&k, 4 + NUMBERS);
    put_text(&k, d->device);
    put_text(&k, d->name);
    put_text(&k, d->driver);
    msgpack_pack_bin_with_body(&k, d->uuid, sizeof d->uuid);
    to_numbers(d, numbers);
    for (unsigned i = 0; i < NUMBERS; i++) msgpack_pack_uint64(&k, numbers[i]);
    *size = bytes.size;
    return (uint8_t *)msgpack_sbuffer_release(&bytes);
}

static bool take_text(char *to, size_t room, const msgpack_object *o)
{
    if (o->type != MSGPACK_OBJECT_STR || o->via.str.size >= room) return false;
    memcpy(to, o->via.str.ptr, o->via.str.size);
    to[o->via.str.size] = 0;
    return true;
}

static bool decode(struct gpu_description *d, const msgpack_object *o)
{
    uint64_t numbers[NUMBERS];
    if (o->type != MSGPACK_OBJECT_ARRAY || o->via.array.size != 4 + NUMBERS) return false;
    const msgpack_object *parts = o->via.array.ptr;
    if (!take_text(d->device, sizeof d->device, &parts[0]) || !take_text(d->name, sizeof d->name, &parts[1]) ||
        !take_text(d->driver, sizeof d->driver, &parts[2]) || parts[3].type != MSGPACK_OBJECT_BIN ||
        parts[3].via.bin.size != sizeof d->uuid)
        return false;
    memcpy(d->uuid, parts[3].via.bin.ptr, sizeof d->uuid);
    for (unsigned i = 0; i < NUMBERS; i++) {
        if (parts[4 + i].type != MSGPACK_OBJECT_POSITIVE_INTEGER) return false;
        numbers[i] = parts[4 + i].via.u64;
    }
    from_numbers(d, numbers);
    return d->max_work_group_size && d->max_groups[0] && d->max_groups[1] && d->max_groups[2];
}

bool gpu_description_decode(struct gpu_description *d, const void *bytes, size_t size)
{
    msgpack_unpacked unpacked;
    size_t at = 0;
    *d = (struct gpu_description){0};
    msgpack_unpacked_init(&unpacked);
    bool good = msgpack_unpack_next(&unpacked, bytes, size, &at) == MSGPACK_UNPACK_SUCCESS && at == size &&
                decode(d, &unpacked.data);
    msgpack_unpacked_destroy(&unpacked);
    return good;
}
