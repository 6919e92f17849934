/* Edges of a picture in three steps, as one would write them: each reads what the one before wrote. */

kernel void gray(global const uchar4 *photo, global float *light, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height) return;
    float4 c = convert_float4(photo[y * width + x]);
    light[y * width + x] = 0.299f * c.x + 0.587f * c.y + 0.114f * c.z;
}

kernel void contrast(global const float *light, global float *strong, float gain, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height) return;
    strong[y * width + x] = clamp((light[y * width + x] - 128.0f) * gain + 128.0f, 0.0f, 255.0f);
}

kernel void sobel(global const float *light, global uchar *edges, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height) return;
    int left = max(x - 1, 0), right = min(x + 1, width - 1), above = max(y - 1, 0) * width, here = y * width,
        below = min(y + 1, height - 1) * width;
    float h = light[above + right] + 2 * light[here + right] + light[below + right] - light[above + left] -
              2 * light[here + left] - light[below + left];
    float v = light[below + left] + 2 * light[below + x] + light[below + right] - light[above + left] -
              2 * light[above + x] - light[above + right];
    edges[here + x] = (uchar)min(sqrt(h * h + v * v), 255.0f);
}
