// Conversions between all types, with saturation and rounding, of corners and random numbers.

#define INTEGERS(NAME, FROM, S)                                                                                                 \
    kernel void NAME(global const FROM *in, global char *a, global uchar *b, global short *c, global ushort *d, global int *e,  \
                     global uint *f, global long *g, global ulong *h)                                                           \
    {                                                                                                                           \
        size_t i = get_global_id(0);                                                                                            \
        FROM v = in[i];                                                                                                         \
        a[i] = convert_char##S(v);                                                                                              \
        b[i] = convert_uchar##S(v);                                                                                             \
        c[i] = convert_short##S(v);                                                                                             \
        d[i] = convert_ushort##S(v);                                                                                            \
        e[i] = convert_int##S(v);                                                                                               \
        f[i] = convert_uint##S(v);                                                                                              \
        g[i] = convert_long##S(v);                                                                                              \
        h[i] = convert_ulong##S(v);                                                                                             \
    }
#define FLOATS(NAME, FROM)                                                                                                      \
    kernel void NAME(global const FROM *in, global float *f, global double *d)                                                  \
    {                                                                                                                           \
        size_t i = get_global_id(0), n = get_global_size(0);                                                                    \
        FROM v = in[i];                                                                                                         \
        f[i] = convert_float(v);                                                                                                \
        f[i + n] = convert_float_rtz(v);                                                                                        \
        f[i + 2 * n] = convert_float_rtp(v);                                                                                    \
        f[i + 3 * n] = convert_float_rtn(v);                                                                                    \
        f[i + 4 * n] = convert_float_rte(v);                                                                                    \
        d[i] = convert_double(v);                                                                                               \
        d[i + n] = convert_double_rtz(v);                                                                                       \
        d[i + 2 * n] = convert_double_rtp(v);                                                                                   \
        d[i + 3 * n] = convert_double_rtn(v);                                                                                   \
        d[i + 4 * n] = convert_double_rte(v);                                                                                   \
    }

//: kernel from_i8_sat 64 16
//: buffer i8 64 special 1
//: buffer i8 64 zero
//: buffer u8 64 zero
//: buffer i16 64 zero
//: buffer u16 64 zero
//: buffer i32 64 zero
//: buffer u32 64 zero
//: buffer i64 64 zero
//: buffer u64 64 zero
INTEGERS(from_i8_sat, char, _sat)
//: kernel from_u8_sat 64 16
//: buffer u8 64 special 1
//: buffer i8 64 zero
//: buffer u8 64 zero
//: buffer i16 64 zero
//: buffer u16 64 zero
//: buffer i32 64 zero
//: buffer u32 64 zero
//: buffer i64 64 zero
//: buffer u64 64 zero
INTEGERS(from_u8_sat, uchar, _sat)
//: kernel from_i16_sat 64 16
//: buffer i16 64 special 1
//: buffer i8 64 zero
//: buffer u8 64 zero
//: buffer i16 64 zero
//: buffer u16 64 zero
//: buffer i32 64 zero
//: buffer u32 64 zero
//: buffer i64 64 zero
//: buffer u64 64 zero
INTEGERS(from_i16_sat, short, _sat)
//: kernel from_u16_sat 64 16
//: buffer u16 64 special 1
//: buffer i8 64 zero
//: buffer u8 64 zero
//: buffer i16 64 zero
//: buffer u16 64 zero
//: buffer i32 64 zero
//: buffer u32 64 zero
//: buffer i64 64 zero
//: buffer u64 64 zero
INTEGERS(from_u16_sat, ushort, _sat)
//: kernel from_i32_sat 64 16
//: buffer i32 64 special 1
//: buffer i8 64 zero
//: buffer u8 64 zero
//: buffer i16 64 zero
//: buffer u16 64 zero
//: buffer i32 64 zero
//: buffer u32 64 zero
//: buffer i64 64 zero
//: buffer u64 64 zero
INTEGERS(from_i32_sat, int, _sat)
//: kernel from_u32_sat 64 16
//: buffer u32 64 special 1
//: buffer i8 64 zero
//: buffer u8 64 zero
//: buffer i16 64 zero
//: buffer u16 64 zero
//: buffer i32 64 zero
//: buffer u32 64 zero
//: buffer i64 64 zero
//: buffer u64 64 zero
INTEGERS(from_u32_sat, uint, _sat)
//: kernel from_i64_sat 64 16
//: buffer i64 64 special 1
//: buffer i8 64 zero
//: buffer u8 64 zero
//: buffer i16 64 zero
//: buffer u16 64 zero
//: buffer i32 64 zero
//: buffer u32 64 zero
//: buffer i64 64 zero
//: buffer u64 64 zero
INTEGERS(from_i64_sat, long, _sat)
//: kernel from_u64_sat 64 16
//: buffer u64 64 special 1
//: buffer i8 64 zero
//: buffer u8 64 zero
//: buffer i16 64 zero
//: buffer u16 64 zero
//: buffer i32 64 zero
//: buffer u32 64 zero
//: buffer i64 64 zero
//: buffer u64 64 zero
INTEGERS(from_u64_sat, ulong, _sat)
//: kernel from_i8_plain 64 16
//: buffer i8 64 special 1
//: buffer i8 64 zero
//: buffer u8 64 zero
//: buffer i16 64 zero
//: buffer u16 64 zero
//: buffer i32 64 zero
//: buffer u32 64 zero
//: buffer i64 64 zero
//: buffer u64 64 zero
INTEGERS(from_i8_plain, char, )
//: kernel from_u16_plain 64 16
//: buffer u16 64 special 1
//: buffer i8 64 zero
//: buffer u8 64 zero
//: buffer i16 64 zero
//: buffer u16 64 zero
//: buffer i32 64 zero
//: buffer u32 64 zero
//: buffer i64 64 zero
//: buffer u64 64 zero
INTEGERS(from_u16_plain, ushort, )
//: kernel from_i32_plain 64 16
//: buffer i32 64 special 1
//: buffer i8 64 zero
//: buffer u8 64 zero
//: buffer i16 64 zero
//: buffer u16 64 zero
//: buffer i32 64 zero
//: buffer u32 64 zero
//: buffer i64 64 zero
//: buffer u64 64 zero
INTEGERS(from_i32_plain, int, )
//: kernel from_u64_plain 64 16
//: buffer u64 64 special 1
//: buffer i8 64 zero
//: buffer u8 64 zero
//: buffer i16 64 zero
//: buffer u16 64 zero
//: buffer i32 64 zero
//: buffer u32 64 zero
//: buffer i64 64 zero
//: buffer u64 64 zero
INTEGERS(from_u64_plain, ulong, )
//: kernel from_i32_to_float 64 16
//: buffer i32 64 special 1
//: buffer f32 320 zero -> exact:any exact:rtz exact:rtp exact:rtn exact:rte
//: buffer f64 320 zero -> exact:any exact:rtz exact:rtp exact:rtn exact:rte
FLOATS(from_i32_to_float, int)
//: kernel from_u32_to_float 64 16
//: buffer u32 64 special 1
//: buffer f32 320 zero -> exact:any exact:rtz exact:rtp exact:rtn exact:rte
//: buffer f64 320 zero -> exact:any exact:rtz exact:rtp exact:rtn exact:rte
FLOATS(from_u32_to_float, uint)
//: kernel from_i64_to_float 64 16
//: buffer i64 64 special 1
//: buffer f32 320 zero -> exact:any exact:rtz exact:rtp exact:rtn exact:rte
//: buffer f64 320 zero -> exact:any exact:rtz exact:rtp exact:rtn exact:rte
FLOATS(from_i64_to_float, long)
//: kernel from_u64_to_float 64 16
//: buffer u64 64 special 1
//: buffer f32 320 zero -> exact:any exact:rtz exact:rtp exact:rtn exact:rte
//: buffer f64 320 zero -> exact:any exact:rtz exact:rtp exact:rtn exact:rte
FLOATS(from_u64_to_float, ulong)
//: kernel from_f32_to_float 64 16
//: buffer f32 64 mixed -10 10
//: buffer f32 320 zero -> exact:any exact:rtz exact:rtp exact:rtn exact:rte
//: buffer f64 320 zero -> exact:any exact:rtz exact:rtp exact:rtn exact:rte
FLOATS(from_f32_to_float, float)
//: kernel from_f64_to_float 64 16
//: buffer f64 64 mixed -10 10
//: buffer f32 320 zero -> exact:any exact:rtz exact:rtp exact:rtn exact:rte
//: buffer f64 320 zero -> exact:any exact:rtz exact:rtp exact:rtn exact:rte
FLOATS(from_f64_to_float, double)
//: kernel from_f32_sat 64 16
//: buffer f32 64 mixed -300 300
//: buffer i8 64 zero
//: buffer u8 64 zero
//: buffer i16 64 zero
//: buffer u16 64 zero
//: buffer i32 64 zero
//: buffer u32 64 zero
//: buffer i64 64 zero
//: buffer u64 64 zero
INTEGERS(from_f32_sat, float, _sat)
//: kernel from_f32_sat_rte 64 16
//: buffer f32 64 mixed -300 300
//: buffer i8 64 zero
//: buffer u8 64 zero
//: buffer i16 64 zero
//: buffer u16 64 zero
//: buffer i32 64 zero
//: buffer u32 64 zero
//: buffer i64 64 zero
//: buffer u64 64 zero
INTEGERS(from_f32_sat_rte, float, _sat_rte)
//: kernel from_f32_sat_rtp 64 16
//: buffer f32 64 mixed -300 300
//: buffer i8 64 zero
//: buffer u8 64 zero
//: buffer i16 64 zero
//: buffer u16 64 zero
//: buffer i32 64 zero
//: buffer u32 64 zero
//: buffer i64 64 zero
//: buffer u64 64 zero
INTEGERS(from_f32_sat_rtp, float, _sat_rtp)
//: kernel from_f32_sat_rtn 64 16
//: buffer f32 64 mixed -300 300
//: buffer i8 64 zero
//: buffer u8 64 zero
//: buffer i16 64 zero
//: buffer u16 64 zero
//: buffer i32 64 zero
//: buffer u32 64 zero
//: buffer i64 64 zero
//: buffer u64 64 zero
INTEGERS(from_f32_sat_rtn, float, _sat_rtn)
//: kernel from_f32_sat_rtz 64 16
//: buffer f32 64 mixed -300 300
//: buffer i8 64 zero
//: buffer u8 64 zero
//: buffer i16 64 zero
//: buffer u16 64 zero
//: buffer i32 64 zero
//: buffer u32 64 zero
//: buffer i64 64 zero
//: buffer u64 64 zero
INTEGERS(from_f32_sat_rtz, float, _sat_rtz)
//: kernel from_f64_sat 64 16
//: buffer f64 64 mixed -300 300
//: buffer i8 64 zero
//: buffer u8 64 zero
//: buffer i16 64 zero
//: buffer u16 64 zero
//: buffer i32 64 zero
//: buffer u32 64 zero
//: buffer i64 64 zero
//: buffer u64 64 zero
INTEGERS(from_f64_sat, double, _sat)
//: kernel from_f64_sat_rte 64 16
//: buffer f64 64 mixed -300 300
//: buffer i8 64 zero
//: buffer u8 64 zero
//: buffer i16 64 zero
//: buffer u16 64 zero
//: buffer i32 64 zero
//: buffer u32 64 zero
//: buffer i64 64 zero
//: buffer u64 64 zero
INTEGERS(from_f64_sat_rte, double, _sat_rte)
//: kernel from_f64_sat_rtp 64 16
//: buffer f64 64 mixed -300 300
//: buffer i8 64 zero
//: buffer u8 64 zero
//: buffer i16 64 zero
//: buffer u16 64 zero
//: buffer i32 64 zero
//: buffer u32 64 zero
//: buffer i64 64 zero
//: buffer u64 64 zero
INTEGERS(from_f64_sat_rtp, double, _sat_rtp)
//: kernel from_f64_sat_rtn 64 16
//: buffer f64 64 mixed -300 300
//: buffer i8 64 zero
//: buffer u8 64 zero
//: buffer i16 64 zero
//: buffer u16 64 zero
//: buffer i32 64 zero
//: buffer u32 64 zero
//: buffer i64 64 zero
//: buffer u64 64 zero
INTEGERS(from_f64_sat_rtn, double, _sat_rtn)
//: kernel from_f64_sat_rtz 64 16
//: buffer f64 64 mixed -300 300
//: buffer i8 64 zero
//: buffer u8 64 zero
//: buffer i16 64 zero
//: buffer u16 64 zero
//: buffer i32 64 zero
//: buffer u32 64 zero
//: buffer i64 64 zero
//: buffer u64 64 zero
INTEGERS(from_f64_sat_rtz, double, _sat_rtz)

// Without saturation: only numbers that fit.
#define FITTING(NAME, FROM)                                                                                                     \
    kernel void NAME(global const FROM *in, global char *a, global ushort *d, global int *e, global long *g, global int *r)     \
    {                                                                                                                           \
        size_t i = get_global_id(0);                                                                                            \
        FROM v = in[i];                                                                                                         \
        a[i] = convert_char(v);                                                                                                 \
        d[i] = convert_ushort_rte(fabs(v) * 100);                                                                               \
        e[i] = (int)(v * 1000);                                                                                                 \
        g[i] = convert_long_rtp(v * 100000);                                                                                    \
        r[i] = convert_int_rtn(v) * 100 + convert_int_rtz(v);                                                                   \
    }
//: kernel from_f32_fitting 64 16
//: buffer f32 64 uniform -120 120
//: buffer i8 64 zero
//: buffer u16 64 zero
//: buffer i32 64 zero
//: buffer i64 64 zero
//: buffer i32 64 zero
FITTING(from_f32_fitting, float)
//: kernel from_f64_fitting 64 16
//: buffer f64 64 uniform -120 120
//: buffer i8 64 zero
//: buffer u16 64 zero
//: buffer i32 64 zero
//: buffer i64 64 zero
//: buffer i32 64 zero
FITTING(from_f64_fitting, double)

// The same on vectors, and between widths of lanes.
//: kernel vector_conversions 16 4
//: buffer f32 256 mixed -300 300
//: buffer u8 256 zero
//: buffer i16 256 zero
//: buffer f64 256 zero
//: buffer i32 256 zero
kernel void vector_conversions(global const float16 *in, global uchar16 *a, global short16 *b, global double16 *c, global int16 *d)
{
    size_t i = get_global_id(0);
    float16 v = in[i];
    a[i] = convert_uchar16_sat_rte(v);
    b[i] = convert_short16_sat(v);
    c[i] = convert_double16(v);
    d[i] = convert_int16_sat_rtp(v) - convert_int16(convert_char16_sat(a[i]));
    d[i].lo += convert_int8(convert_ushort8(b[i].hi));
    d[i].s01 = convert_int2_sat(convert_long2_sat(c[i].s23));
    d[i].s234 = convert_int3(convert_uchar3(d[i].s567));
}
