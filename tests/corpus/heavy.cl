// Kernels that keep much in registers and are large when all is unrolled: they compile within the limits of a compiler.

// ---- a transform of 512 points: eight in each of 64 work-items, three rounds of radix 8 ----

static float2 times(float2 a, float2 b)
{
    return (float2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

static float2 turned(float2 a, float part) // by a part of a circle
{
    float angle = -2 * M_PI_F * part;
    return times(a, (float2)(cos(angle), sin(angle)));
}

static void both(float2 *a, float2 *b)
{
    float2 sum = *a + *b;
    *b = *a - *b;
    *a = sum;
}

static float2 quarter(float2 a)
{
    return (float2)(a.y, -a.x);
}

static void fft8(float2 *a)
{
    const float half_root = 0.70710678f;
    for (int i = 0; i < 4; i++) both(&a[i], &a[i + 4]);
    a[5] = half_root * (float2)(a[5].x + a[5].y, a[5].y - a[5].x);
    a[6] = quarter(a[6]);
    a[7] = half_root * (float2)(a[7].y - a[7].x, -a[7].x - a[7].y);
    for (int i = 0; i < 8; i += 4) {
        both(&a[i], &a[i + 2]);
        both(&a[i + 1], &a[i + 3]);
        a[i + 3] = quarter(a[i + 3]);
    }
    for (int i = 0; i < 8; i += 2) both(&a[i], &a[i + 1]);
    float2 t = a[1]; // out of the order of reversed bits
    a[1] = a[4];
    a[4] = t;
    t = a[3];
    a[3] = a[6];
    a[6] = t;
}

//: kernel fft512 128 64
//: buffer f32 2048 uniform -1 1
//: buffer f32 2048 zero -> near:1e-3
kernel void fft512(global const float2 *in, global float2 *out)
{
    local float2 shared[512];
    float2 a[8];
    int t = get_local_id(0), high = t >> 3, low = t & 7;
    int first = get_group_id(0) * 512;
    for (int i = 0; i < 8; i++) a[i] = in[first + i * 64 + t];
    fft8(a);
    for (int i = 0; i < 8; i++) shared[i * 64 + t] = turned(a[i], t * i / 512.0f);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < 8; i++) a[i] = shared[high * 64 + i * 8 + low];
    barrier(CLK_LOCAL_MEM_FENCE);
    fft8(a);
    for (int i = 0; i < 8; i++) shared[high * 64 + i * 8 + low] = turned(a[i], low * i / 64.0f);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < 8; i++) a[i] = shared[high * 64 + low * 8 + i];
    fft8(a);
    for (int i = 0; i < 8; i++) out[first + i * 64 + low * 8 + high] = a[i];
}

// ---- a product of matrices: 64 sums in each work-item, tiles of 64 x 8 in local memory ----

//: kernel matmul_registers 8x8 8x8
//: buffer f32 2048 uniform -1 1
//: buffer f32 2048 uniform -1 1
//: buffer f32 4096 zero -> near:1e-4
//: value i32 32
kernel void matmul_registers(global const float *a, global const float *b, global float *c, int k)
{
    local float tile_a[8][64], tile_b[8][64];
    float sums[8][8], column[8], row[8];
    int x = get_local_id(0), y = get_local_id(1), t = y * 8 + x;
    int left = get_group_id(0) * 64, top = get_group_id(1) * 64, width = get_num_groups(0) * 64;
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) sums[i][j] = 0;
    for (int at = 0; at < k; at += 8) {
        for (int i = 0; i < 8; i++) {
            tile_a[i][t] = a[(top + t) * k + at + i];
            tile_b[i][t] = b[(at + i) * width + left + t];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (int s = 0; s < 8; s++) {
#pragma unroll
            for (int i = 0; i < 8; i++) {
                column[i] = tile_a[s][i * 8 + y];
                row[i] = tile_b[s][i * 8 + x];
            }
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
                for (int j = 0; j < 8; j++) sums[i][j] += column[i] * row[j];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) c[(top + i * 8 + y) * width + left + j * 8 + x] = sums[i][j];
}

// ---- lattice Boltzmann: 19 directions, each cell pushes to its neighbours ----

#define DIRECTIONS(D)                                                                                                  \
    D(0, 0, 0, 0, 0)                                                                                                   \
    D(1, 1, 0, 0, 2) D(2, -1, 0, 0, 1) D(3, 0, 1, 0, 4) D(4, 0, -1, 0, 3) D(5, 0, 0, 1, 6) D(6, 0, 0, -1, 5)           \
    D(7, 1, 1, 0, 8) D(8, -1, -1, 0, 7) D(9, 1, -1, 0, 10) D(10, -1, 1, 0, 9)                                          \
    D(11, 1, 0, 1, 12) D(12, -1, 0, -1, 11) D(13, 1, 0, -1, 14) D(14, -1, 0, 1, 13)                                    \
    D(15, 0, 1, 1, 16) D(16, 0, -1, -1, 15) D(17, 0, 1, -1, 18) D(18, 0, -1, 1, 17)

static int cell_at(int x, int y, int z, int w, int h, int d)
{
    return ((z + d) % d * h + (y + h) % h) * w + (x + w) % w;
}

//: kernel boltzmann 8x8x8 8x2x2
//: buffer f32 9728 uniform 0.1 1
//: buffer f32 9728 zero -> near:1e-4
//: buffer i32 512 uniform 0 6
//: value f32 1.2
kernel void boltzmann(global const float *from, global float *to, global const int *open, float omega)
{
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    int w = get_global_size(0), h = get_global_size(1), d = get_global_size(2), cells = w * h * d;
    int cell = cell_at(x, y, z, w, h, d);
#define LOAD(i, dx, dy, dz, back) float f##i = from[i * cells + cell];
    DIRECTIONS(LOAD)
    if (!open[cell]) { // a wall: back to where it came from
#define BOUNCE(i, dx, dy, dz, back) to[back * cells + cell_at(x - dx, y - dy, z - dz, w, h, d)] = f##i;
        DIRECTIONS(BOUNCE)
        return;
    }
    float rho = 0, ux = 0, uy = 0, uz = 0;
#define SUM(i, dx, dy, dz, back)                                                                                       \
    rho += f##i;                                                                                                       \
    ux += dx * f##i;                                                                                                   \
    uy += dy * f##i;                                                                                                   \
    uz += dz * f##i;
    DIRECTIONS(SUM)
    ux /= rho;
    uy /= rho;
    uz /= rho;
    float square = 1.5f * (ux * ux + uy * uy + uz * uz);
#define PUSH(i, dx, dy, dz, back)                                                                                      \
    {                                                                                                                  \
        float along = 3 * (dx * ux + dy * uy + dz * uz);                                                               \
        float weight = i == 0 ? 1 / 3.0f : i < 7 ? 1 / 18.0f : 1 / 36.0f;                                              \
        float rest = weight * rho * (1 + along + 0.5f * along * along - square);                                       \
        to[i * cells + cell_at(x + dx, y + dy, z + dz, w, h, d)] = f##i + omega * (rest - f##i);                       \
    }
    DIRECTIONS(PUSH)
}
