// The half_ functions: at least 11 bits.
//: pocl@3.1 PoCL 3.1 has no half_ functions for the SPIR names that modules use

#define DO(value)                                                                                                               \
    *out = value;                                                                                                               \
    out += get_global_size(0);
#define ALL(P)                                                                                                                  \
    DO(P##_sin(v)) DO(P##_cos(v)) DO(P##_tan(v)) DO(P##_exp(v)) DO(P##_exp2(v)) DO(P##_exp10(v)) DO(P##_log(v)) DO(P##_log2(v)) \
    DO(P##_log10(v)) DO(P##_sqrt(v)) DO(P##_rsqrt(v)) DO(P##_recip(v)) DO(P##_divide(v, 3.0f)) DO(P##_powr(v, 1.5f))
#define LOOSE(NAME, T, P)                                                                                                       \
    kernel void NAME(global const T *in, global T *out)                                                                         \
    {                                                                                                                           \
        T v = in[get_global_id(0)];                                                                                             \
        out += get_global_id(0);                                                                                                \
        ALL(P)                                                                                                                  \
    }

//: kernel half_float 128 16
//: buffer f32 128 uniform 0.1 1.4
//: buffer f32 1792 zero -> half
LOOSE(half_float, float, half)
//: kernel half_float4 32 16
//: buffer f32 128 uniform 0.1 1.4
//: buffer f32 1792 zero -> half
LOOSE(half_float4, float4, half)
