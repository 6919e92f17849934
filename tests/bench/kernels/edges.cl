/* Pictures in stages, each a kernel: contrast and the slope of brightness, and Harris' corners. */

kernel void contrast(global const float *in, global float *out, int width, int height, float gain)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height) return;
    out[y * width + x] = clamp((in[y * width + x] - 0.5f) * gain + 0.5f, 0.0f, 1.0f);
}

kernel void sobel(global const float *in, global float *out, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
    int i = y * width + x;
    float gx = in[i - width + 1] - in[i - width - 1] + 2 * (in[i + 1] - in[i - 1]) + in[i + width + 1] - in[i + width - 1];
    float gy = in[i + width - 1] - in[i - width - 1] + 2 * (in[i + width] - in[i - width]) + in[i + width + 1] - in[i - width + 1];
    out[i] = sqrt(gx * gx + gy * gy);
}

float at(global const float *in, int x, int y, int width, int height)
{
    return in[clamp(y, 0, height - 1) * width + clamp(x, 0, width - 1)];
}

kernel void slope_x(global const float *in, global float *out, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height) return;
    float sum = 0;
    for (int k = -1; k <= 1; k++)
        sum += (k ? 1.0f : 2.0f) * (at(in, x + 1, y + k, width, height) - at(in, x - 1, y + k, width, height));
    out[y * width + x] = sum * (1.0f / 12.0f);
}

kernel void slope_y(global const float *in, global float *out, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height) return;
    float sum = 0;
    for (int k = -1; k <= 1; k++)
        sum += (k ? 1.0f : 2.0f) * (at(in, x + k, y + 1, width, height) - at(in, x + k, y - 1, width, height));
    out[y * width + x] = sum * (1.0f / 12.0f);
}

kernel void product(global const float *a, global const float *b, global float *out, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x < width && y < height) out[y * width + x] = a[y * width + x] * b[y * width + x];
}

kernel void sum_3x3(global const float *in, global float *out, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height) return;
    float sum = 0;
    for (int j = -1; j <= 1; j++)
        for (int k = -1; k <= 1; k++) sum += at(in, x + k, y + j, width, height);
    out[y * width + x] = sum;
}

kernel void response(global const float *xx, global const float *xy, global const float *yy, global float *out, int width,
                     int height, float k)
{
    int x = get_global_id(0), y = get_global_id(1), i = y * width + x;
    if (x >= width || y >= height) return;
    float trace = xx[i] + yy[i];
    out[i] = xx[i] * yy[i] - xy[i] * xy[i] - k * trace * trace;
}
