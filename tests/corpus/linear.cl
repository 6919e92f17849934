// Linear algebra: dense, tiled, triangular, sparse, batched small matrices.

//: kernel saxpy 256 64
//: buffer f32 256 uniform -10 10
//: buffer f32 256 mixed -10 10 -> near:1e-5
//: value f32 2.5
kernel void saxpy(global const float *x, global float *y, float a)
{
    size_t i = get_global_id(0);
    y[i] = a * x[i] + y[i];
}

//: kernel matmul 32x32 8x8
//: buffer f32 1024 uniform -1 1
//: buffer f32 1024 uniform -1 1
//: buffer f32 1024 zero -> near:1e-5
//: value i32 32
kernel void matmul(global const float *a, global const float *b, global float *c, int n)
{
    int col = get_global_id(0), row = get_global_id(1);
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + col];
    c[row * n + col] = sum;
}

#define TILE 8
//: kernel matmul_tiled 32x32 8x8
//: buffer f64 1024 uniform -1 1
//: buffer f64 1024 uniform -1 1
//: buffer f64 1024 zero -> near:1e-12
//: value i32 32
kernel void matmul_tiled(global const double *a, global const double *b, global double *c, int n)
{
    local double ta[TILE][TILE], tb[TILE][TILE + 1];
    int lx = get_local_id(0), ly = get_local_id(1);
    int col = get_global_id(0), row = get_global_id(1);
    double sum = 0;
    for (int t = 0; t < n; t += TILE) {
        ta[ly][lx] = a[row * n + t + lx];
        tb[ly][lx] = b[(t + ly) * n + col];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TILE; k++)
            sum += ta[ly][k] * tb[k][lx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + col] = sum;
}

//: kernel matmul_int4 16x16 4x4
//: buffer i32 1024 uniform -100 100
//: buffer i32 1024 uniform -100 100
//: buffer i32 1024 zero
kernel void matmul_int4(global const int4 *a, global const int4 *b, global int4 *c)
{
    int col = get_global_id(0), row = get_global_id(1);
    int4 sum = 0;
    for (int k = 0; k < 16; k++) {
        int4 x = a[row * 16 + k];
        int4 y = b[k * 16 + col];
        sum += (int4)(x.x * y.x, x.y * y.y, x.z + y.w, x.w - y.z);
    }
    c[row * 16 + col] = sum;
}

//: kernel transpose_tiled 32x16 8x8
//: buffer i32 512 bits
//: buffer i32 512 zero
//: local 288
kernel void transpose_tiled(global const int *in, global int *out, local int *tile)
{
    int w = get_global_size(0), h = get_global_size(1);
    int lx = get_local_id(0), ly = get_local_id(1);
    tile[ly * 9 + lx] = in[get_global_id(1) * w + get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    int x = get_group_id(1) * 8 + lx, y = get_group_id(0) * 8 + ly;
    out[y * h + x] = tile[lx * 9 + ly];
}

//: kernel gemv_rows 64 16
//: buffer f32 4096 uniform -2 2
//: buffer f32 64 uniform -2 2
//: buffer f32 64 uniform -2 2 -> near:1e-4
//: value f32 1.5
//: value f32 -0.5
kernel void gemv_rows(global const float *restrict a, global const float *restrict x, global float *restrict y, float alpha,
                      float beta)
{
    size_t r = get_global_id(0);
    float4 acc = 0;
    for (int k = 0; k < 64; k += 4)
        acc += vload4(0, a + r * 64 + k) * vload4(0, x + k);
    y[r] = alpha * (acc.x + acc.y + acc.z + acc.w) + beta * y[r];
}

// Rows of different length, by offsets.
//: kernel spmv_csr 32 8
//: buffer i32 33 iota
//: buffer i32 96 uniform 0 63
//: buffer f64 96 uniform -3 3
//: buffer f64 64 uniform -3 3
//: buffer f64 32 zero -> near:1e-12
kernel void spmv_csr(global const int *row, global const int *col, global const double *val, global const double *x,
                     global double *y)
{
    int r = get_global_id(0);
    int begin = row[r] * 2 + r % 3, end = row[r + 1] * 2 + (r + 1) % 3;
    double sum = 0;
    for (int j = begin; j < end; j++)
        sum += val[j] * x[col[j]];
    y[r] = sum;
}

//: kernel cholesky4 16 4
//: buffer f32 256 uniform 0 1
//: buffer f32 256 zero -> near:1e-4
kernel void cholesky4(global const float *in, global float *out)
{
    size_t g = get_global_id(0);
    float a[4][4], l[4][4];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            a[i][j] = in[g * 16 + min(i, j) * 4 + max(i, j)] + (i == j ? 5.0f : 0.0f);
            l[i][j] = 0;
        }
    for (int j = 0; j < 4; j++) {
        float d = a[j][j];
        for (int k = 0; k < j; k++)
            d -= l[j][k] * l[j][k];
        l[j][j] = sqrt(d);
        for (int i = j + 1; i < 4; i++) {
            float s = a[i][j];
            for (int k = 0; k < j; k++)
                s -= l[i][k] * l[j][k];
            l[i][j] = s / l[j][j];
        }
    }
    for (int i = 0; i < 16; i++)
        out[g * 16 + i] = l[i / 4][i % 4];
}

// Gauss-Jordan with pivoting; rows are swapped by index.
//: kernel inverse3 16 8
//: buffer f64 144 uniform -4 4
//: buffer f64 144 zero -> near:1e-9
kernel void inverse3(global const double *in, global double *out)
{
    size_t g = get_global_id(0);
    double m[3][6];
    int perm[3] = {0, 1, 2};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            m[i][j] = in[g * 9 + i * 3 + j] + (i == j ? 10.0 : 0.0);
            m[i][j + 3] = i == j;
        }
    for (int c = 0; c < 3; c++) {
        int best = c;
        for (int r = c + 1; r < 3; r++)
            if (fabs(m[perm[r]][c]) > fabs(m[perm[best]][c])) best = r;
        int t = perm[c];
        perm[c] = perm[best];
        perm[best] = t;
        double inv = 1.0 / m[perm[c]][c];
        for (int j = 0; j < 6; j++)
            m[perm[c]][j] *= inv;
        for (int r = 0; r < 3; r++) {
            if (r == c) continue;
            double f = m[perm[r]][c];
            for (int j = 0; j < 6; j++)
                m[perm[r]][j] -= f * m[perm[c]][j];
        }
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out[g * 9 + i * 3 + j] = m[perm[i]][j + 3];
}

// Forward substitution by one work-group: item i waits for the rows above it.
//: kernel trsv_lower 16 16
//: buffer f64 256 uniform 0 1
//: buffer f64 16 uniform -1 1 -> near:1e-12
kernel void trsv_lower(global const double *l, global double *x)
{
    local double solved[16];
    int i = get_local_id(0);
    double mine = x[i];
    for (int k = 0; k < 16; k++) {
        if (i == k) solved[k] = mine / (l[k * 16 + k] + 1.0);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i > k) mine -= l[i * 16 + k] * solved[k];
    }
    x[i] = solved[i];
}

//: kernel complex_multiply 64 16
//: buffer f32 128 mixed -5 5
//: buffer f32 128 uniform -5 5
//: buffer f32 128 zero -> near:1e-4
kernel void complex_multiply(global const float2 *a, global const float2 *b, global float2 *c)
{
    size_t i = get_global_id(0);
    float2 x = a[i], y = b[i];
    c[i] = (float2)(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x);
}
