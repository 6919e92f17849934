// Histograms and atomic operations. Results do not depend on the order: old values are only summed, or the
// operations are such that one work-item owns the place.

//: kernel histogram_global 256 32
//: buffer u8 256 bits
//: buffer u32 256 zero
kernel void histogram_global(global const uchar *in, global uint *bins)
{
    atomic_inc(&bins[in[get_global_id(0)]]);
}

//: kernel histogram_local 256 64
//: buffer u8 1024 bits
//: buffer i32 16 zero
//: local 64
kernel void histogram_local(global const uchar4 *in, global int *bins, local int *mine)
{
    uint l = get_local_id(0);
    if (l < 16) mine[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    uchar4 v = in[get_global_id(0)] >> (uchar4)4;
    atomic_add(&mine[v.x], 1);
    atomic_add(&mine[v.y], 1);
    atomic_add(&mine[v.z], 1);
    atomic_add(&mine[v.w], 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 16) atomic_add(&bins[l], mine[l]);
}

#define ALL(NAME, T)                                                                                                            \
    kernel void NAME(global const T *in, global T *shared, global T *own)                                                       \
    {                                                                                                                           \
        size_t i = get_global_id(0);                                                                                            \
        T v = in[i];                                                                                                            \
        atomic_add(&shared[0], v);                                                                                              \
        atomic_sub(&shared[1], v);                                                                                              \
        atomic_inc(&shared[2]);                                                                                                 \
        atomic_dec(&shared[3]);                                                                                                 \
        atomic_min(&shared[4], v);                                                                                              \
        atomic_max(&shared[5], v);                                                                                              \
        atomic_and(&shared[6], v | 0xff);                                                                                       \
        atomic_or(&shared[7], v & 0xff00);                                                                                      \
        atomic_xor(&shared[8], v);                                                                                              \
        own[i] += atomic_xchg(&own[i], v + 1) * 3;                                                                              \
        own[i] ^= atomic_cmpxchg(&own[i], (T)7, (T)9);                                                                          \
        own[i] += atomic_add(&own[i], 5) + atomic_sub(&own[i], v) + atomic_min(&own[i], v) + atomic_max(&own[i], 17);           \
        own[i] ^= atomic_and(&own[i], 0xfff) + atomic_or(&own[i], 0x111) + atomic_xor(&own[i], v) + atomic_inc(&own[i]) +       \
                  atomic_dec(&own[i]);                                                                                          \
    }

//: kernel atomic_int_all 64 16
//: buffer i32 64 bits
//: buffer i32 9 zero
//: buffer i32 64 uniform 6 8
ALL(atomic_int_all, int)
//: kernel atomic_uint_all 64 16
//: buffer u32 64 bits
//: buffer u32 9 zero
//: buffer u32 64 uniform 6 8
ALL(atomic_uint_all, uint)

#define ALL64(NAME, T)                                                                                                          \
    kernel void NAME(global const T *in, global T *shared, global T *own)                                                       \
    {                                                                                                                           \
        size_t i = get_global_id(0);                                                                                            \
        T v = in[i];                                                                                                            \
        atom_add(&shared[0], v);                                                                                                \
        atom_sub(&shared[1], v);                                                                                                \
        atom_inc(&shared[2]);                                                                                                   \
        atom_dec(&shared[3]);                                                                                                   \
        atom_min(&shared[4], v);                                                                                                \
        atom_max(&shared[5], v);                                                                                                \
        atom_and(&shared[6], v | 0xff);                                                                                         \
        atom_or(&shared[7], v & 0xff00000000);                                                                                  \
        atom_xor(&shared[8], v);                                                                                                \
        own[i] += atom_xchg(&own[i], v + 1) * 3;                                                                                \
        own[i] ^= atom_cmpxchg(&own[i], (T)7, (T)9);                                                                            \
        own[i] += atom_add(&own[i], (T)5) + atom_min(&own[i], v) + atom_max(&own[i], (T)17);                                    \
    }

//: kernel atomic_long_all 64 16
//: buffer i64 64 bits
//: buffer i64 9 zero
//: buffer i64 64 uniform 6 8
ALL64(atomic_long_all, long)
//: kernel atomic_ulong_all 64 16
//: buffer u64 64 bits
//: buffer u64 9 zero
//: buffer u64 64 uniform 6 8
ALL64(atomic_ulong_all, ulong)

// The usual way to add floats: sums of integers, so that the order does not matter.
//: kernel atomic_float_add 64 16
//: buffer f32 64 iota
//: buffer u32 4 zero
kernel void atomic_float_add(global const float *in, volatile global uint *sums)
{
    size_t i = get_global_id(0);
    uint seen = 0, old;
    do {
        old = seen;
        seen = atomic_cmpxchg(&sums[i & 3], old, as_uint(as_float(old) + in[i]));
    } while (seen != old);
}

//: kernel atomic_local_counter 128 32
//: buffer i32 128 uniform -10 10
//: buffer i32 8 zero
kernel void atomic_local_counter(global const int *in, global int *out)
{
    local int positive, largest;
    if (get_local_id(0) == 0) {
        positive = 0;
        largest = INT_MIN;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    int v = in[get_global_id(0)];
    if (v > 0) atomic_inc(&positive);
    atomic_max(&largest, v);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        out[2 * get_group_id(0)] = positive;
        out[2 * get_group_id(0) + 1] = largest;
    }
}

// Items take numbers; each number is given once, so the sum of what was taken is known.
//: kernel atomic_ticket 64 8
//: buffer u32 1 zero
//: buffer u8 64 zero
kernel void atomic_ticket(global uint *next, global uchar *taken)
{
    taken[atomic_inc(next)] = 1;
}
