/* What compiled kernels call (fuser/cpu/runtime), by itself: blocks as the interpreter does them, sampling where the
   answer is known, nothing outside an image touched, and pipes between threads. */
#include "test_interp_kit.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>

#include "fuser/cpu/runtime/pipe.h"
#include "fuser/cpu/runtime/runtime.h"
#include "tests/support/rng.h"

enum {
    RGBA = 0x10b5,
    R = 0x10b0,
    UNORM_INT8 = 0x10d2,
    UNSIGNED_INT8 = 0x10da,
    UNSIGNED_INT32 = 0x10dc,
    FLOAT = 0x10de
};
enum { LANES = 8, WIDTH = 5, HEIGHT = 6, PITCH = 24, BYTES = PITCH * HEIGHT };

static const int32_t corners[] = {INT32_MIN, -100, -9, -8, -4, -1, 0,  1,   3,        4,
                                  7,         8,    12, 16, 19, 20, 24, 100, INT32_MAX};

static void random_bytes(void *to, size_t n, struct rng *rng)
{
    for (size_t i = 0; i < n; i++) ((uint8_t *)to)[i] = (uint8_t)rng_next(rng);
}

static int32_t corner(struct rng *rng)
{
    return corners[rng_below(rng, sizeof corners / sizeof *corners)];
}

/* The same coordinates for each lane, and its id. */
static void block_coordinates(uint32_t *c, int32_t x, int32_t y)
{
    for (uint32_t lane = 0; lane < LANES; lane++) {
        c[lane] = (uint32_t)x;
        c[LANES + lane] = (uint32_t)y;
        c[2 * LANES + lane] = lane;
    }
}

static void type_name(char *to, size_t size, unsigned bytes, unsigned n)
{
    if (n == 1)
        snprintf(to, size, "i%u", bytes * 8);
    else
        snprintf(to, size, "i%ux%u", bytes * 8, n);
}

/* The interpreter's block operation with a vector per work-item, in memory one after the other. */
static void interpret_block(const char *type, const char *operation, struct ir_image *image, const int32_t at[2],
                            void *vectors, size_t size)
{
    char text[256];
    snprintf(text, sizeof text,
             "kernel @k(%%m: image2d.read_write, %%c: i32x2, %%v: ptr.global %s) sub_group_size(8) {\n"
             "  %%i = global_id x\n%s}\n",
             type, operation);
    struct interp_arg args[] = {{INTERP_ARG_IMAGE, image, 0, NULL},
                                {INTERP_ARG_BYTES, (void *)(uintptr_t)at, 8, NULL},
                                {INTERP_ARG_BUFFER, vectors, size, NULL}};
    kit_clean_run(text, LANES, LANES, args);
}

/* From a vector per lane to number k of lane i at k * LANES + i. */
static void transpose(uint8_t *to, const uint8_t *from, unsigned bytes, unsigned n)
{
    for (unsigned i = 0; i < LANES; i++)
        for (unsigned k = 0; k < n; k++) memcpy(to + (k * LANES + i) * bytes, from + (i * n + k) * bytes, bytes);
}

static void compare_blocks(unsigned bytes, unsigned n, struct rng *rng)
{
    uint8_t pixels[2][BYTES], vectors[LANES * 16 * 8], numbers[sizeof vectors], want[sizeof vectors];
    size_t size = (size_t)LANES * n * bytes;
    int32_t at[2] = {corner(rng), corner(rng)};
    struct ir_image image = {pixels[0], WIDTH, HEIGHT, PITCH, RGBA, UNORM_INT8};
    char type[16], read[96], write[96];
    type_name(type, sizeof type, bytes, n);
    snprintf(read, sizeof read, "  %%x = image_block_read %s %%m, %%c\n  store %s %%v[%%i], %%x\n", type, type);
    snprintf(write, sizeof write, "  %%x = load %s %%v[%%i]\n  image_block_write %s %%m, %%c, %%x\n", type, type);
    uint32_t c[3 * LANES];
    block_coordinates(c, at[0], at[1]);
    random_bytes(pixels[0], BYTES, rng);
    interpret_block(type, read, &image, at, vectors, size);
    transpose(want, vectors, bytes, n);
    kernel_runtime.image_block_read(&image, bytes, n, 0xff, LANES, c, numbers);
    assert_memory_equal(numbers, want, size);

    at[0] &= ~3; /* where a write may begin */
    block_coordinates(c, at[0], at[1]);
    memcpy(pixels[1], pixels[0], BYTES);
    random_bytes(vectors, sizeof vectors, rng);
    interpret_block(type, write, &image, at, vectors, size);
    transpose(numbers, vectors, bytes, n);
    image.data = pixels[1];
    kernel_runtime.image_block_write(&image, bytes, n, 0xff, LANES, c, numbers);
    assert_memory_equal(pixels[0], pixels[1], BYTES);
}

static void blocks(void **state)
{
    (void)state;
    struct rng rng = {31};
    for (unsigned bytes = 1; bytes <= 8; bytes *= 2)
        for (unsigned n = 1; n <= 16; n *= 2)
            for (unsigned round = 0; round < 24; round++) compare_blocks(bytes, n, &rng);
}

/* Only the lanes asked for are read or written. */
static void lanes(void **state)
{
    (void)state;
    float pixels[4 * LANES] = {0}, texels[4 * LANES];
    struct ir_image image = {pixels, LANES, 1, sizeof pixels, RGBA, FLOAT};
    uint32_t c[2 * LANES] = {0}, words[4 * LANES];
    for (uint32_t i = 0; i < LANES; i++) c[i] = i;
    for (uint32_t i = 0; i < 4 * LANES; i++) texels[i] = (float)i;
    memcpy(words, texels, sizeof words);
    kernel_runtime.image_write(&image, 0, 0x5, LANES, c, words);
    assert_true(pixels[3] == 24 && pixels[4] == 0 && pixels[8] == 2 && pixels[12] == 0);
    memset(words, 0xff, sizeof words);
    kernel_runtime.image_read(&image, 0, 0x4, LANES, c, words);
    assert_int_equal(words[0], UINT32_MAX);
    memcpy(texels, words, sizeof texels);
    assert_true(texels[2] == 2 && texels[LANES + 2] == 10 && texels[3 * LANES + 2] == 26);
}

static float sampled(const struct ir_image *image, uint32_t sampler, float x, float y)
{
    uint32_t c[2], rgba[4];
    float red;
    memcpy(&c[0], &x, 4);
    memcpy(&c[1], &y, 4);
    kernel_runtime.image_read(image, sampler | KERNEL_TEXEL_SAMPLED | KERNEL_TEXEL_FLOATS, 1, 1, c, rgba);
    memcpy(&red, rgba, 4);
    return red;
}

static void known_samples(void **state)
{
    (void)state;
    float pixels[2][4] = {{0, 10, 20, 30}, {100, 110, 120, 130}};
    struct ir_image image = {pixels, 4, 2, sizeof *pixels, R, FLOAT};
    const struct {
        uint32_t sampler;
        float x, y, red;
    } cases[] = {
        {IR_SAMPLER_CLAMP_TO_EDGE, 2.9f, 1.1f, 120},
        {IR_SAMPLER_CLAMP_TO_EDGE, -5, 9, 100},
        {IR_SAMPLER_CLAMP, -5, 0, 0},
        {IR_SAMPLER_CLAMP | IR_SAMPLER_LINEAR, 0, 0.5f, 0},
        {IR_SAMPLER_CLAMP | IR_SAMPLER_LINEAR, 4, 0.5f, 15},
        {IR_SAMPLER_CLAMP_TO_EDGE | IR_SAMPLER_LINEAR, 1, 1, 55},
        {IR_SAMPLER_CLAMP_TO_EDGE | IR_SAMPLER_LINEAR | IR_SAMPLER_NORMALIZED, 0.5f, 0.5f, 65},
        {IR_SAMPLER_REPEAT | IR_SAMPLER_NORMALIZED, 1.3f, -0.9f, 10},
        {IR_SAMPLER_REPEAT | IR_SAMPLER_LINEAR | IR_SAMPLER_NORMALIZED, 1, 0.25f, 15},
        {IR_SAMPLER_MIRRORED_REPEAT | IR_SAMPLER_NORMALIZED, 1.2f, 0, 30},
        {IR_SAMPLER_MIRRORED_REPEAT | IR_SAMPLER_NORMALIZED, -0.3f, 2.2f, 10},
        {IR_SAMPLER_CLAMP, INFINITY, 0, 0},
        {IR_SAMPLER_CLAMP_TO_EDGE, INFINITY, -INFINITY, 30},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        float red = sampled(&image, cases[i].sampler, cases[i].x, cases[i].y);
        if (red != cases[i].red) fail_msg("case %u: %g, not %g", i, red, cases[i].red);
    }
}

/* An image that fills the one page between two that cannot be touched; and what is no image at all. */
static void nothing_outside(void **state)
{
    (void)state;
    enum { PAGE = 4096, SIDE = 64 };
    uint8_t *pages = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(pages, MAP_FAILED);
    assert_int_equal(mprotect(pages + PAGE, PAGE, PROT_READ | PROT_WRITE), 0);
    static const float points[] = {NAN, INFINITY, -INFINITY, 3e38f, -3e38f, 1e9f, -1e9f, -0.6f, 63.9f, 64, 65.5f, 0.5f};
    struct rng rng = {32};
    for (unsigned round = 0; round < 20000; round++) {
        struct ir_image image = {pages + PAGE, SIDE, SIDE, SIDE, R, round & 1 ? UNORM_INT8 : UNSIGNED_INT8};
        uint32_t c[3 * LANES], texels[4 * LANES] = {0}, mode = (uint32_t)rng_next(&rng) & 0x7003f;
        uint64_t numbers[16 * LANES] = {0};
        for (unsigned i = 0; i < 2 * LANES; i++) {
            float f = points[rng_below(&rng, sizeof points / sizeof *points)];
            c[i] = mode & KERNEL_TEXEL_FLOATS ? 0 : (uint32_t)corner(&rng);
            if (mode & KERNEL_TEXEL_FLOATS) memcpy(&c[i], &f, 4);
        }
        for (uint32_t i = 0; i < LANES; i++) c[2 * LANES + i] = i;
        kernel_runtime.image_read(&image, mode, 0xff, LANES, c, texels);
        kernel_runtime.image_write(&image, mode, 0xff, LANES, c, texels);
        kernel_runtime.image_block_read(&image, 1u << round % 4, 16, 0xff, LANES, c, numbers);
        kernel_runtime.image_block_write(&image, 1u << round % 4, 16, 0xff, LANES, c, numbers);
    }
    const struct ir_image bad[] = {{NULL, 4, 4, 64, R, UNORM_INT8},
                                   {pages, 4, 4, 64, 0x10be, UNORM_INT8},
                                   {pages, 4, 4, 64, R, 0x10d4},
                                   {pages, 0, 4, 64, R, UNORM_INT8}};
    for (unsigned i = 0; i <= sizeof bad / sizeof *bad; i++) {
        const struct ir_image *image = i < sizeof bad / sizeof *bad ? &bad[i] : NULL;
        uint32_t c[3] = {0}, texels[4] = {1, 1, 1, 1};
        uint64_t number = 1;
        kernel_runtime.image_read(image, KERNEL_TEXEL_SAMPLED, 1, 1, c, texels);
        assert_int_equal(texels[0] | texels[3], 0);
        kernel_runtime.image_write(image, 0, 1, 1, c, texels);
        kernel_runtime.image_block_read(image, 8, 1, 1, 1, c, &number);
        assert_int_equal(number, 0);
        kernel_runtime.image_block_write(image, 8, 1, 1, 1, c, &number);
    }
    munmap(pages, 3 * PAGE);
}

/* ---- pipes ---- */

enum { WRITERS = 3, READERS = 2, PACKETS = 20000 };

static struct kernel_pipe *pipe_new(uint32_t packet_size, uint32_t capacity)
{
    struct kernel_pipe *pipe = calloc(1, kernel_pipe_bytes(packet_size, capacity));
    assert_non_null(pipe);
    pipe->packet_size = packet_size;
    pipe->capacity = capacity;
    return pipe;
}

struct traffic {
    struct kernel_pipe *pipe;
    _Atomic uint64_t taken, sum;
};

static void *write_packets(void *data)
{
    struct traffic *t = data;
    for (uint64_t i = 1; i <= PACKETS;) {
        uint64_t packet[2] = {i, ~i};
        if (kernel_runtime.pipe_write(t->pipe, sizeof packet, packet))
            i++;
        else
            sched_yield();
    }
    return NULL;
}

static void *read_packets(void *data)
{
    struct traffic *t = data;
    while (t->taken < WRITERS * PACKETS) {
        uint64_t packet[2];
        if (!kernel_runtime.pipe_read(t->pipe, sizeof packet, packet)) {
            sched_yield();
            continue;
        }
        if (packet[0] != ~packet[1]) abort(); /* half of one packet, half of another */
        t->taken++;
        t->sum += packet[0];
    }
    return NULL;
}

static void pipes_between_threads(void **state)
{
    (void)state;
    struct traffic t = {.pipe = pipe_new(16, 7)};
    pthread_t threads[WRITERS + READERS];
    for (unsigned i = 0; i < WRITERS + READERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, i < WRITERS ? write_packets : read_packets, &t), 0);
    for (unsigned i = 0; i < WRITERS + READERS; i++) pthread_join(threads[i], NULL);
    assert_int_equal(t.taken, WRITERS * PACKETS);
    assert_int_equal(t.sum, (uint64_t)WRITERS * PACKETS * (PACKETS + 1) / 2);
    assert_int_equal(kernel_runtime.pipe_packets(t.pipe), 0);
    free(t.pipe);
}

static void *write_alone(void *data)
{
    for (uint64_t i = 0; i < PACKETS; i++) kernel_runtime.pipe_write_wait(data, sizeof i, &i);
    return NULL;
}

/* Ends that a thread has for itself: nobody sleeps for good, and nothing is read before it is written. */
static void pipes_between_two_threads(void **state)
{
    (void)state;
    static const uint32_t capacities[] = {1, 2, 5, 64};
    for (unsigned c = 0; c < sizeof capacities / sizeof *capacities; c++) {
        struct kernel_pipe *pipe = pipe_new(sizeof(uint64_t), capacities[c]);
        pthread_t writer;
        for (int writes = 0; writes < 2; writes++) kernel_pipe_set_alone(pipe, writes, true);
        assert_int_equal(pthread_create(&writer, NULL, write_alone, pipe), 0);
        for (uint64_t i = 0, packet; i < PACKETS; i++) {
            kernel_runtime.pipe_read_wait(pipe, sizeof packet, &packet);
            assert_int_equal(packet, i);
        }
        pthread_join(writer, NULL);
        assert_int_equal(kernel_runtime.pipe_packets(pipe), 0);
        free(pipe);
    }
}

static void pipes_are_full_and_empty(void **state)
{
    (void)state;
    struct kernel_pipe *pipe = pipe_new(2, 3);
    uint16_t packet = 0;
    assert_int_equal(kernel_runtime.pipe_read(pipe, 2, &packet), 0);
    for (uint16_t i = 0; i < 3; i++) assert_int_equal(kernel_runtime.pipe_write(pipe, 2, &i), 1);
    assert_int_equal(kernel_runtime.pipe_write(pipe, 2, &packet), 0);
    assert_int_equal(kernel_runtime.pipe_packets(pipe), 3);
    assert_int_equal(kernel_runtime.pipe_read(pipe, 4, &packet), 0); /* packets of another size */
    for (uint16_t i = 0; i < 3; i++) {
        assert_int_equal(kernel_runtime.pipe_read(pipe, 2, &packet), 1);
        assert_int_equal(packet, i);
    }
    assert_int_equal(kernel_runtime.pipe_read(NULL, 2, &packet), 0);
    assert_int_equal(kernel_runtime.pipe_write(NULL, 2, &packet), 0);
    free(pipe);
}

/* ---- reservations ---- */

enum { READ_END, WRITE_END };

/* Reserves up to four packets at once, writes them from the last to the first, and commits every second reservation
   before the one that came before it. */
static void *write_reserved(void *data)
{
    struct traffic *t = data;
    uint64_t held = 0;
    for (uint64_t i = 1; i <= PACKETS;) {
        uint32_t n = (uint32_t)(i % 4 + 1 > PACKETS + 1 - i ? PACKETS + 1 - i : i % 4 + 1);
        uint64_t id = kernel_runtime.pipe_reserve(t->pipe, WRITE_END, n);
        if (!id) {
            if (held) kernel_runtime.pipe_commit(t->pipe, WRITE_END, held);
            held = 0;
            sched_yield();
            continue;
        }
        for (uint32_t k = n; k-- > 0;) {
            uint64_t packet[2] = {i + k, ~(i + k)};
            if (!kernel_runtime.pipe_write_at(t->pipe, sizeof packet, packet, id, k)) abort();
        }
        i += n;
        if (!held && i <= PACKETS) {
            held = id;
            continue;
        }
        kernel_runtime.pipe_commit(t->pipe, WRITE_END, id);
        if (held) kernel_runtime.pipe_commit(t->pipe, WRITE_END, held);
        held = 0;
    }
    return NULL;
}

/* Packets are set to zeros where they lie once they are read: one that is not committed shows. */
static void *read_reserved(void *data)
{
    struct traffic *t = data;
    for (uint32_t n = 1; t->taken < WRITERS * PACKETS; n = n % 3 + 1) {
        uint64_t id = kernel_runtime.pipe_reserve(t->pipe, READ_END, n);
        if (!id) {
            sched_yield();
            continue;
        }
        for (uint32_t k = 0; k < n; k++) {
            uint64_t packet[2];
            if (!kernel_runtime.pipe_read_at(t->pipe, sizeof packet, packet, id, k)) abort();
            if (!packet[0] || packet[0] != ~packet[1]) abort();
            memset(t->pipe->packets + ((uint32_t)id + k) % t->pipe->capacity * sizeof packet, 0, sizeof packet);
            t->taken++;
            t->sum += packet[0];
        }
        kernel_runtime.pipe_commit(t->pipe, READ_END, id);
    }
    return NULL;
}

static void reservations_between_threads(void **state)
{
    (void)state;
    struct traffic t = {.pipe = pipe_new(16, 16)};
    pthread_t threads[WRITERS + READERS];
    for (unsigned i = 0; i < WRITERS + READERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, i < WRITERS ? write_reserved : read_reserved, &t), 0);
    for (unsigned i = 0; i < WRITERS + READERS; i++) pthread_join(threads[i], NULL);
    assert_int_equal(t.taken, WRITERS * PACKETS);
    assert_int_equal(t.sum, (uint64_t)WRITERS * PACKETS * (PACKETS + 1) / 2);
    assert_int_equal(kernel_runtime.pipe_packets(t.pipe), 0);
    free(t.pipe);
}

static void younger_reservations_wait(void **state)
{
    (void)state;
    const struct kernel_functions *f = &kernel_runtime;
    struct kernel_pipe *pipe = pipe_new(2, 5);
    uint16_t packet = 9;
    for (unsigned round = 0; round < 7; round++) {
        uint64_t a = f->pipe_reserve(pipe, WRITE_END, 2), b = f->pipe_reserve(pipe, WRITE_END, 1);
        uint64_t c = f->pipe_reserve(pipe, WRITE_END, 2);
        assert_true((int64_t)a > 0 && (int64_t)b > 0 && (int64_t)c > 0);
        assert_int_equal(f->pipe_reserve(pipe, WRITE_END, 1), 0);
        f->pipe_commit(pipe, WRITE_END, c);
        f->pipe_commit(pipe, WRITE_END, b);
        assert_int_equal(f->pipe_packets(pipe), 0);
        assert_int_equal(f->pipe_read(pipe, 2, &packet), 0);
        assert_int_equal(f->pipe_write_at(pipe, 2, &packet, b, 0), 0); /* is committed */
        f->pipe_commit(pipe, WRITE_END, a);
        assert_int_equal(f->pipe_packets(pipe), 5);
        uint64_t r = f->pipe_reserve(pipe, READ_END, 4);
        assert_int_equal(f->pipe_read(pipe, 2, &packet), 1); /* behind them: its room is not free yet */
        assert_int_equal(f->pipe_write(pipe, 2, &packet), 0);
        f->pipe_commit(pipe, READ_END, r);
        assert_int_equal(f->pipe_write(pipe, 2, &packet), 1);
        assert_int_equal(f->pipe_read(pipe, 2, &packet), 1);
    }
    free(pipe);
}

/* Whatever the id and the index are, nothing but the packets of an open reservation is touched. */
static void wrong_reservations(void **state)
{
    (void)state;
    const struct kernel_functions *f = &kernel_runtime;
    struct kernel_pipe *pipe = pipe_new(2, 6), before;
    for (uint16_t i = 0; i < 4; i++) f->pipe_write(pipe, 2, &i);
    uint64_t read = f->pipe_reserve(pipe, READ_END, 2), write = f->pipe_reserve(pipe, WRITE_END, 2);
    const uint64_t ids[] = {0, 1, UINT64_MAX, (uint64_t)1 << 62, read + 1, write - 1, write + 1, read ^ write};
    uint16_t packet = 0xabcd, packets[6];
    memcpy(&before, pipe, sizeof before);
    memcpy(packets, pipe->packets, sizeof packets);
    for (unsigned i = 0; i < sizeof ids / sizeof *ids; i++)
        for (uint32_t index = 0; index < 4; index++) {
            assert_int_equal(f->pipe_write_at(pipe, 2, &packet, ids[i], index), 0);
            assert_int_equal(f->pipe_read_at(pipe, 2, &packet, ids[i], index), 0);
            f->pipe_commit(pipe, WRITE_END, ids[i]);
            f->pipe_commit(pipe, READ_END, ids[i]);
        }
    assert_int_equal(f->pipe_write_at(pipe, 2, &packet, read, 0), 0); /* of the other end */
    assert_int_equal(f->pipe_read_at(pipe, 2, &packet, write, 0), 0);
    assert_int_equal(f->pipe_write_at(pipe, 2, &packet, write, 2), 0);
    assert_int_equal(f->pipe_write_at(pipe, 4, &packet, write, 0), 0); /* packets of another size */
    assert_int_equal(f->pipe_write_at(pipe, 2, &packet, write, UINT32_MAX), 0);
    assert_int_equal(packet, 0xabcd);
    assert_memory_equal(&before, pipe, sizeof before);
    assert_memory_equal(packets, pipe->packets, sizeof packets);
    assert_int_equal(f->pipe_reserve(pipe, WRITE_END, UINT32_MAX), 0);
    assert_int_equal(f->pipe_reserve(NULL, READ_END, 1), 0);
    f->pipe_commit(NULL, READ_END, read);
    free(pipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks),
        cmocka_unit_test(lanes),
        cmocka_unit_test(known_samples),
        cmocka_unit_test(nothing_outside),
        cmocka_unit_test(pipes_between_threads),
        cmocka_unit_test(pipes_between_two_threads),
        cmocka_unit_test(pipes_are_full_and_empty),
        cmocka_unit_test(reservations_between_threads),
        cmocka_unit_test(younger_reservations_wait),
        cmocka_unit_test(wrong_reservations),
    };
    return cmocka_run_group_tests_name("runtime", tests, NULL, NULL);
}
