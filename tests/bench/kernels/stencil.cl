/* A step of diffusion with a guard on four sides, then three kernels on each point. */

kernel void diffuse(global const float *a, global float *o, float k, int w, int h)
{
    int x = get_global_id(0), y = get_global_id(1), i = y * w + x;
    if (x > 0 && y > 0 && x < w - 1 && y < h - 1)
        o[i] = a[i] + k * (a[i - 1] + a[i + 1] + a[i - w] + a[i + w] - 4.0f * a[i]);
    else if (x < w && y < h)
        o[i] = a[i];
}

kernel void add_source(global const float *a, global const float *source, global float *o, float dt, int w, int h)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x < w && y < h) o[y * w + x] = a[y * w + x] + dt * source[y * w + x];
}

kernel void cool(global const float *a, global float *o, float rate, int w, int h)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x < w && y < h) o[y * w + x] = a[y * w + x] * (1.0f - rate);
}

kernel void limit(global const float *a, global float *o, float low, float high, int w, int h)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x < w && y < h) o[y * w + x] = clamp(a[y * w + x], low, high);
}
