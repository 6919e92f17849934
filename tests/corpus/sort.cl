// Sorting: networks, ranks, merges, radix passes.

//: kernel bitonic 128 64
//: buffer i32 128 bits
kernel void bitonic(global int *data)
{
    local int t[64];
    uint l = get_local_id(0);
    t[l] = data[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 2; k <= 64; k <<= 1)
        for (uint j = k >> 1; j > 0; j >>= 1) {
            uint other = l ^ j;
            if (other > l) {
                bool up = (l & k) == 0;
                int a = t[l], b = t[other];
                if ((a > b) == up) {
                    t[l] = b;
                    t[other] = a;
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    data[get_global_id(0)] = t[l];
}

//: kernel odd_even 32 16
//: buffer f32 64 uniform -1000 1000
kernel void odd_even(global float *data)
{
    local float t[32];
    int l = get_local_id(0), base = get_group_id(0) * 32;
    t[l] = data[base + l];
    t[l + 16] = data[base + l + 16];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int round = 0; round < 32; round++) {
        int i = 2 * l + (round & 1);
        if (i + 1 < 32 && t[i] > t[i + 1]) {
            float v = t[i];
            t[i] = t[i + 1];
            t[i + 1] = v;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    data[base + l] = t[l];
    data[base + l + 16] = t[l + 16];
}

//: kernel insertion 16 8
//: buffer i16 256 bits
kernel void insertion(global short *data)
{
    global short *mine = data + get_global_id(0) * 16;
    short t[16];
    for (int i = 0; i < 16; i++) {
        short v = mine[i];
        int j = i;
        while (j > 0 && t[j - 1] > v) {
            t[j] = t[j - 1];
            j--;
        }
        t[j] = v;
    }
    for (int i = 0; i < 16; i++)
        mine[i] = t[i];
}

//: kernel rank_sort 64 16
//: buffer u64 64 bits
//: buffer u64 64 zero
kernel void rank_sort(global const ulong *in, global ulong *out)
{
    ulong v = in[get_global_id(0)];
    size_t rank = 0;
    for (size_t i = 0; i < get_global_size(0); i++)
        rank += in[i] < v || (in[i] == v && i < get_global_id(0));
    out[rank] = v;
}

// Each item merges two runs of eight, rising by construction.
//: kernel merge_runs 8 4
//: buffer u8 128 uniform 0 15
//: buffer u32 128 zero
kernel void merge_runs(global const uchar *steps, global uint *out)
{
    size_t base = get_global_id(0) * 16;
    uint a[8], b[8], i = 0, j = 0, x = 0, y = 0;
    for (int k = 0; k < 8; k++) {
        a[k] = x += steps[base + k];
        b[k] = y += steps[base + 8 + k];
    }
    for (int k = 0; k < 16; k++)
        out[base + k] = j == 8 || (i < 8 && a[i] <= b[j]) ? a[i++] : b[j++];
}

//: kernel radix_pass 64 64
//: buffer u32 64 bits
//: buffer u32 64 zero
//: value u32 4
kernel void radix_pass(global const uint *in, global uint *out, uint shift)
{
    local uint digit[64];
    local uint start[17];
    uint l = get_local_id(0), d = in[l] >> shift & 15;
    digit[l] = d;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 16) {
        uint n = 0;
        for (int i = 0; i < 64; i++)
            n += digit[i] == l;
        start[l + 1] = n;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) {
        start[0] = 0;
        for (int i = 1; i <= 16; i++)
            start[i] += start[i - 1];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint before = 0;
    for (uint i = 0; i < l; i++)
        before += digit[i] == d;
    out[start[d] + before] = in[l];
}

#define SWAP(i, j) { int4 lo = min(v[i], v[j]), hi = max(v[i], v[j]); v[i] = lo; v[j] = hi; }
// A network of 8 over four columns at once.
//: kernel network8 8 4
//: buffer i32 256 bits
kernel void network8(global int4 *data)
{
    int4 v[8];
    global int4 *mine = data + get_global_id(0) * 8;
    for (int i = 0; i < 8; i++)
        v[i] = mine[i];
    SWAP(0, 1) SWAP(2, 3) SWAP(4, 5) SWAP(6, 7)
    SWAP(0, 2) SWAP(1, 3) SWAP(4, 6) SWAP(5, 7)
    SWAP(1, 2) SWAP(5, 6) SWAP(0, 4) SWAP(3, 7)
    SWAP(1, 5) SWAP(2, 6)
    SWAP(1, 4) SWAP(3, 6)
    SWAP(2, 4) SWAP(3, 5)
    SWAP(3, 4)
    for (int i = 0; i < 8; i++)
        mine[i] = v[i];
}
