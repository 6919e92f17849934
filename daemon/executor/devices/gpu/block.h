/* The block of a launch (fuser/spirv/abi/abi.h): what kernels are told, and their arguments, as the host writes it. */
#pragma once

#include "daemon/executor/devices/gpu/uses.h"
#include "daemon/executor/program/executables.h"
#include "ir/base/error.h"

/* With the records of its images. */
uint64_t gpu_block_bytes(const struct program_launch *p);
/* What stays: everything before the arguments. constants, prints: where kernels find these. */
void gpu_block_open(uint8_t *block, const struct program_launch *p, uint64_t constants, uint64_t prints);
/* The arguments of a submission. address: where kernels find the block. */
typedef uint64_t gpu_address(const struct gpu_shared *shared);
void gpu_block_fill(uint8_t *block, uint64_t address, const struct executable *x, uint32_t launch,
                    const struct gpu_used *used, gpu_address *address_of);

/* Local pointers' memory behind so many bytes of a work-group's: all of it. args NULL, or gets the offsets. */
uint64_t gpu_lay_out_local(const struct program_launch *p, uint64_t own, uint8_t *args);
