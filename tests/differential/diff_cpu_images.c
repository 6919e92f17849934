/* Images and pipes: compiled code against the interpreter, for all formats, samplers and awkward coordinates. What
   the interpreter would report, coordinates outside an image without a sampler, is checked by itself. */
#include "tests/support/compiled_kit.h"

#include <math.h>
#include <sys/mman.h>

#include "fuser/passes/manager/pipelines.h"
#include "ir/base/strbuf.h"
#include "tests/support/cases.h"
#include "tests/support/rng.h"

enum { ITEMS = 67, WIDTH = 7, HEIGHT = 5, PITCH = 128, ROOM = 64 };

static const uint32_t orders[] = {0x10b0, 0x10b2, 0x10b5, 0x10b6};
static const uint32_t types[] = {0x10d0, 0x10d1, 0x10d2, 0x10d3, 0x10d7, 0x10d8,
                                 0x10d9, 0x10da, 0x10db, 0x10dc, 0x10dd, 0x10de};

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* The kernel of a text; cleaned up as in the service, it is compiled by all ways. */
struct ways {
    struct ir_module *module, *clean;
    struct ir_function *kernel;
    struct kit_way way[KIT_MAX_WAYS];
    struct compiled code[KIT_MAX_WAYS];
    unsigned n;
};

static void ways_make(struct ways *w, const char *text)
{
    w->module = kit_parse(text);
    w->kernel = kit_kernel(w->module);
    w->clean = ir_module_new("clean");
    struct ir_function *clean = ir_function_copy(w->clean, w->kernel, w->kernel->name);
    pipeline_run(&pipeline_cleanup, clean);
    w->n = kit_ways(w->way);
    for (unsigned i = 0; i < w->n; i++) assert_true(kit_make(&w->code[i], clean, &w->way[i]));
}

static void ways_clear(struct ways *w)
{
    for (unsigned i = 0; i < w->n; i++) compiled_clear(&w->code[i]);
    ir_module_free(w->module);
    ir_module_free(w->clean);
}

static const struct nd_range range = {1, {ITEMS, 1, 1}, {0, 0, 0}, {ITEMS, 1, 1}};

static void ways_compare(const struct ways *w, const struct interp_arg *args, const char *what)
{
    struct interp_arg want[KIT_MAX_ARGS], got[KIT_MAX_ARGS];
    uint32_t n = w->kernel->n_params;
    kit_copy(want, args, n);
    kit_interpret(w->kernel, &range, want);
    for (unsigned i = 0; i < w->n; i++) {
        char how[160];
        snprintf(how, sizeof how, "%s%s, %s", cpu_isa_name(w->way[i].isa), w->way[i].scalar ? " scalar" : "", what);
        kit_copy(got, args, n);
        compiled_run(&w->code[i], w->kernel, &range, got, 1, 0);
        kit_expect_same(want, got, n, how);
        kit_free_copy(got, n);
    }
    kit_free_copy(want, n);
}

/* ---- data ---- */

struct picture {
    struct ir_image image;
    uint8_t bytes[PITCH * HEIGHT];
};

static bool is_integer(uint32_t type)
{
    return type >= 0x10d7 && type <= 0x10dc;
}

/* Bytes as they come; floats small ones, with a NaN and an infinity among them. */
static void picture_make(struct picture *p, uint32_t order, uint32_t type, struct rng *rng)
{
    p->image = (struct ir_image){p->bytes, WIDTH, HEIGHT, PITCH, order, type};
    for (size_t i = 0; i < sizeof p->bytes; i++) p->bytes[i] = (uint8_t)rng_next(rng);
    for (size_t i = 0; type == 0x10de && i < sizeof p->bytes; i += 4) {
        float v = (float)(rng_next(rng) % 2000) / 64 - 10;
        if (i == 4) v = NAN;
        if (i == PITCH + 8) v = INFINITY;
        memcpy(p->bytes + i, &v, 4);
    }
}

static float coordinate(struct rng *rng, bool normalized)
{
    static const float special[] = {NAN,     INFINITY,     -INFINITY, 0,     -0.0f, 1, 0.5f,      -0.5f,  1e-30f,
                                    -1e-30f, 3e38f,        -3e38f,    1e10f, -1e10, 7, 6.999999f, -1e-7f, 5,
                                    4.5f,    2147483648.0f};
    uint64_t r = rng_next(rng);
    if (r % 4 == 0) return special[r / 4 % COUNT(special)];
    float v = (float)(r / 4 % 100000) / 100000 * 3 - 1;
    return normalized ? v : v * WIDTH;
}

static void coordinates(float *floats, int32_t *ints, struct rng *rng, bool normalized)
{
    static const int32_t special[] = {INT32_MIN, INT32_MAX, -1, 0, WIDTH, HEIGHT, WIDTH - 1, -WIDTH};
    for (unsigned i = 0; i < 2 * ITEMS; i++) {
        uint64_t r = rng_next(rng);
        floats[i] = coordinate(rng, normalized);
        ints[i] = r % 3 ? (int32_t)(r / 3 % 24) - 8 : special[r / 3 % COUNT(special)];
    }
}

/* ---- sampling ---- */

/* Half of the work-items stay out, so that masks show. */
#define SAMPLE(type, element)                                                                                          \
    "kernel @k(%m: image2d.read, %s: sampler, %f: ptr.global f32x2 read, %n: ptr.global i32x2 read,\n"                 \
    "          %o: ptr.global " type " write) {\n"                                                                     \
    "  %i = global_id x\n"                                                                                             \
    "  %a = load f32x2 %f[%i]\n"                                                                                       \
    "  %b = load i32x2 %n[%i]\n"                                                                                       \
    "  %x = image_read " type " %m, %a, %s\n"                                                                          \
    "  store " type " %o[%i], %x\n"                                                                                    \
    "  %bx = extract i32x2 %b, 0\n"                                                                                    \
    "  %some = sgt i32 %bx, 2\n"                                                                                       \
    "  if %some {\n"                                                                                                   \
    "    %y = image_read " type " %m, %b, %s\n"                                                                        \
    "    %j = add i64 %i, 67\n"                                                                                        \
    "    store " type " %o[%j], %y\n"                                                                                  \
    "  }\n"                                                                                                            \
    "  %w = image_width %m\n"                                                                                          \
    "  %h = image_height %m\n"                                                                                         \
    "  %l1 = sub i32 %w, 1\n"                                                                                          \
    "  %l2 = sub i32 %h, 1\n"                                                                                          \
    "  %last = vec i32x2 %l1, %l2\n"                                                                                   \
    "  %inside = sclamp i32x2 %b, 0, %last\n"                                                                          \
    "  %z = image_read " type " %m, %inside\n"                                                                         \
    "  %k = add i64 %i, 134\n"                                                                                         \
    "  store " type " %o[%k], %z\n"                                                                                    \
    "  %t = image_channel_type %m\n"                                                                                   \
    "  %d = image_channel_order %m\n"                                                                                  \
    "  %q = vec i32x4 %w, %h, %t, %d\n"                                                                                \
    "  %r = bitcast " type " %q\n"                                                                                     \
    "  %g = add i64 %i, 201\n"                                                                                         \
    "  store " type " %o[%g], %r\n"                                                                                    \
    "}\n"

static void sampling(void **state)
{
    (void)state;
    struct ways floats, ints;
    ways_make(&floats, SAMPLE("f32x4", "f32"));
    ways_make(&ints, SAMPLE("i32x4", "i32"));
    static struct picture p;
    static float f[2 * ITEMS], out[4 * 4 * ITEMS];
    static int32_t n[2 * ITEMS];
    unsigned rounds = test_cases(1);
    struct rng rng = {20};
    for (unsigned round = 0; round < rounds; round++)
        for (unsigned t = 0; t < COUNT(types); t++)
            for (unsigned o = 0; o < COUNT(orders); o++)
                for (uint32_t mode = 0; mode < 20; mode++) {
                    uint32_t sampler = (mode & 1) | (mode >> 1 & 1 ? 32u : 16u) | (mode >> 2) << 1;
                    char what[96];
                    snprintf(what, sizeof what, "type %x, order %x, sampler %u", types[t], orders[o], sampler);
                    picture_make(&p, orders[o], types[t], &rng);
                    coordinates(f, n, &rng, sampler & 1);
                    const struct interp_arg args[] = {{INTERP_ARG_IMAGE, &p.image, 0, NULL},
                                                      {INTERP_ARG_BYTES, &sampler, 4, NULL},
                                                      {INTERP_ARG_BUFFER, f, sizeof f, NULL},
                                                      {INTERP_ARG_BUFFER, n, sizeof n, NULL},
                                                      {INTERP_ARG_BUFFER, out, sizeof out, NULL}};
                    ways_compare(is_integer(types[t]) ? &ints : &floats, args, what);
                }
    ways_clear(&floats);
    ways_clear(&ints);
}

/* ---- writing ---- */

/* Each work-item below the number of texels writes one of its own. */
#define WRITE(type)                                                                                                    \
    "kernel @k(%m: image2d.write, %v: ptr.global " type " read) {\n"                                                   \
    "  %i = global_id x\n"                                                                                             \
    "  %n = trunc i32 %i\n"                                                                                            \
    "  %w = image_width %m\n"                                                                                          \
    "  %x = urem i32 %n, %w\n"                                                                                         \
    "  %y = udiv i32 %n, %w\n"                                                                                         \
    "  %h = image_height %m\n"                                                                                         \
    "  %c = vec i32x2 %x, %y\n"                                                                                        \
    "  %inside = slt i32 %y, %h\n"                                                                                     \
    "  if %inside {\n"                                                                                                 \
    "    %t = load " type " %v[%i]\n"                                                                                  \
    "    image_write " type " %m, %c, %t\n"                                                                            \
    "  }\n"                                                                                                            \
    "}\n"

static uint32_t component(struct rng *rng, bool integer)
{
    static const float special[] = {NAN,          INFINITY,    -INFINITY,     0,        -0.0f,      1,
                                    -1,           0.5f,        1.0001f,       2,        -2,         65504.0f,
                                    65520.0f,     3e38f,       1e-40f,        6e-8f,    0.5f / 255, 1.5f / 255,
                                    2.5f / 65535, -0.5f / 127, -1.5f / 32767, 5.96e-8f, 2.98e-8f};
    static const uint32_t whole[] = {0,     1,     127,        128,        255, 256,   32767, 32768,
                                     65535, 65536, 0x7fffffff, 0x80000000, ~0u, ~127u, ~128u, ~32768u};
    uint64_t r = rng_next(rng);
    if (integer) return r % 2 ? whole[r / 2 % COUNT(whole)] : (uint32_t)(r >> 32);
    float v = r % 2 ? special[r / 2 % COUNT(special)] : (float)(r >> 40) / 0x1p23f - 1;
    uint32_t bits;
    memcpy(&bits, &v, 4);
    return bits;
}

static void writing(void **state)
{
    (void)state;
    struct ways floats, ints;
    ways_make(&floats, WRITE("f32x4"));
    ways_make(&ints, WRITE("i32x4"));
    static struct picture p;
    static uint32_t v[4 * ITEMS];
    struct rng rng = {21};
    for (unsigned round = 0; round < 4 * test_cases(1); round++)
        for (unsigned t = 0; t < COUNT(types); t++)
            for (unsigned o = 0; o < COUNT(orders); o++) {
                char what[96];
                snprintf(what, sizeof what, "type %x, order %x", types[t], orders[o]);
                picture_make(&p, orders[o], types[t], &rng);
                for (unsigned i = 0; i < COUNT(v); i++) v[i] = component(&rng, is_integer(types[t]));
                const struct interp_arg args[] = {{INTERP_ARG_IMAGE, &p.image, 0, NULL},
                                                  {INTERP_ARG_BUFFER, v, sizeof v, NULL}};
                ways_compare(is_integer(types[t]) ? &ints : &floats, args, what);
            }
    ways_clear(&floats);
    ways_clear(&ints);
}

/* ---- nothing outside is touched ---- */

static const char outside_text[] = "kernel @k(%m: image2d.read_write, %s: sampler, %f: ptr.global f32x2 read,\n"
                                   "          %n: ptr.global i32x2 read, %o: ptr.global f32x4 write) {\n"
                                   "  %i = global_id x\n"
                                   "  %a = load f32x2 %f[%i]\n"
                                   "  %b = load i32x2 %n[%i]\n"
                                   "  %x = image_read f32x4 %m, %a, %s\n"
                                   "  %y = image_read f32x4 %m, %b, %s\n"
                                   "  %z = image_read f32x4 %m, %b\n"
                                   "  image_write f32x4 %m, %b, %x\n"
                                   "  image_write f32x4 %m, %b, %y\n"
                                   "  image_write i32x4 %m, %b, 1\n"
                                   "  %q = image_read i32x4 %m, %b\n"
                                   "  %r = bitcast f32x4 %q\n"
                                   "  store f32x4 %o[%i], %z\n"
                                   "  %j = add i64 %i, 67\n"
                                   "  store f32x4 %o[%j], %r\n"
                                   "}\n";

/* An image between two pages that cannot be touched; coordinates outside give zeros, so do channels of another kind. */
static void outside(void **state)
{
    (void)state;
    enum { PAGE = 4096, SIDE = 16 };
    uint8_t *pages = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(pages, MAP_FAILED);
    assert_int_equal(mprotect(pages + PAGE, PAGE, PROT_READ | PROT_WRITE), 0);
    struct ir_image image = {pages + PAGE, SIDE, SIDE, SIDE * 16, 0x10b5, 0x10de};
    struct ways w;
    ways_make(&w, outside_text);
    static float f[2 * ITEMS], out[4 * 2 * ITEMS];
    static int32_t n[2 * ITEMS];
    struct rng rng = {22};
    for (uint32_t sampler = 0; sampler < 64; sampler++)
        for (unsigned i = 0; i < w.n; i++) {
            coordinates(f, n, &rng, sampler & 1);
            const struct interp_arg args[] = {{INTERP_ARG_IMAGE, &image, 0, NULL},
                                              {INTERP_ARG_BYTES, &sampler, 4, NULL},
                                              {INTERP_ARG_BUFFER, f, sizeof f, NULL},
                                              {INTERP_ARG_BUFFER, n, sizeof n, NULL},
                                              {INTERP_ARG_BUFFER, out, sizeof out, NULL}};
            memset(out, 0xff, sizeof out);
            memset(image.data, 0x3c, PAGE);
            compiled_run(&w.code[i], w.kernel, &range, args, 1, 0);
            for (unsigned k = 0; k < ITEMS; k++) {
                bool in = n[2 * k] >= 0 && n[2 * k] < SIDE && n[2 * k + 1] >= 0 && n[2 * k + 1] < SIDE;
                for (unsigned c = 0; c < 4; c++) {
                    if (!in) assert_true(out[4 * k + c] == 0);
                    assert_true(out[4 * (ITEMS + k) + c] == 0);
                }
            }
        }
    ways_clear(&w);
    munmap(pages, 3 * PAGE);
}

/* ---- which image differs between work-items ---- */

static void either_image(void **state)
{
    (void)state;
    static const char text[] = "kernel @k(%a: image2d.read, %b: image2d.read, %s: sampler, %t: sampler,\n"
                               "          %f: ptr.global f32x2 read, %o: ptr.global f32x4 write) {\n"
                               "  %i = global_id x\n"
                               "  %low = and i64 %i, 3\n"
                               "  %c = ieq i64 %low, 1\n"
                               "  %m, %u = if %c -> image2d.read, sampler { yield %a, %s } else { yield %b, %t }\n"
                               "  %x = load f32x2 %f[%i]\n"
                               "  %v = image_read f32x4 %m, %x, %u\n"
                               "  %w = image_width %m\n"
                               "  %h = utof f32 %w\n"
                               "  %r = insert f32x4 %v, %h, 3\n"
                               "  store f32x4 %o[%i], %r\n"
                               "}\n";
    struct ways w;
    ways_make(&w, text);
    static struct picture a, b;
    static float f[2 * ITEMS], out[4 * ITEMS];
    static int32_t n[2 * ITEMS];
    uint32_t s = 32 | 2, t = 16 | 6 | 1;
    struct rng rng = {23};
    picture_make(&a, 0x10b5, 0x10de, &rng);
    picture_make(&b, 0x10b6, 0x10d2, &rng);
    b.image.width = 3;
    coordinates(f, n, &rng, false);
    const struct interp_arg args[] = {
        {INTERP_ARG_IMAGE, &a.image, 0, NULL},  {INTERP_ARG_IMAGE, &b.image, 0, NULL},
        {INTERP_ARG_BYTES, &s, 4, NULL},        {INTERP_ARG_BYTES, &t, 4, NULL},
        {INTERP_ARG_BUFFER, f, sizeof f, NULL}, {INTERP_ARG_BUFFER, out, sizeof out, NULL}};
    ways_compare(&w, args, "either image");
    ways_clear(&w);
}

/* ---- blocks ---- */

/* A number made of all components of all reads; and each sub-group writes rows of its own. */
static char *block_text(unsigned size)
{
    static const struct {
        const char *type;
        unsigned n, bits;
    } reads[] = {{"i8", 1, 8}, {"i8x16", 16, 8}, {"i16x4", 4, 16}, {"i32x2", 2, 32}, {"i64", 1, 64}};
    struct strbuf b = {0};
    unsigned next = 0;
    strbuf_printf(&b,
                  "kernel @k(%%m: image2d.read, %%w: image2d.write, %%x: i32, %%y: i32, %%o: ptr.global i64 write)\n"
                  "    sub_group_size(%u) {\n"
                  "  %%i = global_id x\n  %%g = sub_group_id\n  %%row = add i32 %%y, %%g\n"
                  "  %%at = vec i32x2 %%x, %%row\n  %%h0 = add i64 0, 7\n",
                  size);
    for (unsigned r = 0; r < COUNT(reads); r++) {
        strbuf_printf(&b, "  %%v%u = image_block_read %s %%m, %%at\n", r, reads[r].type);
        for (unsigned c = 0; c < reads[r].n; c++, next++) {
            char part[32];
            snprintf(part, sizeof part, "%%v%u", r);
            if (reads[r].n > 1) {
                strbuf_printf(&b, "  %%e%u = extract %s %%v%u, %u\n", next, reads[r].type, r, c);
                snprintf(part, sizeof part, "%%e%u", next);
            }
            if (reads[r].bits < 64) {
                strbuf_printf(&b, "  %%z%u = zext i64 %s\n", next, part);
                snprintf(part, sizeof part, "%%z%u", next);
            }
            strbuf_printf(&b, "  %%m%u = mul i64 %%h%u, 31\n  %%h%u = add i64 %%m%u, %s\n", next, next, next + 1, next,
                          part);
        }
    }
    strbuf_printf(&b,
                  "  store i64 %%o[%%i], %%h%u\n"
                  "  %%two = mul i32 %%g, 2\n  %%below = add i32 %%two, %%y\n  %%to = vec i32x2 0, %%below\n"
                  "  %%a = trunc i16 %%h%u\n  %%b = trunc i16 %%i\n  %%ab = vec i16x2 %%a, %%b\n"
                  "  image_block_write i16x2 %%w, %%to, %%ab\n"
                  "}\n",
                  next, next);
    return strbuf_take(&b);
}

static void blocks(void **state)
{
    (void)state;
    static struct picture from, to;
    static int64_t out[ITEMS];
    static const int32_t places[][2] = {{0, 0}, {4, 1}, {-8, -2}, {20, 4}, {200, -1}, {0, 100}};
    struct rng rng = {24};
    for (unsigned size = 4; size <= 64; size *= 2) {
        struct ways w;
        char *text = block_text(size);
        ways_make(&w, text);
        free(text);
        for (unsigned i = 0; i < COUNT(places); i++) {
            picture_make(&from, 0x10b5, 0x10d2, &rng);
            picture_make(&to, 0x10b5, 0x10dc, &rng);
            int32_t at[2] = {places[i][0], places[i][1]};
            const struct interp_arg args[] = {{INTERP_ARG_IMAGE, &from.image, 0, NULL},
                                              {INTERP_ARG_IMAGE, &to.image, 0, NULL},
                                              {INTERP_ARG_BYTES, &at[0], 4, NULL},
                                              {INTERP_ARG_BYTES, &at[1], 4, NULL},
                                              {INTERP_ARG_BUFFER, out, sizeof out, NULL}};
            char what[64];
            snprintf(what, sizeof what, "sub-groups of %u at (%d, %d)", size, places[i][0], places[i][1]);
            ways_compare(&w, args, what);
        }
        ways_clear(&w);
    }
}

/* ---- pipes ---- */

static const char pipe_text[] = "struct Packet { a: i32, b: i8, c: i64 }\n"
                                "pipe @own: packet i32 capacity 20\n"
                                "kernel @k(%in: pipe.read, %out: pipe.write, %o: ptr.global i64 write) {\n"
                                "  %i = global_id x\n"
                                "  %p = var struct Packet\n"
                                "  %word = var i32\n"
                                "  %a = field struct Packet %p, a\n"
                                "  store i32 %a, 0\n"
                                "  %low = and i64 %i, 1\n"
                                "  %odd = ieq i64 %low, 1\n"
                                "  if %odd {\n"
                                "    %got = pipe_read struct Packet %in, %p\n"
                                "    if %got { %put = pipe_write struct Packet %out, %p }\n"
                                "  }\n"
                                "  %v = load i32 %a\n"
                                "  %q = global @own\n"
                                "  %n = trunc i32 %i\n"
                                "  store i32 %word, %n\n"
                                "  %w = pipe_write i32 %q, %word\n"
                                "  %g = pipe_read i32 %q, %word\n"
                                "  %left = pipe_num_packets %q\n"
                                "  %most = pipe_max_packets %q\n"
                                "  %sum = add i32 %v, %most\n"
                                "  %sum2 = add i32 %sum, %left\n"
                                "  %r = zext i64 %sum2\n"
                                "  store i64 %o[%i], %r\n"
                                "}\n";

/* Which work-item gets which packet is open, but for one work-item at a time; so the sums are compared. */
static void pipes(void **state)
{
    (void)state;
    enum { PACKET = 16, CAPACITY = 24 };
    struct ways w;
    ways_make(&w, pipe_text);
    for (unsigned i = 0; i < w.n; i++) {
        uint8_t from[PACKET * CAPACITY] = {0}, to[PACKET * 10] = {0};
        int64_t out[ITEMS] = {0}, sum = 0;
        for (int32_t k = 0; k < CAPACITY; k++) memcpy(from + (size_t)k * PACKET, &(int32_t){k * 1000}, 4);
        struct interp_pipe in = {from, PACKET, CAPACITY, 4, 4 + 20}, other = {to, PACKET, 10, 0, 0};
        const struct interp_arg args[] = {{INTERP_ARG_PIPE, &in, 0, NULL},
                                          {INTERP_ARG_PIPE, &other, 0, NULL},
                                          {INTERP_ARG_BUFFER, out, sizeof out, NULL}};
        compiled_run(&w.code[i], w.kernel, &range, args, 1, 0);
        assert_int_equal(in.read, 24); /* 33 odd work-items empty it */
        assert_int_equal(other.written, 10);
        for (uint64_t k = 0; k < 10; k++)
            assert_memory_equal(to + k * PACKET, from + (4 + k) % CAPACITY * PACKET, PACKET);
        for (unsigned k = 0; k < ITEMS; k++) sum += out[k] / 1000;
        assert_int_equal(sum, (4 + 23) * 20 / 2);
        for (unsigned k = 0; k < ITEMS; k++) assert_in_range(out[k] % 1000, 20, 40);
    }
    ways_clear(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sampling),     cmocka_unit_test(writing), cmocka_unit_test(outside),
        cmocka_unit_test(either_image), cmocka_unit_test(blocks),  cmocka_unit_test(pipes),
    };
    return cmocka_run_group_tests_name("diff_cpu_images", tests, NULL, NULL);
}
