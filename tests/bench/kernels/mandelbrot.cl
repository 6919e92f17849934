kernel void mandelbrot(global int *o, int width, int height, float left, float top, float step, int rounds)
{
    int px = get_global_id(0), py = get_global_id(1);
    if (px >= width || py >= height) return;
    float cx = left + px * step, cy = top + py * step, x = 0, y = 0;
    int i = 0;
    while (i < rounds && x * x + y * y <= 4.0f) {
        float next = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = next;
        i++;
    }
    o[py * width + px] = i;
}
