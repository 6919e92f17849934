// The table of sub-group functions in OpenCL C: a kernel for each case of tests/support/sub_group_table.c, of its name,
// and for each vector. Those that begin with intel_ call the function of that name where there is one without, too;
// those that begin with plain_ are for blocks whose function names no type. test_sub_group_spirv runs them.
//: language CL2.0
//: translator --spirv-ext=+SPV_INTEL_subgroups,+SPV_KHR_subgroup_rotate
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define FUNCTION __attribute__((overloadable)) __attribute__((convergent))

#define SCALARS(M) M(char) M(uchar) M(short) M(ushort) M(int) M(uint) M(long) M(ulong) M(half) M(float) M(double)
#define VECTORS_OF(M, T) M(T) M(T##2) M(T##3) M(T##4) M(T##8) M(T##16)
#define VECTORS(M) VECTORS_OF(M, char) VECTORS_OF(M, uchar) VECTORS_OF(M, short) VECTORS_OF(M, ushort) \
    VECTORS_OF(M, int) VECTORS_OF(M, uint) VECTORS_OF(M, long) VECTORS_OF(M, ulong) VECTORS_OF(M, half) \
    VECTORS_OF(M, float) VECTORS_OF(M, double)
// The translators know 16 numbers of bytes only.
#define BLOCKS_OF(M, T, S) M(T, S, , T) M(T, S, 2, T##2) M(T, S, 4, T##4) M(T, S, 8, T##8)
#define BLOCKS(M) BLOCKS_OF(M, uchar, _uc) M(uchar, _uc, 16, uchar16) BLOCKS_OF(M, ushort, _us) BLOCKS_OF(M, uint, _ui) BLOCKS_OF(M, ulong, _ul)
#define PLAIN_BLOCKS(M) M(uint, , , uint) M(uint, , 2, uint2) M(uint, , 4, uint4) M(uint, , 8, uint8)

// What compilers' own headers lack, of one type or another.
#define DECLARE_GROUP(T) \
    T FUNCTION intel_sub_group_broadcast(T x, uint id); \
    T FUNCTION intel_sub_group_reduce_add(T x); \
    T FUNCTION intel_sub_group_reduce_min(T x); \
    T FUNCTION intel_sub_group_reduce_max(T x); \
    T FUNCTION intel_sub_group_scan_exclusive_add(T x); \
    T FUNCTION intel_sub_group_scan_exclusive_min(T x); \
    T FUNCTION intel_sub_group_scan_exclusive_max(T x); \
    T FUNCTION intel_sub_group_scan_inclusive_add(T x); \
    T FUNCTION intel_sub_group_scan_inclusive_min(T x); \
    T FUNCTION intel_sub_group_scan_inclusive_max(T x);
#define DECLARE_SHUFFLES(T) \
    T FUNCTION intel_sub_group_shuffle(T x, uint id); \
    T FUNCTION intel_sub_group_shuffle_xor(T x, uint mask); \
    T FUNCTION intel_sub_group_shuffle_up(T previous, T current, uint delta); \
    T FUNCTION intel_sub_group_shuffle_down(T current, T next, uint delta); \
    T FUNCTION sub_group_rotate(T x, int delta);
#define DECLARE_BLOCK(T, S, N, V) \
    V FUNCTION intel_sub_group_block_read##S##N(const global T *p); \
    V FUNCTION intel_sub_group_block_read##S##N(read_only image2d_t image, int2 at); \
    void FUNCTION intel_sub_group_block_write##S##N(global T *p, V x); \
    void FUNCTION intel_sub_group_block_write##S##N(write_only image2d_t image, int2 at, V x);
SCALARS(DECLARE_GROUP)
VECTORS(DECLARE_SHUFFLES)
BLOCKS(DECLARE_BLOCK)
PLAIN_BLOCKS(DECLARE_BLOCK)

// ---- values: two operands, and the results one array after the other ----

#define VALUES(NAME, T, ...) \
    kernel void NAME##_##T(global const T *a, global const T *b, global T *o) \
    { \
        size_t i = get_global_id(0), all = get_global_size(0); \
        uint id = get_sub_group_local_id(), n = get_sub_group_size(), max_size = get_max_sub_group_size(); \
        T x = a[i], y = b[i]; \
        __VA_ARGS__ \
    }
#define BROADCAST(NAME, F, T) \
    VALUES(NAME, T, o[i] = F(x, 5 % n); o[i + all] = F(x, get_sub_group_id() % n);)
#define COMBINE(NAME, F, T) \
    VALUES(NAME, T, o[i] = F##_add(x); o[i + all] = F##_min(x); o[i + 2 * all] = F##_max(x);)
#define GROUP(T) \
    BROADCAST(broadcast, sub_group_broadcast, T) \
    BROADCAST(intel_broadcast, intel_sub_group_broadcast, T) \
    COMBINE(reduce, sub_group_reduce, T) \
    COMBINE(intel_reduce, intel_sub_group_reduce, T) \
    COMBINE(scan_inclusive, sub_group_scan_inclusive, T) \
    COMBINE(intel_scan_inclusive, intel_sub_group_scan_inclusive, T) \
    COMBINE(scan_exclusive, sub_group_scan_exclusive, T) \
    COMBINE(intel_scan_exclusive, intel_sub_group_scan_exclusive, T)
SCALARS(GROUP)

#define SHIFT(NAME, T) \
    VALUES(shuffle_##NAME, T, o[i] = intel_sub_group_shuffle_##NAME(x, y, 1); \
           o[i + all] = intel_sub_group_shuffle_##NAME(x, y, 3); \
           o[i + 2 * all] = intel_sub_group_shuffle_##NAME(x, y, max_size); \
           o[i + 3 * all] = intel_sub_group_shuffle_##NAME(x, y, id * 5 % max_size); \
           o[i + 4 * all] = intel_sub_group_shuffle_##NAME(x, y, get_sub_group_id() + 1);)
#define SHUFFLES(T) \
    VALUES(shuffle, T, o[i] = intel_sub_group_shuffle(x, (id * 3 + 1) % n); \
           o[i + all] = intel_sub_group_shuffle_xor(x, 1); \
           o[i + 2 * all] = intel_sub_group_shuffle_xor(x, max_size >> 1); \
           o[i + 3 * all] = intel_sub_group_shuffle_xor(x, (get_sub_group_id() + 1) % max_size);) \
    SHIFT(up, T) SHIFT(down, T) \
    VALUES(rotate, T, o[i] = sub_group_rotate(x, 1); o[i + all] = sub_group_rotate(x, 5);)
VECTORS(SHUFFLES)

// ---- blocks: each sub-group has room for 16 numbers of each work-item, and rows of its own ----

#define SUB_GROUP (get_group_id(0) * get_enqueued_num_sub_groups() + get_sub_group_id())
#define ROOM (SUB_GROUP * get_max_sub_group_size() * 16)
#define TURN(N) (int)(SUB_GROUP % N)
#define ROW ((int)SUB_GROUP * 16 - 2)

#define BLOCK_KERNELS(PREFIX, T, S, N, V) \
    kernel void PREFIX##block_read_##V(global const T *a, global V *o) \
    { \
        o[get_global_id(0)] = intel_sub_group_block_read##S##N(a + ROOM + (sizeof(T) < 4 ? 4 / sizeof(T) : 1)); \
    } \
    kernel void PREFIX##block_write_##V(global const V *a, global T *o) \
    { \
        intel_sub_group_block_write##S##N(o + ROOM, a[get_global_id(0)]); \
    } \
    kernel void PREFIX##image_block_read_##V(read_only image2d_t a, global V *o) \
    { \
        o[get_global_id(0)] = intel_sub_group_block_read##S##N(a, (int2)(TURN(7) * 13 - 9, ROW)); \
    } \
    kernel void PREFIX##image_block_write_##V(write_only image2d_t o, global const V *a) \
    { \
        intel_sub_group_block_write##S##N(o, (int2)(TURN(6) * 12 - 8, ROW), a[get_global_id(0)]); \
    }
#define TYPED_BLOCK(T, S, N, V) BLOCK_KERNELS(, T, S, N, V)
#define PLAIN_BLOCK(T, S, N, V) BLOCK_KERNELS(plain_, T, S, N, V)
BLOCKS(TYPED_BLOCK)
PLAIN_BLOCKS(PLAIN_BLOCK)

// ---- places and barriers, with the size as an attribute ----

static void put_ids(global int *o)
{
    o += 6 * get_global_linear_id();
    o[0] = get_sub_group_local_id();
    o[1] = get_sub_group_size();
    o[2] = get_max_sub_group_size();
    o[3] = get_sub_group_id();
    o[4] = get_num_sub_groups();
    o[5] = get_enqueued_num_sub_groups();
}

kernel void sizes(global int *o)
{
    put_ids(o);
}

#define SIZED(N) \
    __attribute__((intel_reqd_sub_group_size(N))) kernel void ids_##N(global int *o) \
    { \
        put_ids(o); \
    } \
    __attribute__((intel_reqd_sub_group_size(N))) kernel void barrier_##N(global int *o, local int *s) \
    { \
        uint id = get_sub_group_local_id(), other = get_local_id(0) - id + (id + 1) % get_sub_group_size(); \
        int v = get_global_id(0); \
        for (int round = 0; round < 3; round++) { \
            s[get_local_id(0)] = v; \
            sub_group_barrier(CLK_LOCAL_MEM_FENCE); \
            v = s[other]; \
            sub_group_barrier(CLK_LOCAL_MEM_FENCE); \
        } \
        o[get_global_id(0)] = v; \
    }
SIZED(1) SIZED(4) SIZED(8) SIZED(16) SIZED(32) SIZED(64)
