/* Records of images and pipes. */
#include "tests/spirv_out/records.h"

#include <stdlib.h>
#include <string.h>

#include "fuser/spirv/abi/image.h"
#include "fuser/spirv/abi/pipe.h"

uint64_t record_bytes(const struct interp_arg *a)
{
    const struct interp_pipe *pipe = a->data;
    if (a->kind == INTERP_ARG_IMAGE) return sizeof(struct spirv_image);
    return a->kind == INTERP_ARG_PIPE ? spirv_pipe_bytes(pipe->packet_size, pipe->capacity) : 0;
}

void record_fill(const struct interp_arg *a, uint64_t data, void *record)
{
    const struct interp_pipe *pipe = a->data;
    struct spirv_pipe *to = record;
    memset(record, 0, record_bytes(a));
    if (a->kind == INTERP_ARG_IMAGE) {
        spirv_image_fill(record, a->data, data);
        return;
    }
    to->packet_size = pipe->packet_size;
    to->capacity = pipe->capacity;
    to->read_done = to->read_reserved = pipe->read;
    to->write_done = to->write_reserved = pipe->written;
    memcpy(to->packets, pipe->packets, (size_t)pipe->packet_size * pipe->capacity);
}

void record_give_back(const struct interp_arg *a, const void *record)
{
    struct interp_pipe *pipe = a->data;
    const struct spirv_pipe *from = record;
    if (a->kind != INTERP_ARG_PIPE) return;
    memcpy(pipe->packets, from->packets, (size_t)pipe->packet_size * pipe->capacity);
    pipe->read = from->read_done;
    pipe->written = from->write_done;
}

uint64_t record_image_bytes(const struct ir_image *image)
{
    struct ir_image_format f;
    if (!ir_image_format(image, &f) || !image->height) return 0;
    return (uint64_t)(ir_image_slices(image) - 1) * image->slice_pitch +
           (uint64_t)(image->height - 1) * image->row_pitch + (uint64_t)image->width * ir_texel_bytes(&f);
}

/* ---- for the interpreter ---- */

static bool find_texels(void *data, uint64_t address, void **memory, uint64_t *bytes)
{
    const struct records *r = data;
    for (uint32_t i = 0; i < r->n; i++) {
        const struct ir_image *image = r->from[i].data;
        if (r->from[i].kind != INTERP_ARG_IMAGE || address - (uintptr_t)image->data >= record_image_bytes(image))
            continue;
        *memory = image->data;
        *bytes = record_image_bytes(image);
        return true;
    }
    return false;
}

void records_open(struct records *r, const struct interp_arg *from, const struct ir_function *f)
{
    uint32_t n = f->n_params;
    *r = (struct records){.from = from, .n = n, .finder = {r, find_texels}};
    for (uint32_t i = 0; i < n; i++) {
        const struct ir_image *image = from[i].data;
        r->args[i] = from[i];
        if (from[i].kind == INTERP_ARG_BYTES && from[i].size == 4 && ir_type_bits(f->params[i].value->type) == 64) {
            memcpy(&r->samplers[i], from[i].data, sizeof(uint32_t));
            r->args[i] = (struct interp_arg){INTERP_ARG_BYTES, &r->samplers[i], sizeof r->samplers[i], NULL};
        }
        if (!record_bytes(&from[i])) continue;
        r->args[i] =
            (struct interp_arg){INTERP_ARG_BUFFER, calloc(1, record_bytes(&from[i])), record_bytes(&from[i]), NULL};
        record_fill(&from[i], from[i].kind == INTERP_ARG_IMAGE ? (uintptr_t)image->data : 0, r->args[i].data);
    }
}

void records_close(struct records *r)
{
    for (uint32_t i = 0; i < r->n; i++) {
        if (!record_bytes(&r->from[i])) continue;
        record_give_back(&r->from[i], r->args[i].data);
        free(r->args[i].data);
    }
}
