/* Images in the interpreter: reads and writes of texels and of blocks, each byte of them checked. */
#include "ir/interp/image.h"

#include <inttypes.h>
#include <string.h>

#include "ir/eval/bits.h"
#include "ir/interp/frame.h"
#include "ir/interp/memory.h"
#include "ir/interp/memory_access.h"
#include "ir/interp/report.h"
#include "ir/interp/shadow.h"
#include "ir/interp/value.h"

/* ---- binding ---- */

static const char *wrong_image(const struct ir_image *image, enum ir_image_form form, struct ir_image_format *format)
{
    if (!ir_channel_order_known(image->channel_order)) return "has a channel order that the interpreter does not know";
    if (!ir_channel_type_known(image->channel_type)) return "has a channel type that the interpreter does not know";
    if (!ir_image_format(image, format)) return "has a channel order and a channel type that do not go together";
    if (!image->width || !image->height || !image->data) return "is empty";
    if (image->row_pitch < (uint64_t)image->width * ir_texel_bytes(format))
        return "has a row pitch smaller than its rows";
    bool has_slices = form == IR_IMAGE_3D || ir_image_is_array(form);
    if (has_slices != (image->slices != 0))
        return has_slices ? "is neither a 3-D image nor an array" : "is a 3-D image or an array";
    if (image->slices > 1 && image->slice_pitch < (uint64_t)image->row_pitch * (image->height - 1) +
                                                      (uint64_t)image->width * ir_texel_bytes(format))
        return "has a slice pitch smaller than its slices";
    return NULL;
}

bool interp_image_bind(struct machine *m, const struct interp_arg *arg, uint32_t param, uint64_t *handle,
                       const char **why)
{
    const struct ir_param *p = &m->kernel->params[param];
    struct image image = {.info = *(const struct ir_image *)arg->data};
    ir_type type = p->value->type;
    *why = wrong_image(&image.info, ir_type_image_form(type), &image.format);
    if (*why) return false;
    uint32_t texel = ir_texel_bytes(&image.format);
    uint64_t size = texel + ir_image_offset(&image.info, texel, image.info.width - 1, image.info.height - 1,
                                            ir_image_slices(&image.info) - 1);
    struct allocation a = {.data = image.info.data,
                           .size = size,
                           .space = IR_SPACE_GLOBAL,
                           .fence = IR_FENCE_IMAGE,
                           .no_read = ir_type_handle_access(type) == IR_HANDLE_WRITE,
                           .no_write = ir_type_handle_access(type) == IR_HANDLE_READ,
                           .origin = MEMORY_IMAGE,
                           .index = param,
                           .name = p->value->name};
    if (m->options.check_races) a.cells = interp_shadow(m, size, sizeof *a.cells);
    image.address = interp_memory_add(&m->memory, &a);
    m->images = arena_grow(m->arena, m->images, m->n_images, sizeof *m->images);
    m->images[m->n_images++] = image;
    *handle = m->n_images;
    return true;
}

static const struct image *image_of(const struct machine *m, const struct item *item)
{
    return &m->images[interp_item_operand(item, 0)[0] - 1];
}

/* An undefined value is no image; operations on it end the run. */
static bool is_image(struct machine *m, const struct item *item, const struct code_inst *at)
{
    uint64_t handle = interp_item_operand(item, 0)[0];
    if (handle > 0 && handle <= m->n_images) return true;
    interp_report(m, INTERP_INVALID, item, at, "%s of an undefined image", ir_op_info(at->ir->op)->text);
    m->stopped = true;
    return false;
}

/* ---- texels ---- */

static void report_outside(struct machine *m, struct item *item, const struct code_inst *at, const struct image *image,
                           const int64_t p[3])
{
    const struct ir_image *i = &image->info;
    const char *op = ir_op_info(at->ir->op)->text;
    if (m->options.tolerant) return;
    if (i->slices)
        interp_report(m, INTERP_OUT_OF_BOUNDS, item, at,
                      "%s at (%" PRId64 ", %" PRId64 ") of slice or layer %" PRId64 " of an image of %u x %u x %u", op,
                      p[0], p[1], p[2], i->width, i->height, i->slices);
    else
        interp_report(m, INTERP_OUT_OF_BOUNDS, item, at, "%s at (%" PRId64 ", %" PRId64 ") of an image of %u x %u", op,
                      p[0], p[1], i->width, i->height);
}

static uint8_t *texel_at(struct machine *m, struct item *item, const struct code_inst *at, const struct image *image,
                         const int64_t p[3], unsigned flags)
{
    if (!ir_image_has(&image->info, p[0], p[1], p[2])) {
        report_outside(m, item, at, image, p);
        return NULL;
    }
    uint32_t size = ir_texel_bytes(&image->format);
    struct access a = {image->address +
                           ir_image_offset(&image->info, size, (uint64_t)p[0], (uint64_t)p[1], (uint64_t)p[2]),
                       size,
                       IR_SPACE_GLOBAL,
                       1,
                       flags,
                       NULL};
    return interp_memory_access(m, item, at, &a);
}

/* Where sampling takes its texels from. */
struct reading {
    struct machine *machine;
    struct item *item;
    const struct code_inst *at;
    const struct image *image;
};

static const uint8_t *texel_to_read(void *data, int64_t x, int64_t y, int64_t z)
{
    struct reading *r = data;
    return texel_at(r->machine, r->item, r->at, r->image, (int64_t[]){x, y, z}, ACCESS_READ);
}

/* ---- instructions ---- */

static bool channels_fit(struct machine *m, struct item *item, const struct code_inst *at, const struct image *image)
{
    if (ir_type_is_int(at->ir->type) == ir_format_is_integer(&image->format)) return true;
    if (m->options.tolerant) return false;
    interp_report(m, INTERP_INVALID, item, at, "%s of %s texels in an image whose channels are %s",
                  ir_op_info(at->ir->op)->text, ir_type_is_int(at->ir->type) ? "i32x4" : "f32x4",
                  ir_format_is_integer(&image->format) ? "integers" : "floats");
    return false;
}

static void narrow_coordinates(const uint64_t *words, unsigned n, uint32_t *to)
{
    for (unsigned i = 0; i < n; i++) to[i] = (uint32_t)words[i];
}

static enum ir_image_form form_of(const struct code_inst *at)
{
    return ir_type_image_form(at->ir->operands[0]->type);
}

static void coordinates(const struct item *item, const struct code_inst *at, uint32_t to[3])
{
    narrow_coordinates(interp_item_operand(item, 1), ir_image_coordinates(form_of(at)), to);
}

/* The texel that integers name, whatever they are. */
static void place_of_texel(const struct item *item, const struct code_inst *at, int64_t to[3])
{
    uint32_t c[3], p[3];
    coordinates(item, at, c);
    ir_image_place(form_of(at), c, p);
    for (int i = 0; i < 3; i++) to[i] = (int32_t)p[i];
}

static void image_read(struct machine *m, struct item *item, const struct code_inst *at, uint64_t *r)
{
    const struct image *image = image_of(m, item);
    if (!channels_fit(m, item, at, image)) return;
    uint32_t c[3], rgba[4] = {0};
    struct reading reading = {m, item, at, image};
    if (at->ir->n_operands > 2) {
        coordinates(item, at, c);
        struct ir_sampling sampling = {.image = &image->info,
                                       .format = &image->format,
                                       .form = form_of(at),
                                       .source = texel_to_read,
                                       .data = &reading,
                                       .sampler = (uint32_t)interp_item_operand(item, 2)[0],
                                       .floats = ir_type_is_float(at->ir->operands[1]->type)};
        ir_image_sample(&sampling, c, rgba);
    } else {
        int64_t p[3];
        place_of_texel(item, at, p);
        const uint8_t *bytes = texel_at(m, item, at, image, p, ACCESS_READ);
        if (bytes) ir_texel_decode(&image->format, bytes, rgba);
    }
    for (unsigned i = 0; i < 4; i++) r[i] = rgba[i];
}

static void image_write(struct machine *m, struct item *item, const struct code_inst *at)
{
    const struct image *image = image_of(m, item);
    if (!channels_fit(m, item, at, image)) return;
    int64_t p[3];
    place_of_texel(item, at, p);
    uint8_t *bytes = texel_at(m, item, at, image, p, ACCESS_WRITE);
    uint32_t rgba[4];
    narrow_coordinates(interp_item_operand(item, 2), 4, rgba);
    if (bytes) ir_texel_encode(&image->format, rgba, bytes);
}

bool interp_image_exec(struct machine *m, struct item *item, const struct code_inst *at, uint64_t *r)
{
    if (at->ir->op == IR_OP_MAKE_SAMPLER) {
        *r = *interp_item_operand(item, 0);
        return true;
    }
    if (at->ir->op < IR_OP_IMAGE_READ || at->ir->op > IR_OP_IMAGE_CHANNEL_ORDER) return false;
    if (!is_image(m, item, at)) return true;
    switch (at->ir->op) {
    case IR_OP_IMAGE_READ: image_read(m, item, at, r); return true;
    case IR_OP_IMAGE_WRITE: image_write(m, item, at); return true;
    case IR_OP_IMAGE_WIDTH: *r = image_of(m, item)->info.width; return true;
    case IR_OP_IMAGE_HEIGHT: *r = image_of(m, item)->info.height; return true;
    case IR_OP_IMAGE_DEPTH:
    case IR_OP_IMAGE_ARRAY_SIZE: *r = image_of(m, item)->info.slices; return true;
    case IR_OP_IMAGE_CHANNEL_TYPE: *r = image_of(m, item)->info.channel_type; return true;
    case IR_OP_IMAGE_CHANNEL_ORDER: *r = image_of(m, item)->info.channel_order; return true;
    default: return false;
    }
}

/* One byte of a number, from the image or to it; what lies outside is not written. */
static void block_byte(struct machine *m, struct item *item, const struct image *image, int64_t x, int64_t y,
                       uint8_t *byte)
{
    const struct code_inst *at = interp_item_at(item);
    bool write = at->ir->op == IR_OP_IMAGE_BLOCK_WRITE;
    if (write && !ir_image_has_byte(&image->info, &image->format, x, y)) return;
    uint64_t address = image->address + ir_image_nearest_byte(&image->info, &image->format, x, y);
    struct access a = {address, 1, IR_SPACE_GLOBAL, 1, write ? ACCESS_WRITE : ACCESS_READ, NULL};
    uint8_t *memory = interp_memory_access(m, item, at, &a);
    if (memory && write) *memory = *byte;
    if (memory && !write) *byte = *memory;
}

/* Component k lies in row y + k, at byte x + id * size: the work-items of a sub-group side by side. */
void interp_image_block_exec(struct machine *m, struct item *item)
{
    const struct code_inst *at = interp_item_at(item);
    if (!is_image(m, item, at)) return;
    bool write = at->ir->op == IR_OP_IMAGE_BLOCK_WRITE;
    ir_type element = ir_type_element(at->ir->type);
    int64_t size = interp_lane_size(element);
    const uint64_t *c = interp_item_operand(item, 1);
    int64_t x = eval_sext(c[0], 32) + item->sub_local * size, y = eval_sext(c[1], 32);
    for (unsigned k = 0; k < ir_type_lanes(at->ir->type); k++) {
        uint8_t number[8] = {0};
        if (write) interp_value_write(element, number, &interp_item_operand(item, 2)[k]);
        for (int64_t b = 0; b < size; b++) block_byte(m, item, image_of(m, item), x + b, y + k, &number[b]);
        if (!write) interp_value_read(element, number, &interp_item_result(item)[k]);
    }
}
