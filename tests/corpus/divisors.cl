// Quotients and remainders by numbers that are known, several of the same dividend, and negated numbers made wider: what
// compilers of drivers have their own formulas for.

#define BY_KNOWN(NAME, T, W, OF)                                                                                                \
    kernel void NAME(global const T *in, global W *out)                                                                         \
    {                                                                                                                           \
        size_t i = get_global_id(0);                                                                                            \
        T x = in[i];                                                                                                            \
        out += 8 * i;                                                                                                           \
        out[0] = x OF(T)3, out[1] = x OF(T)6, out[2] = x OF(T)7, out[3] = x OF(T)10;                                            \
        out[4] = x OF(T)40, out[5] = x OF(T)100, out[6] = (T)-x, out[7] = -(W)(T)-x;                                            \
    }
//: kernel divided_char 256 16
//: buffer i8 256 special 1
//: buffer i64 2048 zero -> exact
BY_KNOWN(divided_char, char, long, /)
//: kernel left_char 256 16
//: buffer i8 256 special 1
//: buffer i64 2048 zero -> exact
BY_KNOWN(left_char, char, long, %)
//: kernel divided_uchar 256 16
//: buffer u8 256 special 1
//: buffer u64 2048 zero -> exact
BY_KNOWN(divided_uchar, uchar, ulong, /)
//: kernel left_uchar 256 16
//: buffer u8 256 special 1
//: buffer u64 2048 zero -> exact
BY_KNOWN(left_uchar, uchar, ulong, %)
//: kernel divided_short 256 16
//: buffer i16 256 special 1
//: buffer i64 2048 zero -> exact
BY_KNOWN(divided_short, short, long, /)
//: kernel left_short 256 16
//: buffer i16 256 special 1
//: buffer i64 2048 zero -> exact
BY_KNOWN(left_short, short, long, %)
//: kernel divided_ushort 256 16
//: buffer u16 256 special 1
//: buffer u64 2048 zero -> exact
BY_KNOWN(divided_ushort, ushort, ulong, /)
//: kernel left_ushort 256 16
//: buffer u16 256 special 1
//: buffer u64 2048 zero -> exact
BY_KNOWN(left_ushort, ushort, ulong, %)
//: kernel divided_int 256 16
//: buffer i32 256 special 1
//: buffer i64 2048 zero -> exact
BY_KNOWN(divided_int, int, long, /)
//: kernel left_int 256 16
//: buffer i32 256 special 1
//: buffer i64 2048 zero -> exact
BY_KNOWN(left_int, int, long, %)
//: kernel divided_uint 256 16
//: buffer u32 256 special 1
//: buffer u64 2048 zero -> exact
BY_KNOWN(divided_uint, uint, ulong, /)
//: kernel left_uint 256 16
//: buffer u32 256 special 1
//: buffer u64 2048 zero -> exact
BY_KNOWN(left_uint, uint, ulong, %)
//: kernel divided_long 256 16
//: buffer i64 256 special 1
//: buffer i64 2048 zero -> exact
BY_KNOWN(divided_long, long, long, /)
//: kernel left_long 256 16
//: buffer i64 256 special 1
//: buffer i64 2048 zero -> exact
BY_KNOWN(left_long, long, long, %)
//: kernel divided_ulong 256 16
//: buffer u64 256 special 1
//: buffer u64 2048 zero -> exact
BY_KNOWN(divided_ulong, ulong, ulong, /)
//: kernel left_ulong 256 16
//: buffer u64 256 special 1
//: buffer u64 2048 zero -> exact
BY_KNOWN(left_ulong, ulong, ulong, %)
