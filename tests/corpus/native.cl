// The native_ functions, whose accuracy is the device's.

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

//: kernel native_float 128 16
//: buffer f32 128 uniform 0.1 1.4
//: buffer f32 1792 zero -> native
LOOSE(native_float, float, native)
//: kernel native_float4 32 16
//: buffer f32 128 uniform 0.1 1.4
//: buffer f32 1792 zero -> native
LOOSE(native_float4, float4, native)
