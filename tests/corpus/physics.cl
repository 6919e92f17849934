// Particles, transforms, fractals, finance.

//: kernel nbody 64 16
//: buffer f32 256 uniform -10 10
//: buffer f32 256 zero -> near:1e-4
//: value f32 0.5
kernel void nbody(global const float4 *body, global float4 *force, float soft)
{
    size_t i = get_global_id(0);
    float4 me = body[i];
    float3 sum = 0;
    for (size_t j = 0; j < get_global_size(0); j++) {
        float3 d = body[j].xyz - me.xyz;
        float inv = rsqrt(dot(d, d) + soft);
        sum += d * (body[j].w * inv * inv * inv);
    }
    force[i] = (float4)(sum, 0);
}

//: kernel nbody_tiled 64 16
//: buffer f64 256 uniform -10 10
//: buffer f64 256 zero -> near:1e-9
//: local 512
kernel void nbody_tiled(global const double4 *body, global double4 *force, local double4 *tile)
{
    size_t i = get_global_id(0);
    int l = get_local_id(0);
    double4 me = body[i], sum = 0;
    for (size_t t = 0; t < get_num_groups(0); t++) {
        tile[l] = body[t * 16 + l];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = 0; j < 16; j++) {
            double4 d = tile[j] - me;
            d.w = 0;
            double r2 = dot(d, d) + 0.25;
            sum += d * (tile[j].w / (r2 * sqrt(r2)));
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    force[i] = sum;
}

//: kernel dft 32 8
//: buffer f64 64 uniform -1 1
//: buffer f64 64 zero -> near:1e-12
kernel void dft(global const double2 *in, global double2 *out)
{
    int k = get_global_id(0), n = get_global_size(0);
    double2 sum = 0;
    for (int t = 0; t < n; t++) {
        double c, s = sincos(-2.0 * M_PI * (k * t % n) / n, &c);
        sum += (double2)(in[t].x * c - in[t].y * s, in[t].x * s + in[t].y * c);
    }
    out[k] = sum;
}

// Radix 2 in local memory, one transform of 64 for each group of 32 items.
//: kernel fft_radix2 64 32
//: buffer f32 256 uniform -1 1 -> near:1e-4
kernel void fft_radix2(global float2 *data)
{
    local float2 a[64];
    int l = get_local_id(0);
    global float2 *mine = data + get_group_id(0) * 64;
    for (int i = l; i < 64; i += 32) {
        int r = 0;
        for (int b = 0; b < 6; b++)
            r |= (i >> b & 1) << (5 - b);
        a[r] = mine[i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int half_size = 1; half_size < 64; half_size *= 2) {
        int k = l & (half_size - 1), at = 2 * l - k;
        float angle = -M_PI_F * k / half_size;
        float2 w = (float2)(cos(angle), sin(angle)), u = a[at], v = a[at + half_size];
        float2 t = (float2)(w.x * v.x - w.y * v.y, w.x * v.y + w.y * v.x);
        a[at] = u + t;
        a[at + half_size] = u - t;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    mine[l] = a[l];
    mine[l + 32] = a[l + 32];
}

// Exact: all numbers are multiples of 1/64 for the rounds it takes.
//: kernel mandelbrot 32x16 8x8
//: buffer i32 512 zero
//: value i32 6
kernel void mandelbrot(global int *out, int rounds)
{
    int px = get_global_id(0), py = get_global_id(1);
    double cx = px / 16.0 - 1.5, cy = py / 8.0 - 1.0, x = 0, y = 0;
    int n = 0;
    while (n < rounds && x * x + y * y <= 4.0) {
        double t = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = t;
        n++;
    }
    out[py * get_global_size(0) + px] = n;
}

//: kernel black_scholes 64 16
//: buffer f64 64 uniform 10 100
//: buffer f64 64 uniform 10 100
//: buffer f64 64 uniform 0.1 5
//: buffer f64 64 zero -> near:1e-10
//: buffer f64 64 zero -> near:1e-10
kernel void black_scholes(global const double *price, global const double *strike, global const double *years, global double *call,
                          global double *put)
{
    size_t i = get_global_id(0);
    const double r = 0.02, v = 0.3;
    double s = price[i], x = strike[i], t = years[i];
    double d1 = (log(s / x) + (r + 0.5 * v * v) * t) / (v * sqrt(t)), d2 = d1 - v * sqrt(t);
    double n1 = 0.5 * erfc(-d1 / sqrt(2.0)), n2 = 0.5 * erfc(-d2 / sqrt(2.0)), e = exp(-r * t);
    call[i] = s * n1 - x * e * n2;
    put[i] = x * e * (1 - n2) - s * (1 - n1);
}

//: kernel leapfrog 32 8
//: buffer f32 128 uniform -1 1 -> near:1e-4
//: value f32 0.01
//: value i32 20
kernel void leapfrog(global float4 *state, float dt, int steps)
{
    float2 x = state[get_global_id(0)].xy, v = state[get_global_id(0)].zw;
    for (int i = 0; i < steps; i++) {
        v -= 0.5f * dt * x;
        x += dt * v;
        v -= 0.5f * dt * x;
    }
    state[get_global_id(0)] = (float4)(x, v);
}

//: kernel sphere_hits 16x16 8x8
//: buffer f32 16 uniform -2 2
//: buffer f32 256 zero -> near:1e-3
//: buffer i32 256 zero
kernel void sphere_hits(constant float4 *spheres, global float *depth, global int *which)
{
    size_t at = get_global_id(1) * 16 + get_global_id(0);
    float3 from = (float3)(0, 0, -6);
    float3 dir = normalize((float3)(get_global_id(0) / 8.0f - 0.97f, get_global_id(1) / 8.0f - 0.93f, 1.5f));
    float nearest = INFINITY;
    int hit = -1;
    for (int s = 0; s < 4; s++) {
        float3 oc = from - spheres[s].xyz;
        float b = dot(oc, dir), c = dot(oc, oc) - 1.0f, disc = b * b - c;
        if (disc < 0) continue;
        float t = -b - sqrt(disc);
        if (t > 0 && t < nearest) {
            nearest = t;
            hit = s;
        }
    }
    depth[at] = hit < 0 ? -1.0f : nearest;
    which[at] = hit;
}
