/* Element-wise kernels, as an array library has them. */

kernel void add(global const float *a, global const float *b, global float *o, int n)
{
    int i = get_global_id(0);
    if (i < n) o[i] = a[i] + b[i];
}

kernel void subtract(global const float *a, global const float *b, global float *o, int n)
{
    int i = get_global_id(0);
    if (i < n) o[i] = a[i] - b[i];
}

kernel void multiply(global const float *a, global const float *b, global float *o, int n)
{
    int i = get_global_id(0);
    if (i < n) o[i] = a[i] * b[i];
}

kernel void scale(global const float *a, global float *o, float k, int n)
{
    int i = get_global_id(0);
    if (i < n) o[i] = a[i] * k;
}

kernel void offset(global const float *a, global float *o, float k, int n)
{
    int i = get_global_id(0);
    if (i < n) o[i] = a[i] + k;
}

kernel void clip(global const float *a, global float *o, float low, float high, int n)
{
    int i = get_global_id(0);
    if (i < n) o[i] = fmin(fmax(a[i], low), high);
}

/* a where it is positive, else a share of it */
kernel void leaky(global const float *a, global float *o, float share, int n)
{
    int i = get_global_id(0);
    if (i < n) {
        float x = a[i];
        o[i] = x > 0 ? x : x * share;
    }
}
