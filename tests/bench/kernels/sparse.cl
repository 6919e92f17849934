/* A matrix in compressed rows times a vector, a work-item for each row. */
kernel void multiply_rows(global const float *values, global const int *columns, global const int *starts,
                          global const float *x, global float *y, int rows)
{
    int row = get_global_id(0);
    if (row < rows) {
        float sum = 0;
        int end = starts[row + 1];
        for (int k = starts[row]; k < end; k++) sum += values[k] * x[columns[k]];
        y[row] = sum;
    }
}
