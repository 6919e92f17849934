// The sub-group extensions: shuffles, votes and ballots of the active items (SPIR-V 1.3).
//: language CL2.0
//: spirv 1.3
//: pocl PoCL 3.1 has no sub-groups on the CPU, 6.0 not these functions

//: kernel shuffles 64 32
//: buffer i32 64 bits
//: buffer i32 256 zero
kernel void shuffles(global const int *in, global int *out)
{
    size_t i = get_global_id(0), n = get_global_size(0);
    int v = in[i];
    uint id = get_sub_group_local_id(), size = get_sub_group_size();
    out[i] = sub_group_shuffle(v, (id * 3 + 1) % size);
    out[i + n] = sub_group_shuffle_xor(v, 1);
    int up = sub_group_shuffle_up(v, 1), down = sub_group_shuffle_down(v, 2);
    out[i + 2 * n] = id >= 1 ? up : 0;
    out[i + 3 * n] = id + 2 < size ? down : 0;
}

//: kernel ballots 64 32
//: buffer i32 64 uniform 0 9
//: buffer u32 64 zero
//: buffer u32 64 zero
kernel void ballots(global const int *in, global uint *out, global uint *counts)
{
    size_t i = get_global_id(0);
    uint4 b = sub_group_ballot(in[i] > 4);
    out[i] = b.x ^ b.y ^ (sub_group_inverse_ballot(b) ? 1u << 31 : 0);
    counts[i] = sub_group_ballot_bit_count(b) + 100 * sub_group_ballot_inclusive_scan(b) + 10000 * sub_group_ballot_exclusive_scan(b) +
                1000000 * sub_group_ballot_bit_extract(b, 1);
}

//: kernel votes 64 32
//: buffer i32 64 uniform 0 3
//: buffer i32 64 zero
kernel void votes(global const int *in, global int *out)
{
    size_t i = get_global_id(0);
    int v = in[i], r = sub_group_elect() ? 1 : 0;
    r += sub_group_non_uniform_all_equal(v / 4) ? 2 : 0;
    if (v & 1) r += sub_group_non_uniform_any(v == 3) ? 4 : 8;
    else r += sub_group_non_uniform_all(v == 0) ? 16 : 32;
    out[i] = r + 100 * sub_group_broadcast_first(v) + 1000 * sub_group_non_uniform_broadcast(v, 2);
}

//: kernel active_reductions 64 32
//: buffer i32 64 uniform -99 99
//: buffer i32 64 zero
kernel void active_reductions(global const int *in, global int *out)
{
    size_t i = get_global_id(0);
    int v = in[i], r = sub_group_non_uniform_reduce_add(v);
    if (v > 0) r += sub_group_non_uniform_scan_inclusive_max(v) + sub_group_non_uniform_reduce_xor(v);
    out[i] = r;
}
