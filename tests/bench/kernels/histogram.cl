/* 256 bins: each work-group counts in local memory, then adds what it has to everybody's. */

kernel void clear_bins(global uint *bins)
{
    int i = get_global_id(0);
    bins[i] = 0;
}

kernel void histogram(global const uchar *data, global uint *bins, int n)
{
    local uint mine[256];
    int l = get_local_id(0);
    mine[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_global_id(0); i < n; i += get_global_size(0)) atomic_inc(&mine[data[i]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&bins[l], mine[l]);
}
