// The mathematical functions of two and three operands, with integer operands and with two results. Operands go through all
// pairs of corners, or are random.

#define DO(f)                                                                                                                   \
    *out = f(x, y);                                                                                                             \
    out += get_global_size(0);
#define BINARY(NAME, T, LIST)                                                                                                   \
    kernel void NAME(global const T *a, global const T *b, global T *out)                                                       \
    {                                                                                                                           \
        size_t i = get_global_id(0);                                                                                            \
        T x = a[i], y = b[i];                                                                                                   \
        out += i;                                                                                                               \
        LIST                                                                                                                    \
    }
#define DIVIDE(x, y) ((x) / (y))

#define PLUS(x, y) ((x) + (y))
#define MINUS(x, y) ((x) - (y))
#define TIMES(x, y) ((x) * (y))
#define ANGLES DO(atan2) DO(atan2pi) DO(hypot)
//: kernel angles_float 1024 16
//: buffer f32 1024 special 1
//: buffer f32 1024 special 32
//: buffer f32 3072 zero -> atan2 atan2pi hypot
BINARY(angles_float, float, ANGLES)
//: kernel angles_float8 32 16
//: buffer f32 256 uniform 0 20
//: buffer f32 256 uniform -10 10
//: buffer f32 768 zero -> atan2 atan2pi hypot
BINARY(angles_float8, float8, ANGLES)
//: kernel angles_double 1024 16
//: buffer f64 1024 special 1
//: buffer f64 1024 special 32
//: buffer f64 3072 zero -> atan2 atan2pi hypot
BINARY(angles_double, double, ANGLES)
//: kernel angles_double2 128 16
//: buffer f64 256 uniform 0 20
//: buffer f64 256 uniform -10 10
//: buffer f64 768 zero -> atan2 atan2pi hypot
BINARY(angles_double2, double2, ANGLES)

#define POWERS DO(pow) DO(powr)
//: kernel powers_float 1024 16
//: buffer f32 1024 special 1
//: buffer f32 1024 special 32
//: buffer f32 2048 zero -> pow powr
BINARY(powers_float, float, POWERS)
//: kernel powers_float4 64 16
//: buffer f32 256 uniform 0 20
//: buffer f32 256 uniform -10 10
//: buffer f32 512 zero -> pow powr
BINARY(powers_float4, float4, POWERS)
//: kernel powers_double 1024 16
//: buffer f64 1024 special 1
//: buffer f64 1024 special 32
//: buffer f64 2048 zero -> pow powr
BINARY(powers_double, double, POWERS)
//: kernel powers_double4 64 16
//: buffer f64 256 uniform 0 20
//: buffer f64 256 uniform -10 10
//: buffer f64 512 zero -> pow powr
BINARY(powers_double4, double4, POWERS)

#define REMAINDERS DO(fmod) DO(remainder) DO(fdim) DO(nextafter)
//: kernel remainders_float 1024 16
//: buffer f32 1024 special 1
//: buffer f32 1024 special 32
//: buffer f32 4096 zero -> exact:fmod exact:remainder exact:fdim exact:nextafter
BINARY(remainders_float, float, REMAINDERS)
//: kernel remainders_float2 512 16
//: buffer f32 1024 special 1
//: buffer f32 1024 special 32
//: buffer f32 4096 zero -> exact:fmod exact:remainder exact:fdim exact:nextafter
BINARY(remainders_float2, float2, REMAINDERS)
//: kernel remainders_double 1024 16
//: buffer f64 1024 special 1
//: buffer f64 1024 special 32
//: buffer f64 4096 zero -> exact:fmod exact:remainder exact:fdim exact:nextafter
BINARY(remainders_double, double, REMAINDERS)
//: kernel remainders_double8 128 16
//: pocl-differs exact:fmod PoCL gives 0.75 for fmod(1.5, 1) in this width
//: pocl-differs exact:remainder PoCL gives -0.25 for remainder(1.5, 1) in this width
//: buffer f64 1024 special 1
//: buffer f64 1024 special 32
//: buffer f64 4096 zero -> exact:fmod exact:remainder exact:fdim exact:nextafter
BINARY(remainders_double8, double8, REMAINDERS)

#define CHOICES DO(fmax) DO(fmin) DO(maxmag) DO(minmag) DO(copysign)
//: kernel choices_float 1024 16
//: buffer f32 1024 special 1
//: buffer f32 1024 special 32
//: buffer f32 5120 zero -> fmax fmin maxmag minmag exact:copysign
BINARY(choices_float, float, CHOICES)
//: kernel choices_float16 64 16
//: buffer f32 1024 special 1
//: buffer f32 1024 special 32
//: buffer f32 5120 zero -> fmax fmin maxmag minmag exact:copysign
BINARY(choices_float16, float16, CHOICES)
//: kernel choices_double 1024 16
//: buffer f64 1024 special 1
//: buffer f64 1024 special 32
//: buffer f64 5120 zero -> fmax fmin maxmag minmag exact:copysign
BINARY(choices_double, double, CHOICES)
//: kernel choices_double4 256 16
//: buffer f64 1024 special 1
//: buffer f64 1024 special 32
//: buffer f64 5120 zero -> fmax fmin maxmag minmag exact:copysign
BINARY(choices_double4, double4, CHOICES)

#define ARITHMETIC DO(PLUS) DO(MINUS) DO(TIMES) DO(DIVIDE)
//: kernel arithmetic_float 1024 16
//: buffer f32 1024 special 1
//: buffer f32 1024 special 32
//: buffer f32 4096 zero -> exact:plus exact:minus exact:times divide
BINARY(arithmetic_float, float, ARITHMETIC)
//: kernel arithmetic_float4 256 16
//: buffer f32 1024 special 1
//: buffer f32 1024 special 32
//: buffer f32 4096 zero -> exact:plus exact:minus exact:times divide
BINARY(arithmetic_float4, float4, ARITHMETIC)
//: kernel arithmetic_double 1024 16
//: buffer f64 1024 special 1
//: buffer f64 1024 special 32
//: buffer f64 4096 zero -> exact:plus exact:minus exact:times divide
BINARY(arithmetic_double, double, ARITHMETIC)
//: kernel arithmetic_double2 512 16
//: buffer f64 1024 special 1
//: buffer f64 1024 special 32
//: buffer f64 4096 zero -> exact:plus exact:minus exact:times divide
BINARY(arithmetic_double2, double2, ARITHMETIC)

#define TERNARY(NAME, T)                                                                                                        \
    kernel void NAME(global const T *a, global const T *b, global const T *c, global T *out)                                   \
    {                                                                                                                           \
        size_t i = get_global_id(0), n = get_global_size(0);                                                                    \
        out[i] = fma(a[i], b[i], c[i]);                                                                                         \
        out[i + n] = mad(a[i], b[i], c[i]);                                                                                     \
    }

//: kernel fma_float 1024 16
//: buffer f32 1024 special 1
//: buffer f32 1024 special 32
//: buffer f32 1024 special 5
//: buffer f32 2048 zero -> exact:fma near:1e-5
TERNARY(fma_float, float)
//: kernel fma_float16 64 16
//: buffer f32 1024 special 1
//: buffer f32 1024 special 32
//: buffer f32 1024 special 5
//: buffer f32 2048 zero -> exact:fma near:1e-5
TERNARY(fma_float16, float16)
//: kernel fma_double 1024 16
//: buffer f64 1024 special 1
//: buffer f64 1024 special 32
//: buffer f64 1024 special 5
//: buffer f64 2048 zero -> exact:fma near:1e-5
TERNARY(fma_double, double)
//: kernel fma_double2 512 16
//: buffer f64 1024 special 1
//: buffer f64 1024 special 32
//: buffer f64 1024 special 5
//: buffer f64 2048 zero -> exact:fma near:1e-5
TERNARY(fma_double2, double2)

// Integer operands.
#define WITH_INT(NAME, T, I)                                                                                                    \
    kernel void NAME(global const T *a, global const I *b, global T *out)                                                      \
    {                                                                                                                           \
        size_t i = get_global_id(0), n = get_global_size(0);                                                                    \
        out[i] = ldexp(a[i], b[i]);                                                                                             \
        out[i + n] = pown(a[i], b[i]);                                                                                          \
        out[i + 2 * n] = rootn(a[i], b[i]);                                                                                     \
    }

//: kernel with_int_float 1024 16
//: buffer f32 1024 special 1
//: buffer i32 1024 special 32
//: buffer f32 3072 zero -> exact:ldexp pown rootn
WITH_INT(with_int_float, float, int)
//: kernel with_int_float4 64 16
//: buffer f32 256 uniform 0.5 4
//: buffer i32 256 uniform -30 30
//: buffer f32 768 zero -> exact:ldexp pown rootn
WITH_INT(with_int_float4, float4, int4)
//: kernel with_int_double 1024 16
//: buffer f64 1024 special 1
//: buffer i32 1024 special 32
//: buffer f64 3072 zero -> exact:ldexp pown rootn
WITH_INT(with_int_double, double, int)
//: kernel with_int_double2 128 16
//: buffer f64 256 uniform 0.5 4
//: buffer i32 256 uniform -30 30
//: buffer f64 768 zero -> exact:ldexp pown rootn
WITH_INT(with_int_double2, double2, int2)

// Two results, or an integer. The sign of lgamma_r is open at its poles.
#define TWO(NAME, T, I)                                                                                                         \
    kernel void NAME(global const T *a, global const T *b, global T *out, global I *whole)                                     \
    {                                                                                                                           \
        size_t i = get_global_id(0), n = get_global_size(0);                                                                    \
        T x = a[i], y = b[i], second;                                                                                           \
        I k;                                                                                                                    \
        out += i;                                                                                                               \
        whole += i;                                                                                                             \
        out[0] = fract(x, &second);                                                                                             \
        out[n] = second;                                                                                                        \
        out[2 * n] = modf(x, &second);                                                                                          \
        out[3 * n] = second;                                                                                                    \
        out[4 * n] = sincos(x, &second);                                                                                        \
        out[5 * n] = second;                                                                                                    \
        out[6 * n] = frexp(x, &k);                                                                                              \
        whole[0] = k;                                                                                                           \
        out[7 * n] = lgamma_r(floor(x) == x ? (T)0.75f : x, &k);                                                                                           \
        whole[n] = k;                                                                                                           \
        out[8 * n] = remquo(x, y, &k);                                                                                          \
        whole[2 * n] = k;                                                                                                       \
        whole[3 * n] = ilogb(x);                                                                                                \
    }

//: kernel two_results_float 256 16
//: pocl-zeros exact:fract PoCL gives +0 for -0
//: buffer f32 256 mixed -10 10
//: buffer f32 256 uniform 0.5 3
//: buffer f32 2304 zero -> exact:fract exact:fract_floor exact:modf exact:modf_whole sin cos exact:frexp lgamma exact:remquo
//: buffer i32 1024 zero -> exact:frexp_exponent exact:lgamma_sign exact:remquo_quotient exact:ilogb
TWO(two_results_float, float, int)
//: kernel two_results_float2 128 16
//: pocl-zeros exact:fract PoCL gives +0 for -0
//: buffer f32 256 mixed -10 10
//: buffer f32 256 uniform 0.5 3
//: buffer f32 2304 zero -> exact:fract exact:fract_floor exact:modf exact:modf_whole sin cos exact:frexp lgamma exact:remquo
//: buffer i32 1024 zero -> exact:frexp_exponent exact:lgamma_sign exact:remquo_quotient exact:ilogb
TWO(two_results_float2, float2, int2)
//: kernel two_results_double 256 16
//: pocl-zeros exact:fract PoCL gives +0 for -0
//: buffer f64 256 mixed -10 10
//: buffer f64 256 uniform 0.5 3
//: buffer f64 2304 zero -> exact:fract exact:fract_floor exact:modf exact:modf_whole sin cos exact:frexp lgamma exact:remquo
//: buffer i32 1024 zero -> exact:frexp_exponent exact:lgamma_sign exact:remquo_quotient exact:ilogb
TWO(two_results_double, double, int)
//: kernel two_results_double4 64 16
//: pocl-zeros exact:fract PoCL gives +0 for -0
//: buffer f64 256 mixed -10 10
//: buffer f64 256 uniform 0.5 3
//: buffer f64 2304 zero -> exact:fract exact:fract_floor exact:modf exact:modf_whole sin cos exact:frexp lgamma exact:remquo
//: buffer i32 1024 zero -> exact:frexp_exponent exact:lgamma_sign exact:remquo_quotient exact:ilogb
TWO(two_results_double4, double4, int4)

//: kernel nan_codes 32 8
//: buffer u32 32 special 1
//: buffer f32 32 zero
//: buffer f64 32 zero
kernel void nan_codes(global const uint *code, global float *f, global double *d)
{
    size_t i = get_global_id(0);
    f[i] = nan(code[i]);
    d[i] = nan((ulong)code[i] << 7);
}
