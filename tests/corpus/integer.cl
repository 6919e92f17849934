// The integer functions, for each type and several widths, over all pairs of corners and random numbers.

#define DO(value)                                                                                                               \
    *out = value;                                                                                                               \
    out += get_global_size(0);
#define INTEGERS(NAME, T, ABS)                                                                                                  \
    kernel void NAME(global const T *a, global const T *b, global const T *c, global T *out)                                   \
    {                                                                                                                           \
        size_t i = get_global_id(0);                                                                                            \
        T x = a[i], y = b[i], z = c[i];                                                                                         \
        out += i;                                                                                                               \
        DO(ABS(abs(x))) DO(ABS(abs_diff(x, y))) DO(add_sat(x, y)) DO(sub_sat(x, y)) DO(hadd(x, y)) DO(rhadd(x, y))              \
        DO(max(x, y)) DO(min(x, y)) DO(clamp(x, min(y, z), max(y, z))) DO(clz(x)) DO(popcount(x)) DO(rotate(x, y))              \
        DO(mul_hi(x, y)) DO(mad_hi(x, y, z)) DO(mad_sat(x, y, z)) DO(bitselect(x, y, z))                                        \
    }

//: kernel integer_char 1024 16
//: buffer i8 1024 special 1
//: buffer i8 1024 special 32
//: buffer i8 1024 special 5
//: buffer i8 16384 zero -> exact:abs exact:abs_diff exact:add_sat exact:sub_sat exact:hadd exact:rhadd exact:max exact:min exact:clamp exact:clz exact:popcount exact:rotate exact:mul_hi exact:mad_hi exact:mad_sat exact:bitselect
INTEGERS(integer_char, char, as_char)
//: kernel integer_char4 256 16
//: buffer i8 1024 special 1
//: buffer i8 1024 special 32
//: buffer i8 1024 bits
//: buffer i8 16384 zero -> exact:abs exact:abs_diff exact:add_sat exact:sub_sat exact:hadd exact:rhadd exact:max exact:min exact:clamp exact:clz exact:popcount exact:rotate exact:mul_hi exact:mad_hi exact:mad_sat exact:bitselect
INTEGERS(integer_char4, char4, as_char4)
//: kernel integer_uchar 1024 16
//: buffer u8 1024 special 1
//: buffer u8 1024 special 32
//: buffer u8 1024 special 5
//: buffer u8 16384 zero -> exact:abs exact:abs_diff exact:add_sat exact:sub_sat exact:hadd exact:rhadd exact:max exact:min exact:clamp exact:clz exact:popcount exact:rotate exact:mul_hi exact:mad_hi exact:mad_sat exact:bitselect
INTEGERS(integer_uchar, uchar, as_uchar)
//: kernel integer_uchar2 512 16
//: buffer u8 1024 special 1
//: buffer u8 1024 special 32
//: buffer u8 1024 bits
//: buffer u8 16384 zero -> exact:abs exact:abs_diff exact:add_sat exact:sub_sat exact:hadd exact:rhadd exact:max exact:min exact:clamp exact:clz exact:popcount exact:rotate exact:mul_hi exact:mad_hi exact:mad_sat exact:bitselect
INTEGERS(integer_uchar2, uchar2, as_uchar2)
//: kernel integer_short 1024 16
//: buffer i16 1024 special 1
//: buffer i16 1024 special 32
//: buffer i16 1024 special 5
//: buffer i16 16384 zero -> exact:abs exact:abs_diff exact:add_sat exact:sub_sat exact:hadd exact:rhadd exact:max exact:min exact:clamp exact:clz exact:popcount exact:rotate exact:mul_hi exact:mad_hi exact:mad_sat exact:bitselect
INTEGERS(integer_short, short, as_short)
//: kernel integer_short4 256 16
//: buffer i16 1024 special 1
//: buffer i16 1024 special 32
//: buffer i16 1024 bits
//: buffer i16 16384 zero -> exact:abs exact:abs_diff exact:add_sat exact:sub_sat exact:hadd exact:rhadd exact:max exact:min exact:clamp exact:clz exact:popcount exact:rotate exact:mul_hi exact:mad_hi exact:mad_sat exact:bitselect
INTEGERS(integer_short4, short4, as_short4)
//: kernel integer_ushort 1024 16
//: buffer u16 1024 special 1
//: buffer u16 1024 special 32
//: buffer u16 1024 special 5
//: buffer u16 16384 zero -> exact:abs exact:abs_diff exact:add_sat exact:sub_sat exact:hadd exact:rhadd exact:max exact:min exact:clamp exact:clz exact:popcount exact:rotate exact:mul_hi exact:mad_hi exact:mad_sat exact:bitselect
INTEGERS(integer_ushort, ushort, as_ushort)
//: kernel integer_ushort2 512 16
//: buffer u16 1024 special 1
//: buffer u16 1024 special 32
//: buffer u16 1024 bits
//: buffer u16 16384 zero -> exact:abs exact:abs_diff exact:add_sat exact:sub_sat exact:hadd exact:rhadd exact:max exact:min exact:clamp exact:clz exact:popcount exact:rotate exact:mul_hi exact:mad_hi exact:mad_sat exact:bitselect
INTEGERS(integer_ushort2, ushort2, as_ushort2)
//: kernel integer_int 1024 16
//: buffer i32 1024 special 1
//: buffer i32 1024 special 32
//: buffer i32 1024 special 5
//: buffer i32 16384 zero -> exact:abs exact:abs_diff exact:add_sat exact:sub_sat exact:hadd exact:rhadd exact:max exact:min exact:clamp exact:clz exact:popcount exact:rotate exact:mul_hi exact:mad_hi exact:mad_sat exact:bitselect
INTEGERS(integer_int, int, as_int)
//: kernel integer_int4 256 16
//: buffer i32 1024 special 1
//: buffer i32 1024 special 32
//: buffer i32 1024 bits
//: buffer i32 16384 zero -> exact:abs exact:abs_diff exact:add_sat exact:sub_sat exact:hadd exact:rhadd exact:max exact:min exact:clamp exact:clz exact:popcount exact:rotate exact:mul_hi exact:mad_hi exact:mad_sat exact:bitselect
INTEGERS(integer_int4, int4, as_int4)
//: kernel integer_uint 1024 16
//: buffer u32 1024 special 1
//: buffer u32 1024 special 32
//: buffer u32 1024 special 5
//: buffer u32 16384 zero -> exact:abs exact:abs_diff exact:add_sat exact:sub_sat exact:hadd exact:rhadd exact:max exact:min exact:clamp exact:clz exact:popcount exact:rotate exact:mul_hi exact:mad_hi exact:mad_sat exact:bitselect
INTEGERS(integer_uint, uint, as_uint)
//: kernel integer_uint4 256 16
//: buffer u32 1024 special 1
//: buffer u32 1024 special 32
//: buffer u32 1024 bits
//: buffer u32 16384 zero -> exact:abs exact:abs_diff exact:add_sat exact:sub_sat exact:hadd exact:rhadd exact:max exact:min exact:clamp exact:clz exact:popcount exact:rotate exact:mul_hi exact:mad_hi exact:mad_sat exact:bitselect
INTEGERS(integer_uint4, uint4, as_uint4)
//: kernel integer_long 1024 16
//: buffer i64 1024 special 1
//: buffer i64 1024 special 32
//: buffer i64 1024 special 5
//: buffer i64 16384 zero -> exact:abs exact:abs_diff exact:add_sat exact:sub_sat exact:hadd exact:rhadd exact:max exact:min exact:clamp exact:clz exact:popcount exact:rotate exact:mul_hi exact:mad_hi exact:mad_sat exact:bitselect
INTEGERS(integer_long, long, as_long)
//: kernel integer_long2 512 16
//: buffer i64 1024 special 1
//: buffer i64 1024 special 32
//: buffer i64 1024 bits
//: buffer i64 16384 zero -> exact:abs exact:abs_diff exact:add_sat exact:sub_sat exact:hadd exact:rhadd exact:max exact:min exact:clamp exact:clz exact:popcount exact:rotate exact:mul_hi exact:mad_hi exact:mad_sat exact:bitselect
INTEGERS(integer_long2, long2, as_long2)
//: kernel integer_ulong 1024 16
//: buffer u64 1024 special 1
//: buffer u64 1024 special 32
//: buffer u64 1024 special 5
//: buffer u64 16384 zero -> exact:abs exact:abs_diff exact:add_sat exact:sub_sat exact:hadd exact:rhadd exact:max exact:min exact:clamp exact:clz exact:popcount exact:rotate exact:mul_hi exact:mad_hi exact:mad_sat exact:bitselect
INTEGERS(integer_ulong, ulong, as_ulong)
//: kernel integer_ulong2 512 16
//: buffer u64 1024 special 1
//: buffer u64 1024 special 32
//: buffer u64 1024 bits
//: buffer u64 16384 zero -> exact:abs exact:abs_diff exact:add_sat exact:sub_sat exact:hadd exact:rhadd exact:max exact:min exact:clamp exact:clz exact:popcount exact:rotate exact:mul_hi exact:mad_hi exact:mad_sat exact:bitselect
INTEGERS(integer_ulong2, ulong2, as_ulong2)

// Few of them at the largest widths.
#define WIDE(NAME, T)                                                                                                           \
    kernel void NAME(global const T *a, global const T *b, global T *out)                                                       \
    {                                                                                                                           \
        size_t i = get_global_id(0);                                                                                            \
        T x = a[i], y = b[i];                                                                                                   \
        out += i;                                                                                                               \
        DO(add_sat(x, y)) DO(max(x, y)) DO(popcount(x))                                                                         \
    }
//: kernel wide_char16 64 16
//: buffer i8 1024 special 1
//: buffer i8 1024 special 32
//: buffer i8 3072 zero
WIDE(wide_char16, char16)
//: kernel wide_uint8 128 16
//: buffer u32 1024 special 1
//: buffer u32 1024 special 32
//: buffer u32 3072 zero
WIDE(wide_uint8, uint8)

// 24 bits: operands within them.
#define SMALL(NAME, T)                                                                                                          \
    kernel void NAME(global const T *a, global const T *b, global T *out)                                                       \
    {                                                                                                                           \
        size_t i = get_global_id(0), n = get_global_size(0);                                                                    \
        out[i] = mul24(a[i], b[i]);                                                                                             \
        out[i + n] = mad24(a[i], b[i], (T)77);                                                                                  \
    }
//: kernel mul24_int 256 16
//: buffer i32 256 uniform -8388608 8388607
//: buffer i32 256 uniform -8388608 8388607
//: buffer i32 512 zero -> exact:mul24 exact:mad24
SMALL(mul24_int, int)
//: kernel mul24_uint4 64 16
//: buffer u32 256 uniform 0 16777215
//: buffer u32 256 uniform 0 16777215
//: buffer u32 512 zero -> exact:mul24 exact:mad24
SMALL(mul24_uint4, uint4)

//: kernel upsample_all 64 16
//: buffer u32 64 bits
//: buffer u32 64 bits
//: buffer u64 192 zero
//: buffer i64 192 zero
kernel void upsample_all(global const uint *a, global const uint *b, global ulong *u, global long *s)
{
    size_t i = get_global_id(0), n = get_global_size(0);
    uint x = a[i], y = b[i];
    u[i] = upsample((uchar)x, (uchar)y);
    u[i + n] = upsample((ushort)x, (ushort)y);
    u[i + 2 * n] = upsample(x, y);
    s[i] = upsample((char)x, (uchar)y);
    s[i + n] = upsample((short)x, (ushort)y);
    s[i + 2 * n] = upsample((int)x, y);
}

// The operators, with all that C says of promotion.
#define OPERATORS(NAME, T)                                                                                                      \
    kernel void NAME(global const T *a, global const T *b, global long *out)                                                    \
    {                                                                                                                           \
        size_t i = get_global_id(0);                                                                                            \
        T x = a[i], y = b[i];                                                                                                   \
        out += i;                                                                                                               \
        DO((T)(x + y)) DO((T)(x - y)) DO((T)(x * y)) DO(y && (y != (T)-1 || (T)-1 > 0) ? x / y : 0)                             \
        DO(x % (T)((y & 15) + 1)) DO((T)(x << (y & 7))) DO(x >> (y & 7)) DO(x & y) DO(x | y) DO(x ^ y)     \
        DO((T)~x) DO((T)-x) DO(x < y) DO(x <= y) DO(x == y) DO(x > y) DO(!x) DO(x && y) DO(x > y ? x : y) DO(x++ + --y)         \
    }

//: kernel operators_char 1024 16
//: buffer i8 1024 special 1
//: buffer i8 1024 special 32
//: buffer i64 20480 zero -> exact:plus exact:minus exact:times exact:quotient exact:remainder exact:left exact:right exact:and exact:or exact:xor exact:not exact:negative exact:less exact:less_or_equal exact:equal exact:greater exact:zero exact:both exact:larger exact:counted
OPERATORS(operators_char, char)
//: kernel operators_uchar 1024 16
//: buffer u8 1024 special 1
//: buffer u8 1024 special 32
//: buffer i64 20480 zero -> exact:plus exact:minus exact:times exact:quotient exact:remainder exact:left exact:right exact:and exact:or exact:xor exact:not exact:negative exact:less exact:less_or_equal exact:equal exact:greater exact:zero exact:both exact:larger exact:counted
OPERATORS(operators_uchar, uchar)
//: kernel operators_short 1024 16
//: buffer i16 1024 special 1
//: buffer i16 1024 special 32
//: buffer i64 20480 zero -> exact:plus exact:minus exact:times exact:quotient exact:remainder exact:left exact:right exact:and exact:or exact:xor exact:not exact:negative exact:less exact:less_or_equal exact:equal exact:greater exact:zero exact:both exact:larger exact:counted
OPERATORS(operators_short, short)
//: kernel operators_ushort 1024 16
//: buffer u16 1024 special 1
//: buffer u16 1024 special 32
//: buffer i64 20480 zero -> exact:plus exact:minus exact:times exact:quotient exact:remainder exact:left exact:right exact:and exact:or exact:xor exact:not exact:negative exact:less exact:less_or_equal exact:equal exact:greater exact:zero exact:both exact:larger exact:counted
OPERATORS(operators_ushort, ushort)
//: kernel operators_int 1024 16
//: buffer i32 1024 special 1
//: buffer i32 1024 special 32
//: buffer i64 20480 zero -> exact:plus exact:minus exact:times exact:quotient exact:remainder exact:left exact:right exact:and exact:or exact:xor exact:not exact:negative exact:less exact:less_or_equal exact:equal exact:greater exact:zero exact:both exact:larger exact:counted
OPERATORS(operators_int, int)
//: kernel operators_uint 1024 16
//: buffer u32 1024 special 1
//: buffer u32 1024 special 32
//: buffer i64 20480 zero -> exact:plus exact:minus exact:times exact:quotient exact:remainder exact:left exact:right exact:and exact:or exact:xor exact:not exact:negative exact:less exact:less_or_equal exact:equal exact:greater exact:zero exact:both exact:larger exact:counted
OPERATORS(operators_uint, uint)
//: kernel operators_long 1024 16
//: buffer i64 1024 special 1
//: buffer i64 1024 special 32
//: buffer i64 20480 zero -> exact:plus exact:minus exact:times exact:quotient exact:remainder exact:left exact:right exact:and exact:or exact:xor exact:not exact:negative exact:less exact:less_or_equal exact:equal exact:greater exact:zero exact:both exact:larger exact:counted
OPERATORS(operators_long, long)
//: kernel operators_ulong 1024 16
//: buffer u64 1024 special 1
//: buffer u64 1024 special 32
//: buffer i64 20480 zero -> exact:plus exact:minus exact:times exact:quotient exact:remainder exact:left exact:right exact:and exact:or exact:xor exact:not exact:negative exact:less exact:less_or_equal exact:equal exact:greater exact:zero exact:both exact:larger exact:counted
OPERATORS(operators_ulong, ulong)
