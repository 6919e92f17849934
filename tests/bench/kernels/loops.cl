/* Loops that everybody writes, in every form of an id: what each costs to compile, beside gcc's for the same in C. */

kernel void axby_int(global const float *x, global const float *y, global float *z, float a, float b)
{
    int i = get_global_id(0);
    z[i] = a * x[i] - b * y[i];
}

kernel void axby_unsigned(global const float *x, global const float *y, global float *z, float a, float b)
{
    uint i = get_global_id(0);
    z[i] = a * x[i] - b * y[i];
}

kernel void axby_size(global const float *x, global const float *y, global float *z, float a, float b)
{
    size_t i = get_global_id(0);
    z[i] = a * x[i] - b * y[i];
}

kernel void axby_guarded(global const float *x, global const float *y, global float *z, float a, float b, int n)
{
    int i = get_global_id(0);
    if (i < n) z[i] = a * x[i] - b * y[i];
}

kernel void stencil(global const float *a, global float *b, int w, int h)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x > 0 && y > 0 && x < w - 1 && y < h - 1)
        b[y * w + x] = 0.2f * (a[y * w + x] + a[y * w + x - 1] + a[y * w + x + 1] + a[(y - 1) * w + x] + a[(y + 1) * w + x]);
}

/* One work-group for each row. */
kernel void row_scale(global const float *x, global const float *factor, global float *y, int n)
{
    int row = get_group_id(0);
    for (int j = get_local_id(0); j < n; j += get_local_size(0)) y[row * n + j] = x[row * n + j] * factor[row];
}

kernel void row_sums(global const float *x, global float *sums, int n)
{
    local float part[256];
    int l = get_local_id(0), row = get_group_id(0);
    float sum = 0;
    for (int j = l; j < n; j += 256) sum += x[row * n + j];
    part[l] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 128; s > 0; s >>= 1) {
        if (l < s) part[l] += part[l + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0) sums[row] = part[0];
}

kernel void sparse_rows(global const float *values, global const int *columns, global const int *starts,
                        global const float *x, global float *y, int n)
{
    int row = get_global_id(0);
    if (row >= n) return;
    float sum = 0;
    for (int k = starts[row]; k < starts[row + 1]; k++) sum += values[k] * x[columns[k]];
    y[row] = sum;
}
