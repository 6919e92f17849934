//: language CLC++
//: translator --spirv-ext=+SPV_KHR_linkonce_odr
/* A kernel that needs functions and constants of another module. */
#include "link_shared.h"

static int own(int x)
{
    return x - 7;
}

__kernel void linked(__global const int *in, __global int *out, __global float *floats, __local int *room)
{
    size_t i = get_global_id(0);
    bounds b = {-3, 40.5f};
    int x = own(in[i]);
    float f = clamped((float)x * scale, b);
    out[i] = weigh(x, (int)i) + spread(in[i]) + total(in, room, (int)get_local_size(0)) + weights[3];
    floats[i] = f + b.high;
}
