/* Makers of kernel arguments. */
#include <string.h>

#include "client/internal.h"

fusion_arg fusion_arg_buffer(fusion_buffer *buffer, fusion_access access)
{
    return (fusion_arg){.kind = FUSION_ARG_BUFFER, .buffer = buffer, .access = access};
}

fusion_arg fusion_arg_read(fusion_buffer *buffer)
{
    return fusion_arg_buffer(buffer, FUSION_ACCESS_READ);
}

fusion_arg fusion_arg_write(fusion_buffer *buffer)
{
    return fusion_arg_buffer(buffer, FUSION_ACCESS_WRITE);
}

fusion_arg fusion_arg_read_write(fusion_buffer *buffer)
{
    return fusion_arg_buffer(buffer, FUSION_ACCESS_READ_WRITE);
}

fusion_arg fusion_arg_pointer(void *pointer, fusion_access access, unsigned properties)
{
    return (fusion_arg){.kind = FUSION_ARG_POINTER, .pointer = pointer, .access = access, .properties = properties};
}

fusion_arg fusion_arg_value(const void *value, size_t bytes)
{
    fusion_arg arg = {.kind = FUSION_ARG_VALUE, .bytes = bytes};
    if (bytes <= sizeof arg.data)
        memcpy(arg.data, value, bytes);
    else
        arg.large = value;
    return arg;
}

fusion_arg fusion_arg_f32(float value)
{
    return fusion_arg_value(&value, sizeof value);
}

fusion_arg fusion_arg_f64(double value)
{
    return fusion_arg_value(&value, sizeof value);
}

fusion_arg fusion_arg_i32(int32_t value)
{
    return fusion_arg_value(&value, sizeof value);
}

fusion_arg fusion_arg_i64(int64_t value)
{
    return fusion_arg_value(&value, sizeof value);
}

fusion_arg fusion_arg_image(fusion_image *image, fusion_access access)
{
    return (fusion_arg){.kind = FUSION_ARG_IMAGE, .image = image, .access = access};
}

fusion_arg fusion_arg_sampler(fusion_sampler sampler)
{
    return (fusion_arg){.kind = FUSION_ARG_SAMPLER, .sampler = sampler};
}

fusion_arg fusion_arg_local(size_t bytes)
{
    return (fusion_arg){.kind = FUSION_ARG_LOCAL, .bytes = bytes};
}
