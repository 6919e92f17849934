/* Arguments of nodes: made by the caller, checked and put into the form of the wire when their node is added. */
#include "client/graph/args.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/base/error.h"
#include "client/base/sized.h"
#include "client/memory/image.h"
#include "client/memory/place.h"
#include "client/memory/properties.h"
#include "proto/limits.h"

/* ---- makers ---- */

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

static fusion_arg make_value(fusion_type type, uint32_t lanes, const void *value, size_t bytes)
{
    fusion_arg arg = {.kind = FUSION_ARG_VALUE, .bytes = bytes, .type = type, .lanes = lanes};
    if (bytes > sizeof arg.data)
        arg.large = value;
    else if (bytes)
        memcpy(arg.data, value, bytes);
    return arg;
}

fusion_arg fusion_arg_value(const void *value, size_t bytes)
{
    return make_value(FUSION_BYTES, 0, value, bytes);
}

fusion_arg fusion_arg_vector(fusion_type type, uint32_t lanes, const void *values)
{
    uint32_t width = client_type_bytes(type), bytes = lanes <= 16 ? lanes * width : 0; /* 0 is refused with its node */
    fusion_arg arg = make_value(type, lanes, values, bytes);
    if (lanes == 3) arg.bytes = 4 * width; /* it takes the place of 4 */
    return arg;
}

#define MAKER(name, c_type, type)                                                                                      \
    fusion_arg fusion_arg_##name(c_type value)                                                                         \
    {                                                                                                                  \
        return make_value(type, 1, &value, sizeof value);                                                              \
    }

MAKER(bool, bool, FUSION_U8)
MAKER(i8, int8_t, FUSION_I8)
MAKER(i16, int16_t, FUSION_I16)
MAKER(i32, int32_t, FUSION_I32)
MAKER(i64, int64_t, FUSION_I64)
MAKER(u8, uint8_t, FUSION_U8)
MAKER(u16, uint16_t, FUSION_U16)
MAKER(u32, uint32_t, FUSION_U32)
MAKER(u64, uint64_t, FUSION_U64)
MAKER(f32, float, FUSION_F32)
MAKER(f64, double, FUSION_F64)

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

/* ---- onto the wire ---- */

/* What arguments are called: the node in errors, and memory that nobody has named, by the kernel and its parameter. */
struct called {
    char object[300], as[300];
};

static fusion_status take_memory_arg(fusion_graph *g, const fusion_arg *in, const struct called *c,
                                     struct proto_arg *out)
{
    fusion_memory place = {.buffer = in->buffer, .pointer = in->pointer, .offset = in->offset};
    const char *object = c->object;
    struct memory *m;
    uint64_t offset;
    if (in->kind == FUSION_ARG_BUFFER && !in->buffer) return client_error(FUSION_INVALID, object, "the buffer is NULL");
    if (in->kind == FUSION_ARG_POINTER) place.buffer = NULL;
    fusion_status status =
        client_memory_of(g->session, &place, in->kind == FUSION_ARG_BUFFER ? in->bytes : 0, &m, &offset);
    if (status != FUSION_SUCCESS) return status;
    if (in->access < FUSION_ACCESS_READ || in->access > FUSION_ACCESS_READ_WRITE)
        return client_error(FUSION_INVALID, object, "unknown access %d", (int)in->access);
    status = client_check_properties(in->properties, object);
    if (status != FUSION_SUCCESS) return status;
    out->kind = PROTO_ARG_SLOT;
    out->access = (uint8_t)in->access;
    out->offset = offset;
    out->bytes = in->kind == FUSION_ARG_BUFFER ? in->bytes : 0;
    out->props = client_props(in->properties);
    return client_graph_slot(g, m, c->as, &out->index);
}

static fusion_status take_image_arg(fusion_graph *g, const fusion_arg *in, const struct called *c,
                                    struct proto_arg *out)
{
    const char *object = c->object;
    if (!in->image) return client_error(FUSION_INVALID, object, "the image is NULL");
    if (in->image->buffer.memory.session != g->session)
        return client_error(FUSION_INVALID, in->image->buffer.memory.name, "the image belongs to another session");
    if (in->access < FUSION_ACCESS_READ || in->access > FUSION_ACCESS_READ_WRITE)
        return client_error(FUSION_INVALID, object, "unknown access %d", (int)in->access);
    out->kind = PROTO_ARG_SLOT;
    out->access = (uint8_t)in->access;
    if (in->image->desc.buffer) {
        out->image = client_wire_image(&in->image->desc);
        out->offset = in->image->desc.offset;
        out->bytes = proto_image_bytes(&out->image);
    }
    return client_graph_slot(g, client_image_memory(in->image), c->as, &out->index);
}

static fusion_status take_sampler_arg(fusion_graph *g, const fusion_arg *in, const char *object, struct proto_arg *out)
{
    uint64_t bits;
    fusion_status status = client_sampler_bits(&in->sampler, object, &bits);
    if (status != FUSION_SUCCESS) return status;
    out->kind = PROTO_ARG_VALUE;
    out->bytes = sizeof bits;
    return client_graph_value(g, &bits, sizeof bits, (struct client_value_type){0}, &out->index);
}

/* parameter: its type; NULL: there is none. */
static fusion_status take_value(fusion_graph *g, const fusion_arg *in, const char *object, const char *parameter,
                                struct proto_arg *out)
{
    if (in->bytes == 0 || in->bytes > PROTO_MAX_VALUE_BYTES || (in->bytes > sizeof in->data && !in->large))
        return client_error(FUSION_INVALID, object, "a value has 1 to %d bytes, not %" PRIu64, PROTO_MAX_VALUE_BYTES,
                            in->bytes);
    struct client_value_type type = parameter ? client_value_type_of(parameter) : (struct client_value_type){0};
    out->kind = PROTO_ARG_VALUE;
    out->bytes = in->bytes;
    return client_graph_value(g, in->large ? in->large : in->data, in->bytes, type, &out->index);
}

static fusion_status take_arg(fusion_graph *g, const fusion_arg *in, const struct called *c, const char *parameter,
                              struct proto_arg *out)
{
    const char *object = c->object;
    *out = (struct proto_arg){0};
    fusion_status status = client_check_reserved(in->reserved, object);
    if (status != FUSION_SUCCESS) return status;
    switch (in->kind) {
    case FUSION_ARG_BUFFER:
    case FUSION_ARG_POINTER: return take_memory_arg(g, in, c, out);
    case FUSION_ARG_IMAGE: return take_image_arg(g, in, c, out);
    case FUSION_ARG_SAMPLER: return take_sampler_arg(g, in, object, out);
    case FUSION_ARG_VALUE: return take_value(g, in, object, parameter, out);
    case FUSION_ARG_LOCAL:
        if (in->bytes == 0) return client_error(FUSION_INVALID, object, "work-group memory of 0 bytes");
        out->kind = PROTO_ARG_LOCAL;
        out->bytes = in->bytes;
        return FUSION_SUCCESS;
    }
    return client_error(FUSION_INVALID, object, "unknown kind of argument %d", (int)in->kind);
}

fusion_status client_graph_args(fusion_graph *g, const char *what, const fusion_kernel_info *kernel,
                                const fusion_arg *args, uint32_t n_args, struct proto_node *n)
{
    if (n_args > PROTO_MAX_ARGS)
        return client_error(FUSION_INVALID, what, "%" PRIu32 " arguments, at most %d are allowed", n_args,
                            PROTO_MAX_ARGS);
    n->args = calloc(n_args ? n_args : 1, sizeof *n->args);
    if (!n->args) return client_no_memory("graph");
    n->n_args = n_args;
    for (uint32_t i = 0; i < n_args; i++) {
        struct called c = {.as = ""};
        snprintf(c.object, sizeof c.object, "%.220s, argument %" PRIu32, what, i);
        if (kernel) snprintf(c.as, sizeof c.as, "%.120s.%.120s", kernel->name, kernel->args[i].name);
        fusion_status status = take_arg(g, &args[i], &c, kernel ? kernel->args[i].type : NULL, &n->args[i]);
        if (status != FUSION_SUCCESS) return status;
    }
    return FUSION_SUCCESS;
}
