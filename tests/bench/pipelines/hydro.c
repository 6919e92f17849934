/* A step of a gas in the plane, twenty kernels over two dozen fields, in three sizes. */
#include "tests/bench/forms/form.h"

enum { DENSITY, ENERGY, U, V, NEW_DENSITY, NEW_ENERGY, NEW_U, NEW_V };
enum { PRESSURE = NEW_V + 1, DIVERGENCE, VISCOSITY, PUSHED_U, PUSHED_V, PUSHED_DIVERGENCE, PRESSED, HEATED };
enum { SLOPE_X = HEATED + 1, SLOPE_Y, FLUX_X, FLUX_Y, HEAT_SLOPE_X, HEAT_SLOPE_Y, HEAT_FLUX_X, HEAT_FLUX_Y };

static void fill_field(void *memory, size_t count)
{
    form_fill_unit(memory, count);
    for (size_t i = 0; i < count; i++) ((float *)memory)[i] += 1;
}

#define GIVEN(n, fill)                                                                                                 \
    {                                                                                                                  \
        FORM_INPUT, FORM_F32, (n) * (n), fill                                                                          \
    }
#define WANTED(n)                                                                                                      \
    {                                                                                                                  \
        FORM_RESULT, FORM_F32, (n) * (n), NULL                                                                         \
    }
#define BETWEEN(n)                                                                                                     \
    {                                                                                                                  \
        FORM_BETWEEN, FORM_F32, (n) * (n), NULL                                                                        \
    }
#define FIELDS(n)                                                                                                      \
    {                                                                                                                  \
        [DENSITY] = GIVEN(n, fill_field), [ENERGY] = GIVEN(n, fill_field), [U] = GIVEN(n, form_fill_signed),           \
        [V] = GIVEN(n, form_fill_signed), [NEW_DENSITY] = WANTED(n), [NEW_ENERGY] = WANTED(n), [NEW_U] = WANTED(n),    \
        [NEW_V] = WANTED(n), [PRESSURE] = BETWEEN(n), [DIVERGENCE] = BETWEEN(n), [VISCOSITY] = BETWEEN(n),             \
        [PUSHED_U] = BETWEEN(n), [PUSHED_V] = BETWEEN(n), [PUSHED_DIVERGENCE] = BETWEEN(n), [PRESSED] = BETWEEN(n),    \
        [HEATED] = BETWEEN(n), [SLOPE_X] = BETWEEN(n), [SLOPE_Y] = BETWEEN(n), [FLUX_X] = BETWEEN(n),                  \
        [FLUX_Y] = BETWEEN(n), [HEAT_SLOPE_X] = BETWEEN(n), [HEAT_SLOPE_Y] = BETWEEN(n), [HEAT_FLUX_X] = BETWEEN(n),   \
        [HEAT_FLUX_Y] = BETWEEN(n)                                                                                     \
    }

#define OVER(n)                                                                                                        \
    2, {(n), (n)},                                                                                                     \
    {                                                                                                                  \
        0                                                                                                              \
    }
#define SIZE(n) INT(n), INT(n)
#define STEP FLOAT(0.05f)
#define FORCES(n)                                                                                                      \
    {"ideal_gas", OVER(n), {READ(DENSITY), READ(ENERGY), WRITE(PRESSURE), SIZE(n)}},                                   \
        {"divergence", OVER(n), {READ(U), READ(V), WRITE(DIVERGENCE), SIZE(n)}},                                       \
        {"viscosity", OVER(n), {READ(DENSITY), READ(PRESSURE), READ(DIVERGENCE), WRITE(VISCOSITY), SIZE(n)}},          \
        {"accelerate_x",                                                                                               \
         OVER(n),                                                                                                      \
         {READ(U), READ(DENSITY), READ(PRESSURE), READ(VISCOSITY), WRITE(PUSHED_U), SIZE(n), STEP}},                   \
    {                                                                                                                  \
        "accelerate_y", OVER(n),                                                                                       \
        {                                                                                                              \
            READ(V), READ(DENSITY), READ(PRESSURE), READ(VISCOSITY), WRITE(PUSHED_V), SIZE(n), STEP                    \
        }                                                                                                              \
    }
#define COMPRESSION(n)                                                                                                 \
    {"divergence", OVER(n), {READ(PUSHED_U), READ(PUSHED_V), WRITE(PUSHED_DIVERGENCE), SIZE(n)}},                      \
        {"compress", OVER(n), {READ(DENSITY), READ(PUSHED_DIVERGENCE), WRITE(PRESSED), SIZE(n), STEP}},                \
    {                                                                                                                  \
        "heat", OVER(n),                                                                                               \
        {                                                                                                              \
            READ(DENSITY), READ(ENERGY), READ(PRESSURE), READ(VISCOSITY), READ(PUSHED_DIVERGENCE), WRITE(HEATED),      \
                SIZE(n), STEP                                                                                          \
        }                                                                                                              \
    }
#define CARRY(n, of, slope_x, slope_y, x, y, to)                                                                       \
    {"slope_x", OVER(n), {READ(of), WRITE(slope_x), SIZE(n)}},                                                         \
        {"slope_y", OVER(n), {READ(of), WRITE(slope_y), SIZE(n)}},                                                     \
        {"flux_x", OVER(n), {READ(of), READ(slope_x), READ(PUSHED_U), WRITE(x), SIZE(n), STEP}},                       \
        {"flux_y", OVER(n), {READ(of), READ(slope_y), READ(PUSHED_V), WRITE(y), SIZE(n), STEP}},                       \
    {                                                                                                                  \
        "carry", OVER(n),                                                                                              \
        {                                                                                                              \
            READ(of), READ(x), READ(y), WRITE(to), SIZE(n)                                                             \
        }                                                                                                              \
    }
#define CARRY_VELOCITY(n, of, to)                                                                                      \
    {                                                                                                                  \
        "carry_velocity", OVER(n),                                                                                     \
        {                                                                                                              \
            READ(of), READ(PUSHED_U), READ(PUSHED_V), WRITE(to), SIZE(n), STEP                                         \
        }                                                                                                              \
    }
#define KERNELS(n)                                                                                                     \
    {                                                                                                                  \
        FORCES(n), COMPRESSION(n), CARRY(n, PRESSED, SLOPE_X, SLOPE_Y, FLUX_X, FLUX_Y, NEW_DENSITY),                   \
            CARRY(n, HEATED, HEAT_SLOPE_X, HEAT_SLOPE_Y, HEAT_FLUX_X, HEAT_FLUX_Y, NEW_ENERGY),                        \
            CARRY_VELOCITY(n, PUSHED_U, NEW_U), CARRY_VELOCITY(n, PUSHED_V, NEW_V)                                     \
    }

static const struct form_memory small[] = FIELDS(1024), medium[] = FIELDS(2048), large[] = FIELDS(4096);
static const struct launch small_step[] = KERNELS(1024), medium_step[] = KERNELS(2048), large_step[] = KERNELS(4096);

#define HYDRO(name, size, arrays, launches, times)                                                                     \
    const struct form form_##name = {.work = #name,                                                                    \
                                     .title = "OpenCL C: step of a gas in 20 kernels, " size,                          \
                                     .kernels = "hydro",                                                               \
                                     FORM_TABLES(arrays, launches),                                                    \
                                     .memory_bound = true,                                                             \
                                     .bound = 1e-4,                                                                    \
                                     .repeat = times}
HYDRO(hydro_1024, "1024 x 1024", small, small_step, 4);
HYDRO(hydro_2048, "2048 x 2048", medium, medium_step, 1);
HYDRO(hydro_4096, "4096 x 4096", large, large_step, 1);
