// Pipes as arguments: packets of several types taken and put, counts, and what a full or an empty one says.
//: language CL2.0
//: pocl PoCL 3.1 and 6.0 have no pipes on the CPU

//: kernel take_all 1 1
//: pipe i32 1 16 10 bits
//: buffer i32 12 zero
//: buffer i32 3 zero
kernel void take_all(read_only pipe int p, global int *out, global int *counts)
{
    counts[0] = get_pipe_num_packets(p);
    counts[1] = get_pipe_max_packets(p);
    for (int i = 0; i < 12; i++) {
        int v = -1;
        int code = read_pipe(p, &v);
        out[i] = code == 0 ? v : code < 0 ? -2 : -3;
    }
    counts[2] = get_pipe_num_packets(p);
}

//: kernel put_until_full 1 1
//: pipe f32 4 8 0 zero
//: buffer f32 48 uniform -9 9
//: buffer i32 12 zero
kernel void put_until_full(write_only pipe float4 p, global const float4 *in, global int *codes)
{
    for (int i = 0; i < 12; i++) {
        float4 v = in[i] * 2.0f;
        codes[i] = write_pipe(p, &v) == 0;
    }
}

struct pair { char tag; long value; };

//: kernel filter_pairs 1 1
//: pipe i64 2 12 12 uniform -100 100
//: pipe i64 2 12 0 zero
//: buffer i32 1 zero
kernel void filter_pairs(read_only pipe struct pair from, write_only pipe struct pair to, global int *kept)
{
    struct pair p;
    int n = 0;
    while (read_pipe(from, &p) == 0) {
        if (p.value < 0) continue;
        n += write_pipe(to, &p) == 0;
    }
    *kept = n;
}

//: kernel each_takes_one 32 8
//: pipe u32 1 32 32 iota
//: buffer u32 32 zero
kernel void each_takes_one(read_only pipe uint p, global uint *seen)
{
    uint v;
    if (read_pipe(p, &v) == 0) seen[v] = v + 1;
}

// Reservations: their packets are taken in any order; what does not fit is no reservation; those committed first wait for
// older ones.
//: kernel reserve_one_by_one 1 1
//: pipe i32 1 8 7 bits
//: pipe i32 1 8 0 zero
//: buffer i32 16 zero
//: buffer i32 7 zero
kernel void reserve_one_by_one(read_only pipe int from, write_only pipe int to, global int *facts, global int *out)
{
    reserve_id_t all = reserve_read_pipe(from, 8), ids[2] = {reserve_read_pipe(from, 3), reserve_read_pipe(from, 4)};
    facts[0] = is_valid_reserve_id(all);
    facts[1] = is_valid_reserve_id(ids[0]) + is_valid_reserve_id(ids[1]);
    facts[2] = get_pipe_num_packets(from);
    for (int k = 0; k < 2; k++)
        for (int i = 2 + k; i >= 0; i--) {
            int v = 0;
            facts[3] += read_pipe(from, ids[k], i, &v) == 0;
            out[3 * k + i] = v;
        }
    commit_read_pipe(from, ids[1]);
    commit_read_pipe(from, ids[0]);

    reserve_id_t first = reserve_write_pipe(to, 2), second = reserve_write_pipe(to, 5);
    reserve_id_t third = reserve_write_pipe(to, 2), used = first;
    if (out[0] != out[1]) used = second;
    facts[4] = is_valid_reserve_id(third);
    for (int i = 0; i < 5; i++) {
        int v = out[i] + 1;
        facts[5] += write_pipe(to, used, 4 - i, &v) == 0;
    }
    commit_write_pipe(to, second);
    int last = 77;
    facts[6] = write_pipe(to, &last) == 0;
    facts[7] = write_pipe(to, &last) == 0;
    for (int i = 0; i < 2; i++) facts[8 + i] = write_pipe(to, first, i, &i);
    commit_write_pipe(to, first);
    facts[10] = write_pipe(to, &last) == 0;
}

//: kernel each_reserves 64 16
//: pipe u32 1 192 192 iota
//: buffer u32 192 zero
kernel void each_reserves(read_only pipe uint p, global uint *seen)
{
    uint n = 1 + get_global_id(0) % 5, v;
    reserve_id_t id = reserve_read_pipe(p, n);
    if (!is_valid_reserve_id(id)) return;
    for (uint i = 0; i < n; i++)
        if (read_pipe(p, id, i, &v) == 0) seen[v] = v + 1;
    commit_read_pipe(p, id);
}

// An id that stands for no reservation; a function that takes one.
void take_at(read_only pipe uint p, reserve_id_t id, uint i, global uint *out)
{
    uint v = 0;
    if (is_valid_reserve_id(id) && read_pipe(p, id, i, &v) == 0) out[get_global_id(0)] = v + 1;
}

//: kernel some_reserve 32 8
//: ordered there are packets for 8 of 11 work-items
//: pipe u32 1 32 16 bits
//: buffer u32 32 zero
kernel void some_reserve(read_only pipe uint p, global uint *out)
{
    reserve_id_t id = CLK_NULL_RESERVE_ID;
    if (get_global_id(0) % 3 == 1) id = reserve_read_pipe(p, 2);
    take_at(p, id, 1, out);
    if (is_valid_reserve_id(id)) commit_read_pipe(p, id);
}

struct item { uint a, b; };

// One reservation for the work-group: without a packet for each work-item there is none.
//: kernel groups_reserve 8x8 4x4
//: ordered there are packets for three of four work-groups
//: pipe u32 2 60 50 iota
//: pipe u32 2 60 0 zero
//: buffer i32 64 zero
kernel void groups_reserve(read_only pipe struct item from, write_only pipe struct item to, global int *seen)
{
    uint n = get_local_size(0) * get_local_size(1), at = get_local_id(0) + get_local_id(1) * get_local_size(0);
    size_t me = get_global_id(0) + get_global_id(1) * get_global_size(0);
    reserve_id_t in = work_group_reserve_read_pipe(from, n);
    if (!is_valid_reserve_id(in)) {
        seen[me] = -1;
        return;
    }
    struct item x;
    seen[me] = 2 + read_pipe(from, in, n - 1 - at, &x);
    work_group_commit_read_pipe(from, in);
    reserve_id_t out = work_group_reserve_write_pipe(to, n);
    x.b += x.a;
    if (is_valid_reserve_id(out)) {
        seen[me] += 2 + write_pipe(to, out, at, &x);
        work_group_commit_write_pipe(to, out);
    }
}

//: kernel sub_groups_reserve 64 32
//: ordered who comes first reserves first
//: pipe u32 1 200 128 iota
//: pipe u32 1 64 0 zero -> unset
//: buffer u32 128 zero
kernel void sub_groups_reserve(read_only pipe uint from, write_only pipe uint to, global uint *seen)
{
    uint n = get_sub_group_size(), at = get_sub_group_local_id(), v;
    for (uint round = 0; round < 2; round++) {
        reserve_id_t in = sub_group_reserve_read_pipe(from, n);
        if (!is_valid_reserve_id(in)) break;
        if (read_pipe(from, in, at, &v) == 0) seen[v] = v + 1;
        sub_group_commit_read_pipe(from, in);
        reserve_id_t out = sub_group_reserve_write_pipe(to, n);
        if (!is_valid_reserve_id(out)) continue;
        v *= 3;
        if (write_pipe(to, out, at, &v) == 0) seen[v / 3]++;
        sub_group_commit_write_pipe(to, out);
    }
}
