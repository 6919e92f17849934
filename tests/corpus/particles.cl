// Particles as simulations and filters have them: forces over lists of neighbours, likelihoods, resampling.

//: kernel lennard_jones 64 32
//: buffer f32 256 uniform -2 2
//: buffer f32 256 zero -> near:1e-4
//: buffer i32 512 uniform 0 63
//: value i32 8
//: value f32 4.5
kernel void lennard_jones(global const float4 *position, global float4 *force, global const int *neighbours, int most, float cut)
{
    uint i = get_global_id(0), n = get_global_size(0);
    float4 here = position[i], f = (float4)(0.0f, 0.0f, 0.0f, 0.0f);
    for (int j = 0; j < most; j++) {
        int k = neighbours[j * n + i];
        float4 there = position[k];
        float dx = here.x - there.x, dy = here.y - there.y, dz = here.z - there.z;
        float r2 = dx * dx + dy * dy + dz * dz + 0.25f;
        if (r2 < cut) {
            float inverse = 1.0f / r2, r6 = inverse * inverse * inverse;
            float strength = inverse * r6 * (1.5f * r6 - 2.0f);
            f.x += dx * strength;
            f.y += dy * strength;
            f.z += dz * strength;
        }
    }
    force[i] = f;
}

//: kernel lennard_jones_double 64 16
//: buffer f64 256 uniform -2 2
//: buffer f64 256 zero -> near:1e-10
//: buffer i32 512 uniform 0 63
//: value i32 8
kernel void lennard_jones_double(global const double4 *position, global double4 *force, global const int *neighbours, int most)
{
    int i = get_global_id(0), n = get_global_size(0);
    double4 here = position[i], f = 0;
    for (int j = 0; j < most; j++) {
        double4 d = here - position[neighbours[j + most * i]];
        double r2 = d.x * d.x + d.y * d.y + d.z * d.z + 0.25;
        if (r2 >= 4.5 || n < 8) continue;
        double inverse = 1.0 / r2, r6 = inverse * inverse * inverse;
        f += d * (inverse * r6 * (1.5 * r6 - 2.0));
    }
    force[i] = f;
}

//: kernel likelihood 128 32
//: buffer f32 128 uniform 0 31
//: buffer f32 128 uniform 0 31
//: buffer i32 18 uniform -2 2
//: buffer u8 1024 uniform 0 255
//: buffer i32 1152 zero
//: buffer f32 128 zero -> near:1e-5
//: buffer f32 128 uniform 0 1 -> near:1e-5
//: buffer f32 4 zero -> near:1e-4
kernel void likelihood(global const float *xs, global const float *ys, global const int *object, global const uchar *image,
                       global int *places, global float *likelihoods, global float *weights, global float *sums)
{
    local float partial[32];
    int i = get_global_id(0), l = get_local_id(0), ones = 9;
    float sum = 0;
    int x = (int)(xs[i] + 0.5f), y = (int)(ys[i] + 0.5f);
    for (int k = 0; k < ones; k++) {
        int at = abs((y + object[2 * k]) * 32 + x + object[2 * k + 1]);
        places[i * ones + k] = at >= 1024 ? 0 : at;
    }
    for (int k = 0; k < ones; k++) {
        float v = image[places[i * ones + k]];
        sum += (pow(v - 100.0f, 2.0f) - pow(v - 228.0f, 2.0f)) / 5000.0f;
    }
    likelihoods[i] = sum / (float)ones - 3.0f;
    weights[i] = weights[i] * exp(likelihoods[i]);
    partial[l] = weights[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (unsigned step = get_local_size(0) / 2; step > 0; step >>= 1) {
        if (l < step) partial[l] += partial[l + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0) sums[get_group_id(0)] = partial[0];
}

int next_random(global int *seeds, int i)
{
    int number = 1103515245 * seeds[i] + 12345;
    seeds[i] = number % 2147483647;
    return seeds[i];
}

float uniform_random(global int *seeds, int i)
{
    return fabs(next_random(seeds, i) / (float)2147483647);
}

//: kernel move_and_resample 128 32
//: buffer i32 128 iota
//: buffer f32 128 uniform 0 31 -> near:1e-5
//: buffer f32 128 uniform 0 1
//: buffer f32 128 zero -> near:1e-5
kernel void move_and_resample(global int *seeds, global float *xs, global const float *weights, global float *out)
{
    local float sums[32];
    int i = get_global_id(0), l = get_local_id(0), found = -1;
    float u = uniform_random(seeds, i), v = uniform_random(seeds, i);
    xs[i] += 1.0f + 5.0f * sqrt(fabs(-2.0f * log(u + 0.0625f))) * cos(2.0f * 3.14159265358979f * v);
    if (l == 0) {
        float sum = 0;
        for (int k = 0; k < 32; k++) {
            sum += weights[i + k];
            sums[k] = sum;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    float want = sums[31] * ((float)l + 0.5f) / 32.0f;
    for (int k = 0; k < 32; k++)
        if (sums[k] >= want) {
            found = k;
            break;
        }
    out[i] = found < 0 ? -1.0f : xs[i] * (float)found;
}

struct entry {
    int next;
    float value;
};

//: kernel sum_cells_by_lists 64 64
//: buffer f32 128 uniform 0 15
//: buffer i32 16 zero -> unset
//: buffer i32 128 zero -> unset
//: buffer i32 16 zero
// Lists in shared memory, linked by atomics in any order: what is summed does not depend on it.
kernel void sum_cells_by_lists(global const float *at, volatile global int *heads, volatile global struct entry *entries,
                               global int *counts)
{
    int i = get_global_id(0);
    if (i < 16) heads[i] = -1;
    barrier(CLK_GLOBAL_MEM_FENCE);
    int cell = clamp((int)at[2 * i] / 4 + 4 * ((int)at[2 * i + 1] / 4), 0, 15);
    entries[i].value = at[2 * i];
    entries[i].next = atomic_xchg(&heads[cell], i);
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (i >= 16) return;
    int n = 0;
    for (int k = heads[i]; k >= 0; k = entries[k].next) n += (int)(entries[k].value * 64.0f);
    counts[i] = n;
}
