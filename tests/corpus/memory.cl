// Memory: async copies, constant tables, pointer arithmetic, casts, volatile, alignment, half in memory.

constant int table[4][3] = {{1, 2, 3}, {-4, 5, -6}, {7, 8, 9}, {10, 11, 12}};
constant struct {
    char name[6];
    float2 at;
} places[3] = {{"north", {0, 1}}, {"east", {1, 0}}, {"down", {0, -1}}};

//: kernel constant_tables 32 8
//: buffer f32 32 zero
kernel void constant_tables(global float *out)
{
    size_t i = get_global_id(0);
    constant char *name = places[i % 3].name;
    int letters = 0;
    while (name[letters])
        letters++;
    out[i] = table[i % 4][i % 3] + places[i % 3].at.y * 100 + letters * 1000 + name[i % 4];
}

//: kernel async_in_and_out 64 16
//: pocl@6.0 PoCL 6.0 lacks wait_group_events() for modules of SPIR-V
//: buffer f32 64 iota
//: buffer f32 64 zero
//: local 64
kernel void async_in_and_out(global const float *in, global float *out, local float *tile)
{
    size_t base = get_group_id(0) * 16, l = get_local_id(0);
    event_t e = async_work_group_copy(tile, in + base, 16, 0);
    wait_group_events(1, &e);
    float v = tile[15 - l] * 2;
    barrier(CLK_LOCAL_MEM_FENCE);
    tile[l] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    e = async_work_group_copy(out + base, tile, 16, 0);
    wait_group_events(1, &e);
}

//: kernel async_strided 32 8
//: pocl@6.0 PoCL 6.0 lacks wait_group_events() for modules of SPIR-V
//: buffer i32 128 iota
//: buffer i32 32 zero
//: local 32
kernel void async_strided(global const int *in, global int *out, local int *tile)
{
    event_t e = async_work_group_strided_copy(tile, in + get_group_id(0) * 32, 8, 4, 0);
    prefetch(in, 8);
    wait_group_events(1, &e);
    out[get_global_id(0)] = tile[get_local_id(0)];
}

//: kernel pointer_arithmetic 32 8
//: buffer i32 64 bits
//: buffer i64 32 zero
kernel void pointer_arithmetic(global const int *in, global long *out)
{
    size_t i = get_global_id(0);
    global const int *p = in + i, *end = in + 64, *q = end - 1 - i;
    long r = q - p;
    if (p < q) r += 1000;
    global const uchar *bytes = (global const uchar *)p;
    r = r * 256 + bytes[1];
    global const short2 *halves = (global const short2 *)q;
    r = r * 65536 + halves->y;
    p += 3;
    r += *p--;
    r += *--p;
    out[i] = r ^ ((size_t)p & 3);
}

//: kernel volatile_and_aliases 16 4
//: buffer u32 32 iota
//: buffer u32 16 zero
kernel void volatile_and_aliases(volatile global uint *data, global uint *out)
{
    size_t i = get_global_id(0);
    data[i] += 5;
    uint a = data[i];
    data[i + 16] = a * 2;
    volatile uint kept[2] = {a, data[i + 16]};
    kept[i & 1]++;
    out[i] = kept[0] * 1000 + kept[1];
}

//: kernel half_in_memory 64 16
//: buffer f32 64 mixed -70000 70000
//: buffer u16 64 zero
//: buffer f32 64 zero
//: buffer u16 256 zero
//: buffer f32 256 zero
kernel void half_in_memory(global const float *in, global half *h, global float *back, global half *rounded, global float *wide)
{
    size_t i = get_global_id(0);
    float v = in[i] == in[i] ? in[i] : 0.0f;
    vstore_half(v, i, h);
    back[i] = vload_half(i, h);
    vstore_half_rtz(v, i * 4, rounded);
    vstore_half_rtp(v, i * 4 + 1, rounded);
    vstore_half_rtn(v, i * 4 + 2, rounded);
    vstore_half_rte(v, i * 4 + 3, rounded);
    vstore4(vload_half4(i, rounded), i, wide);
}

//: kernel private_arrays 16 4
//: buffer u8 16 bits
//: buffer u32 16 zero
kernel void private_arrays(global const uchar *in, global uint *out)
{
    uchar seen[256];
    uint grid[4][4] = {{1}, {0, 2}, {0, 0, 3}};
    for (int i = 0; i < 256; i++)
        seen[i] = 0;
    for (int i = 0; i < 16; i++) {
        seen[in[i]] |= 1 << (i & 7);
        grid[in[i] & 3][i & 3] += in[i];
    }
    uint sum = 0;
    for (int i = 0; i < 256; i++)
        sum = sum * 31 + seen[i];
    for (int i = 0; i < 4; i++)
        sum ^= grid[i][get_global_id(0) & 3] << i;
    out[get_global_id(0)] = sum;
}

//: kernel local_arguments 32 8
//: buffer i32 32 bits
//: buffer i32 32 zero
//: local 32
//: local 64
//: local 8
kernel void local_arguments(global const int *in, global int *out, local int *a, local long *b, local uchar *c)
{
    size_t l = get_local_id(0);
    a[l] = in[get_global_id(0)];
    b[l] = (long)in[get_global_id(0)] << 20;
    c[l] = l * 17;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = a[7 - l] + (int)(b[(l + 1) & 7] >> 13) + c[l ^ 1];
}

// All kinds of numbers as arguments.
//: kernel scalar_arguments 4 2
//: buffer i64 4 zero
//: buffer f64 4 zero
//: value i8 -5
//: value u8 250
//: value i16 -3000
//: value u16 60000
//: value i32 -7
//: value u64 0xffffffff00000001
//: value f32 0.1
//: value f64 -0.1
//: value i16 1 -2 3 -4
//: value f64 1.5 2.5
kernel void scalar_arguments(global long *out, global double *real, char c, uchar uc, short s, ushort us, int i, ulong ul, float f,
                             double d, short4 v, double2 w)
{
    out[get_global_id(0)] = c + uc * 3 + s * 5 + us * 7 + i * 11 + (long)(ul * 13) + v.x + v.y * 2 + v.z * 4 + v.w * 8;
    real[get_global_id(0)] = (double)f + d + (get_global_id(0) & 1 ? w.x : w.y);
}

// Which event is waited for first differs from group to group.
//: kernel async_chosen 64 16
//: pocl@6.0 PoCL 6.0 lacks wait_group_events() for modules of SPIR-V
//: buffer i32 64 bits
//: buffer i32 64 iota
//: buffer i32 64 zero
//: local 64
//: local 64
kernel void async_chosen(global const int *a, global const int *b, global int *out, local int *x, local int *y)
{
    size_t base = get_group_id(0) * 16, l = get_local_id(0);
    event_t of_x = async_work_group_copy(x, a + base, 16, 0), of_y = async_work_group_copy(y, b + base, 16, 0);
    event_t first, second;
    if (get_group_id(0) & 1) {
        first = of_y;
        second = of_x;
    } else {
        first = of_x;
        second = of_y;
    }
    wait_group_events(1, &first);
    wait_group_events(1, &second);
    out[base + l] = x[15 - l] ^ y[l];
}
