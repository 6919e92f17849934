/* What a GPU offers to programs. */
#include "daemon/gpu/properties.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fuser/spirv/abi/abi.h"
#include "ir/core/aspects.h"
#include "proto/limits.h"

/* Images and pipes are memory that is accessed in bytes, by records that the executor writes. */
static bool has_handles(const struct gpu_description *d)
{
    uint64_t needed = SPIRV_STORAGE8 | SPIRV_STORAGE16;
    return (d->target.features & needed) == needed;
}

uint64_t gpu_aspects(const struct gpu_description *d)
{
    uint64_t features = d->target.features;
    uint64_t aspects = (d->is_cpu ? IR_ASPECT_CPU : IR_ASPECT_GPU) | IR_ASPECT_ONLINE_COMPILER |
                       IR_ASPECT_GENERIC_SPACE | IR_ASPECT_GRAPH_FUSION |
                       IR_ASPECT_FLOAT_ATOMICS; /* by comparison, where there is no instruction */
    /* Else pointers are arguments, and no more: what lies in memory are the session's addresses. */
    if (d->same_addresses) aspects |= IR_ASPECT_USM_DEVICE | IR_ASPECT_USM_HOST;
    if (features & SPIRV_FLOAT16) aspects |= IR_ASPECT_FP16;
    if (features & SPIRV_FLOAT64) aspects |= IR_ASPECT_FP64;
    if (features & SPIRV_ATOMIC64_GLOBAL && features & SPIRV_ATOMIC64_LOCAL) aspects |= IR_ASPECT_ATOMIC64;
    if (d->target.sub_group) aspects |= IR_ASPECT_SUB_GROUPS;
    if (has_handles(d)) aspects |= IR_ASPECT_IMAGE | IR_ASPECT_PIPES;
    return aspects;
}

/* Where sub-groups are written out, all that votes have bits for: in Vulkan smaller ones than the device's are parts of
   these; others talk through memory of the work-group (fuser/spirv/groups/members.h). */
uint32_t gpu_sub_group_sizes(const struct gpu_description *d, uint32_t sizes[GPU_MAX_SUB_GROUP_SIZES])
{
    const struct spirv_target *t = &d->target;
    uint32_t n = 0, first = t->min_sub_group ? t->min_sub_group : t->sub_group;
    uint32_t last = t->max_sub_group ? t->max_sub_group : t->sub_group;
    if ((t->dialect == SPIRV_VULKAN || !(t->features & SPIRV_GROUPS)) && t->sub_group) {
        first = 1;
        last = 64;
    }
    for (uint32_t size = first; size && size <= last && n < GPU_MAX_SUB_GROUP_SIZES; size *= 2) sizes[n++] = size;
    return n;
}

/* What an operation of 32 and of 64 bits is; normal: where 32 bits are exact of normal numbers. */
static const char *exact(const struct gpu_description *d, uint64_t narrow, uint64_t wide, uint64_t normal)
{
    bool has_wide = !(d->target.features & SPIRV_FLOAT64) || d->target.features & wide;
    if (d->target.features & normal && has_wide) return "but for denormals exact";
    if (d->target.features & narrow) return has_wide ? "exact" : "inexact 64-bit";
    return has_wide && d->target.features & SPIRV_FLOAT64 ? "inexact 32-bit" : "inexact";
}

void gpu_target_text(const struct gpu_description *d, char *text, size_t size)
{
    char uuid[2 * GPU_UUID_BYTES + 1];
    for (unsigned i = 0; i < GPU_UUID_BYTES; i++) snprintf(uuid + (size_t)2 * i, 3, "%02x", d->uuid[i]);
    const char *denormals = !d->flushes_denormals32  ? "kept"
                            : d->flushes_denormals64 ? "flushed"
                                                     : "of 32 bits flushed";
    snprintf(text, size,
             "SPIR-V %u.%u, features %#" PRIx64
             ", sub-groups of %u, %s division, %s roots, fma %s, denormals %s, driver %s",
             d->target.version >> 16, d->target.version >> 8 & 255, d->target.features, d->target.sub_group,
             exact(d, SPIRV_EXACT_DIVISION32, SPIRV_EXACT_DIVISION64, SPIRV_NORMAL_DIVISION32),
             exact(d, SPIRV_EXACT_SQRT32, SPIRV_EXACT_SQRT64, 0),
             d->target.features & SPIRV_FMA32 ? "fused" : "not fused", denormals, uuid);
}

/* ---- for clients ---- */

static void put_text(msgpack_packer *k, const char *text)
{
    msgpack_pack_str_with_body(k, text, strlen(text));
}

static void put_string(msgpack_packer *k, const char *key, const char *text)
{
    put_text(k, key);
    put_text(k, text);
}

static void put_number(msgpack_packer *k, const char *key, uint64_t n)
{
    put_text(k, key);
    msgpack_pack_uint64(k, n);
}

static void put_aspects(msgpack_packer *k, uint64_t aspects)
{
    put_text(k, "aspects");
    msgpack_pack_array(k, (size_t)__builtin_popcountll(aspects));
    for (unsigned bit = 0; bit < IR_ASPECT_COUNT; bit++)
        if (aspects >> bit & 1) put_text(k, ir_aspect_name(bit));
}

static void put_extensions(msgpack_packer *k, uint64_t aspects)
{
    unsigned n = 0;
    for (unsigned i = 0; ir_extension_next(&i, aspects);) n++;
    put_text(k, "extensions");
    msgpack_pack_array(k, n);
    const char *name;
    for (unsigned i = 0; (name = ir_extension_next(&i, aspects));) put_text(k, name);
}

static void put_sub_groups(msgpack_packer *k, const struct gpu_description *d)
{
    uint32_t sizes[GPU_MAX_SUB_GROUP_SIZES], n = gpu_sub_group_sizes(d, sizes);
    put_number(k, "max_num_sub_groups", n ? d->max_work_group_size / sizes[0] : 0);
    put_number(k, "primary_sub_group_size", d->target.sub_group);
    put_text(k, "sub_group_sizes");
    msgpack_pack_array(k, n);
    for (uint32_t i = 0; i < n; i++) msgpack_pack_uint32(k, sizes[i]);
    put_text(k, "sub_group_independent_forward_progress");
    msgpack_pack_false(k);
}

void gpu_pack_device(msgpack_packer *k, const struct gpu_description *d)
{
    char text[2 * GPU_TEXT_BYTES + 8];
    uint64_t side = has_handles(d) ? PROTO_MAX_IMAGE_SIDE : 0;
    msgpack_pack_map(k, 16);
    put_string(k, "name", d->device);
    snprintf(text, sizeof text, "%s: %s", d->name, d->driver);
    put_string(k, "description", text);
    gpu_target_text(d, text, sizeof text);
    put_string(k, "target", text);
    put_aspects(k, gpu_aspects(d));
    put_extensions(k, gpu_aspects(d));
    put_number(k, "max_work_group_size", d->max_work_group_size);
    put_number(k, "local_memory_bytes", d->max_local_bytes);
    put_number(k, "compute_units", d->compute_units);
    put_sub_groups(k, d);
    put_number(k, "image_max_width", side);
    put_number(k, "image_max_height", side);
    put_number(k, "image_max_slices", side);
    put_number(k, "image_max_buffer_size", side ? PROTO_MAX_IMAGE_BUFFER : 0);
}
