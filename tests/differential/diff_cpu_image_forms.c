/* Images of each form: compiled code against the interpreter, in random formats, sizes and pitches, with all samplers
   and awkward coordinates; and both against the formulas of the OpenCL specification, written down here once more. */
#include "tests/support/compiled_kit.h"

#include <math.h>
#include <sys/mman.h>

#include "fuser/passes/manager/pipelines.h"
#include "ir/base/strbuf.h"
#include "tests/support/cases.h"
#include "tests/support/rng.h"

enum { ITEMS = 67, ROOM = 1 << 16, R = 0x10b0, RGBA = 0x10b5, UNORM_INT8 = 0x10d2, FLOAT = 0x10de };

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const char *const form_words[] = {"image2d",        "image1d",       "image1d_array",
                                         "image1d_buffer", "image2d_array", "image3d"};
static const struct nd_range range = {1, {ITEMS, 1, 1}, {0, 0, 0}, {ITEMS, 1, 1}};

/* ---- kernels ---- */

/* Makes a vector of NAME0, NAME1 ..., where there are several; at_text() is what the coordinates are then called. */
static void coordinates_text(struct strbuf *b, const char *name, const char *type, unsigned n)
{
    if (n == 2) strbuf_printf(b, "  %%%s = vec %sx2 %%%s0, %%%s1\n", name, type, name, name);
    if (n == 3) strbuf_printf(b, "  %%%s = vec %sx3 %%%s0, %%%s1, %%%s2\n", name, type, name, name, name);
}

static const char *at_text(char out[8], const char *name, unsigned n)
{
    snprintf(out, 8, "%%%s%s", name, n == 1 ? "0" : "");
    return out;
}

/* %c0, %c1, %c2: the sizes of the image's coordinates, 1 for those that it has not. */
static void sizes_text(struct strbuf *b, enum ir_image_form form)
{
    static const char *const second[] = {"image_height", NULL,           "image_array_size",
                                         NULL,           "image_height", "image_height"};
    static const char *const third[] = {NULL, NULL, NULL, NULL, "image_array_size", "image_depth"};
    strbuf_printf(b, "  %%c0 = image_width %%m\n");
    strbuf_printf(b, "  %%c1 = %s%s\n", second[form] ? second[form] : "add i32 0, 1", second[form] ? " %m" : "");
    strbuf_printf(b, "  %%c2 = %s%s\n", third[form] ? third[form] : "add i32 0, 1", third[form] ? " %m" : "");
}

/* Sampled at floats, sampled at integers by some of the work-items, read inside; and the questions. */
static char *sample_text(enum ir_image_form form, const char *type)
{
    struct strbuf b = {0};
    unsigned n = ir_image_coordinates(form);
    char f[8], k[8], in[8];
    strbuf_printf(&b,
                  "kernel @k(%%m: %s.read, %%s: sampler, %%fs: ptr.global f32 read, %%ks: ptr.global i32 read,\n"
                  "          %%o: ptr.global %s write) {\n  %%i0 = global_id x\n",
                  form_words[form], type);
    for (unsigned i = 1; i < 5; i++) strbuf_printf(&b, "  %%i%u = add i64 %%i0, %u\n", i, i * ITEMS);
    sizes_text(&b, form);
    for (unsigned i = 0; i < 3; i++)
        strbuf_printf(&b,
                      "  %%f%u = load f32 %%fs[%%i%u]\n  %%k%u = load i32 %%ks[%%i%u]\n"
                      "  %%last%u = sub i32 %%c%u, 1\n  %%n%u = sclamp i32 %%k%u, 0, %%last%u\n",
                      i, i, i, i, i, i, i, i, i);
    coordinates_text(&b, "f", "f32", n);
    coordinates_text(&b, "k", "i32", n);
    coordinates_text(&b, "n", "i32", n);
    if (form != IR_IMAGE_1D_BUFFER)
        strbuf_printf(&b,
                      "  %%x = image_read %s %%m, %s, %%s\n  store %s %%o[%%i0], %%x\n"
                      "  %%some = sgt i32 %%k0, 2\n"
                      "  if %%some { %%y = image_read %s %%m, %s, %%s; store %s %%o[%%i1], %%y }\n",
                      type, at_text(f, "f", n), type, type, at_text(k, "k", n), type);
    strbuf_printf(&b,
                  "  %%z = image_read %s %%m, %s\n  store %s %%o[%%i2], %%z\n"
                  "  %%t = image_channel_type %%m\n  %%q = vec i32x4 %%c0, %%c1, %%c2, %%t\n"
                  "  %%u = bitcast %s %%q\n  store %s %%o[%%i3], %%u\n}\n",
                  type, at_text(in, "n", n), type, type, type);
    return strbuf_take(&b);
}

/* Each work-item below the number of texels writes one of its own. */
static char *write_text(enum ir_image_form form, const char *type)
{
    struct strbuf b = {0};
    unsigned n = ir_image_coordinates(form);
    char at[8];
    strbuf_printf(&b,
                  "kernel @k(%%m: %s.write, %%v: ptr.global %s read) {\n  %%i = global_id x\n  %%r0 = trunc i32 %%i\n",
                  form_words[form], type);
    sizes_text(&b, form);
    for (unsigned i = 0; i < 3; i++)
        strbuf_printf(&b, "  %%k%u = urem i32 %%r%u, %%c%u\n  %%r%u = udiv i32 %%r%u, %%c%u\n", i, i, i, i + 1, i, i);
    coordinates_text(&b, "k", "i32", n);
    strbuf_printf(&b,
                  "  %%inside = ieq i32 %%r3, 0\n"
                  "  if %%inside { %%t = load %s %%v[%%i]; image_write %s %%m, %s, %%t }\n}\n",
                  type, type, at_text(at, "k", n));
    return strbuf_take(&b);
}

/* Written and read wherever the integers say. */
static char *anywhere_text(enum ir_image_form form)
{
    struct strbuf b = {0};
    unsigned n = ir_image_coordinates(form);
    char at[8];
    strbuf_printf(&b,
                  "kernel @k(%%m: %s.read_write, %%ks: ptr.global i32 read, %%o: ptr.global f32x4 write) {\n"
                  "  %%i0 = global_id x\n",
                  form_words[form]);
    for (unsigned i = 1; i < 3; i++) strbuf_printf(&b, "  %%i%u = add i64 %%i0, %u\n", i, i * ITEMS);
    for (unsigned i = 0; i < 3; i++) strbuf_printf(&b, "  %%k%u = load i32 %%ks[%%i%u]\n", i, i);
    coordinates_text(&b, "k", "i32", n);
    at_text(at, "k", n);
    strbuf_printf(
        &b, "  image_write f32x4 %%m, %s, 2.0\n  %%x = image_read f32x4 %%m, %s\n  store f32x4 %%o[%%i0], %%x\n}\n", at,
        at);
    return strbuf_take(&b);
}

/* ---- the kernel of a text, as in the service, compiled by all ways ---- */

struct ways {
    struct ir_module *module, *clean;
    struct ir_function *kernel;
    struct kit_way way[KIT_MAX_WAYS];
    struct compiled code[KIT_MAX_WAYS];
    unsigned n;
};

static void ways_make(struct ways *w, char *text)
{
    w->module = kit_parse(text);
    free(text);
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

/* The interpreter's results stay in args. */
static void ways_compare(const struct ways *w, const struct interp_arg *args, const char *what)
{
    struct interp_arg first[KIT_MAX_ARGS], got[KIT_MAX_ARGS];
    uint32_t n = w->kernel->n_params;
    kit_copy(first, args, n);
    kit_interpret(w->kernel, &range, args);
    for (unsigned i = 0; i < w->n; i++) {
        char how[200];
        snprintf(how, sizeof how, "%s%s, %s", cpu_isa_name(w->way[i].isa), w->way[i].scalar ? " scalar" : "", what);
        kit_copy(got, first, n);
        compiled_run(&w->code[i], w->kernel, &range, got, 1, 0);
        kit_expect_same(args, got, n, how);
        kit_free_copy(got, n);
    }
    kit_free_copy(first, n);
}

/* ---- data ---- */

struct picture {
    struct ir_image image;
    uint8_t bytes[ROOM];
};

static uint32_t below(struct rng *rng, uint32_t n)
{
    return (uint32_t)(rng_next(rng) % n);
}

static bool is_integer(uint32_t type)
{
    return type >= 0x10d7 && type <= 0x10dc;
}

/* Any order and type that go together. */
static void random_format(struct ir_image *image, struct ir_image_format *format, struct rng *rng)
{
    do {
        image->channel_order = 0x10b0 + below(rng, 20);
        image->channel_type = 0x10d0 + below(rng, 17);
    } while (!ir_image_format(image, format));
}

/* Sizes that fill at most the room, with gaps behind rows and slices. */
static void random_sizes(struct ir_image *image, enum ir_image_form form, uint32_t texel, struct rng *rng)
{
    bool flat = form == IR_IMAGE_1D || form == IR_IMAGE_1D_ARRAY || form == IR_IMAGE_1D_BUFFER;
    bool slices = form == IR_IMAGE_3D || ir_image_is_array(form);
    image->width = 1 + below(rng, 9);
    image->height = flat ? 1 : 1 + below(rng, 6);
    image->slices = slices ? 1 + below(rng, 5) : 0;
    image->row_pitch = (image->width + below(rng, 3)) * texel;
    image->slice_pitch = slices ? (uint64_t)image->row_pitch * (image->height + below(rng, 3)) : 0;
}

/* Bytes as they come; floats small ones, with a NaN and an infinity among them. */
static void picture_make(struct picture *p, enum ir_image_form form, struct rng *rng)
{
    struct ir_image_format format;
    p->image = (struct ir_image){.data = p->bytes};
    random_format(&p->image, &format, rng);
    random_sizes(&p->image, form, ir_texel_bytes(&format), rng);
    for (size_t i = 0; i < kit_image_bytes(&p->image); i++) p->bytes[i] = (uint8_t)rng_next(rng);
    for (size_t i = 0; p->image.channel_type == FLOAT && i < kit_image_bytes(&p->image); i += 4) {
        float v = i == 4 ? NAN : i == 20 ? INFINITY : (float)below(rng, 2000) / 64 - 10;
        memcpy(p->bytes + i, &v, 4);
    }
}

static void coordinates(float *floats, int32_t *ints, struct rng *rng, bool normalized)
{
    static const float special[] = {NAN,  INFINITY, -INFINITY, 0,      -0.0f, 1,         0.5f,   -0.5f, 1.5f,
                                    2.5f, 1e-30f,   3e38f,     -3e38f, 1e10f, 6.999999f, -1e-7f, 4.5f,  2147483648.0f};
    static const int32_t corner[] = {INT32_MIN, INT32_MAX, -1, 0, 5, 9};
    for (unsigned i = 0; i < 3 * ITEMS; i++) {
        float v = (float)below(rng, 100000) / 100000 * 3 - 1;
        floats[i] = below(rng, 4) ? (normalized ? v : v * 6) : special[below(rng, COUNT(special))];
        ints[i] = below(rng, 3) ? (int32_t)below(rng, 16) - 4 : corner[below(rng, COUNT(corner))];
    }
}

static uint32_t any_sampler(struct rng *rng)
{
    return below(rng, 2) | below(rng, 5) << 1 | (below(rng, 2) ? IR_SAMPLER_LINEAR : IR_SAMPLER_NEAREST);
}

/* ---- compiled code against the interpreter ---- */

static void reading(void **state)
{
    (void)state;
    static struct picture p;
    static float f[3 * ITEMS], out[4 * 4 * ITEMS];
    static int32_t k[3 * ITEMS];
    struct rng rng = {40};
    for (enum ir_image_form form = 0; form < IR_IMAGE_FORM_COUNT; form++) {
        struct ways floats, ints;
        ways_make(&floats, sample_text(form, "f32x4"));
        ways_make(&ints, sample_text(form, "i32x4"));
        for (unsigned round = 0; round < test_cases(60); round++) {
            uint32_t sampler = any_sampler(&rng);
            picture_make(&p, form, &rng);
            coordinates(f, k, &rng, sampler & 1);
            char what[120];
            snprintf(what, sizeof what, "%s, type %x, order %x, sampler %u", form_words[form], p.image.channel_type,
                     p.image.channel_order, sampler);
            const struct interp_arg args[] = {{INTERP_ARG_IMAGE, &p.image, 0, NULL},
                                              {INTERP_ARG_BYTES, &sampler, 4, NULL},
                                              {INTERP_ARG_BUFFER, f, sizeof f, NULL},
                                              {INTERP_ARG_BUFFER, k, sizeof k, NULL},
                                              {INTERP_ARG_BUFFER, out, sizeof out, NULL}};
            ways_compare(is_integer(p.image.channel_type) ? &ints : &floats, args, what);
        }
        ways_clear(&floats);
        ways_clear(&ints);
    }
}

static void writing(void **state)
{
    (void)state;
    static struct picture p;
    static uint32_t v[4 * ITEMS];
    struct rng rng = {41};
    for (enum ir_image_form form = 0; form < IR_IMAGE_FORM_COUNT; form++) {
        struct ways floats, ints;
        ways_make(&floats, write_text(form, "f32x4"));
        ways_make(&ints, write_text(form, "i32x4"));
        for (unsigned round = 0; round < test_cases(60); round++) {
            picture_make(&p, form, &rng);
            for (unsigned i = 0; i < COUNT(v); i++) {
                float x = (float)below(&rng, 4000) / 1024 - 1;
                v[i] = (uint32_t)rng_next(&rng);
                if (below(&rng, 4)) memcpy(&v[i], &x, 4);
            }
            char what[120];
            snprintf(what, sizeof what, "%s, type %x, order %x", form_words[form], p.image.channel_type,
                     p.image.channel_order);
            const struct interp_arg args[] = {{INTERP_ARG_IMAGE, &p.image, 0, NULL},
                                              {INTERP_ARG_BUFFER, v, sizeof v, NULL}};
            ways_compare(is_integer(p.image.channel_type) ? &ints : &floats, args, what);
        }
        ways_clear(&floats);
        ways_clear(&ints);
    }
}

/* ---- nothing outside is touched ---- */

/* An image that fills the one page between two that cannot be touched. */
static void outside(void **state)
{
    (void)state;
    enum { PAGE = 4096 };
    static const uint32_t sizes[][3] = {{16, 16, 0}, {256, 1, 0}, {16, 1, 16}, {256, 1, 0}, {4, 4, 16}, {4, 4, 16}};
    uint8_t *pages = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(pages, MAP_FAILED);
    assert_int_equal(mprotect(pages + PAGE, PAGE, PROT_READ | PROT_WRITE), 0);
    static float f[3 * ITEMS], out[4 * ITEMS];
    static int32_t k[3 * ITEMS];
    struct rng rng = {42};
    for (enum ir_image_form form = 0; form < IR_IMAGE_FORM_COUNT; form++) {
        const uint32_t *s = sizes[form];
        struct ir_image image = {pages + PAGE, s[0], s[1], s[0] * 16, RGBA, FLOAT, s[2], (uint64_t)s[0] * s[1] * 16};
        unsigned n = ir_image_coordinates(form);
        uint32_t limit[3] = {s[0], n > 1 ? (s[1] > 1 ? s[1] : s[2]) : 1, n > 2 ? s[2] : 1};
        struct ways w;
        ways_make(&w, anywhere_text(form));
        for (unsigned i = 0; i < 8 * w.n; i++) {
            coordinates(f, k, &rng, false);
            const struct interp_arg args[] = {{INTERP_ARG_IMAGE, &image, 0, NULL},
                                              {INTERP_ARG_BUFFER, k, sizeof k, NULL},
                                              {INTERP_ARG_BUFFER, out, sizeof out, NULL}};
            memset(image.data, 0, PAGE);
            compiled_run(&w.code[i % w.n], w.kernel, &range, args, 1, 0);
            for (unsigned j = 0; j < ITEMS; j++) {
                bool in = true;
                for (unsigned d = 0; d < n; d++)
                    in = in && k[d * ITEMS + j] >= 0 && (uint32_t)k[d * ITEMS + j] < limit[d];
                assert_true(out[4 * j] == (in ? 2.0f : 0.0f));
            }
        }
        ways_clear(&w);
    }
    munmap(pages, 3 * PAGE);
}

/* ---- the specification's formulas ---- */

enum { SIDE = 4 };

static float numbers[SIDE][SIDE][SIDE]; /* slice, row, column */

/* "Image Addressing and Filtering": the index of a texel; -1: the border. */
static int addressed(int i, uint32_t mode)
{
    switch (mode) {
    case IR_SAMPLER_CLAMP: return i < 0 || i >= SIDE ? -1 : i;
    case IR_SAMPLER_REPEAT: return i < 0 ? i + SIDE : i >= SIDE ? i - SIDE : i;
    default: return i < 0 ? 0 : i >= SIDE ? SIDE - 1 : i;
    }
}

/* Both texels of one axis, and how much of the second. */
static double indices(double c, uint32_t sampler, int to[2])
{
    uint32_t mode = sampler & IR_SAMPLER_ADDRESS;
    double s = sampler & IR_SAMPLER_NORMALIZED ? c : c / SIDE;
    if (mode == IR_SAMPLER_REPEAT) s -= floor(s);
    if (mode == IR_SAMPLER_MIRRORED_REPEAT) s = fabs(s - 2 * rint(0.5 * s));
    double u = s * SIDE;
    if (!(sampler & IR_SAMPLER_LINEAR)) {
        to[0] = to[1] = addressed((int)floor(u), mode);
        return 0;
    }
    to[0] = addressed((int)floor(u - 0.5), mode);
    to[1] = addressed((int)floor(u - 0.5) + 1, mode);
    return u - 0.5 - floor(u - 0.5);
}

static double expected(enum ir_image_form form, uint32_t sampler, const float c[3])
{
    unsigned n = ir_image_coordinates(form), layers = ir_image_is_array(form);
    int at[3][2] = {{0}};
    double weight[3] = {0}, sum = 0;
    for (unsigned d = 0; d < n - layers; d++) weight[d] = indices(c[d], sampler, at[d]);
    if (layers) {
        double layer = rint(c[n - 1]);
        at[2][0] = at[2][1] = layer < 0 ? 0 : layer > SIDE - 1 ? SIDE - 1 : (int)layer;
    }
    for (unsigned corner = 0; corner < 8; corner++) {
        double w = 1;
        int i[3];
        for (unsigned d = 0; d < 3; d++) {
            i[d] = at[d][corner >> d & 1];
            w *= corner >> d & 1 ? weight[d] : 1 - weight[d];
        }
        if (w != 0 && i[0] >= 0 && i[1] >= 0 && i[2] >= 0) sum += w * numbers[i[2]][i[1]][i[0]];
    }
    return sum;
}

/* Coordinates are multiples of 1/64, so that no rounding moves them from a texel into the next. */
static void formulas(void **state)
{
    (void)state;
    static const uint32_t modes[] = {IR_SAMPLER_CLAMP_TO_EDGE, IR_SAMPLER_CLAMP, IR_SAMPLER_REPEAT,
                                     IR_SAMPLER_MIRRORED_REPEAT};
    static float f[3 * ITEMS], out[4 * 4 * ITEMS];
    static int32_t k[3 * ITEMS];
    struct rng rng = {43};
    for (int i = 0; i < SIDE * SIDE * SIDE; i++) numbers[i / 16][i / 4 % 4][i % 4] = (float)below(&rng, 1000);
    for (enum ir_image_form form = 0; form < IR_IMAGE_FORM_COUNT; form++) {
        if (form == IR_IMAGE_1D_BUFFER) continue;
        bool flat = form == IR_IMAGE_1D || form == IR_IMAGE_1D_ARRAY,
             slices = form == IR_IMAGE_3D || ir_image_is_array(form);
        struct ir_image image = {numbers, SIDE, flat ? 1 : SIDE, 16, R, FLOAT, slices ? SIDE : 0, 64};
        struct ir_module *m;
        char *text = sample_text(form, "f32x4");
        m = kit_parse(text);
        free(text);
        for (uint32_t mode = 0; mode < 16; mode++) {
            uint32_t sampler = modes[mode / 4] | (mode & 1 ? IR_SAMPLER_LINEAR : IR_SAMPLER_NEAREST) | (mode >> 1 & 1);
            bool normalized = sampler & IR_SAMPLER_NORMALIZED;
            if (mode / 4 > 1 && !normalized) continue;
            unsigned n = ir_image_coordinates(form), plane = n - ir_image_is_array(form);
            for (unsigned i = 0; i < 3 * ITEMS; i++)
                f[i] = ((float)below(&rng, 800) - 300) / (i / ITEMS < plane && normalized ? 256 : 64);
            const struct interp_arg args[] = {{INTERP_ARG_IMAGE, &image, 0, NULL},
                                              {INTERP_ARG_BYTES, &sampler, 4, NULL},
                                              {INTERP_ARG_BUFFER, f, sizeof f, NULL},
                                              {INTERP_ARG_BUFFER, k, sizeof k, NULL},
                                              {INTERP_ARG_BUFFER, out, sizeof out, NULL}};
            kit_interpret(kit_kernel(m), &range, args);
            for (unsigned i = 0; i < ITEMS; i++) {
                const float c[3] = {f[i], f[ITEMS + i], f[2 * ITEMS + i]};
                double want = expected(form, sampler, c);
                if (fabs(out[4 * i] - want) > 1e-3)
                    fail_msg("%s, sampler %u at (%g, %g, %g): %g, not %g", form_words[form], sampler, c[0], c[1], c[2],
                             out[4 * i], want);
            }
        }
        ir_module_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reading), cmocka_unit_test(writing), cmocka_unit_test(outside),
                                       cmocka_unit_test(formulas)};
    return cmocka_run_group_tests_name("diff_cpu_image_forms", tests, NULL, NULL);
}
