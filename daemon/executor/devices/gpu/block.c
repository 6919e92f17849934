/* The block of a launch. */
#include "daemon/executor/devices/gpu/block.h"

#include <string.h>

#include "daemon/executor/devices/gpu/places.h"
#include "fuser/spirv/abi/abi.h"
#include "fuser/spirv/abi/image.h"

enum { RECORD_ALIGN = 16 };

static uint64_t aligned(uint64_t n, uint64_t to)
{
    return (n + to - 1) & -to;
}

/* Records of images lie behind the arguments, one behind the other. */
static uint64_t records_at(const struct program_launch *p)
{
    return SPIRV_ARGUMENTS + aligned(p->args_size, RECORD_ALIGN);
}

uint64_t gpu_block_bytes(const struct program_launch *p)
{
    uint64_t bytes = records_at(p);
    for (uint32_t i = 0; i < p->n_params; i++)
        if (p->params[i].kind == PROGRAM_PARAM_IMAGE) bytes += sizeof(struct spirv_image);
    return bytes;
}

void gpu_block_open(uint8_t *block, const struct program_launch *p, uint64_t constants, uint64_t prints)
{
    struct spirv_launch launch = {.constants = constants, .prints = prints, .dims = p->range.dims};
    memcpy(launch.global_size, p->range.global, sizeof launch.global_size);
    memcpy(launch.global_offset, p->range.offset, sizeof launch.global_offset);
    memcpy(launch.local_size, p->range.local, sizeof launch.local_size);
    memcpy(launch.num_groups, p->num_groups, sizeof launch.num_groups);
    memcpy(block, &launch, sizeof launch);
}

void gpu_block_fill(uint8_t *block, uint64_t address, const struct executable *x, uint32_t launch,
                    const struct gpu_used *used, gpu_address *address_of)
{
    const struct program_launch *p = &x->program->launches[launch];
    const struct executable_launch *l = &x->launches[launch];
    uint8_t *args = block + SPIRV_ARGUMENTS;
    uint64_t record = records_at(p);
    ((struct spirv_launch *)block)->cut_short = 0;
    if (p->args_size) memcpy(args, l->args, p->args_size);
    for (uint32_t i = 0; i < p->n_params; i++) {
        int64_t at = gpu_place(x->program, &p->params[i]);
        if (at < 0) continue;
        uint64_t offset = p->params[i].kind == PROGRAM_PARAM_STATE ? 0 : p->params[i].offset;
        uint64_t pointer = address_of(used[at].shared) + used[at].part.offset + offset;
        if (p->params[i].kind == PROGRAM_PARAM_IMAGE) {
            spirv_image_fill((struct spirv_image *)(block + record), &l->images[i], pointer);
            pointer = address + record;
            record += sizeof(struct spirv_image);
        }
        memcpy(args + p->params[i].at, &pointer, sizeof pointer);
    }
}

uint64_t gpu_lay_out_local(const struct program_launch *p, uint64_t own, uint8_t *args)
{
    uint64_t bytes = own;
    for (uint32_t i = 0; i < p->n_params; i++) {
        if (p->params[i].kind != PROGRAM_PARAM_LOCAL) continue;
        if (args) memcpy(args + p->params[i].at, &bytes, sizeof bytes);
        bytes += aligned(p->params[i].offset, SPIRV_BLOCK_ALIGN); /* each at most 16 MiB (program.c), of few */
    }
    return bytes;
}
