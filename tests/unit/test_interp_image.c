/* The interpreter on images and pipes. */
#include "test_interp_kit.h"

#include <math.h>
#include <stdio.h>

enum { R = 0x10b0, RG = 0x10b2, RGBA = 0x10b5, BGRA = 0x10b6 };
enum {
    SNORM_INT8 = 0x10d0,
    UNORM_INT8 = 0x10d2,
    UNORM_INT16,
    SIGNED_INT8 = 0x10d7,
    SIGNED_INT16,
    SIGNED_INT32,
    UNSIGNED_INT8,
    UNSIGNED_INT16,
    UNSIGNED_INT32,
    HALF_FLOAT,
    FLOAT
};

static struct interp_arg image_arg(struct ir_image *image)
{
    return (struct interp_arg){.kind = INTERP_ARG_IMAGE, .data = image, .size = sizeof *image};
}

/* Writes `texel` to a 1 x 1 image, reads it back; the bytes in memory must be `bytes`, what comes back `back`. */
static void float_texel(uint32_t order, uint32_t type, const float texel[4], const void *bytes, size_t size,
                        const float back[4])
{
    uint8_t data[16] = {0};
    float out[4];
    struct ir_image image = {data, 1, 1, 16, order, type};
    struct interp_arg args[] = {
        image_arg(&image), BUFFER(out), {.kind = INTERP_ARG_BYTES, .data = (void *)(uintptr_t)texel, .size = 16}};
    kit_clean_run("kernel @k(%m: image2d.read_write, %o: ptr.global f32x4, %t: f32x4) {\n"
                  "    image_write f32x4 %m, <0, 0>, %t\n"
                  "    %x = image_read f32x4 %m, <0, 0>\n"
                  "    store f32x4 %o, %x\n"
                  "}\n",
                  1, 1, args);
    assert_memory_equal(data, bytes, size);
    for (int i = 0; i < 4; i++)
        if (out[i] != back[i]) fail_msg("order %#x type %#x component %d: %g, not %g", order, type, i, out[i], back[i]);
}

static void float_formats(void **state)
{
    (void)state;
    const float t[] = {0.5f, -2.0f, 3.0f, 0.25f};
    float_texel(RGBA, FLOAT, t, t, 16, t);
    float_texel(R, FLOAT, t, t, 4, (float[]){0.5f, 0, 0, 1});
    float_texel(RG, HALF_FLOAT, t, (uint16_t[]){0x3800, 0xc000}, 4, (float[]){0.5f, -2, 0, 1});
    float_texel(RGBA, UNORM_INT8, t, (uint8_t[]){128, 0, 255, 64}, 4, (float[]){128 / 255.f, 0, 1, 64 / 255.f});
    float_texel(BGRA, UNORM_INT8, t, (uint8_t[]){255, 0, 128, 64}, 4, (float[]){128 / 255.f, 0, 1, 64 / 255.f});
    float_texel(RG, SNORM_INT8, t, (uint8_t[]){64, 0x80}, 2, (float[]){64 / 127.f, -1, 0, 1});
    float_texel(R, UNORM_INT16, t, (uint16_t[]){32768}, 2, (float[]){32768 / 65535.f, 0, 0, 1});
}

static void int_texel(uint32_t order, uint32_t type, const int32_t texel[4], const void *bytes, size_t size,
                      const int32_t back[4])
{
    uint8_t data[16] = {0};
    int32_t out[4];
    struct ir_image image = {data, 1, 1, 16, order, type};
    struct interp_arg args[] = {
        image_arg(&image), BUFFER(out), {.kind = INTERP_ARG_BYTES, .data = (void *)(uintptr_t)texel, .size = 16}};
    kit_clean_run("kernel @k(%m: image2d.read_write, %o: ptr.global i32x4, %t: i32x4) {\n"
                  "    image_write i32x4 %m, <0, 0>, %t\n"
                  "    %x = image_read i32x4 %m, <0, 0>\n"
                  "    store i32x4 %o, %x\n"
                  "}\n",
                  1, 1, args);
    assert_memory_equal(data, bytes, size);
    assert_memory_equal(out, back, 16);
}

static void int_formats(void **state)
{
    (void)state;
    const int32_t t[] = {-1, 1000, 100000, 5};
    int_texel(RGBA, SIGNED_INT32, t, t, 16, t);
    int_texel(RGBA, SIGNED_INT8, t, (int8_t[]){-1, 127, 127, 5}, 4, (int32_t[]){-1, 127, 127, 5});
    int_texel(RG, SIGNED_INT16, t, (int16_t[]){-1, 1000}, 4, (int32_t[]){-1, 1000, 0, 1});
    int_texel(RGBA, UNSIGNED_INT8, t, (uint8_t[]){255, 255, 255, 5}, 4, (int32_t[]){255, 255, 255, 5});
    int_texel(R, UNSIGNED_INT16, t, (uint16_t[]){65535}, 2, (int32_t[]){65535, 0, 0, 1});
    int_texel(R, UNSIGNED_INT32, t, (uint32_t[]){UINT32_MAX}, 4, (int32_t[]){-1, 0, 0, 1});
}

/* The red component sampled at (x, y) of a 4 x 2 image with the values 0 to 7. */
static float sampled(uint32_t sampler, float x, float y)
{
    float data[] = {0, 1, 2, 3, 4, 5, 6, 7}, out[4], at[] = {x, y};
    struct ir_image image = {data, 4, 2, 16, R, FLOAT};
    struct interp_arg args[] = {image_arg(&image), BUFFER(out), BYTES(sampler), BYTES(at)};
    kit_clean_run("kernel @k(%m: image2d.read, %o: ptr.global f32x4, %s: sampler, %at: f32x2) {\n"
                  "    %x = image_read f32x4 %m, %at, %s\n"
                  "    store f32x4 %o, %x\n"
                  "}\n",
                  1, 1, args);
    return out[0];
}

static void samplers(void **state)
{
    (void)state;
    const uint32_t normalized = IR_SAMPLER_NORMALIZED, linear = IR_SAMPLER_LINEAR;
    assert_true(sampled(IR_SAMPLER_CLAMP_TO_EDGE, 2.9f, 1.5f) == 6);
    assert_true(sampled(IR_SAMPLER_CLAMP_TO_EDGE, -5, 10) == 4);
    assert_true(sampled(IR_SAMPLER_CLAMP, -0.5f, 0) == 0);
    assert_true(sampled(IR_SAMPLER_CLAMP, 4, 1) == 0);
    assert_true(sampled(IR_SAMPLER_CLAMP_TO_EDGE | normalized, 0.99f, 0.6f) == 7);
    assert_true(sampled(IR_SAMPLER_REPEAT | normalized, 1.3f, -0.25f) == 5);
    assert_true(sampled(IR_SAMPLER_MIRRORED_REPEAT | normalized, 1.2f, 0) == 3);
    assert_true(sampled(IR_SAMPLER_CLAMP_TO_EDGE | linear, 2, 1) == 3.5f);    /* the middle of four */
    assert_true(sampled(IR_SAMPLER_CLAMP_TO_EDGE | linear, 1.5f, 0.5f) == 1); /* the centre of one */
    assert_true(sampled(IR_SAMPLER_CLAMP | linear, 4, 0.5f) == 1.5f);         /* half of it is border */
    assert_true(sampled(IR_SAMPLER_REPEAT | normalized | linear, 0, 0.25f) == 1.5f);
}

static void images_are_checked(void **state)
{
    (void)state;
    float data[8];
    memset(data, 0, sizeof data);
    struct ir_image image = {data, 4, 2, 16, R, FLOAT};
    struct interp_arg args[] = {image_arg(&image)};
    struct kit k;
    kit_load(&k, "kernel @k(%m: image2d.read_write) {\n"
                 "    %g = global_id x\n"
                 "    %x = trunc i32 %g\n"
                 "    %at = vec i32x2 %x, 0\n"
                 "    image_write f32x4 %m, %at, 1.0\n"
                 "}\n");
    kit_run(&k, 5, 1, args);
    kit_expect(&k, INTERP_OUT_OF_BOUNDS, 5, "image_write at (4, 0) of an image of 4 x 2");
    image.channel_type = SIGNED_INT32;
    kit_run(&k, 1, 1, args);
    kit_expect(&k, INTERP_INVALID, 5, "whose channels are integers");
    image.row_pitch = 15;
    kit_run(&k, 1, 1, args);
    assert_int_equal(k.rc, -1);
    kit_expect(&k, INTERP_INVALID, 1, "row pitch");
    image = (struct ir_image){data, 4, 2, 16, 0x1234, FLOAT};
    kit_run(&k, 1, 1, args);
    kit_expect(&k, INTERP_INVALID, 1, "channel order");
    kit_free(&k);

    image.channel_order = R;
    kit_load(&k, "kernel @k(%m: image2d.read_write) {\n    image_write f32x4 %m, <0, 0>, 1.0\n}\n");
    kit_run(&k, 2, 1, args);
    kit_expect(&k, INTERP_RACE, 2, "image argument 0 `m`");
    kit_free(&k);
}

static void image_blocks_and_sizes(void **state)
{
    (void)state;
    uint8_t data[4 * 8];
    for (int i = 0; i < 32; i++) data[i] = (uint8_t)i;
    int16_t out[8];
    int32_t sizes[4];
    struct ir_image image = {data, 2, 4, 8, RGBA, UNORM_INT8};
    struct interp_arg args[] = {image_arg(&image), BUFFER(out), BUFFER(sizes)};
    kit_clean_run("kernel @k(%m: image2d.read_write, %o: ptr.global i16, %s: ptr.global i32) {\n"
                  "    %x = image_block_read i16x2 %m, <2, 3>\n" /* one step over the right and the lower edge */
                  "    %l = local_id x\n"
                  "    %p = elem i16x2 %o, %l\n"
                  "    store i16x2 %p, %x\n"
                  "    image_block_write i16 %m, <4, 0>, 99\n" /* the first two are inside */
                  "    %first = ieq i64 %l, 0\n"
                  "    if %first {\n"
                  "        %w = image_width %m\n        %h = image_height %m\n"
                  "        %t = image_channel_type %m\n        %r = image_channel_order %m\n"
                  "        %v = vec i32x4 %w, %h, %t, %r\n"
                  "        store i32x4 %s, %v\n"
                  "    }\n"
                  "}\n",
                  4, 4, args);
    static const int16_t wanted[] = {0x1b1a, 0x1b1a, 0x1d1c, 0x1d1c, 0x1f1e, 0x1f1e, 0x1d1c, 0x1d1c};
    assert_memory_equal(out, wanted, sizeof wanted);
    assert_memory_equal(sizes, ((int32_t[]){2, 4, UNORM_INT8, RGBA}), 16);
    assert_memory_equal(data, ((uint8_t[]){0, 1, 2, 3, 99, 0, 99, 0, 8, 9}), 10);
}

/* ---- pipes ---- */

static void pipes_are_first_in_first_out(void **state)
{
    (void)state;
    int32_t in[6] = {1, 2, 3, 4, 5, 6}, out[6] = {0}, packets[4], room[2];
    struct interp_pipe pipe = {(uint8_t *)packets, 4, 4, 0, 0};
    struct interp_arg write[] = {BUFFER(in), {.kind = INTERP_ARG_PIPE, .data = &pipe}, BUFFER(out)};
    kit_clean_run("kernel @k(%a: ptr.global i32, %q: pipe.write, %o: ptr.global i32) {\n"
                  "    %i = global_id x\n"
                  "    %p = elem i32 %a, %i\n"
                  "    %ok = pipe_write i32 %q, %p\n"
                  "    %x = zext i32 %ok\n"
                  "    %r = elem i32 %o, %i\n"
                  "    store i32 %r, %x\n"
                  "}\n",
                  6, 1, write);
    assert_memory_equal(out, ((int32_t[]){1, 1, 1, 1, 0, 0}), sizeof out);
    struct interp_arg read[] = {BUFFER(out), {.kind = INTERP_ARG_PIPE, .data = &pipe}, BUFFER(room)};
    kit_clean_run("kernel @k(%a: ptr.global i32, %q: pipe.read, %o: ptr.global i32) {\n"
                  "    %i = global_id x\n"
                  "    %p = elem i32 %a, %i\n"
                  "    %ok = pipe_read i32 %q, %p\n"
                  "    %last = ieq i64 %i, 1\n"
                  "    if %last {\n"
                  "        %n = pipe_num_packets %q\n"
                  "        %m = pipe_max_packets %q\n"
                  "        %v = vec i32x2 %n, %m\n"
                  "        store i32x2 %o, %v\n"
                  "    }\n"
                  "}\n",
                  2, 1, read);
    assert_int_equal(out[0], 1);
    assert_int_equal(out[1], 2);
    assert_memory_equal(room, ((int32_t[]){2, 4}), 8);
    assert_int_equal(pipe.read, 2);
}

static void pipes_of_the_module(void **state)
{
    (void)state;
    int32_t out[2];
    struct interp_arg args[] = {BUFFER(out)};
    kit_clean_run("pipe.read_write @q: packet i32 capacity 2\n"
                  "kernel @k(%o: ptr.global i32) {\n"
                  "    %i = global_id x\n"
                  "    %q = global @q\n"
                  "    %v = var i32\n"
                  "    %x = trunc i32 %i\n"
                  "    store i32 %v, %x\n"
                  "    %a = pipe_write i32 %q, %v\n"
                  "    %b = pipe_write i32 %q, %v\n"
                  "    %w = var i32\n"
                  "    %c = pipe_read i32 %q, %w\n"
                  "    %y = load i32 %w\n"
                  "    %p = elem i32 %o, %i\n"
                  "    store i32 %p, %y\n"
                  "}\n",
                  2, 2, args);
    assert_int_equal(out[0], 0);
    assert_int_equal(out[1], 0);
}

static void pipes_are_checked(void **state)
{
    (void)state;
    int64_t packets[4];
    struct interp_pipe pipe = {(uint8_t *)packets, 8, 4, 0, 0};
    struct interp_arg args[] = {{.kind = INTERP_ARG_PIPE, .data = &pipe}};
    struct kit k;
    kit_load(&k,
             "kernel @k(%q: pipe.write) {\n    %v = var i32\n    store i32 %v, 1\n    %a = pipe_write i32 %q, %v\n}\n");
    kit_run(&k, 1, 1, args);
    kit_expect(&k, INTERP_INVALID, 4, "whose packets have 8");
    pipe.written = 5;
    kit_run(&k, 1, 1, args);
    assert_int_equal(k.rc, -1);
    kit_free(&k);
}

/* Two reservations to write, of which the younger is committed first; then all is read backwards. */
static void reservations(void **state)
{
    (void)state;
    int32_t out[12] = {0}, packets[6] = {0};
    struct interp_pipe pipe = {(uint8_t *)packets, 4, 6, 4, 4};
    struct interp_arg args[] = {{.kind = INTERP_ARG_PIPE, .data = &pipe}, BUFFER(out)};
    kit_clean_run("kernel @k(%q: pipe.read_write, %o: ptr.global i32) {\n"
                  "    %v = var i32\n"
                  "    %a = pipe_reserve_write %q, 2\n"
                  "    %b = pipe_reserve_write %q, 3\n"
                  "    %c = pipe_reserve_write %q, 2\n"
                  "    %none = ieq i64 %c, 0\n"
                  "    %none2 = zext i32 %none\n"
                  "    store i32 %o[0], %none2\n"
                  "    store i32 %v, 20\n"
                  "    %b0 = pipe_write_at i32 %q, %v, %b, 0\n"
                  "    store i32 %v, 22\n"
                  "    %b2 = pipe_write_at i32 %q, %v, %b, 2\n"
                  "    store i32 %v, 21\n"
                  "    %b1 = pipe_write_at i32 %q, %v, %b, 1\n"
                  "    pipe_commit_write %q, %b\n"
                  "    store i32 %v, 30\n"
                  "    %w = pipe_write i32 %q, %v\n"
                  "    %hidden = pipe_num_packets %q\n"
                  "    store i32 %o[1], %hidden\n"
                  "    %early = pipe_read i32 %q, %v\n"
                  "    %early2 = zext i32 %early\n"
                  "    store i32 %o[2], %early2\n"
                  "    store i32 %v, 10\n"
                  "    %a0 = pipe_write_at i32 %q, %v, %a, 0\n"
                  "    store i32 %v, 11\n"
                  "    %a1 = pipe_write_at i32 %q, %v, %a, 1\n"
                  "    pipe_commit_write %q, %a\n"
                  "    %seen = pipe_num_packets %q\n"
                  "    store i32 %o[3], %seen\n"
                  "    %r = pipe_reserve_read %q, 5\n"
                  "    %s = pipe_reserve_read %q, 1\n"
                  "    %t = pipe_reserve_read %q, 1\n"
                  "    %none3 = ieq i64 %t, 0\n"
                  "    %none4 = zext i32 %none3\n"
                  "    store i32 %o[4], %none4\n"
                  "    %last = elem i32 %o, 10\n"
                  "    %s0 = pipe_read_at i32 %q, %last, %s, 0\n"
                  "    pipe_commit_read %q, %s\n"
                  "    %full = pipe_write i32 %q, %v\n"
                  "    %full2 = zext i32 %full\n"
                  "    store i32 %o[11], %full2\n"
                  "    loop (%k: i32 = 0) {\n"
                  "        %end = uge i32 %k, 5\n"
                  "        if %end { break }\n"
                  "        %at = sub i32 4, %k\n"
                  "        %to = add i32 9, 0\n"
                  "        %place = sub i32 %to, %k\n"
                  "        %p = elem i32 %o, %place\n"
                  "        %x = pipe_read_at i32 %q, %p, %r, %at\n"
                  "        %k2 = add i32 %k, 1\n"
                  "        continue %k2\n"
                  "    }\n"
                  "    pipe_commit_read %q, %r\n"
                  "}\n",
                  1, 1, args);
    assert_memory_equal(out, ((int32_t[]){1, 0, 0, 6, 1, 10, 11, 20, 21, 22, 30, 0}), sizeof out);
    assert_int_equal(pipe.read, 10);
    assert_int_equal(pipe.written, 10);
}

static void reservations_are_checked(void **state)
{
    (void)state;
    static const struct {
        const char *body, *finding;
        uint32_t line;
    } cases[] = {
        {"    %a = pipe_reserve_write %q, 2\n    %x = pipe_write_at i32 %q, %v, %a, 2\n    pipe_commit_write %q, %a\n",
         "pipe_write_at at index 2 of a reservation of 2 packets", 4},
        {"    %a = pipe_reserve_read %q, 2\n    %x = pipe_read_at i32 %q, %v, %a, -1\n    pipe_commit_read %q, %a\n",
         "pipe_read_at at index 4294967295 of a reservation of 2 packets", 4},
        {"    %x = pipe_read_at i32 %q, %v, 0, 0\n", "pipe_read_at with an id that is of no open reservation", 3},
        {"    %a = pipe_reserve_write %q, 2\n    pipe_commit_write %q, %a\n    pipe_commit_write %q, %a\n",
         "pipe_commit_write with an id that is of no open reservation to write to this pipe", 5},
        {"    %a = pipe_reserve_read %q, 2\n    pipe_commit_write %q, %a\n    pipe_commit_read %q, %a\n",
         "pipe_commit_write with an id that is of no open reservation to write to this pipe", 4},
        {"    %a = pipe_reserve_read %q, 1\n    %x = pipe_read_at i32 %p, %v, %a, 0\n    pipe_commit_read %q, %a\n",
         "pipe_read_at with an id that is of no open reservation to read from this pipe", 4},
        {"    %a = pipe_reserve_read %q, 2\n", "the reservation of 2 packets is never committed", 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int32_t packets[8] = {0}, others[8] = {0};
        struct interp_pipe pipe = {(uint8_t *)packets, 4, 8, 0, 4}, other = {(uint8_t *)others, 4, 8, 0, 4};
        struct interp_arg args[] = {{.kind = INTERP_ARG_PIPE, .data = &pipe},
                                    {.kind = INTERP_ARG_PIPE, .data = &other}};
        char text[512];
        snprintf(text, sizeof text,
                 "kernel @k(%%q: pipe.read_write, %%p: pipe.read_write) {\n    %%v = var i32 align 4\n%s}\n",
                 cases[i].body);
        struct kit k;
        kit_load(&k, text);
        kit_run(&k, 1, 1, args);
        kit_expect(&k, INTERP_INVALID, cases[i].line, cases[i].finding);
        kit_free(&k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(float_formats),
        cmocka_unit_test(int_formats),
        cmocka_unit_test(samplers),
        cmocka_unit_test(images_are_checked),
        cmocka_unit_test(image_blocks_and_sizes),
        cmocka_unit_test(pipes_are_first_in_first_out),
        cmocka_unit_test(pipes_of_the_module),
        cmocka_unit_test(pipes_are_checked),
        cmocka_unit_test(reservations),
        cmocka_unit_test(reservations_are_checked),
    };
    return cmocka_run_group_tests_name("interp_image", tests, NULL, NULL);
}
