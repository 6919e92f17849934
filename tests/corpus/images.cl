// 2-D images: reads with and without samplers, of all types and modes; writes; questions.
//: unoptimized O1
// (llvm-spirv-15 ends with an assertion on samplers in variables, as they are at -O0.)

constant sampler_t nearest_edge = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
constant sampler_t nearest_border = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
constant sampler_t smooth = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;

//: kernel copy_bytes 16x8 8x4
//: image rgba u8 16x8 bits
//: image rgba u8 16x8 zero
kernel void copy_bytes(read_only image2d_t in, write_only image2d_t out)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imageui(out, at, read_imageui(in, nearest_edge, at));
}

//: kernel flip_shorts 12x6 4x2
//: image rg i16 12x6 bits
//: image rg i16 12x6 zero
//: buffer i32 288 zero
//: pocl PoCL 3.1 has no images of two channels, and 6.0 reads 0 for their alpha
kernel void flip_shorts(read_only image2d_t in, write_only image2d_t out, global int4 *texels)
{
    int x = get_global_id(0), y = get_global_id(1), w = get_image_width(in), h = get_image_height(in);
    int4 v = read_imagei(in, (int2)(w - 1 - x, h - 1 - y));
    write_imagei(out, (int2)(x, y), v);
    texels[y * w + x] = v;
}

//: kernel normalized_bytes 8x8 4x4
//: image bgra unorm8 8x8 bits
//: image rgba unorm8 8x8 zero
//: buffer f32 256 zero -> ulp:1.5
kernel void normalized_bytes(read_only image2d_t in, write_only image2d_t out, global float4 *texels)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float4 v = read_imagef(in, at);
    texels[at.y * 8 + at.x] = v;
    write_imagef(out, at, (float4)(1.0f) - v);
}

//: kernel signed_normalized 16x4 16x1
//: image r snorm16 16x4 bits
//: buffer f32 256 zero -> ulp:1.5
kernel void signed_normalized(read_only image2d_t in, global float4 *texels)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    texels[at.y * 16 + at.x] = read_imagef(in, nearest_edge, at);
}

//: kernel beyond_the_edges 12x12 4x4
//: image rgba f32 8x8 uniform -4 4
//: buffer f32 576 zero
//: buffer f32 576 zero
kernel void beyond_the_edges(read_only image2d_t in, global float4 *edge, global float4 *border)
{
    int x = get_global_id(0), y = get_global_id(1), i = y * 12 + x;
    edge[i] = read_imagef(in, nearest_edge, (int2)(x - 2, y - 2));
    border[i] = read_imagef(in, nearest_border, (int2)(x - 2, y - 2));
}

//: kernel float_coordinates 16x16 8x8
//: image rgba u32 8x8 bits
//: buffer u32 1024 zero
kernel void float_coordinates(read_only image2d_t in, global uint4 *out)
{
    float2 at = (float2)(get_global_id(0), get_global_id(1)) * 0.75f - 1.9f;
    out[get_global_id(1) * 16 + get_global_id(0)] = read_imageui(in, nearest_border, at);
}

//: kernel smooth_zoom 16x16 8x8
//: image rgba f32 6x5 uniform 0 1
//: buffer f32 1024 zero -> near:0.01
kernel void smooth_zoom(read_only image2d_t in, global float4 *out)
{
    float2 at = ((float2)(get_global_id(0), get_global_id(1)) + 0.5f) / 16.0f;
    out[get_global_id(1) * 16 + get_global_id(0)] = read_imagef(in, smooth, at);
}

//: kernel sampler_given 10x10 5x5
//: image rgba f32 6x6 uniform -1 1
//: sampler border nearest
//: buffer f32 400 zero
kernel void sampler_given(read_only image2d_t in, sampler_t how, global float4 *out)
{
    float2 at = (float2)(get_global_id(0), get_global_id(1)) - 2.25f;
    out[get_global_id(1) * 10 + get_global_id(0)] = read_imagef(in, how, at);
}

//: kernel repeated 16x16 8x8
//: image rgba i32 5x3 bits
//: sampler normalized repeat nearest
//: buffer i32 1024 zero
kernel void repeated(read_only image2d_t in, sampler_t how, global int4 *out)
{
    float2 at = ((float2)(get_global_id(0), get_global_id(1)) + 0.3f) / 7.0f - 0.9f;
    out[get_global_id(1) * 16 + get_global_id(0)] = read_imagei(in, how, at);
}

//: kernel questions 1 1
//: image rgba f32 7x5 zero
//: image rgba u16 3x9 zero
//: buffer i32 8 zero
kernel void questions(read_only image2d_t a, write_only image2d_t b, global int *out)
{
    out[0] = get_image_width(a);
    out[1] = get_image_height(b);
    int2 dim = get_image_dim(a);
    out[2] = dim.x * 100 + dim.y;
    out[3] = get_image_channel_data_type(a) == CLK_FLOAT;
    out[4] = get_image_channel_order(a) == CLK_RGBA;
    out[5] = get_image_channel_data_type(b) == CLK_UNSIGNED_INT16;
    out[6] = get_image_channel_order(b) == CLK_RGBA;
    out[7] = 1;
}

//: kernel gauss5 16x16 8x8
//: image r f32 16x16 uniform 0 1
//: image r f32 16x16 zero -> near:1e-5
kernel void gauss5(read_only image2d_t in, write_only image2d_t out)
{
    const float weights[5] = {1, 4, 6, 4, 1};
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float sum = 0;
    for (int j = -2; j <= 2; j++)
        for (int i = -2; i <= 2; i++)
            sum += weights[i + 2] * weights[j + 2] * read_imagef(in, nearest_edge, at + (int2)(i, j)).x;
    write_imagef(out, at, (float4)(sum / 256));
}

// Samplers as arguments, of one function and another.
__attribute__((noinline)) float4 tap(read_only image2d_t in, sampler_t how, int2 at)
{
    return read_imagef(in, how, at);
}

//: kernel two_samplers 12x12 4x4
//: image rgba f32 8x8 uniform -4 4
//: sampler edge nearest
//: buffer f32 576 zero
kernel void two_samplers(read_only image2d_t in, sampler_t given, global float4 *out)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1)) - 2;
    float4 v = tap(in, nearest_edge, at) + tap(in, nearest_border, at);
    out[get_global_id(1) * 12 + get_global_id(0)] = v * 2.0f + tap(in, given, at);
}
