//: language CL2.0
/* Kernels for the tests of the Level Zero driver. */
struct pair {
    int first;
    float second;
};

kernel void scale(global const int *in, int factor, global int *out)
{
    size_t i = get_global_id(0);
    out[i] = in[i] * factor;
}

/* Through a block of arguments that one address leads to. */
kernel void add_block(ulong block)
{
    global const ulong *address = (global const ulong *)block;
    global const int *a = (global const int *)address[0], *b = (global const int *)address[1];
    global int *out = (global int *)address[2];
    size_t i = get_global_id(0);
    out[i] = a[i] + b[i];
}

kernel void reverse(global int *data, local int *copy)
{
    size_t i = get_local_id(0), n = get_local_size(0), base = get_group_id(0) * n;
    copy[i] = data[base + i];
    barrier(CLK_LOCAL_MEM_FENCE);
    data[base + i] = copy[n - 1 - i];
}

kernel __attribute__((reqd_work_group_size(8, 2, 1))) void ids(global uint *out)
{
    size_t x = get_global_id(0), y = get_global_id(1);
    out[y * get_global_size(0) + x] = (uint)(get_local_id(1) << 16 | get_group_id(0));
}

kernel void values(struct pair p, char c, double d, float4 v, global double *out)
{
    out[0] = p.first;
    out[1] = p.second;
    out[2] = c;
    out[3] = d;
    out[4] = v.w;
}
