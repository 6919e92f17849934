// Images that PoCL 3.1 has no functions for: 3-D ones that are written, those read and written, depth images, halves, questions
// about images of buffers.
//: language CL2.0
//: unoptimized O1
//: pocl PoCL 3.1 has none of these functions

#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

constant sampler_t nearest_edge = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
constant sampler_t nearest_border = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;

//: kernel volume_written 6x5x4 3x5x2
//: image rgba i32 6x5x4 bits
//: image rgba i32 6x5x4 zero
//: buffer i32 480 zero
kernel void volume_written(read_only image3d_t in, write_only image3d_t out, global int4 *texels)
{
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    int4 size = get_image_dim(in);
    int d = get_image_depth(out);
    write_imagei(out, (int4)(x, y, z, 0), read_imagei(in, (int4)(size.x - 1 - x, size.y - 1 - y, d - 1 - z, 0)));
    texels[(z * 5 + y) * 6 + x] = read_imagei(in, nearest_border, (int4)(x * 2 - 2, y * 2 - 2, z * 2 - 2, 0));
}

//: kernel shadows 8x8 4x4
//: image depth f32 8x8 uniform 0 1
//: image depth f32 8x8 zero
kernel void shadows(read_only image2d_depth_t in, write_only image2d_depth_t out)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float d = read_imagef(in, at), e = read_imagef(in, nearest_edge, at + 1);
    write_imagef(out, at, get_image_channel_order(in) == CLK_DEPTH ? fmin(d, e) : -1.0f);
}

//: kernel in_place 8x4x2 4x4x2
//: image rgba f32 8x4x2 uniform -1 1
//: image rgba u16 8x4[2] bits
kernel void in_place(read_write image3d_t a, read_write image2d_array_t b)
{
    int4 at = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);
    write_imagef(a, at, read_imagef(a, at) * 2.0f);
    write_imageui(b, at, read_imageui(b, at) >> 1);
}

//: kernel halves 8x4 4x4
//: image rgba f32 8x4 uniform -2 2
//: image rgba unorm16 8x4 zero
kernel void halves(read_only image2d_t in, write_only image2d_t out)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    half4 v = read_imageh(in, at);
    write_imageh(out, at, v * v);
}

//: kernel buffer_sizes 1 1
//: image rgba f32 buffer:11 zero
//: buffer i32 4 zero
kernel void buffer_sizes(read_only image1d_buffer_t in, global int *out)
{
    out[0] = get_image_width(in);
    out[1] = get_image_channel_order(in) == CLK_RGBA;
    out[2] = get_image_channel_data_type(in) == CLK_FLOAT;
}
