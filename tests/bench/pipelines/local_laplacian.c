/* Local Laplacian filter, 4 million pixels in three planes: pyramids of five levels around eight brightnesses. */
#include "tests/bench/forms/form.h"

enum { WIDTH = 2048, HEIGHT = 2048, LEVELS = 5, CENTERS = 8 };
/* Pyramids, each a picture for each level. */
enum { IN, OUT, GRAY, DETAIL = GRAY + LEVELS, RESULT = DETAIL + LEVELS, AROUND = RESULT + LEVELS - 1 };
#define W(level) (WIDTH >> (level))
#define H(level) (HEIGHT >> (level))

#define LEVEL(to, level) [(to) + (level)] = {FORM_BETWEEN, FORM_F32, (size_t)W(level) * H(level), NULL}
#define SMALL_PYRAMID(to) LEVEL(to, 0), LEVEL(to, 1), LEVEL(to, 2), LEVEL(to, 3)
#define PYRAMID(to) SMALL_PYRAMID(to), LEVEL(to, 4)

static const struct form_memory arrays[] = {
    [IN] = {FORM_INPUT, FORM_F32, 3 * W(0) * H(0), form_fill_unit},
    [OUT] = {FORM_RESULT, FORM_F32, 3 * W(0) * H(0), NULL},
    PYRAMID(GRAY),
    PYRAMID(DETAIL),
    SMALL_PYRAMID(RESULT),
    PYRAMID(AROUND),
    PYRAMID(AROUND + 1 * LEVELS),
    PYRAMID(AROUND + 2 * LEVELS),
    PYRAMID(AROUND + 3 * LEVELS),
    PYRAMID(AROUND + 4 * LEVELS),
    PYRAMID(AROUND + 5 * LEVELS),
    PYRAMID(AROUND + 6 * LEVELS),
    PYRAMID(AROUND + 7 * LEVELS),
};

#define OVER(level)                                                                                                    \
    2, {W(level), H(level)},                                                                                           \
    {                                                                                                                  \
        0                                                                                                              \
    }
#define SIZE(level) INT(W(level)), INT(H(level))
#define SHRINK(of, level)                                                                                              \
    {                                                                                                                  \
        "shrink", OVER((level) + 1),                                                                                   \
        {                                                                                                              \
            READ((of) + (level)), WRITE((of) + (level) + 1), SIZE((level) + 1), SIZE(level)                            \
        }                                                                                                              \
    }
#define SHRINK_ALL(of) SHRINK(of, 0), SHRINK(of, 1), SHRINK(of, 2), SHRINK(of, 3)
#define CLEAR(level)                                                                                                   \
    {                                                                                                                  \
        "clear_level", OVER(level),                                                                                    \
        {                                                                                                              \
            WRITE(DETAIL + (level)), SIZE(level)                                                                       \
        }                                                                                                              \
    }
#define CENTER(k) FLOAT((float)(k) / (CENTERS - 1)), FLOAT(1.0f / (CENTERS - 1))
#define ADD_DETAIL(of, k, level)                                                                                       \
    {                                                                                                                  \
        "add_detail", OVER(level),                                                                                     \
        {                                                                                                              \
            READ(GRAY + (level)), READ((of) + (level)), READ((of) + (level) + 1), UPDATE(DETAIL + (level)),            \
                SIZE(level), SIZE((level) + 1), CENTER(k)                                                              \
        }                                                                                                              \
    }
/* One brightness after the other, as what is added to the result's pyramid is. */
#define CENTER_OF(of, k)                                                                                               \
    {"remap", OVER(0), {READ(GRAY), WRITE(of), SIZE(0), FLOAT((float)(k) / (CENTERS - 1)), FLOAT(1.5f)}},              \
        SHRINK_ALL(of), ADD_DETAIL(of, k, 0), ADD_DETAIL(of, k, 1), ADD_DETAIL(of, k, 2), ADD_DETAIL(of, k, 3),        \
    {                                                                                                                  \
        "add_base", OVER(4),                                                                                           \
        {                                                                                                              \
            READ(GRAY + 4), READ((of) + 4), UPDATE(DETAIL + 4), SIZE(4), CENTER(k)                                     \
        }                                                                                                              \
    }
#define AROUND_CENTER(k) CENTER_OF(AROUND + (k)*LEVELS, k)
#define COLLAPSE(level, next)                                                                                          \
    {                                                                                                                  \
        "collapse", OVER(level),                                                                                       \
        {                                                                                                              \
            READ(DETAIL + (level)), READ(next), WRITE(RESULT + (level)), SIZE(level), SIZE((level) + 1)                \
        }                                                                                                              \
    }

static const struct launch launches[] = {
    {"brightness", OVER(0), {READ(IN), WRITE(GRAY), SIZE(0)}},
    SHRINK_ALL(GRAY),
    CLEAR(0),
    CLEAR(1),
    CLEAR(2),
    CLEAR(3),
    CLEAR(4),
    AROUND_CENTER(0),
    AROUND_CENTER(1),
    AROUND_CENTER(2),
    AROUND_CENTER(3),
    AROUND_CENTER(4),
    AROUND_CENTER(5),
    AROUND_CENTER(6),
    AROUND_CENTER(7),
    COLLAPSE(3, DETAIL + 4),
    COLLAPSE(2, RESULT + 3),
    COLLAPSE(1, RESULT + 2),
    COLLAPSE(0, RESULT + 1),
    {"color", OVER(0), {READ(IN), READ(GRAY), READ(RESULT), WRITE(OUT), SIZE(0)}},
};

const struct form form_local_laplacian = {.work = "local_laplacian",
                                          .title = "OpenCL C: local Laplacian filter, 2048 x 2048 in three planes",
                                          .kernels = "local_laplacian",
                                          FORM_TABLES(arrays, launches),
                                          .pipeline = true,
                                          .bound = 1e-4,
                                          .repeat = 1};
