/* Which loops this machine can run. */
#include "fuser/cpu/batch/columns.h"

unsigned columns_usable(const struct columns *tables[3])
{
    unsigned n = 0;
#ifdef __x86_64__
    __builtin_cpu_init();
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                  __builtin_cpu_supports("avx512cd");
    if (avx2 && avx512) tables[n++] = &columns_avx512;
    if (avx2) tables[n++] = &columns_avx2;
#endif
    tables[n++] = &columns_generic;
    return n;
}
