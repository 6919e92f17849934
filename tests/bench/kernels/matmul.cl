/* A product of matrices by tiles of 16 x 16 in local memory, then a layer's bias and ReLU. */
#define TILE 16

kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void
matmul(global const float *a, global const float *b, global float *c, int n, int k)
{
    local float ta[TILE][TILE], tb[TILE][TILE];
    int lx = get_local_id(0), ly = get_local_id(1), column = get_global_id(0), row = get_global_id(1);
    float sum = 0;
    for (int t = 0; t < k; t += TILE) {
        ta[ly][lx] = a[row * k + t + lx];
        tb[ly][lx] = b[(t + ly) * n + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = 0; i < TILE; i++) sum += ta[ly][i] * tb[i][lx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + column] = sum;
}

kernel void bias_relu(global const float *c, global const float *bias, global float *o, int n, int m)
{
    int column = get_global_id(0), row = get_global_id(1);
    if (column < n && row < m) o[row * n + column] = fmax(c[row * n + column] + bias[column], 0.0f);
}
