/* A block's output added to what goes around it, and the sum's rows normalized by their root mean square. */

kernel void add_residual(global const float *x, global const float *residual, global float *sum, int n)
{
    int i = get_global_id(0);
    if (i < n) sum[i] = x[i] + residual[i];
}

kernel __attribute__((reqd_work_group_size(256, 1, 1))) void rms_norm(global const float *x, global const float *weight,
                                                                      global float *o, int columns, float epsilon)
{
    local float part[256];
    int l = get_local_id(0), row = get_group_id(0);
    float sum = 0;
    for (int j = l; j < columns; j += 256) {
        float v = x[row * columns + j];
        sum += v * v;
    }
    part[l] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 128; s > 0; s >>= 1) {
        if (l < s) part[l] += part[l + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    float factor = rsqrt(part[0] / columns + epsilon);
    for (int j = l; j < columns; j += 256) o[row * columns + j] = x[row * columns + j] * factor * weight[j];
}
