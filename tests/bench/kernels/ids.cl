/* The same kernels with ids of three types, with and without a guard: those of one name are to take the same time. */
#define GUARD(condition) if (!(condition)) return;
#define NONE(condition)
#define IF_GUARD(condition) if (condition)
#define IF_NONE(condition)

#define KERNELS(ID, TEST, name)                                                                                        \
    kernel void axpy_##name(global const float *a, global const float *b, global float *o, int n)                     \
    {                                                                                                                  \
        ID i = get_global_id(0);                                                                                       \
        TEST(i < n)                                                                                                    \
        o[i] = 0.5f * a[i] - b[i];                                                                                     \
    }                                                                                                                  \
    kernel void smooth_##name(global const float *a, global const float *b, global float *o, int n)                   \
    {                                                                                                                  \
        ID x = get_global_id(0), y = get_global_id(1), w = 512;                                                        \
        TEST(x < w && y < n / w)                                                                                       \
        o[y * w + x] = a[y * (w + 2) + x] + a[y * (w + 2) + x + 2] + b[y * w + x];                                     \
    }                                                                                                                  \
    kernel void columns_##name(global const float *a, global const float *b, global float *o, int n)                  \
    {                                                                                                                  \
        ID i = get_global_id(0), rows = 64;                                                                            \
        float sum = 0;                                                                                                 \
        TEST(i < n)                                                                                                    \
        for (ID k = 0; k < rows; k++) sum += a[k * n + i] * b[k];                                                      \
        o[i] = sum;                                                                                                    \
    }                                                                                                                  \
    kernel void every_##name(global const float *a, global const float *b, global float *o, int n)                    \
    {                                                                                                                  \
        for (ID i = get_global_id(0); i < n; i += get_global_size(0)) o[i] = a[i] * b[i];                              \
    }                                                                                                                  \
    kernel void rows_##name(global const float *a, global const float *b, global float *o, int n)                     \
    {                                                                                                                  \
        ID i = get_global_id(0), columns = 64;                                                                         \
        float sum = 0;                                                                                                 \
        TEST(i < n)                                                                                                    \
        for (ID k = 0; k < columns; k++) sum += a[i * columns + k] * b[k];                                             \
        o[i] = sum;                                                                                                    \
    }                                                                                                                  \
    kernel __attribute__((reqd_work_group_size(256, 1, 1))) void trees_##name(                                        \
        global const float *a, global const float *b, global float *o, int n)                                          \
    {                                                                                                                  \
        local float part[256];                                                                                         \
        ID l = get_local_id(0), i = get_global_id(0), all = n;                                                         \
        all *= 256;                                                                                                    \
        part[l] = 0;                                                                                                   \
        IF_##TEST(i < all) part[l] = a[i] * b[i];                                                                      \
        for (ID d = get_local_size(0) / 2; d > 0; d /= 2) {                                                            \
            barrier(CLK_LOCAL_MEM_FENCE);                                                                              \
            if (l < d) part[l] += part[l + d];                                                                         \
        }                                                                                                              \
        if (l == 0) o[get_group_id(0)] = part[0];                                                                      \
    }

KERNELS(int, NONE, int)
KERNELS(int, GUARD, int_guard)
KERNELS(uint, NONE, uint)
KERNELS(uint, GUARD, uint_guard)
KERNELS(size_t, NONE, size)
KERNELS(size_t, GUARD, size_guard)
