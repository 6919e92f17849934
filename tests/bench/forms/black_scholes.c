/* Prices of options after Black and Scholes, in five kernels. */
#include <string.h>

#include "tests/bench/forms/form.h"
#include "tests/bench/work.h"

enum { N = 1 << 22 };

static fusion_graph *own(fusion_session *s, fusion_buffer *const *m)
{
    const struct work w = {.rows = 1, .columns = N};
    return black_scholes_graph(s, &w, &(struct work_buffers){.in = {m[0], m[1], m[2]}, .out = {m[3], m[4]}});
}

static void black_scholes(void *const *memory)
{
    black_scholes_vector(
        &(struct peer_data){.columns = N, .in = {memory[0], memory[1], memory[2]}, .out = {memory[3], memory[4]}});
}

static void fill_prices(void *memory, size_t count)
{
    form_fill_unit(memory, count);
    for (size_t i = 0; i < count; i++) ((float *)memory)[i] = 10 + 90 * ((float *)memory)[i];
}

/* In another order, so that no price is its own strike. */
static void fill_strikes(void *memory, size_t count)
{
    fill_prices(memory, count);
    memmove(memory, (float *)memory + 1, (count - 1) * sizeof(float));
}

static void fill_years(void *memory, size_t count)
{
    form_fill_unit(memory, count);
    for (size_t i = 0; i < count; i++) ((float *)memory)[i] = 0.25f + 9.75f * ((float *)memory)[i];
}

static const struct form_memory arrays[] = {
    {FORM_INPUT, FORM_F32, N, fill_prices}, {FORM_INPUT, FORM_F32, N, fill_strikes},
    {FORM_INPUT, FORM_F32, N, fill_years},  {FORM_RESULT, FORM_F32, N, NULL},
    {FORM_RESULT, FORM_F32, N, NULL},       {FORM_BETWEEN, FORM_F32, N, NULL},
    {FORM_BETWEEN, FORM_F32, N, NULL},      {FORM_BETWEEN, FORM_F32, N, NULL},
    {FORM_BETWEEN, FORM_F32, N, NULL},      {FORM_BETWEEN, FORM_F32, N, NULL},
};
static const struct launch launches[] = {
    {"distances",
     1,
     {N},
     {0},
     {READ(0), READ(1), READ(2), WRITE(5), WRITE(6), FLOAT(BLACK_SCHOLES_RATE), FLOAT(BLACK_SCHOLES_VOLATILITY),
      INT(N)}},
    {"normal", 1, {N}, {0}, {READ(5), WRITE(7), INT(N)}},
    {"normal", 1, {N}, {0}, {READ(6), WRITE(8), INT(N)}},
    {"discounted", 1, {N}, {0}, {READ(1), READ(2), WRITE(9), FLOAT(BLACK_SCHOLES_RATE), INT(N)}},
    {"prices", 1, {N}, {0}, {READ(0), READ(9), READ(7), READ(8), WRITE(3), WRITE(4), INT(N)}},
};

const struct form form_black_scholes = {.work = "black_scholes",
                                        .title = "OpenCL C: Black-Scholes in five kernels, 2^22 f32",
                                        .kernels = "black_scholes",
                                        FORM_TABLES(arrays, launches),
                                        .c = black_scholes,
                                        .own = own,
                                        .numexpr = "black_scholes",
                                        .bound = 1e-4,
                                        .repeat = 2};
