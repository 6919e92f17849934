// Zeros and infinities that compilers know: none may take it that a number beside them is neither.

//: kernel known_zeros 64 16
//: buffer f32 64 special 1
//: buffer f32 640 zero
kernel void known_zeros(global const float *in, global float *out)
{
    size_t i = get_global_id(0);
    float x = in[i];
    global float *to = out + 10 * i;
    to[0] = x / 0.0f;
    to[1] = 0.0f / x;
    to[2] = x * 0.0f;
    to[3] = x + 0.0f;
    to[4] = 0.0f - x;
    to[5] = -0.0f + x;
    to[6] = x / -0.0f;
    to[7] = x * INFINITY;
    to[8] = x / INFINITY;
    to[9] = INFINITY - x;
}

//: kernel known_zeros_of_64_bits 64 16
//: buffer f64 64 special 1
//: buffer f64 384 zero
kernel void known_zeros_of_64_bits(global const double *in, global double *out)
{
    size_t i = get_global_id(0);
    double x = in[i];
    global double *to = out + 6 * i;
    to[0] = x / 0.0;
    to[1] = 0.0 / x;
    to[2] = x * 0.0;
    to[3] = x + 0.0;
    to[4] = -0.0 + x;
    to[5] = INFINITY - x;
}

//: kernel sums_from_zero 64 16
//: buffer f32 256 special 1
//: buffer f32 64 zero
// A loop that can be unrolled: the first sum is of a zero.
kernel void sums_from_zero(global const float *in, global float *out)
{
    size_t i = get_global_id(0);
    float sum = 0;
    for (int k = 0; k < 2; k++) sum += in[4 * i + k] * (k ? 1.0f : 0.0f);
    out[i] = sum;
}
