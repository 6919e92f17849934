// Work-group and sub-group functions. The size of a sub-group is the device's; the interpreter takes the CPU code's.
//: language CL2.0
//: pocl@3.1 PoCL 3.1 has neither work-group nor sub-group functions on the CPU

#define WORK_GROUP(NAME, T)                                                                                                     \
    kernel void NAME(global const T *in, global T *out)                                                                         \
    {                                                                                                                           \
        size_t i = get_global_id(0), n = get_global_size(0);                                                                    \
        T v = in[i];                                                                                                            \
        out[i] = work_group_reduce_add(v);                                                                                      \
        out[i + n] = work_group_reduce_min(v);                                                                                  \
        out[i + 2 * n] = work_group_reduce_max(v);                                                                              \
        out[i + 3 * n] = work_group_scan_inclusive_add(v);                                                                      \
        out[i + 4 * n] = work_group_scan_exclusive_add(v);                                                                      \
        out[i + 5 * n] = work_group_scan_inclusive_max(v);                                                                      \
        out[i + 6 * n] = work_group_scan_exclusive_min(v);                                                                      \
        out[i + 7 * n] = work_group_broadcast(v, 5);                                                                            \
    }
//: kernel work_group_int 64 32
//: buffer i32 64 bits
//: buffer i32 512 zero
WORK_GROUP(work_group_int, int)
//: kernel work_group_uint 64 16
//: buffer u32 64 bits
//: buffer u32 512 zero
WORK_GROUP(work_group_uint, uint)
//: kernel work_group_long 64 16
//: buffer i64 64 bits
//: buffer i64 512 zero
WORK_GROUP(work_group_long, long)
//: kernel work_group_double 64 16
//: buffer f64 64 uniform -10 10
//: buffer f64 512 zero -> near:1e-12
WORK_GROUP(work_group_double, double)

// Reductions that are known at the same time, of several types, and some that wait for others.
#define SUMS(NAME)                                                                                                              \
    kernel void NAME(global const float *in, global const int *n, global float *out, global int *counts)                        \
    {                                                                                                                           \
        size_t i = get_global_id(0);                                                                                            \
        float v = in[i], w = v * v;                                                                                             \
        int k = n[i];                                                                                                           \
        float sum = work_group_reduce_add(v), squares = work_group_reduce_add(w), largest = work_group_reduce_max(v);           \
        int all = work_group_reduce_add(k);                                                                                     \
        long wide = work_group_reduce_add((long)k * 3);                                                                         \
        float apart = v - sum / get_local_size(0);                                                                              \
        int least = work_group_reduce_min(k);                                                                                   \
        uint most = work_group_reduce_max((uint)k ^ (uint)least);                                                               \
        out[i] = work_group_reduce_add(apart * apart) + squares * 0.5f - largest;                                               \
        counts[i] = all + (int)wide + least - (int)most;                                                                        \
    }
//: kernel sums_odd 150 50
//: buffer f32 150 uniform -10 10
//: buffer i32 150 bits
//: buffer f32 150 zero
//: buffer i32 150 zero
SUMS(sums_odd)
//: kernel sums_of_one 3 1
//: buffer f32 3 uniform -10 10
//: buffer i32 3 bits
//: buffer f32 3 zero
//: buffer i32 3 zero
SUMS(sums_of_one)
//: kernel sums_of_many 512 256
//: buffer f32 512 uniform -10 10
//: buffer i32 512 bits
//: buffer f32 512 zero
//: buffer i32 512 zero
SUMS(sums_of_many)

//: kernel work_group_votes 64 16
//: pocl@6.0 PoCL 6.0 has work_group_all() false where it holds for all
//: buffer i32 64 uniform 0 7
//: buffer i32 64 zero
kernel void work_group_votes(global const int *in, global int *out)
{
    int v = in[get_global_id(0)];
    out[get_global_id(0)] = work_group_all(v < 7) + 2 * work_group_any(v == 3) + 4 * work_group_all(v >= 0) + 8 * work_group_any(v > 100);
}

//: kernel broadcast_2d 16x8 4x4
//: buffer f32 128 iota
//: buffer f32 128 zero
kernel void broadcast_2d(global const float *in, global float *out)
{
    size_t i = get_global_id(1) * 16 + get_global_id(0);
    out[i] = work_group_broadcast(in[i], 2, 3);
}

#define SUB_GROUP(NAME, T)                                                                                                      \
    kernel void NAME(global const T *in, global T *out)                                                                         \
    {                                                                                                                           \
        size_t i = get_global_id(0), n = get_global_size(0);                                                                    \
        T v = in[i];                                                                                                            \
        out[i] = sub_group_reduce_add(v);                                                                                       \
        out[i + n] = sub_group_reduce_min(v);                                                                                   \
        out[i + 2 * n] = sub_group_scan_inclusive_max(v);                                                                       \
        out[i + 3 * n] = sub_group_scan_exclusive_add(v);                                                                       \
        out[i + 4 * n] = sub_group_broadcast(v, 3);                                                                             \
    }
//: kernel sub_group_int 64 32
//: pocl@6.0 PoCL 6.0 has sub-groups of another size, the row of the work-group
//: buffer i32 64 bits
//: buffer i32 320 zero
SUB_GROUP(sub_group_int, int)
//: kernel sub_group_ulong 64 32
//: pocl@6.0 PoCL 6.0 has sub-groups of another size, the row of the work-group
//: buffer u64 64 bits
//: buffer u64 320 zero
SUB_GROUP(sub_group_ulong, ulong)
//: kernel sub_group_float 64 32
//: pocl@6.0 PoCL 6.0 has sub-groups of another size, the row of the work-group
//: buffer f32 64 uniform -10 10
//: buffer f32 320 zero -> near:1e-5
SUB_GROUP(sub_group_float, float)

//: kernel sub_group_ids 64 32
//: pocl@6.0 PoCL 6.0 has sub-groups of another size, the row of the work-group
//: buffer u32 64 zero
//: buffer i32 64 zero
kernel void sub_group_ids(global uint *out, global int *votes)
{
    size_t i = get_global_id(0);
    out[i] = get_sub_group_size() + 100 * get_max_sub_group_size() + 10000 * get_num_sub_groups() +
             100000 * get_enqueued_num_sub_groups() + 1000000 * get_sub_group_id() + 10000000 * get_sub_group_local_id();
    votes[i] = sub_group_all(get_local_id(0) < 30) + 2 * sub_group_any(get_local_id(0) == 1);
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
}
