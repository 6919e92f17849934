/* Prefix sums in three kernels: of blocks of 512 by a tree up and a tree down, of the blocks' sums, and both added. */

kernel __attribute__((reqd_work_group_size(256, 1, 1))) void scan_blocks(global const int *in, global int *out,
                                                                         global int *sums)
{
    local int part[512];
    int l = get_local_id(0), block = get_group_id(0), base = block * 512, offset = 1;
    part[2 * l] = in[base + 2 * l];
    part[2 * l + 1] = in[base + 2 * l + 1];
    for (int d = 256; d > 0; d >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < d) {
            int a = offset * (2 * l + 1) - 1, b = offset * (2 * l + 2) - 1;
            part[b] += part[a];
        }
        offset *= 2;
    }
    if (l == 0) {
        sums[block] = part[511];
        part[511] = 0;
    }
    for (int d = 1; d < 512; d *= 2) {
        offset >>= 1;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < d) {
            int a = offset * (2 * l + 1) - 1, b = offset * (2 * l + 2) - 1, t = part[a];
            part[a] = part[b];
            part[b] += t;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[base + 2 * l] = part[2 * l];
    out[base + 2 * l + 1] = part[2 * l + 1];
}

/* One work-group goes along all of them: each step scans 256, by sums over twice the distance each time. */
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void scan_sums(global int *sums, int n)
{
    local int part[2][256];
    int l = get_local_id(0), carry = 0;
    for (int base = 0; base < n; base += 256) {
        int from = 0, mine = base + l < n ? sums[base + l] : 0;
        part[0][l] = mine;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int d = 1; d < 256; d *= 2) {
            part[1 - from][l] = l >= d ? part[from][l] + part[from][l - d] : part[from][l];
            from = 1 - from;
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (base + l < n) sums[base + l] = carry + part[from][l] - mine;
        carry += part[from][255];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

kernel void add_sums(global int *out, global const int *sums, int n)
{
    int i = get_global_id(0);
    if (i < n) out[i] += sums[i / 512];
}
