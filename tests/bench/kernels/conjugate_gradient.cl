/* Conjugate gradients for five points of a plane, which are no matrix in memory: the kernels of one step. Sums are trees
   in work-groups of 256, then one work-group over their sums. s: the residual's square, the step, the direction's share */

kernel void apply(global const float *p, global float *q, int w, int h)
{
    int i = get_global_id(0);
    if (i >= w * h) return;
    int y = i / w, x = i - y * w;
    float v = 4.0f * p[i];
    if (x > 0) v -= p[i - 1];
    if (x < w - 1) v -= p[i + 1];
    if (y > 0) v -= p[i - w];
    if (y < h - 1) v -= p[i + w];
    q[i] = v;
}

void sum_of_group(float mine, local float *part, global float *sums)
{
    int l = get_local_id(0);
    part[l] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = get_local_size(0) / 2; d > 0; d >>= 1) {
        if (l < d) part[l] += part[l + d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0) sums[get_group_id(0)] = part[0];
}

kernel void dots(global const float *a, global const float *b, global float *sums, int n, local float *part)
{
    int i = get_global_id(0);
    sum_of_group(i < n ? a[i] * b[i] : 0.0f, part, sums);
}

float sum_of_sums(global const float *sums, int n, local float *part)
{
    int l = get_local_id(0);
    float mine = 0;
    for (int k = l; k < n; k += get_local_size(0)) mine += sums[k];
    part[l] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = get_local_size(0) / 2; d > 0; d >>= 1) {
        if (l < d) part[l] += part[l + d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return part[0];
}

kernel void begin(global const float *sums, global float *s, int n, local float *part)
{
    float rr = sum_of_sums(sums, n, part);
    if (get_local_id(0) == 0) s[0] = rr;
}

kernel void step_size(global const float *sums, global float *s, int n, local float *part)
{
    float pq = sum_of_sums(sums, n, part);
    if (get_local_id(0) == 0) s[1] = s[0] / pq;
}

kernel void direction_share(global const float *sums, global float *s, int n, local float *part)
{
    float rr = sum_of_sums(sums, n, part);
    if (get_local_id(0) == 0) {
        s[2] = rr / s[0];
        s[0] = rr;
    }
}

kernel void forward(global float *x, global const float *p, global const float *s, int n)
{
    int i = get_global_id(0);
    if (i < n) x[i] += s[1] * p[i];
}

kernel void back(global float *r, global const float *q, global const float *s, int n)
{
    int i = get_global_id(0);
    if (i < n) r[i] -= s[1] * q[i];
}

kernel void turn(global float *p, global const float *r, global const float *s, int n)
{
    int i = get_global_id(0);
    if (i < n) p[i] = r[i] + s[2] * p[i];
}

kernel void start(global const float *b, global float *x, global float *r, global float *p, int n)
{
    int i = get_global_id(0);
    if (i >= n) return;
    x[i] = 0;
    r[i] = b[i];
    p[i] = b[i];
}
