// Images of one and three dimensions, arrays and images of buffers: reads with and without samplers, writes, questions.
//: unoptimized O1
// (llvm-spirv-15 ends with an assertion on samplers in variables, as they are at -O0.)

constant sampler_t nearest_edge = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
constant sampler_t nearest_border = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
constant sampler_t smooth = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;

//: kernel line 16 8
//: image rgba u8 16 bits
//: image rgba u8 16 zero
//: buffer f32 64 zero
kernel void line(read_only image1d_t in, write_only image1d_t out, global float4 *texels)
{
    int i = get_global_id(0), n = get_image_width(in);
    uint4 v = read_imageui(in, n - 1 - i);
    write_imageui(out, i, v);
    texels[i] = convert_float4(read_imageui(in, nearest_edge, i * 2 - 8)) + (float)get_image_width(out);
}

//: kernel lines 8x4 4x2
//: image rgba i16 8[4] bits
//: image rgba i16 8[4] zero
//: buffer i32 128 zero
kernel void lines(read_only image1d_array_t in, write_only image1d_array_t out, global int4 *texels)
{
    int x = get_global_id(0), layer = get_global_id(1);
    int layers = get_image_array_size(in);
    write_imagei(out, (int2)(x, layer), read_imagei(in, (int2)(x, layers - 1 - layer)));
    texels[layer * 8 + x] = read_imagei(in, nearest_border, (float2)(x - 1.5f, layer * 1.3f - 0.75f));
}

//: kernel table_buffer 64 16
//: image r u32 buffer:64 bits
//: image r u32 buffer:64 zero
kernel void table_buffer(read_only image1d_buffer_t in, write_only image1d_buffer_t out)
{
    int i = get_global_id(0), n = get_global_size(0); // PoCL 3.1 cannot tell the width
    uint4 a = read_imageui(in, i), b = read_imageui(in, (i * 7 + 3) % n);
    write_imageui(out, i, a ^ b.xxxx);
}

//: kernel layers 6x5x4 3x5x2
//: image rgba f32 6x5[4] uniform -4 4
//: image rgba f32 6x5[4] zero
//: buffer f32 480 zero
kernel void layers(read_only image2d_array_t in, write_only image2d_array_t out, global float4 *texels)
{
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    int2 size = get_image_dim(in);
    int n = get_image_array_size(in);
    write_imagef(out, (int4)(x, y, z, 0), read_imagef(in, (int4)(size.x - 1 - x, size.y - 1 - y, n - 1 - z, 0)));
    float4 at = (float4)(x * 1.5f - 1.25f, y * 1.5f - 1.25f, z * 1.5f - 0.25f, 0);
    texels[(z * 5 + y) * 6 + x] = read_imagef(in, nearest_edge, at);
}

//: kernel volume 6x5x4 3x5x2
//: image rgba i32 6x5x4 bits
//: buffer i32 480 zero
//: buffer i32 480 zero
kernel void volume(read_only image3d_t in, global int4 *mirrored, global int4 *texels)
{
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2), i = (z * 5 + y) * 6 + x;
    int4 size = get_image_dim(in);
    mirrored[i] = read_imagei(in, (int4)(size.x - 1 - x, size.y - 1 - y, size.z - 1 - z, 0));
    texels[i] = read_imagei(in, nearest_border, (int4)(x * 2 - 2, y * 2 - 2, z * 2 - 2, 0));
}

//: kernel smooth_volume 8x8x4 4x4x2
//: image rgba f32 6x5x3 uniform 0 1
//: buffer f32 1024 zero -> near:0.02
kernel void smooth_volume(read_only image3d_t in, global float4 *out)
{
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    float4 at = ((float4)(x, y, z, 0) + 0.5f) / (float4)(8, 8, 4, 1);
    out[(z * 8 + y) * 8 + x] = read_imagef(in, smooth, at);
}

//: kernel smooth_line 32 8
//: image rgba f32 9 uniform 0 1
//: buffer f32 128 zero -> near:0.02
kernel void smooth_line(read_only image1d_t in, global float4 *out)
{
    int i = get_global_id(0);
    out[i] = read_imagef(in, smooth, (i + 0.5f) / 32.0f);
}

//: kernel given 8x8x4 4x4x2
//: image rgba f32 4x4x4 uniform -1 1
//: sampler normalized repeat nearest
//: buffer f32 1024 zero
kernel void given(read_only image3d_t in, sampler_t how, global float4 *out)
{
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    float4 at = ((float4)(x, y, z, 0) + 0.3f) / 3.0f - 0.9f;
    out[(z * 8 + y) * 8 + x] = read_imagef(in, how, at);
}

//: kernel sizes 1 1
//: image rgba f32 7 zero
//: image rgba f32 5[3] zero
//: image rgba f32 4x2[6] zero
//: image rgba f32 3x8x9 zero
//: buffer i32 16 zero
kernel void sizes(read_only image1d_t a, read_only image1d_array_t b, read_only image2d_array_t d, read_only image3d_t e,
                  global int *out)
{
    out[0] = get_image_width(a);
    out[1] = get_image_width(b);
    out[2] = get_image_array_size(b);
    out[4] = get_image_width(d);
    out[5] = get_image_height(d);
    out[6] = get_image_array_size(d);
    out[7] = get_image_width(e);
    out[8] = get_image_height(e);
    out[9] = get_image_depth(e);
    out[10] = get_image_channel_data_type(e) == CLK_FLOAT;
}
