/* Local Laplacian filter: the picture is remapped around several brightnesses, a pyramid is made of each, and the
   result's Laplacian pyramid takes from those nearest to the picture's own brightness there. */

kernel void brightness(global const float *in, global float *out, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1), plane = width * height;
    if (x >= width || y >= height) return;
    int i = y * width + x;
    out[i] = 0.299f * in[i] + 0.587f * in[i + plane] + 0.114f * in[i + 2 * plane];
}

kernel void remap(global const float *gray, global float *out, int width, int height, float center, float strength)
{
    int x = get_global_id(0), y = get_global_id(1), i = y * width + x;
    if (x >= width || y >= height) return;
    float d = gray[i] - center;
    out[i] = gray[i] + strength * d * exp(-18.0f * d * d);
}

/* width and height: of what is written; each pixel is made of 4 x 4. */
kernel void shrink(global const float *in, global float *out, int width, int height, int in_width, int in_height)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height) return;
    float sum = 0;
    for (int j = -1; j <= 2; j++) {
        int row = clamp(2 * y + j, 0, in_height - 1) * in_width;
        float line = in[row + clamp(2 * x - 1, 0, in_width - 1)] + 3 * in[row + clamp(2 * x, 0, in_width - 1)] +
                     3 * in[row + clamp(2 * x + 1, 0, in_width - 1)] + in[row + clamp(2 * x + 2, 0, in_width - 1)];
        sum += (j == 0 || j == 1 ? 3.0f : 1.0f) * line;
    }
    out[y * width + x] = sum / 64;
}

/* Between the four nearest pixels of a picture of half the size. */
float enlarged(global const float *in, int x, int y, int width, int height)
{
    int x0 = min(x / 2, width - 1), y0 = min(y / 2, height - 1);
    int x1 = clamp(x0 - 1 + 2 * (x & 1), 0, width - 1), y1 = clamp(y0 - 1 + 2 * (y & 1), 0, height - 1);
    return 0.75f * (0.75f * in[y0 * width + x0] + 0.25f * in[y0 * width + x1]) +
           0.25f * (0.75f * in[y1 * width + x0] + 0.25f * in[y1 * width + x1]);
}

kernel void clear_level(global float *out, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x < width && y < height) out[y * width + x] = 0;
}

/* How much of the pyramid around `center` a pixel of that brightness takes. */
float share(float gray, float center, float distance)
{
    return max(0.0f, 1.0f - fabs(gray - center) / distance);
}

kernel void add_detail(global const float *gray, global const float *level, global const float *next, global float *out,
                       int width, int height, int next_width, int next_height, float center, float distance)
{
    int x = get_global_id(0), y = get_global_id(1), i = y * width + x;
    if (x >= width || y >= height) return;
    float detail = level[i] - enlarged(next, x, y, next_width, next_height);
    out[i] += share(gray[i], center, distance) * detail;
}

kernel void add_base(global const float *gray, global const float *level, global float *out, int width, int height,
                     float center, float distance)
{
    int x = get_global_id(0), y = get_global_id(1), i = y * width + x;
    if (x < width && y < height) out[i] += share(gray[i], center, distance) * level[i];
}

kernel void collapse(global const float *detail, global const float *next, global float *out, int width, int height,
                     int next_width, int next_height)
{
    int x = get_global_id(0), y = get_global_id(1), i = y * width + x;
    if (x < width && y < height) out[i] = detail[i] + enlarged(next, x, y, next_width, next_height);
}

kernel void color(global const float *in, global const float *gray, global const float *result, global float *out,
                  int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1), plane = width * height;
    if (x >= width || y >= height) return;
    int i = y * width + x;
    float gain = (result[i] + 0.01f) / (gray[i] + 0.01f);
    for (int c = 0; c < 3; c++) out[i + c * plane] = clamp(in[i + c * plane] * gain, 0.0f, 1.0f);
}
