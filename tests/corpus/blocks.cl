// cl_intel_subgroups and its relatives: shuffles, and reads and writes of blocks by a whole sub-group. Each kernel
// computes from memory and the work-item's place what it should get, and stores what differs.
//: language CL2.0
//: translator --spirv-ext=+SPV_INTEL_subgroups
//: pocl PoCL 3.1 has no sub-groups on the CPU, 6.0 not these functions

// What the compiler's own header lacks.
#define FUNCTION __attribute__((overloadable))
uchar FUNCTION intel_sub_group_block_read_uc(const global uchar *p);
uchar4 FUNCTION intel_sub_group_block_read_uc4(const global uchar *p);
ulong FUNCTION intel_sub_group_block_read_ul(const global ulong *p);
ulong2 FUNCTION intel_sub_group_block_read_ul2(const global ulong *p);
void FUNCTION intel_sub_group_block_write_uc2(global uchar *p, uchar2 v);
void FUNCTION intel_sub_group_block_write_ul(global ulong *p, ulong v);

#define PLACE size_t i = get_global_id(0); \
    uint id = get_sub_group_local_id(), size = get_sub_group_size(); \
    size_t first = i - id

//: kernel shuffles_int 64 32
//: buffer i32 64 bits
//: buffer i32 64 bits -> zero
kernel void shuffles_int(global const int *in, global int *wrong)
{
    PLACE;
    int v = in[i], bad = 0;
    bad |= intel_sub_group_shuffle(v, (id + 3) % size) != in[first + (id + 3) % size];
    bad |= (intel_sub_group_shuffle_xor(v, 1) != in[first + (id ^ 1)]) << 1;
    bad |= (intel_sub_group_shuffle(v, 0) != in[first]) << 2;
    wrong[i] = bad;
}

//: kernel shuffles_two_values 64 32
//: buffer f32 128 uniform -9 9
//: buffer i32 64 bits -> zero
kernel void shuffles_two_values(global const float *in, global int *wrong)
{
    PLACE;
    float a = in[i], b = in[64 + i];
    float down = intel_sub_group_shuffle_down(a, b, 2), up = intel_sub_group_shuffle_up(a, b, 1);
    float wanted_down = id + 2 < size ? in[i + 2] : in[64 + first + id + 2 - size];
    float wanted_up = id >= 1 ? in[64 + i - 1] : in[first + size - 1];
    wrong[i] = (down != wanted_down) | (up != wanted_up) << 1;
}

//: kernel shuffles_vectors 32 32
//: buffer i32 128 bits
//: buffer i32 32 bits -> zero
kernel void shuffles_vectors(global const int4 *in, global int *wrong)
{
    PLACE;
    int4 v = intel_sub_group_shuffle(in[i], size - 1 - id);
    wrong[i] = any(v != in[first + size - 1 - id]);
}

//: kernel block_reads_uint 64 32
//: buffer u32 512 bits
//: buffer i32 64 bits -> zero
kernel void block_reads_uint(global const uint *in, global int *wrong)
{
    PLACE;
    uint one = intel_sub_group_block_read(in + first);
    uint2 two = intel_sub_group_block_read2(in + first * 2);
    uint4 four = intel_sub_group_block_read4(in + first * 4);
    uint8 eight = intel_sub_group_block_read8(in + first * 8);
    int bad = one != in[i];
    bad |= two.y != in[first * 2 + size + id] ? 2 : 0;
    bad |= four.z != in[first * 4 + 2 * size + id] || four.x != in[first * 4 + id] ? 4 : 0;
    bad |= eight.s7 != in[first * 8 + 7 * size + id] || eight.s1 != in[first * 8 + size + id] ? 8 : 0;
    wrong[i] = bad;
}

//: kernel block_reads_small 64 32
//: buffer u8 256 bits
//: buffer u16 256 bits
//: buffer u64 256 bits
//: buffer i32 64 bits -> zero
kernel void block_reads_small(global const uchar *bytes, global const ushort *shorts, global const ulong *longs, global int *wrong)
{
    PLACE;
    uchar4 b = intel_sub_group_block_read_uc4(bytes + first * 4);
    ushort2 s = intel_sub_group_block_read_us2(shorts + first * 2);
    ulong2 l = intel_sub_group_block_read_ul2(longs + first * 2);
    int bad = b.w != bytes[first * 4 + 3 * size + id] || b.y != bytes[first * 4 + size + id];
    bad |= s.x != shorts[first * 2 + id] || s.y != shorts[first * 2 + size + id] ? 2 : 0;
    bad |= l.x != longs[first * 2 + id] || l.y != longs[first * 2 + size + id] ? 4 : 0;
    bad |= intel_sub_group_block_read_uc(bytes + first) != bytes[i] ? 8 : 0;
    bad |= intel_sub_group_block_read_us(shorts + first) != shorts[i] ? 16 : 0;
    bad |= intel_sub_group_block_read_ul(longs + first) != longs[i] ? 32 : 0;
    wrong[i] = bad;
}

//: kernel block_writes 64 32
//: buffer u32 64 bits
//: buffer u32 64 zero
//: buffer u32 256 zero
//: buffer u16 64 zero
//: buffer u8 128 zero
//: buffer u64 64 zero
//: buffer i32 64 bits -> zero
kernel void block_writes(global const uint *in, global uint *one, global uint *four, global ushort *shorts,
                         global uchar *bytes, global ulong *longs, global int *wrong)
{
    PLACE;
    uint v = in[i];
    intel_sub_group_block_write(one + first, v);
    intel_sub_group_block_write4(four + first * 4, (uint4)(v, v + 1, v * 3, ~v));
    intel_sub_group_block_write_us(shorts + first, (ushort)v);
    intel_sub_group_block_write_uc2(bytes + first * 2, (uchar2)(v, v >> 8));
    intel_sub_group_block_write_ul(longs + first, v * 5ul);
    barrier(CLK_GLOBAL_MEM_FENCE);
    int bad = one[i] != v;
    bad |= four[first * 4 + id] != v || four[first * 4 + 2 * size + id] != v * 3 ? 2 : 0;
    bad |= four[first * 4 + size + id] != v + 1 || four[first * 4 + 3 * size + id] != ~v ? 4 : 0;
    bad |= shorts[i] != (ushort)v ? 8 : 0;
    bad |= bytes[first * 2 + id] != (uchar)v || bytes[first * 2 + size + id] != (uchar)(v >> 8) ? 16 : 0;
    bad |= longs[i] != v * 5ul ? 32 : 0;
    wrong[i] = bad;
}

//: kernel image_blocks 32 32
//: image r u32 64x8 bits
//: image r u32 64x8 zero
//: buffer i32 32 bits -> zero
kernel void image_blocks(read_only image2d_t in, write_only image2d_t out, global int *wrong)
{
    PLACE;
    int2 at = (int2)(4 * first, 2); // in bytes, and rows
    uint one = intel_sub_group_block_read(in, at);
    uint4 four = intel_sub_group_block_read4(in, at);
    int bad = one != read_imageui(in, (int2)(i, 2)).x;
    bad |= four.x != one ? 2 : 0;
    bad |= four.w != read_imageui(in, (int2)(i, 5)).x || four.y != read_imageui(in, (int2)(i, 3)).x ? 4 : 0;
    intel_sub_group_block_write2(out, at, (uint2)(one + 1, four.y));
    wrong[i] = bad;
}
