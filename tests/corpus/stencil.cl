// Stencils on grids of one to three dimensions.

//: kernel laplace2d 32x32 8x4
//: buffer f32 1024 uniform 0 100
//: buffer f32 1024 zero -> near:1e-4
kernel void laplace2d(global const float *in, global float *out)
{
    int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0), h = get_global_size(1);
    if (x == 0 || y == 0 || x == w - 1 || y == h - 1) {
        out[y * w + x] = in[y * w + x];
        return;
    }
    int i = y * w + x;
    out[i] = 0.25f * (in[i - 1] + in[i + 1] + in[i - w] + in[i + w]);
}

//: kernel heat3d 8x8x8 4x4x2
//: buffer f64 512 uniform 0 1
//: buffer f64 512 zero -> near:1e-13
//: value f64 0.1
kernel void heat3d(global const double *in, global double *out, double k)
{
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    int i = (z * 8 + y) * 8 + x;
    double c = in[i], sum = 0;
    sum += x > 0 ? in[i - 1] : c;
    sum += x < 7 ? in[i + 1] : c;
    sum += y > 0 ? in[i - 8] : c;
    sum += y < 7 ? in[i + 8] : c;
    sum += z > 0 ? in[i - 64] : c;
    sum += z < 7 ? in[i + 64] : c;
    out[i] = c + k * (sum - 6 * c);
}

// Wraps around at the edges.
//: kernel life 32x32 16x2
//: buffer u8 1024 uniform 0 1
//: buffer u8 1024 zero
kernel void life(global const uchar *in, global uchar *out)
{
    int x = get_global_id(0), y = get_global_id(1);
    int n = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx | dy) n += in[((y + dy) & 31) * 32 + ((x + dx) & 31)];
    out[y * 32 + x] = n == 3 || (n == 2 && in[y * 32 + x]);
}

// Several rounds in local memory, with a halo.
//: kernel smooth_rounds 128 32
//: buffer i32 128 uniform 0 1000
//: buffer i32 128 zero
//: local 160
//: value i32 5
kernel void smooth_rounds(global const int *in, global int *out, local int *tile, int rounds)
{
    int l = get_local_id(0), g = get_global_id(0), n = get_global_size(0), w = get_local_size(0);
    tile[l + 1] = in[g];
    if (l == 0) {
        tile[0] = g > 0 ? in[g - 1] : 0;
        tile[w + 1] = g + w < n ? in[g + w] : 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int r = 0; r < rounds; r++) {
        int v = (tile[l] + 2 * tile[l + 1] + tile[l + 2]) >> 2;
        barrier(CLK_LOCAL_MEM_FENCE);
        tile[l + 1] = v;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[g] = tile[l + 1];
}

constant float binomial[5] = {1 / 16.0f, 4 / 16.0f, 6 / 16.0f, 4 / 16.0f, 1 / 16.0f};

//: kernel convolve_rows 64x4 16x1
//: buffer f32 256 mixed 0 255
//: buffer f32 256 zero -> near:1e-4
kernel void convolve_rows(global const float *in, global float *out)
{
    int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0);
    float sum = 0;
    for (int k = -2; k <= 2; k++)
        sum += binomial[k + 2] * in[y * w + clamp(x + k, 0, w - 1)];
    out[y * w + x] = sum;
}

//: kernel wave_step 64 64
//: buffer f32 64 uniform -1 1
//: buffer f32 64 uniform -1 1
//: buffer f32 64 zero -> near:1e-6
kernel void wave_step(global const float *now, global const float *before, global float *next)
{
    int i = get_global_id(0), n = get_global_size(0);
    float left = now[(i + n - 1) % n], right = now[(i + 1) % n];
    next[i] = 2 * now[i] - before[i] + 0.25f * (left - 2 * now[i] + right);
}
