// Vectors of 2 to 16: swizzles, loads and stores, shuffles, comparison, selection, reinterpretation.

//: kernel swizzles 32 8
//: buffer i32 256 bits
//: buffer i32 256 zero
kernel void swizzles(global const int8 *in, global int8 *out)
{
    int8 v = in[get_global_id(0)], r = 0;
    r.lo = v.hi.wzyx;
    r.s6 = v.s0 + v.odd.y;
    r.s75 = v.s01 * 3;
    r.s4 = dot((float2)(1, 2), (float2)(3, 4));
    r.even += v.s7531;
    int16 w = (int16)(v, r);
    r ^= w.sFDB97531;
    out[get_global_id(0)] = r;
}

#define LOADS(NAME, T, N)                                                                                                       \
    kernel void NAME(global const T *in, global T *out)                                                                         \
    {                                                                                                                           \
        T##N v = vload##N(get_global_id(0), in);                                                                                \
        T##N w = vload##N(0, in + get_global_id(0) + 1);                                                                        \
        vstore##N(v + w, get_global_id(0), out);                                                                                \
    }
//: kernel load_u8x2 32 8
//: buffer u8 64 bits
//: buffer u8 64 zero
LOADS(load_u8x2, uchar, 2)
//: kernel load_i16x3 32 8
//: buffer i16 96 bits
//: buffer i16 96 zero
LOADS(load_i16x3, short, 3)
//: kernel load_i32x4 32 8
//: buffer i32 128 bits
//: buffer i32 128 zero
LOADS(load_i32x4, int, 4)
//: kernel load_i64x8 16 8
//: buffer i64 128 bits
//: buffer i64 128 zero
LOADS(load_i64x8, long, 8)
//: kernel load_f32x16 16 4
//: buffer f32 256 mixed -10 10
//: buffer f32 256 zero
LOADS(load_f32x16, float, 16)
//: kernel load_f64x3 16 4
//: buffer f64 48 special 1
//: buffer f64 48 zero
LOADS(load_f64x3, double, 3)

#define SHUFFLES(NAME, T, U)                                                                                                    \
    kernel void NAME(global const T##4 *a, global const T##4 *b, global const U##8 *m, global T##8 *out)                        \
    {                                                                                                                           \
        size_t i = get_global_id(0);                                                                                            \
        out[i] = shuffle2(a[i], b[i], m[i]);                                                                                    \
        out[i].lo += shuffle(a[i], m[i].even);                                                                                  \
        out[i].s45 ^= shuffle(b[i], (U##2)(m[i].s1, 2));                                                                        \
    }
//: kernel shuffle_i32 32 8
//: buffer i32 128 bits
//: buffer i32 128 bits
//: buffer u32 256 bits
//: buffer i32 256 zero
SHUFFLES(shuffle_i32, int, uint)
//: kernel shuffle_u8 32 8
//: buffer u8 128 bits
//: buffer u8 128 bits
//: buffer u8 256 bits
//: buffer u8 256 zero
SHUFFLES(shuffle_u8, uchar, uchar)
//: kernel shuffle_i64 32 8
//: buffer i64 128 bits
//: buffer i64 128 bits
//: buffer u64 256 bits
//: buffer i64 256 zero
SHUFFLES(shuffle_i64, long, ulong)

//: kernel shuffle16_f32 8 4
//: buffer f32 128 uniform -9 9
//: buffer u32 128 bits
//: buffer f32 128 zero
kernel void shuffle16_f32(global const float16 *in, global const uint16 *mask, global float16 *out)
{
    size_t i = get_global_id(0);
    out[i] = shuffle(in[i], mask[i]) + shuffle2(in[i].s37, in[i].lo.s01, mask[i]);
}

//: kernel compare_lanes 32 8
//: buffer i32 128 uniform -4 4
//: buffer i32 128 uniform -4 4
//: buffer i32 128 zero
kernel void compare_lanes(global const int4 *a, global const int4 *b, global int4 *out)
{
    size_t i = get_global_id(0);
    int4 x = a[i], y = b[i];
    int4 r = (x < y) + (x == y) * 2 + (x >= y) * 4 + (x != y) * 8;
    r = x > 0 ? r : -r;
    r += !x;
    r = x && y ? r : r + 100;
    r.x += any(x > 3) + 2 * all(y < 3);
    out[i] = r;
}

//: kernel compare_floats 32 8
//: buffer f64 128 special 1
//: buffer f64 128 special 3
//: buffer i64 128 zero
kernel void compare_floats(global const double4 *a, global const double4 *b, global long4 *out)
{
    size_t i = get_global_id(0);
    double4 x = a[i], y = b[i];
    out[i] = (x < y) + (x <= y) * 2 + (x > y) * 4 + (x >= y) * 8 + (x == y) * 16 + (x != y) * 32 + !(x < y) * 64 + (!x) * 128;
}

//: kernel arithmetic_lanes 64 16
//: buffer i16 256 bits
//: buffer i16 256 uniform 1 99
//: buffer i16 256 zero
kernel void arithmetic_lanes(global const short4 *a, global const short4 *b, global short4 *out)
{
    size_t i = get_global_id(0);
    short4 x = a[i], y = b[i];
    out[i] = (x / y) + (x % (y + (short4)1)) * y - (x << (short4)3) + (x >> y) ^ (~x & y) | -y;
}

//: kernel reinterpret 32 8
//: buffer f32 128 mixed -10 10
//: buffer u32 128 zero
kernel void reinterpret(global const float4 *in, global uint4 *out)
{
    size_t i = get_global_id(0);
    float4 v = in[i];
    uint4 u = as_uint4(v);
    u = isnan(v) ? (uint4)0x7fc00000 : u;
    uchar16 b = as_uchar16(u);
    ulong2 l = as_ulong2(b.s76543210fedcba98);
    double d = as_double(l.x & 0x000fffffffffffff);
    out[i] = as_uint4((ulong2)(as_ulong(d), l.y)) ^ as_uint4(as_short8(u).s10325476);
}

//: kernel three_lanes 16 4
//: buffer f32 64 uniform -8 8
//: buffer f32 64 zero -> xyz
//: buffer f32 48 zero
kernel void three_lanes(global const float3 *in, global float3 *out, global float *dense)
{
    size_t i = get_global_id(0);
    float3 v = in[i];
    out[i] = v.zxy;
    float3 kept[2] = {v, v.yyy};
    vstore3(kept[i & 1], i, dense);
}

//: kernel lanes_by_index 32 8
//: buffer i32 256 bits
//: buffer i32 32 zero
kernel void lanes_by_index(global const int8 *in, global int *out)
{
    int8 v = in[get_global_id(0)];
    int sum = 0;
    for (int k = 0; k < 8; k++)
        sum = sum * 5 + ((int *)&v)[(k + get_global_id(0)) & 7];
    ((int *)&v)[get_global_id(0) & 7] = sum;
    out[get_global_id(0)] = v.s0 ^ v.s7 ^ v.s3;
}
