/* The instruction sets: register width, kind of masks, and what gcc is told. */
#pragma once

#include <stdbool.h>

enum cpu_isa { CPU_ISA_GENERIC, CPU_ISA_SSE4, CPU_ISA_AVX2, CPU_ISA_AVX512, CPU_ISA_COUNT };

struct isa {
    enum cpu_isa id;
    unsigned vector_bytes;
    bool bit_masks; /* a mask is a number of vector_bytes / 4 bits, in a mask register; else a vector of i32 */
    const char *const *options; /* for gcc, NULL at the end */
    const char *assembler;      /* for as; NULL: nothing */
};
const struct isa *isa_get(enum cpu_isa id);
/* The widest one, at most `id`, whose registers do not hold more 4-byte lanes than a sub-group has. */
const struct isa *isa_of_sub_group(enum cpu_isa id, unsigned size);
