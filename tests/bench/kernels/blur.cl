/* A box of 5 x 5 around each pixel, then a curve that keeps the lights. */

kernel void box_blur(global const uchar4 *in, global uchar4 *out, int width, int height, int radius)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height) return;
    float4 sum = 0;
    for (int dy = -radius; dy <= radius; dy++)
        for (int dx = -radius; dx <= radius; dx++) {
            int sx = clamp(x + dx, 0, width - 1), sy = clamp(y + dy, 0, height - 1);
            sum += convert_float4(in[sy * width + sx]);
        }
    float area = (2 * radius + 1) * (2 * radius + 1);
    out[y * width + x] = convert_uchar4_sat_rte(sum / area);
}

kernel void tone_map(global const uchar4 *in, global uchar4 *out, int width, int height, float exposure)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height) return;
    uchar4 p = in[y * width + x];
    float4 c = convert_float4(p) * (exposure / 255.0f);
    float4 mapped = c * (1.0f + c * 0.25f) / (1.0f + c);
    uchar4 result = convert_uchar4_sat_rte(mapped * 255.0f);
    result.w = p.w;
    out[y * width + x] = result;
}
