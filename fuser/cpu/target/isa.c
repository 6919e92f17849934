/* The instruction sets: register width, kind of masks, and what gcc is told. */
#include "fuser/cpu/target/isa.h"

#include <stddef.h>

#ifdef __x86_64__
static const char *const sse4_options[] = {"-march=x86-64-v2", "-mtune=generic", NULL};
static const char *const avx2_options[] = {"-march=x86-64-v3", "-mtune=generic", NULL};
static const char *const avx512_options[] = {"-march=x86-64-v4", "-mtune=generic", "-mprefer-vector-width=512", NULL};
#else
static const char *const sse4_options[] = {NULL}, *const avx2_options[] = {NULL}, *const avx512_options[] = {NULL};
#endif
static const char *const generic_options[] = {NULL};

/* Short vectors are SSE's, in functions of wider ones too. There its instructions are to be written as AVX has them:
   old ones wait, for a hundred cycles and more, while upper halves of registers hold something. */
#ifdef __x86_64__
static const char as_avx[] = "-msse2avx";
#else
static const char *const as_avx = NULL;
#endif

static const struct isa table[CPU_ISA_COUNT] = {
    [CPU_ISA_GENERIC] = {CPU_ISA_GENERIC, 16, false, generic_options, NULL},
    [CPU_ISA_SSE4] = {CPU_ISA_SSE4, 16, false, sse4_options, NULL},
    [CPU_ISA_AVX2] = {CPU_ISA_AVX2, 32, false, avx2_options, as_avx},
    [CPU_ISA_AVX512] = {CPU_ISA_AVX512, 64, true, avx512_options, as_avx},
};

const struct isa *isa_get(enum cpu_isa id)
{
    return &table[id];
}

const struct isa *isa_of_sub_group(enum cpu_isa id, unsigned size)
{
    while (id > CPU_ISA_GENERIC && table[id].vector_bytes / 4 > size) id--;
    return &table[id];
}
