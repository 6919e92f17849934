// Numbers of 16 bits.
//: pocl PoCL 3.1 and 6.0 have no cl_khr_fp16 on the CPU
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

//: kernel half_arithmetic 1024 16
//: buffer u16 1024 special 1
//: buffer u16 1024 special 32
//: buffer f32 4096 zero
kernel void half_arithmetic(global const half *a, global const half *b, global float *out)
{
    size_t i = get_global_id(0), n = get_global_size(0);
    half x = a[i], y = b[i];
    out[i] = x + y;
    out[i + n] = x * y;
    out[i + 2 * n] = x / y;
    out[i + 3 * n] = x < y ? fma(x, y, (half)1) : fabs(x - y);
}

//: kernel half_vectors 64 16
//: buffer f32 512 uniform -100 100
//: buffer u16 512 zero
//: buffer i16 512 zero
kernel void half_vectors(global const float8 *in, global half8 *out, global short8 *whole)
{
    size_t i = get_global_id(0);
    half8 v = convert_half8_rtz(in[i]) * (half)0.5f;
    out[i] = max(v.s76543210, floor(v));
    whole[i] = convert_short8_sat_rte(v) + (v > (half)3);
}
