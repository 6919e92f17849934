/* Softmax of each row by a work-group of 256: the largest, the sum, the shares. */

kernel void softmax(global const float *x, global float *o, int columns, local float *part)
{
    int l = get_local_id(0), size = get_local_size(0), row = get_group_id(0);
    float largest = -INFINITY;
    for (int j = l; j < columns; j += size) largest = fmax(largest, x[row * columns + j]);
    part[l] = largest;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = size / 2; s > 0; s >>= 1) {
        if (l < s) part[l] = fmax(part[l], part[l + s]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    largest = part[0];
    barrier(CLK_LOCAL_MEM_FENCE);

    float sum = 0;
    for (int j = l; j < columns; j += size) sum += exp(x[row * columns + j] - largest);
    part[l] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = size / 2; s > 0; s >>= 1) {
        if (l < s) part[l] += part[l + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    float factor = 1.0f / part[0];
    for (int j = l; j < columns; j += size) o[row * columns + j] = exp(x[row * columns + j] - largest) * factor;
}
