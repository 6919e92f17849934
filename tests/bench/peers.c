/* The hand-fused C peers; PEER(name) gives the variant's symbol. */
#include "peers.h"

#ifdef __FAST_MATH__
#define PEER(name) name##_fast
#else
#define PEER(name) name##_strict
#endif

/* t1 = a + b, t2 = t1 * c, t3 = t1 * 5, out = t2 + t3. */
void PEER(four_kernels)(size_t n, const float *restrict a, const float *restrict b, const float *restrict c,
                        float *restrict out)
{
#pragma omp parallel for simd schedule(static)
    for (size_t i = 0; i < n; i++) {
        float t1 = a[i] + b[i];
        out[i] = t1 * c[i] + t1 * 5.0f;
    }
}
