/* The table of the library's functions, and calls of them for one number. The operations use them within the bounds of
   ir/formula/math.c: beyond some of them the library gives infinity too early. */
#include "ir/formula/library.h"

#include <sleef.h>
#include <stddef.h>

/* On x86 one number is a vector of equal ones, which is faster than the library's scalar code. */
#ifdef __x86_64__
#define V32 __m128
#define V64 __m128d
#define SYMBOL32(name, accuracy) Sleef_cinz_##name##f4_##accuracy##sse2
#define SYMBOL64(name, accuracy) Sleef_cinz_##name##d2_##accuracy##sse2
#define ALL32(x) _mm_set1_ps(x)
#define ALL64(x) _mm_set1_pd(x)
#define ONE32(v) _mm_cvtss_f32(v)
#define ONE64(v) _mm_cvtsd_f64(v)
#else
#define V32 float
#define V64 double
#define SYMBOL32(name, accuracy) Sleef_cinz_##name##f1_##accuracy##purec
#define SYMBOL64(name, accuracy) Sleef_cinz_##name##d1_##accuracy##purec
#define ALL32(x) (x)
#define ALL64(x) (x)
#define ONE32(v) (v)
#define ONE64(v) (v)
#endif

#define UNARY(op, name, accuracy)                                                                                      \
    static float name##_f32(float x, float y)                                                                          \
    {                                                                                                                  \
        (void)y;                                                                                                       \
        return ONE32(SYMBOL32(name, accuracy)(ALL32(x)));                                                              \
    }                                                                                                                  \
    static double name##_f64(double x, double y)                                                                       \
    {                                                                                                                  \
        (void)y;                                                                                                       \
        return ONE64(SYMBOL64(name, accuracy)(ALL64(x)));                                                              \
    }
#define BINARY(op, name, accuracy)                                                                                     \
    static float name##_f32(float x, float y)                                                                          \
    {                                                                                                                  \
        return ONE32(SYMBOL32(name, accuracy)(ALL32(x), ALL32(y)));                                                    \
    }                                                                                                                  \
    static double name##_f64(double x, double y)                                                                       \
    {                                                                                                                  \
        return ONE64(SYMBOL64(name, accuracy)(ALL64(x), ALL64(y)));                                                    \
    }
#include "ir/formula/library.def"
#undef UNARY
#undef BINARY

#define UNARY(op, name, accuracy) [IR_OP_##op] = {#name, #accuracy, 1, name##_f32, name##_f64},
#define BINARY(op, name, accuracy) [IR_OP_##op] = {#name, #accuracy, 2, name##_f32, name##_f64},
static const struct library_function table[IR_OP_COUNT] = {
#include "ir/formula/library.def"
};

const struct library_function *library_find(enum ir_op op)
{
    return op < IR_OP_COUNT && table[op].name ? &table[op] : NULL;
}

#define TEXT(x) #x
#define VERSION(major, minor, patch) TEXT(major) "." TEXT(minor) "." TEXT(patch)

const char *library_version(void)
{
    return VERSION(SLEEF_VERSION_MAJOR, SLEEF_VERSION_MINOR, SLEEF_VERSION_PATCHLEVEL);
}
