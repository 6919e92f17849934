/* Element-wise kernels one after another: four, t = a + b, o = t * c + t * 5; and sixteen. */
#include "tests/bench/forms/form.h"
#include "tests/bench/work.h"

enum { SMALL = 1 << 16, LARGE = 1 << 24 };

static fusion_graph *own(fusion_session *s, fusion_buffer *const *m, size_t n)
{
    return chain_graph(s, n, 0, &(struct work_buffers){.in = {m[0], m[1], m[2]}, .out = {m[3]}});
}

static fusion_graph *own_small(fusion_session *s, fusion_buffer *const *m)
{
    return own(s, m, SMALL);
}

static fusion_graph *own_large(fusion_session *s, fusion_buffer *const *m)
{
    return own(s, m, LARGE);
}

static void chain(void *const *memory, size_t n)
{
    const float *restrict a = memory[0], *restrict b = memory[1], *restrict c = memory[2];
    float *restrict o = memory[3];
#pragma omp parallel for simd schedule(static)
    for (size_t i = 0; i < n; i++) {
        float t = a[i] + b[i];
        o[i] = t * c[i] + t * 5.0f;
    }
}

static void chain_small(void *const *memory)
{
    chain(memory, SMALL);
}

static void chain_large(void *const *memory)
{
    chain(memory, LARGE);
}

#define MEMORY(n)                                                                                                      \
    {                                                                                                                  \
        {FORM_INPUT, FORM_F32, n, form_fill_signed}, {FORM_INPUT, FORM_F32, n, form_fill_unit},                        \
            {FORM_INPUT, FORM_F32, n, form_fill_signed}, {FORM_RESULT, FORM_F32, n, NULL},                             \
            {FORM_BETWEEN, FORM_F32, n, NULL}, {FORM_BETWEEN, FORM_F32, n, NULL}, {FORM_BETWEEN, FORM_F32, n, NULL},   \
    }
#define LAUNCHES(n)                                                                                                    \
    {                                                                                                                  \
        {"add", 1, {n}, {0}, {READ(0), READ(1), WRITE(4), INT(n)}},                                                    \
            {"multiply", 1, {n}, {0}, {READ(4), READ(2), WRITE(5), INT(n)}},                                           \
            {"scale", 1, {n}, {0}, {READ(4), WRITE(6), FLOAT(5), INT(n)}},                                             \
            {"add", 1, {n}, {0}, {READ(5), READ(6), WRITE(3), INT(n)}},                                                \
    }

static const struct form_memory arrays_small[] = MEMORY(SMALL), arrays_large[] = MEMORY(LARGE);
static const struct launch launches_small[] = LAUNCHES(SMALL), launches_large[] = LAUNCHES(LARGE);

const struct form form_chain_small = {.work = "chain",
                                      .title = "OpenCL C: 4 element-wise kernels, 2^16 f32",
                                      .kernels = "elementwise",
                                      FORM_TABLES(arrays_small, launches_small),
                                      .c = chain_small,
                                      .own = own_small,
                                      .numexpr = "chain",
                                      .bound = 1e-5,
                                      .repeat = 200};
const struct form form_chain = {.work = "chain",
                                .title = "OpenCL C: 4 element-wise kernels, 2^24 f32",
                                .kernels = "elementwise",
                                FORM_TABLES(arrays_large, launches_large),
                                .c = chain_large,
                                .own = own_large,
                                .numexpr = "chain",
                                .memory_bound = true,
                                .bound = 1e-5,
                                .repeat = 1};

/* ---- sixteen ---- */

static void chain_16(void *const *memory)
{
    const float *restrict a = memory[0], *restrict b = memory[1];
    float *restrict o = memory[2];
#pragma omp parallel for simd schedule(static)
    for (size_t i = 0; i < LARGE; i++) {
        float x = a[i], y = b[i], t = x + y;
        t = t * 0.75f + 0.125f;
        t = t * x;
        t = t > 0 ? t : t * 0.1f;
        t = (t - y) * 1.5f - 0.25f;
        t = t < -1 ? -1 : t > 1 ? 1 : t;
        t = t + x;
        t = (t > 0 ? t : t * 0.2f) * y;
        t = (t + 0.5f) * 0.5f - x;
        o[i] = t < -2 ? -2 : t > 2 ? 2 : t;
    }
}

/* From one buffer between to the other and back. */
#define STEP(kernel, from, to, ...)                                                                                    \
    {                                                                                                                  \
        kernel, 1, {LARGE}, {0},                                                                                       \
        {                                                                                                              \
            READ(from), __VA_ARGS__, INT(LARGE)                                                                        \
        }                                                                                                              \
    }

static const struct form_memory arrays_16[] = {
    {FORM_INPUT, FORM_F32, LARGE, form_fill_signed},
    {FORM_INPUT, FORM_F32, LARGE, form_fill_unit},
    {FORM_RESULT, FORM_F32, LARGE, NULL},
    {FORM_BETWEEN, FORM_F32, LARGE, NULL},
    {FORM_BETWEEN, FORM_F32, LARGE, NULL},
};
static const struct launch launches_16[] = {
    STEP("add", 0, 3, READ(1), WRITE(3)),
    STEP("scale", 3, 4, WRITE(4), FLOAT(0.75f)),
    STEP("offset", 4, 3, WRITE(3), FLOAT(0.125f)),
    STEP("multiply", 3, 4, READ(0), WRITE(4)),
    STEP("leaky", 4, 3, WRITE(3), FLOAT(0.1f)),
    STEP("subtract", 3, 4, READ(1), WRITE(4)),
    STEP("scale", 4, 3, WRITE(3), FLOAT(1.5f)),
    STEP("offset", 3, 4, WRITE(4), FLOAT(-0.25f)),
    STEP("clip", 4, 3, WRITE(3), FLOAT(-1), FLOAT(1)),
    STEP("add", 3, 4, READ(0), WRITE(4)),
    STEP("leaky", 4, 3, WRITE(3), FLOAT(0.2f)),
    STEP("multiply", 3, 4, READ(1), WRITE(4)),
    STEP("offset", 4, 3, WRITE(3), FLOAT(0.5f)),
    STEP("scale", 3, 4, WRITE(4), FLOAT(0.5f)),
    STEP("subtract", 4, 3, READ(0), WRITE(3)),
    STEP("clip", 3, 2, WRITE(2), FLOAT(-2), FLOAT(2)),
};

const struct form form_chain_16 = {.work = "chain_16",
                                   .title = "OpenCL C: 16 element-wise kernels, 2^24 f32",
                                   .kernels = "elementwise",
                                   FORM_TABLES(arrays_16, launches_16),
                                   .c = chain_16,
                                   .numexpr = "chain_16",
                                   .memory_bound = true,
                                   .bound = 1e-5,
                                   .repeat = 1};
