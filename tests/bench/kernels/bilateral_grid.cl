/* Bilateral filter by a grid: pixels are counted in cells of place and brightness, the grid is blurred along its three
   axes, and each pixel reads between its cells. A cell holds the sum of its pixels and their number. */

kernel void clear_grid(global float2 *grid, int columns, int rows, int depth)
{
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    if (x < columns && y < rows && z < depth) grid[(z * rows + y) * columns + x] = (float2)(0, 0);
}

kernel void count_pixels(global const float *in, global float2 *grid, int width, int height, int columns, int rows,
                         int cell, float levels)
{
    int gx = get_global_id(0), gy = get_global_id(1);
    if (gx >= columns || gy >= rows) return;
    for (int j = 0; j < cell; j++)
        for (int i = 0; i < cell; i++) {
            int x = clamp(gx * cell + i - cell / 2, 0, width - 1), y = clamp(gy * cell + j - cell / 2, 0, height - 1);
            float v = clamp(in[y * width + x], 0.0f, 1.0f);
            int z = (int)(v * levels + 0.5f);
            grid[(z * rows + gy) * columns + gx] += (float2)(v, 1);
        }
}

float2 cell_at(global const float2 *grid, int x, int y, int z, int columns, int rows, int depth)
{
    return grid[(clamp(z, 0, depth - 1) * rows + clamp(y, 0, rows - 1)) * columns + clamp(x, 0, columns - 1)];
}

kernel void blur_grid(global const float2 *grid, global float2 *out, int columns, int rows, int depth, int dx, int dy,
                      int dz)
{
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    if (x >= columns || y >= rows || z >= depth) return;
    float2 sum = 6 * cell_at(grid, x, y, z, columns, rows, depth);
    sum += 4 * (cell_at(grid, x - dx, y - dy, z - dz, columns, rows, depth) +
                cell_at(grid, x + dx, y + dy, z + dz, columns, rows, depth));
    sum += cell_at(grid, x - 2 * dx, y - 2 * dy, z - 2 * dz, columns, rows, depth) +
           cell_at(grid, x + 2 * dx, y + 2 * dy, z + 2 * dz, columns, rows, depth);
    out[(z * rows + y) * columns + x] = sum;
}

kernel void slice_grid(global const float *in, global const float2 *grid, global float *out, int width, int height,
                       int columns, int rows, int cell, float levels)
{
    int x = get_global_id(0), y = get_global_id(1), depth = (int)levels + 1;
    if (x >= width || y >= height) return;
    float v = clamp(in[y * width + x], 0.0f, 1.0f) * levels;
    int gx = x / cell, gy = y / cell, gz = (int)v;
    float fx = (float)(x - gx * cell) / cell, fy = (float)(y - gy * cell) / cell, fz = v - gz;
    float2 near = mix(mix(cell_at(grid, gx, gy, gz, columns, rows, depth),
                          cell_at(grid, gx + 1, gy, gz, columns, rows, depth), fx),
                      mix(cell_at(grid, gx, gy + 1, gz, columns, rows, depth),
                          cell_at(grid, gx + 1, gy + 1, gz, columns, rows, depth), fx),
                      fy);
    float2 far = mix(mix(cell_at(grid, gx, gy, gz + 1, columns, rows, depth),
                         cell_at(grid, gx + 1, gy, gz + 1, columns, rows, depth), fx),
                     mix(cell_at(grid, gx, gy + 1, gz + 1, columns, rows, depth),
                         cell_at(grid, gx + 1, gy + 1, gz + 1, columns, rows, depth), fx),
                     fy);
    float2 sum = mix(near, far, fz);
    out[y * width + x] = sum.x / sum.y;
}
