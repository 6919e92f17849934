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
