/* The library's functions over columns, by the widest vectors of the instruction set that give the same bits. Compiled
   once for each, as columns.c. */
#include <sleef.h>
#include <string.h>

#include "fuser/cpu/batch/columns.h"

#if defined(__AVX512F__) && defined(LIBRARY_HAS_AVX512)
#define V32 __m512
#define V64 __m512d
#define SYMBOL32(name, accuracy) Sleef_cinz_##name##f16_##accuracy##avx512fnofma
#define SYMBOL64(name, accuracy) Sleef_cinz_##name##d8_##accuracy##avx512fnofma
#elif defined(__AVX__) && defined(LIBRARY_HAS_AVX)
#define V32 __m256
#define V64 __m256d
#define SYMBOL32(name, accuracy) Sleef_cinz_##name##f8_##accuracy##avx
#define SYMBOL64(name, accuracy) Sleef_cinz_##name##d4_##accuracy##avx
#elif defined(__x86_64__)
#define V32 __m128
#define V64 __m128d
#define SYMBOL32(name, accuracy) Sleef_cinz_##name##f4_##accuracy##sse2
#define SYMBOL64(name, accuracy) Sleef_cinz_##name##d2_##accuracy##sse2
#else
#define V32 float
#define V64 double
#define SYMBOL32(name, accuracy) Sleef_cinz_##name##f1_##accuracy##purec
#define SYMBOL64(name, accuracy) Sleef_cinz_##name##d1_##accuracy##purec
#endif

/* The last vector may be filled with zeros, whose results nobody sees. */
#define LOOP(name, T, V, call)                                                                                         \
    static void name(void *rp, const void *ap, const void *bp, const void *cp, size_t n)                               \
    {                                                                                                                  \
        enum { LANES = sizeof(V) / sizeof(T) };                                                                        \
        (void)bp, (void)cp;                                                                                            \
        for (size_t i = 0; i < n; i += LANES) {                                                                        \
            size_t bytes = (n - i < LANES ? n - i : LANES) * sizeof(T);                                                \
            V a = {0}, b = {0}, r;                                                                                     \
            memcpy(&a, (const T *)ap + i, bytes);                                                                      \
            if (bp) memcpy(&b, (const T *)bp + i, bytes);                                                              \
            r = call;                                                                                                  \
            memcpy((T *)rp + i, &r, bytes);                                                                            \
        }                                                                                                              \
    }
#define UNARY(op, name, accuracy)                                                                                      \
    LOOP(name##_f32, float, V32, SYMBOL32(name, accuracy)(a))                                                          \
    LOOP(name##_f64, double, V64, SYMBOL64(name, accuracy)(a))
#define BINARY(op, name, accuracy)                                                                                     \
    LOOP(name##_f32, float, V32, SYMBOL32(name, accuracy)(a, b))                                                       \
    LOOP(name##_f64, double, V64, SYMBOL64(name, accuracy)(a, b))
#include "ir/formula/library.def"
#undef UNARY
#undef BINARY

#define UNARY(op, name, accuracy) [IR_OP_##op] = {name##_f32, name##_f64},
#define BINARY UNARY
static column_function *const table[IR_OP_COUNT][2] = {
#include "ir/formula/library.def"
};

column_function *COLUMNS_LIBRARY(enum ir_op op, enum ir_kind kind);
column_function *COLUMNS_LIBRARY(enum ir_op op, enum ir_kind kind)
{
    return table[op][kind == IR_KIND_F64];
}
