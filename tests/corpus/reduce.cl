// Reductions and scans.

//: kernel sum_tree 256 64
//: buffer i32 256 bits
//: buffer i32 4 zero
//: local 256
kernel void sum_tree(global const int *in, global int *out, local int *tile)
{
    uint l = get_local_id(0);
    tile[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_size = get_local_size(0) / 2; half_size > 0; half_size >>= 1) {
        if (l < half_size) tile[l] += tile[l + half_size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0) out[get_group_id(0)] = tile[0];
}

//: kernel argmax 128 32
//: buffer f32 128 uniform -100 100
//: buffer f32 4 zero
//: buffer i32 4 zero
kernel void argmax(global const float *in, global float *best, global int *where)
{
    local float value[32];
    local int index[32];
    int l = get_local_id(0);
    value[l] = in[get_global_id(0)];
    index[l] = get_global_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 16; s; s /= 2) {
        if (l < s && (value[l + s] > value[l] || (value[l + s] == value[l] && index[l + s] < index[l]))) {
            value[l] = value[l + s];
            index[l] = index[l + s];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (!l) {
        best[get_group_id(0)] = value[0];
        where[get_group_id(0)] = index[0];
    }
}

//: kernel sum_strided 64 16
//: buffer i64 1000 bits
//: buffer i64 64 zero
//: value u32 1000
kernel void sum_strided(global const long *in, global long *out, uint n)
{
    long sum = 0;
    for (size_t i = get_global_id(0); i < n; i += get_global_size(0))
        sum += in[i];
    out[get_global_id(0)] = sum;
}

//: kernel minmax_vector 32 8
//: buffer i16 256 bits
//: buffer i16 32 zero
//: buffer i16 32 zero
kernel void minmax_vector(global const short8 *in, global short *lo, global short *hi)
{
    short8 v = in[get_global_id(0)];
    short4 a = min(v.lo, v.hi), b = max(v.even, v.odd);
    short2 c = min(a.xy, a.zw), d = max(b.xy, b.zw);
    lo[get_global_id(0)] = min(c.x, c.y);
    hi[get_global_id(0)] = max(d.x, d.y);
}

//: kernel scan_steps 128 64
//: buffer u32 128 bits
//: buffer u32 128 zero
//: local 512
kernel void scan_steps(global const uint *in, global uint *out, local uint *two)
{
    uint l = get_local_id(0), n = get_local_size(0);
    local uint *from = two, *to = two + n;
    from[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = 1; d < n; d <<= 1) {
        to[l] = l >= d ? from[l] + from[l - d] : from[l];
        barrier(CLK_LOCAL_MEM_FENCE);
        local uint *t = from;
        from = to;
        to = t;
    }
    out[get_global_id(0)] = from[l];
}

// Up-sweep and down-sweep, exclusive.
//: kernel scan_sweeps 64 32
//: buffer i32 128 uniform -1000 1000
//: buffer i32 128 zero
kernel void scan_sweeps(global const int *in, global int *out)
{
    local int t[64];
    int l = get_local_id(0), base = get_group_id(0) * 64, offset = 1;
    t[2 * l] = in[base + 2 * l];
    t[2 * l + 1] = in[base + 2 * l + 1];
    for (int d = 32; d > 0; d >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < d) t[offset * (2 * l + 2) - 1] += t[offset * (2 * l + 1) - 1];
        offset *= 2;
    }
    if (l == 0) t[63] = 0;
    for (int d = 1; d < 64; d *= 2) {
        offset >>= 1;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < d) {
            int a = offset * (2 * l + 1) - 1, b = offset * (2 * l + 2) - 1;
            int v = t[a];
            t[a] = t[b];
            t[b] += v;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[base + 2 * l] = t[2 * l];
    out[base + 2 * l + 1] = t[2 * l + 1];
}

// Sums that begin again where a flag is set.
//: kernel scan_segments 64 64
//: buffer i32 64 uniform 0 99
//: buffer u8 64 uniform 0 1
//: buffer i32 64 zero
kernel void scan_segments(global const int *in, global const uchar *head, global int *out)
{
    local int sum[64];
    local uchar flag[64];
    int l = get_local_id(0);
    sum[l] = in[l];
    flag[l] = head[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 1; d < 64; d *= 2) {
        int s = sum[l];
        uchar f = flag[l];
        if (l >= d && !f) {
            s += sum[l - d];
            f = flag[l - d];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        sum[l] = s;
        flag[l] = f;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[l] = sum[l];
}

// Keeps what is positive, in order; the group's first item counts.
//: kernel compact 128 32
//: buffer i32 128 uniform -50 50
//: buffer i32 128 zero
//: buffer i32 4 zero
kernel void compact(global const int *in, global int *out, global int *counts)
{
    local int at[33];
    int l = get_local_id(0), base = get_group_id(0) * 32;
    int v = in[base + l];
    at[l + 1] = v > 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) {
        at[0] = 0;
        for (int i = 1; i <= 32; i++)
            at[i] += at[i - 1];
        counts[get_group_id(0)] = at[32];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (v > 0) out[base + at[l]] = v;
}

//: kernel mean_variance 8 4
//: buffer f64 256 uniform 10 20
//: buffer f64 16 zero -> near:1e-12
kernel void mean_variance(global const double *in, global double2 *out)
{
    double mean = 0, m2 = 0;
    for (int i = 0; i < 32; i++) {
        double x = in[get_global_id(0) * 32 + i], d = x - mean;
        mean += d / (i + 1);
        m2 += d * (x - mean);
    }
    out[get_global_id(0)] = (double2)(mean, m2 / 31);
}
