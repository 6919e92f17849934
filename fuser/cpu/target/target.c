/* The processor code is made for: what cpuid says, as a name for the cache key. */
#include "fuser/cpu/target/target.h"

#include <libgccjit.h>
#include <stdio.h>
#include <string.h>

#include "fuser/cpu/abi/kernel_abi.h"
#include "ir/formula/library.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

static const char *const names[CPU_ISA_COUNT] = {
    [CPU_ISA_GENERIC] = "generic",
    [CPU_ISA_SSE4] = "sse4",
    [CPU_ISA_AVX2] = "avx2",
    [CPU_ISA_AVX512] = "avx512",
};

const char *cpu_isa_name(enum cpu_isa isa)
{
    return isa < CPU_ISA_COUNT ? names[isa] : "unknown";
}

const uint32_t *cpu_sub_group_sizes(void)
{
    static const uint32_t sizes[] = {1, 4, 8, 16, 32, 64, 0};
    return sizes;
}

#ifdef __x86_64__
/* Not every compiler's builtin knows this one; it needs no more of the system than AVX does. */
static bool has_f16c(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}
#endif

/* __builtin_cpu_supports also asks whether the system saves the registers. The sets are those of the
   psABI's levels x86-64-v2, v3 and v4, which the options of isa.c ask gcc for. */
static enum cpu_isa host_isa(void)
{
#ifdef __x86_64__
    __builtin_cpu_init();
    bool v2 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("ssse3");
    bool v3 = v2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
              __builtin_cpu_supports("bmi2") && has_f16c();
    bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
              __builtin_cpu_supports("avx512vl");
    if (v4) return CPU_ISA_AVX512;
    if (v3) return CPU_ISA_AVX2;
    if (v2) return CPU_ISA_SSE4;
#endif
    return CPU_ISA_GENERIC;
}

/* AMD's processors take a gather apart into more than a load and a shuffle for each lane (a Zen 4 22 cycles for 16
   numbers, where loads one by one take 15); so do Intel's whose microcode holds back what gathers have loaded. */
static bool host_gathers_slowly(void)
{
#ifdef __x86_64__
    __builtin_cpu_init();
    if (__builtin_cpu_is("amd")) return true;
    char text[64] = "";
    FILE *f = fopen("/sys/devices/system/cpu/vulnerabilities/gather_data_sampling", "re");
    if (!f) return false;
    bool held_back = fgets(text, sizeof text, f) && strncmp(text, "Mitigation: Microcode", 21) == 0;
    fclose(f);
    return held_back;
#else
    return false;
#endif
}

struct cpu_target cpu_target_host(enum cpu_isa limit)
{
    struct cpu_target t = {.isa = host_isa()};
    if (limit < t.isa) t.isa = limit;
    t.gathers_slowly = t.isa >= CPU_ISA_AVX2 && host_gathers_slowly();
    snprintf(t.text, sizeof t.text, "%s%s gcc-%d.%d.%d sleef-%s abi-%d", names[t.isa], t.gathers_slowly ? " picks" : "",
             gcc_jit_version_major(), gcc_jit_version_minor(), gcc_jit_version_patchlevel(), library_version(),
             KERNEL_ABI_VERSION);
    return t;
}

unsigned cpu_register_bytes(enum cpu_isa isa)
{
    unsigned registers = isa == CPU_ISA_AVX512 ? 32 : 16;
    return registers * isa_get(isa)->vector_bytes / CPU_PRIMARY_SUB_GROUP_SIZE;
}
