/* Cases of block reads and writes: from buffers, and from images of four bytes a texel. */
#include <stdlib.h>
#include <string.h>

#include "ir/base/strbuf.h"
#include "ir/image/image.h"
#include "ir/text/print/print_type.h"
#include "tests/support/sub_group_case.h"

enum { MOST = 16, ROW = 64, RGBA = 0x10b5, UNSIGNED_INT8 = 0x10da, UNTOUCHED = 0xa5 };

static const unsigned counts[] = {1, 2, 4, 8, 16};

struct shape {
    struct sg_launch l;
    char type[16], element[16];
    unsigned bytes;      /* of a number */
    uint32_t sub_groups; /* of a complete work-group */
};

static struct shape shape_of(const struct sg_try *t, unsigned lanes)
{
    struct shape s = {.l = sg_launch_of(t, lanes), .bytes = sg_bytes(&t->c->type)};
    ir_print_type(NULL, t->c->type.type, s.element, sizeof s.element);
    ir_print_type(NULL, ir_type_with_lanes(t->c->type.type, lanes), s.type, sizeof s.type);
    s.sub_groups = (s.l.local + s.l.size - 1) / s.l.size;
    return s;
}

static uint32_t number_of(const struct shape *s, uint32_t item)
{
    return item / s->l.local * s->sub_groups + sg_place(&s->l, item).number;
}

/* Which sub-group of the launch this is, as %q. */
static const char sub_group_text[] = "    %each = enqueued_num_sub_groups\n    %each64 = zext i64 %each\n"
                                     "    %sub = sub_group_id\n    %sub64 = zext i64 %sub\n"
                                     "    %first = mul i64 %g, %each64\n    %q = add i64 %first, %sub64\n";

static struct interp_arg buffer(void *data, uint64_t bytes)
{
    return (struct interp_arg){.kind = INTERP_ARG_BUFFER, .data = data, .size = bytes};
}

/* Bytes that show from where they come. */
static uint8_t *pattern(uint64_t bytes)
{
    uint8_t *memory = malloc(bytes);
    assert_non_null(memory);
    for (uint64_t i = 0; i < bytes; i++) memory[i] = (uint8_t)(i * 37 + (i >> 8) * 11 + 5);
    return memory;
}

static uint8_t *untouched(uint64_t bytes)
{
    uint8_t *memory = malloc(bytes);
    assert_non_null(memory);
    memset(memory, UNTOUCHED, bytes);
    return memory;
}

static void expect(const struct sg_try *t, const struct shape *s, const void *want, const void *got, uint64_t bytes)
{
    if (memcmp(want, got, bytes) == 0) return;
    uint64_t at = 0;
    while (((const uint8_t *)want)[at] == ((const uint8_t *)got)[at]) at++;
    fail_msg("%s, size %u, way %u: %s: byte %llu is %#x instead of %#x", t->c->name, t->size, t->way, s->type,
             (unsigned long long)at, ((const uint8_t *)got)[at], ((const uint8_t *)want)[at]);
}

/* ---- buffers: number k of a work-item lies at place k * size + id ---- */

/* Each sub-group has MOST numbers for each work-item; reads begin 4 bytes on, the least that is allowed. */
static uint32_t shift_of(const struct shape *s)
{
    return s->bytes < 4 ? 4 / s->bytes : 1;
}

static uint64_t place_in_buffer(const struct shape *s, uint32_t item, unsigned k)
{
    return (uint64_t)number_of(s, item) * s->l.size * MOST + k * s->l.size + sg_place(&s->l, item).id;
}

static uint64_t buffer_bytes(const struct shape *s)
{
    return (2ull * s->sub_groups * s->l.size * MOST + 4) * s->bytes;
}

static char *buffer_text(const struct shape *s, bool write)
{
    struct strbuf b = {0};
    strbuf_printf(&b, "kernel @k(%%a: ptr.global %s read, %%o: ptr.global %s write) sub_group_size(%u) {\n%s%s",
                  s->element, s->element, s->l.size, sg_number_text, sub_group_text);
    strbuf_printf(&b, "    %%from = mul i64 %%q, %u\n", s->l.size * MOST);
    if (write)
        strbuf_printf(&b, "    %%v = load %s %%a[%%i]\n    %%p = elem %s %%o, %%from\n    block_write %s %%p, %%v\n}\n",
                      s->type, s->element, s->type);
    else
        strbuf_printf(&b,
                      "    %%at = add i64 %%from, %u\n    %%p = elem %s %%a, %%at\n    %%v = block_read %s %%p\n"
                      "    store %s %%o[%%i], %%v\n}\n",
                      shift_of(s), s->element, s->type, s->type);
    return strbuf_take(&b);
}

static void buffers(const struct sg_try *t, unsigned lanes, bool write)
{
    if (!sg_takes(t, lanes)) return;
    struct shape s = shape_of(t, lanes);
    uint64_t block_bytes = buffer_bytes(&s), own_bytes = (uint64_t)s.l.global * lanes * s.bytes;
    uint8_t *in = pattern(write ? own_bytes : block_bytes);
    uint64_t out_bytes = write ? block_bytes : own_bytes;
    uint8_t *want = untouched(out_bytes), *got = untouched(out_bytes);
    for (uint32_t i = 0; i < s.l.global; i++)
        for (unsigned k = 0; k < lanes; k++) {
            uint64_t own = (uint64_t)i * lanes + k, place = place_in_buffer(&s, i, k);
            if (write)
                memcpy(want + place * s.bytes, in + own * s.bytes, s.bytes);
            else
                memcpy(want + own * s.bytes, in + (place + shift_of(&s)) * s.bytes, s.bytes);
        }
    struct interp_arg args[] = {buffer(in, write ? own_bytes : block_bytes), buffer(got, out_bytes)};
    struct nd_range range = sg_range_of(&s.l);
    char *text = buffer_text(&s, write);
    sg_execute(t, sg_name(t, lanes), text, &range, args);
    expect(t, &s, want, got, out_bytes);
    free(text);
    free(got);
    free(want);
    free(in);
}

void sg_run_block_read(const struct sg_try *t)
{
    for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++) buffers(t, counts[i], false);
}

void sg_run_block_write(const struct sg_try *t)
{
    for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++) buffers(t, counts[i], true);
}

/* ---- images: number k lies in row y + k, the work-items side by side ---- */

/* Where sub-group q begins. Each has rows of its own, the first ones and the last ones partly outside; what is written
   begins at a multiple of four bytes, also outside. */
static int32_t x_of(uint32_t q, bool write)
{
    return write ? (int32_t)(q % 6) * 12 - 8 : (int32_t)(q % 7) * 13 - 9;
}

static int32_t y_of(uint32_t q)
{
    return (int32_t)(q * MOST) - 2;
}

static uint32_t rows(const struct shape *s)
{
    return 2 * s->sub_groups * MOST - 6;
}

static char *image_text(const struct shape *s, bool write)
{
    struct strbuf b = {0};
    strbuf_printf(&b, "kernel @k(%%m: image2d.%s, %%o: ptr.global %s %s) sub_group_size(%u) {\n%s%s",
                  write ? "write" : "read", s->element, write ? "read" : "write", s->l.size, sg_number_text,
                  sub_group_text);
    strbuf_printf(&b,
                  "    %%q32 = trunc i32 %%q\n    %%turn = urem i32 %%q32, %u\n    %%step = mul i32 %%turn, %u\n"
                  "    %%x = sub i32 %%step, %u\n    %%down = mul i32 %%q32, %u\n    %%y = sub i32 %%down, 2\n"
                  "    %%at = vec i32x2 %%x, %%y\n",
                  write ? 6 : 7, write ? 12 : 13, write ? 8 : 9, MOST);
    if (write)
        strbuf_printf(&b, "    %%v = load %s %%o[%%i]\n    image_block_write %s %%m, %%at, %%v\n}\n", s->type, s->type);
    else
        strbuf_printf(&b, "    %%v = image_block_read %s %%m, %%at\n    store %s %%o[%%i], %%v\n}\n", s->type, s->type);
    return strbuf_take(&b);
}

static int64_t clamped(int64_t v, int64_t last)
{
    return v < 0 ? 0 : v > last ? last : v;
}

/* Outside, the texel at the edge is read: of a byte in a row, the one at its place in that texel. */
static uint64_t nearest(const struct shape *s, int64_t x, int64_t y)
{
    int64_t texel = clamped(x >= 0 ? x / 4 : (x - 3) / 4, ROW / 4 - 1);
    return (uint64_t)(clamped(y, rows(s) - 1) * ROW + texel * 4 + (x & 3));
}

/* Bytes of an image and numbers of work-items, one into the other; where bytes lie outside none are written. */
static void move(const struct shape *s, bool write, uint8_t *image, uint8_t *own)
{
    for (uint32_t i = 0; i < s->l.global; i++)
        for (unsigned k = 0; k < s->l.lanes; k++)
            for (unsigned b = 0; b < s->bytes; b++) {
                uint32_t q = number_of(s, i);
                int64_t x = x_of(q, write) + (int64_t)sg_place(&s->l, i).id * s->bytes + b, y = y_of(q) + (int64_t)k;
                uint8_t *mine = own + ((uint64_t)i * s->l.lanes + k) * s->bytes + b;
                bool inside = x >= 0 && x < ROW && y >= 0 && y < rows(s);
                if (!write)
                    *mine = image[nearest(s, x, y)];
                else if (inside)
                    image[y * ROW + x] = *mine;
            }
}

static void images(const struct sg_try *t, unsigned lanes, bool write)
{
    if (!sg_takes(t, lanes)) return;
    struct shape s = shape_of(t, lanes);
    uint64_t image_bytes = (uint64_t)ROW * rows(&s), own_bytes = (uint64_t)s.l.global * lanes * s.bytes;
    uint8_t *texels = write ? untouched(image_bytes) : pattern(image_bytes);
    uint8_t *own = write ? pattern(own_bytes) : untouched(own_bytes);
    uint8_t *want = malloc(write ? image_bytes : own_bytes);
    assert_non_null(want);
    memcpy(want, write ? texels : own, write ? image_bytes : own_bytes);
    move(&s, write, write ? want : texels, write ? own : want);
    struct ir_image image = {texels, ROW / 4, rows(&s), ROW, RGBA, UNSIGNED_INT8};
    struct interp_arg args[] = {{.kind = INTERP_ARG_IMAGE, .data = &image}, buffer(own, own_bytes)};
    struct nd_range range = sg_range_of(&s.l);
    char *text = image_text(&s, write);
    sg_execute(t, sg_name(t, lanes), text, &range, args);
    expect(t, &s, want, write ? texels : own, write ? image_bytes : own_bytes);
    free(text);
    free(want);
    free(own);
    free(texels);
}

void sg_run_image_read(const struct sg_try *t)
{
    for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++) images(t, counts[i], false);
}

void sg_run_image_write(const struct sg_try *t)
{
    for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++) images(t, counts[i], true);
}
