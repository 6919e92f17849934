// Filters of pictures that lie in buffers.

//: kernel to_grey 32x8 8x4
//: buffer u8 1024 bits
//: buffer u8 256 zero
kernel void to_grey(global const uchar4 *in, global uchar *out)
{
    size_t i = get_global_id(1) * get_global_size(0) + get_global_id(0);
    uint4 p = convert_uint4(in[i]);
    out[i] = (p.x * 77 + p.y * 151 + p.z * 28) >> 8;
}

//: kernel box_blur 32x32 8x8
//: buffer u8 1024 bits
//: buffer u8 1024 zero
//: value i32 2
kernel void box_blur(global const uchar *in, global uchar *out, int radius)
{
    int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0), h = get_global_size(1);
    uint sum = 0, n = 0;
    for (int j = max(y - radius, 0); j <= min(y + radius, h - 1); j++)
        for (int i = max(x - radius, 0); i <= min(x + radius, w - 1); i++, n++)
            sum += in[j * w + i];
    out[y * w + x] = (sum + n / 2) / n;
}

//: kernel sobel 32x32 16x4
//: buffer u8 1024 bits
//: buffer u8 1024 zero
kernel void sobel(global const uchar *in, global uchar *out)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x < 1 || y < 1 || x > 30 || y > 30) return;
    int p[9];
    for (int i = 0; i < 9; i++)
        p[i] = in[(y + i / 3 - 1) * 32 + x + i % 3 - 1];
    int gx = p[2] + 2 * p[5] + p[8] - p[0] - 2 * p[3] - p[6], gy = p[6] + 2 * p[7] + p[8] - p[0] - 2 * p[1] - p[2];
    out[y * 32 + x] = convert_uchar_sat(abs(gx) + abs(gy));
}

#define ORDER(a, b) { uchar lo = min(p[a], p[b]); p[b] = max(p[a], p[b]); p[a] = lo; }
//: kernel median3x3 16x16 8x8
//: buffer u8 256 bits
//: buffer u8 256 zero
kernel void median3x3(global const uchar *in, global uchar *out)
{
    int x = get_global_id(0), y = get_global_id(1);
    uchar p[9];
    for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++)
            p[(j + 1) * 3 + i + 1] = in[clamp(y + j, 0, 15) * 16 + clamp(x + i, 0, 15)];
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < 8 - i; j++)
            ORDER(j, j + 1)
    out[y * 16 + x] = p[4];
}

//: kernel resize_bilinear 24x12 8x4
//: buffer f32 256 uniform 0 1
//: buffer f32 288 zero -> near:1e-5
//: value f32 0.6666667 1.3333334
kernel void resize_bilinear(global const float *in, global float *out, float2 scale)
{
    float2 at = (convert_float2((int2)(get_global_id(0), get_global_id(1))) + 0.5f) * scale - 0.5f;
    at = clamp(at, 0.0f, 14.999f);
    float2 base = floor(at), f = at - base;
    int2 i = convert_int2(base);
    global const float *p = in + i.y * 16 + i.x;
    out[get_global_id(1) * 24 + get_global_id(0)] = mix(mix(p[0], p[1], f.x), mix(p[16], p[17], f.x), f.y);
}

//: kernel alpha_blend 64 16
//: buffer u8 256 bits
//: buffer u8 256 bits
kernel void alpha_blend(global const uchar4 *front, global uchar4 *back)
{
    size_t i = get_global_id(0);
    ushort4 f = convert_ushort4(front[i]), b = convert_ushort4(back[i]);
    ushort a = f.w;
    ushort4 t = f * a + b * (ushort)(255 - a) + (ushort)128;
    uchar4 r = convert_uchar4((t + (t >> (ushort)8)) >> (ushort)8);
    r.w = add_sat(front[i].w, back[i].w);
    back[i] = r;
}

//: kernel yuv_to_rgb 32 8
//: buffer u8 96 bits
//: buffer u8 96 zero
kernel void yuv_to_rgb(global const uchar *in, global uchar *out)
{
    int3 v = convert_int3(vload3(get_global_id(0), in)) - (int3)(16, 128, 128);
    int y = 298 * v.x + 128;
    int3 rgb = (int3)(y + 409 * v.z, y - 100 * v.y - 208 * v.z, y + 516 * v.y) >> 8;
    vstore3(convert_uchar3_sat(rgb), get_global_id(0), out);
}

//: kernel gamma_table 64 16
//: buffer f32 256 mixed -0.5 1.5
//: buffer u8 256 zero
//: buffer u8 256 bits
kernel void gamma_table(global const float4 *in, global uchar4 *out, constant uchar *table)
{
    uchar4 i = convert_uchar4_sat_rte(in[get_global_id(0)] * 255.0f);
    out[get_global_id(0)] = (uchar4)(table[i.x], table[i.y], table[i.z], i.w);
}

//: kernel dilate_bits 16 4
//: buffer u32 16 bits
//: buffer u32 16 zero
kernel void dilate_bits(global const uint *in, global uint *out)
{
    int y = get_global_id(0), h = get_global_size(0);
    uint all = in[y] | (y ? in[y - 1] : 0) | (y + 1 < h ? in[y + 1] : 0);
    out[y] = all | all << 1 | all >> 1;
}
