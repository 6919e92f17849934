/* Steps of conjugate gradients: the operator, two sums over all, three updates of vectors. */
#include <stdlib.h>

#include "tests/bench/forms/form.h"

enum { GROUP = 256, LARGE = 1024, SMALL = 128 };

static void apply(const float *restrict p, float *restrict q, int w, int h)
{
#pragma omp parallel for schedule(static)
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            size_t i = (size_t)y * w + x;
            float v = 4.0f * p[i];
            if (x > 0) v -= p[i - 1];
            if (x < w - 1) v -= p[i + 1];
            if (y > 0) v -= p[i - w];
            if (y < h - 1) v -= p[i + w];
            q[i] = v;
        }
}

static float dot(const float *restrict a, const float *restrict b, size_t n)
{
    float sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* Fused by hand as far as sums over all allow. */
static void solve(void *const *memory, int w, int h, int steps)
{
    size_t n = (size_t)w * h;
    const float *restrict b = memory[0];
    float *restrict x = memory[1], *restrict r = memory[2], *restrict p = memory[3];
    static float *q;
    static size_t room;
    if (room < n) {
        free(q);
        q = malloc(n * sizeof *q);
        if (!q) exit(1);
        room = n;
    }
    float rr = 0;
#pragma omp parallel for schedule(static) reduction(+ : rr)
    for (size_t i = 0; i < n; i++) {
        x[i] = 0;
        r[i] = p[i] = b[i];
        rr += b[i] * b[i];
    }
    for (int step = 0; step < steps; step++) {
        apply(p, q, w, h);
        float alpha = rr / dot(p, q, n), next = 0;
#pragma omp parallel for schedule(static) reduction(+ : next)
        for (size_t i = 0; i < n; i++) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
            next += r[i] * r[i];
        }
        float beta = next / rr;
        rr = next;
#pragma omp parallel for schedule(static)
        for (size_t i = 0; i < n; i++) p[i] = r[i] + beta * p[i];
    }
}

/* b, x, r, p; q, the groups' sums, the scalars */
#define ARRAYS(n)                                                                                                      \
    {                                                                                                                  \
        {FORM_INPUT, FORM_F32, (n), form_fill_signed}, {FORM_RESULT, FORM_F32, (n), NULL},                             \
            {FORM_RESULT, FORM_F32, (n), NULL}, {FORM_RESULT, FORM_F32, (n), NULL},                                    \
            {FORM_BETWEEN, FORM_F32, (n), NULL}, {FORM_BETWEEN, FORM_F32, (n) / GROUP, NULL},                          \
        {                                                                                                              \
            FORM_BETWEEN, FORM_F32, 4, NULL                                                                            \
        }                                                                                                              \
    }
#define OVER(n)                                                                                                        \
    1, {(n)},                                                                                                          \
    {                                                                                                                  \
        GROUP                                                                                                          \
    }
#define DOTS(n, a, b)                                                                                                  \
    {                                                                                                                  \
        "dots", OVER(n),                                                                                               \
        {                                                                                                              \
            READ(a), READ(b), WRITE(5), INT(n), LOCAL(GROUP * 4)                                                       \
        }                                                                                                              \
    }
#define FINISH(n, kernel)                                                                                              \
    {                                                                                                                  \
        kernel, 1, {GROUP}, {GROUP},                                                                                   \
        {                                                                                                              \
            READ(5), UPDATE(6), INT((n) / GROUP), LOCAL(GROUP * 4)                                                     \
        }                                                                                                              \
    }
#define STEP(n, side)                                                                                                  \
    {"apply", OVER(n), {READ(3), WRITE(4), INT(side), INT(side)}}, DOTS(n, 3, 4), FINISH(n, "step_size"),              \
        {"forward", OVER(n), {UPDATE(1), READ(3), READ(6), INT(n)}},                                                   \
        {"back", OVER(n), {UPDATE(2), READ(4), READ(6), INT(n)}}, DOTS(n, 2, 2), FINISH(n, "direction_share"),         \
    {                                                                                                                  \
        "turn", OVER(n),                                                                                               \
        {                                                                                                              \
            UPDATE(3), READ(2), READ(6), INT(n)                                                                        \
        }                                                                                                              \
    }
#define BEGIN(n) {"start", OVER(n), {READ(0), WRITE(1), WRITE(2), WRITE(3), INT(n)}}, DOTS(n, 2, 2), FINISH(n, "begin")

enum { STEPS = 4 };
static const struct form_memory arrays[] = ARRAYS(LARGE * LARGE), arrays_small[] = ARRAYS(SMALL * SMALL);
static const struct launch launches[] = {BEGIN(LARGE * LARGE), STEP(LARGE *LARGE, LARGE), STEP(LARGE *LARGE, LARGE),
                                         STEP(LARGE *LARGE, LARGE), STEP(LARGE *LARGE, LARGE)};
static const struct launch launches_small[] = {BEGIN(SMALL * SMALL), STEP(SMALL *SMALL, SMALL),
                                               STEP(SMALL *SMALL, SMALL), STEP(SMALL *SMALL, SMALL),
                                               STEP(SMALL *SMALL, SMALL)};

static void large(void *const *memory)
{
    solve(memory, LARGE, LARGE, STEPS);
}

static void small(void *const *memory)
{
    solve(memory, SMALL, SMALL, STEPS);
}

const struct form form_cg = {.work = "cg",
                             .title = "OpenCL C: 4 steps of conjugate gradients, 1024 x 1024",
                             .kernels = "conjugate_gradient",
                             FORM_TABLES(arrays, launches),
                             .c = large,
                             .bound = 1e-2,
                             .repeat = 2};
const struct form form_cg_small = {.work = "cg_small",
                                   .title = "OpenCL C: 4 steps of conjugate gradients, 128 x 128",
                                   .kernels = "conjugate_gradient",
                                   FORM_TABLES(arrays_small, launches_small),
                                   .c = small,
                                   .bound = 1e-2,
                                   .repeat = 50};
