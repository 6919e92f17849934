/* Layer normalization in four kernels, a work-group of 256 for each row. */

float sum_of_group(float mine, local float *part)
{
    int l = get_local_id(0);
    part[l] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = get_local_size(0) / 2; s > 0; s >>= 1) {
        if (l < s) part[l] += part[l + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return part[0];
}

kernel void means(global const float *x, global float *mean, int columns)
{
    local float part[256];
    int row = get_group_id(0);
    float sum = 0;
    for (int j = get_local_id(0); j < columns; j += 256) sum += x[row * columns + j];
    sum = sum_of_group(sum, part);
    if (get_local_id(0) == 0) mean[row] = sum / columns;
}

kernel void factors(global const float *x, global const float *mean, global float *factor, int columns)
{
    local float part[256];
    int row = get_group_id(0);
    float sum = 0;
    for (int j = get_local_id(0); j < columns; j += 256) {
        float d = x[row * columns + j] - mean[row];
        sum += d * d;
    }
    sum = sum_of_group(sum, part);
    if (get_local_id(0) == 0) factor[row] = rsqrt(sum / columns + 1e-5f);
}

kernel void normalize_rows(global const float *x, global const float *mean, global const float *factor, global float *y,
                           int columns)
{
    int row = get_group_id(0);
    for (int j = get_local_id(0); j < columns; j += 256)
        y[row * columns + j] = (x[row * columns + j] - mean[row]) * factor[row];
}

kernel void scale_and_shift(global const float *y, global const float *scale, global const float *shift,
                            global float *o, int columns)
{
    int row = get_group_id(0);
    for (int j = get_local_id(0); j < columns; j += 256)
        o[row * columns + j] = y[row * columns + j] * scale[j] + shift[j];
}
