/* The Mandelbrot set, with a guard and a condition of two parts. */
#include "tests/bench/forms/form.h"
#include "tests/bench/work.h"

enum { SIDE = 1024 };

static fusion_graph *own(fusion_session *s, fusion_buffer *const *m)
{
    const struct work w = {.rows = SIDE, .columns = SIDE};
    return mandelbrot_graph(s, &w, &(struct work_buffers){.out = {m[0]}});
}

static void mandelbrot(void *const *memory)
{
    mandelbrot_vector(&(struct peer_data){.rows = SIDE, .columns = SIDE, .out = {memory[0]}});
}

static const struct form_memory arrays[] = {{FORM_RESULT, FORM_I32, SIDE *SIDE, NULL}};
static const struct launch launches[] = {
    {"mandelbrot",
     2,
     {SIDE, SIDE},
     {0},
     {WRITE(0), INT(SIDE), INT(SIDE), FLOAT(MANDELBROT_LEFT), FLOAT(MANDELBROT_TOP), FLOAT(MANDELBROT_STEP),
      INT(MANDELBROT_ROUNDS)}},
};

const struct form form_mandelbrot = {.work = "mandelbrot",
                                     .title = "OpenCL C: mandelbrot 1024 x 1024, 256 rounds",
                                     .kernels = "mandelbrot",
                                     FORM_TABLES(arrays, launches),
                                     .c = mandelbrot,
                                     .own = own,
                                     .counts = true,
                                     .bound = 0.01, /* at the border, a fused product shows */
                                     .repeat = 2};
