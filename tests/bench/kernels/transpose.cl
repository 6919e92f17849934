/* Transposes: straight, and by a tile in local memory whose rows are one longer, as GPUs want it. */

kernel void transpose_naive(global const float *a, global float *o, int w, int h)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x < w && y < h) o[x * h + y] = a[y * w + x];
}

kernel __attribute__((reqd_work_group_size(16, 16, 1))) void transpose_tiles(global const float *a, global float *o,
                                                                             int w, int h)
{
    local float tile[16][17];
    int lx = get_local_id(0), ly = get_local_id(1);
    int x = get_group_id(0) * 16 + lx, y = get_group_id(1) * 16 + ly;
    if (x < w && y < h) tile[ly][lx] = a[y * w + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    x = get_group_id(1) * 16 + lx;
    y = get_group_id(0) * 16 + ly;
    if (x < h && y < w) o[y * h + x] = tile[lx][ly];
}
