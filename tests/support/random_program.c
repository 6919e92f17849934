/* Random programs: which commands, on what. */
#include "tests/support/random_program.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/strbuf.h"
#include "tests/support/random_program_kernels.h"
#include "tests/support/rng.h"

const struct program_image program_images[PROGRAM_IMAGES] = {{16, 16}, {8, 32}, {12, 8}};

static struct program_kernel kernels[PROGRAM_KERNELS]; /* of the module made last */
static uint64_t kernels_of = UINT64_MAX;

char *program_module(uint64_t number)
{
    struct strbuf text = {0};
    strbuf_add(&text, "module \"program\"\n");
    for (unsigned i = 0; i < PROGRAM_KERNELS; i++)
        program_kernel_make(&kernels[i], &text, number * PROGRAM_KERNELS + i);
    kernels_of = number;
    return strbuf_take(&text);
}

/* ---- steps ---- */

struct making {
    struct rng rng;
    uint32_t favourites[8]; /* kernels: a program has few, which meet often */
    uint32_t n_favourites;
    uint32_t chained; /* percent of the kernels that read what the one before wrote */
    uint32_t written; /* the array that the last kernel wrote */
};

static uint32_t below(struct making *m, uint32_t n)
{
    return rng_below(&m->rng, n);
}

/* Another array than the kernel writes; where it follows addresses, none that these may be of. */
static uint32_t input(struct making *m, const struct program_kernel *k, uint32_t output)
{
    uint32_t n = k->loose_writes ? PROGRAM_BUFFERS : PROGRAM_ARRAYS;
    return (output + 1 + below(m, n - 1)) % n;
}

static void kernel_step(struct making *m, struct program_step *s)
{
    s->kernel = &kernels[m->favourites[below(m, m->n_favourites)]];
    s->arrays[0] = below(m, s->kernel->loose ? PROGRAM_BUFFERS : PROGRAM_ARRAYS);
    for (int i = 1; i < 4; i++) s->arrays[i] = input(m, s->kernel, s->arrays[0]);
    bool chained = m->written != s->arrays[0] && !s->kernel->loose_writes && rng_chance(&m->rng, m->chained);
    if (chained) s->arrays[1] = m->written;
    m->written = s->arrays[0];
    if (s->kernel->in_place && rng_chance(&m->rng, 30)) s->arrays[1] = s->arrays[0];
    if (rng_chance(&m->rng, 30)) s->arrays[3] = s->arrays[below(m, 2)];
    s->images[0] = below(m, PROGRAM_IMAGES);
    s->images[1] = (s->images[0] + 1 + below(m, PROGRAM_IMAGES - 1)) % PROGRAM_IMAGES;
    s->number = (int32_t)below(m, 4) * 7;
    if (s->kernel->in_groups) {
        s->range = rng_chance(&m->rng, 80) ? RANGE_GROUPS : RANGE_PART;
    } else {
        s->range = rng_chance(&m->rng, 60) ? RANGE_LINE : (enum program_range)below(m, RANGES);
    }
    s->hidden = s->kernel->loose;
}

/* An array that the host sees. */
static uint32_t visible(struct making *m)
{
    uint32_t i = below(m, PROGRAM_KEPT + PROGRAM_USM);
    return i < PROGRAM_KEPT ? i : PROGRAM_BUFFERS + i - PROGRAM_KEPT;
}

static void command_step(struct making *m, struct program_step *s)
{
    static const enum program_step_kind kinds[] = {STEP_COPY,       STEP_COPY_ROWS, STEP_FILL, STEP_UPLOAD,
                                                   STEP_DOWNLOAD,   STEP_HOST,      STEP_HOST, STEP_HIDDEN_HOST,
                                                   STEP_COPY_IMAGE, STEP_FILL_IMAGE};
    s->kind = kinds[below(m, sizeof kinds / sizeof *kinds)];
    s->hidden = s->kind == STEP_HIDDEN_HOST;
    s->number = (int32_t)below(m, 100);
    if (s->kind == STEP_COPY_IMAGE || s->kind == STEP_FILL_IMAGE) {
        s->from = below(m, PROGRAM_IMAGES);
        s->to = (s->from + 1 + below(m, PROGRAM_IMAGES - 1)) % PROGRAM_IMAGES;
        return;
    }
    s->from = visible(m);
    do s->to = visible(m);
    while (s->to == s->from);
    s->from_offset = 4 * below(m, 32);
    s->to_offset = 4 * below(m, 32);
}

void program_new(struct program *p, uint64_t seed)
{
    struct making m = {.rng = {seed ^ 0x70726f6772616d}};
    if (kernels_of != seed / PROGRAM_SEEDS) free(program_module(seed / PROGRAM_SEEDS));
    *p = (struct program){.n_steps = 2 + below(&m, rng_chance(&m.rng, 75) ? 5 : PROGRAM_MOST_STEPS - 2)};
    m.chained = below(&m, 100);
    m.n_favourites = 1 + below(&m, 8);
    bool near = rng_chance(&m.rng, 50);
    uint32_t base = near ? below(&m, PROGRAM_KERNELS / PROGRAM_NEIGHBOURS) * PROGRAM_NEIGHBOURS : 0;
    uint32_t among = near ? PROGRAM_NEIGHBOURS : PROGRAM_KERNELS;
    for (uint32_t i = 0; i < m.n_favourites; i++) m.favourites[i] = base + below(&m, among);
    uint32_t commands = rng_chance(&m.rng, 40) ? below(&m, 50) : 0;
    for (uint32_t i = 0; i < p->n_steps; i++) {
        if (rng_chance(&m.rng, commands)) {
            command_step(&m, &p->steps[i]);
        } else {
            kernel_step(&m, &p->steps[i]);
        }
    }
}

bool program_needs_library(const struct program *p)
{
    for (uint32_t i = 0; i < p->n_steps; i++)
        if (p->steps[i].kind == STEP_KERNEL && p->steps[i].kernel->by_library) return true;
    return false;
}

char *program_text(const struct program *p)
{
    static const char *const kinds[] = {"kernel",   "copy", "copy of rows", "fill",       "upload",
                                        "download", "host", "hidden host",  "image copy", "image fill"};
    static const char arrays[] = "oabq", images[] = "mw";
    struct strbuf s = {0};
    for (uint32_t i = 0; i < p->n_steps; i++) {
        const struct program_step *step = &p->steps[i];
        strbuf_printf(&s, "%u: %s", i, kinds[step->kind]);
        if (step->kind != STEP_KERNEL) {
            strbuf_printf(&s, " %u+%u to %u+%u, %d\n", step->from, step->from_offset, step->to, step->to_offset,
                          step->number);
            continue;
        }
        strbuf_printf(&s, " %s range %d (", step->kernel->name, (int)step->range);
        for (const char *c = step->kernel->args; *c; c++) {
            const char *at = strchr(arrays, *c), *image = strchr(images, *c);
            if (at) strbuf_printf(&s, " %c=%u", *c, step->arrays[at - arrays]);
            if (image) strbuf_printf(&s, " %c=%u", *c, step->images[image - images]);
            if (*c == 'k') strbuf_printf(&s, " k=%d", step->number);
        }
        strbuf_printf(&s, " )%s\n", step->hidden ? ", by itself" : "");
    }
    return strbuf_take(&s);
}
