/* Rows as somebody writes them for a GPU: a work-group holds its row in registers, and reads it once. Layernorm takes both
   sums at once, from the row's first number on, so that no digits are lost where the mean is large. */
//: language CL2.0

#define ROWS(SUFFIX, SIZE, PER)                                                                                        \
    kernel __attribute__((reqd_work_group_size(SIZE, 1, 1))) void softmax_##SUFFIX(global const float4 *x,             \
                                                                                   global float4 *o)                   \
    {                                                                                                                  \
        size_t at = get_group_id(0) * (SIZE * PER) + get_local_id(0);                                                  \
        float4 v[PER];                                                                                                 \
        float largest = -INFINITY, sum = 0;                                                                            \
        _Pragma("unroll") for (int k = 0; k < PER; k++) v[k] = x[at + k * SIZE];                                       \
        _Pragma("unroll") for (int k = 0; k < PER; k++)                                                                \
            largest = fmax(largest, fmax(fmax(v[k].x, v[k].y), fmax(v[k].z, v[k].w)));                                 \
        largest = work_group_reduce_max(largest);                                                                      \
        _Pragma("unroll") for (int k = 0; k < PER; k++)                                                                \
        {                                                                                                              \
            v[k] = exp(v[k] - largest);                                                                                \
            sum += (v[k].x + v[k].y) + (v[k].z + v[k].w);                                                              \
        }                                                                                                              \
        float factor = 1.0f / work_group_reduce_add(sum);                                                              \
        _Pragma("unroll") for (int k = 0; k < PER; k++) o[at + k * SIZE] = v[k] * factor;                              \
    }                                                                                                                  \
                                                                                                                       \
    kernel __attribute__((reqd_work_group_size(SIZE, 1, 1))) void layernorm_##SUFFIX(                                  \
        global const float4 *x, global const float4 *scale, global const float4 *shift, global float4 *o)              \
    {                                                                                                                  \
        size_t l = get_local_id(0), at = get_group_id(0) * (SIZE * PER) + l;                                           \
        float4 v[PER];                                                                                                 \
        float first = x[get_group_id(0) * (SIZE * PER)].x, sum = 0, squares = 0;                                       \
        _Pragma("unroll") for (int k = 0; k < PER; k++) v[k] = x[at + k * SIZE] - first;                               \
        _Pragma("unroll") for (int k = 0; k < PER; k++)                                                                \
        {                                                                                                              \
            sum += (v[k].x + v[k].y) + (v[k].z + v[k].w);                                                              \
            squares += (v[k].x * v[k].x + v[k].y * v[k].y) + (v[k].z * v[k].z + v[k].w * v[k].w);                      \
        }                                                                                                              \
        float mean = work_group_reduce_add(sum) / (SIZE * PER * 4);                                                    \
        float square = work_group_reduce_add(squares) / (SIZE * PER * 4);                                              \
        float factor = rsqrt(square - mean * mean + 1e-5f);                                                            \
        _Pragma("unroll") for (int k = 0; k < PER; k++)                                                                \
            o[at + k * SIZE] = (v[k] - mean) * factor * scale[l + k * SIZE] + shift[l + k * SIZE];                     \
    }

/* Columns and work-items. */
ROWS(1k_64, 64, 4)
ROWS(1k_128, 128, 2)
ROWS(1k_256, 256, 1)
ROWS(4k_128, 128, 8)
ROWS(4k_256, 256, 4)
ROWS(16k_256, 256, 16)
ROWS(16k_512, 512, 8)
ROWS(16k_1024, 1024, 4)
ROWS(32k_512, 512, 16)
ROWS(32k_1024, 1024, 8)

/* What one kernel gives that was written by hand, and what a copy takes: to compare with. */

kernel void by_hand(global const float4 *a, global const float4 *b, global const float4 *c, global float4 *o)
{
    size_t i = get_global_id(0);
    float4 sum = a[i] + b[i];
    o[i] = sum * c[i] + sum * 5.0f;
}

kernel void copy(global const float4 *a, global float4 *o)
{
    size_t i = get_global_id(0);
    o[i] = a[i];
}
