/* Unsharp mask of a picture in three planes: what a blur takes out of the brightness is put on top of all of them. */

constant float weights[] = {0.0702f, 0.1311f, 0.1907f, 0.2160f, 0.1907f, 0.1311f, 0.0702f};

kernel void brightness(global const float *in, global float *out, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1), plane = width * height;
    if (x >= width || y >= height) return;
    int i = y * width + x;
    out[i] = 0.299f * in[i] + 0.587f * in[i + plane] + 0.114f * in[i + 2 * plane];
}

kernel void gauss_x(global const float *in, global float *out, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height) return;
    float sum = 0;
    for (int k = -3; k <= 3; k++) sum += weights[k + 3] * in[y * width + clamp(x + k, 0, width - 1)];
    out[y * width + x] = sum;
}

kernel void gauss_y(global const float *in, global float *out, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height) return;
    float sum = 0;
    for (int k = -3; k <= 3; k++) sum += weights[k + 3] * in[clamp(y + k, 0, height - 1) * width + x];
    out[y * width + x] = sum;
}

kernel void sharpen(global const float *gray, global const float *blurred, global float *out, int width, int height,
                    float amount)
{
    int x = get_global_id(0), y = get_global_id(1), i = y * width + x;
    if (x < width && y < height) out[i] = gray[i] + amount * (gray[i] - blurred[i]);
}

kernel void gain_of(global const float *gray, global const float *sharp, global float *out, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1), i = y * width + x;
    if (x < width && y < height) out[i] = sharp[i] / gray[i];
}

kernel void apply_gain(global const float *in, global const float *gain, global float *out, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1), plane = width * height;
    if (x >= width || y >= height) return;
    int i = y * width + x;
    for (int c = 0; c < 3; c++) out[i + c * plane] = in[i + c * plane] * gain[i];
}
