//: language CLC++
//: translator --spirv-ext=+SPV_KHR_linkonce_odr
/* What link_main.cl needs. */
#include "link_shared.h"

__constant int weights[4] = {1, -2, 3, -4};
__constant float scale = 0.25f;

static int own(int x)
{
    return 2 * x + 1;
}

int weigh(int x, int i)
{
    return own(spread(x)) * weights[i & 3];
}

float clamped(float x, bounds b)
{
    b.high += (float)b.low; /* of its own copy */
    return x < (float)b.low ? (float)b.low : x > b.high ? b.high : x;
}

int total(__global const int *values, __local int *room, int n)
{
    int sum = 0;
    room[get_local_id(0)] = values[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < n; i++) sum += room[get_local_size(0) - 1 - i];
    return sum;
}
