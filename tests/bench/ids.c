/* The same kernels with ids of several types, with and without a guard, in our language and by clang at several levels:
   how far their times are apart. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/measure.h"
#include "tests/bench/processor.h"
#include "tests/bench/work.h"

enum { NUMBERS = 1 << 18, WIDTH = 512, ROWS = 64, REPEAT = 20, MOST_WAYS = 32 };

/* A kernel, and how many numbers it takes and makes. */
struct ids_work {
    const char *name;
    size_t a, results;
    unsigned dims, items; /* of the launch; 0: as many as results */
    const char *own[2];   /* without a guard, and with one; NULL: there is none */
};

#define SIGNATURE "kernel @k(%a: ptr.global f32 read, %b: ptr.global f32 read, %o: ptr.global f32 write, %n: i32) {\n"
#define GUARDED(condition, body)                                                                                       \
    SIGNATURE condition "  %skip = not bool %in\n  if %skip {\n  return\n  }\n" body "  return\n}\n"

#define AXPY                                                                                                           \
    "  %x = load f32 %a[%i]\n  %y = load f32 %b[%i]\n  %h = fmul f32 0.5, %x\n  %r = fsub f32 %h, %y\n"                \
    "  store f32 %o[%i], %r\n"
#define BELOW_N "  %i = global_id x\n  %all = sext i64 %n\n  %in = ult i64 %i, %all\n"

#define SMOOTH                                                                                                         \
    "  %row = mul i64 %y, 512\n  %at = add i64 %row, %i\n  %wide = mul i64 %y, 514\n  %left = add i64 %wide, %i\n"     \
    "  %right = add i64 %left, 2\n  %l = load f32 %a[%left]\n  %m = load f32 %a[%right]\n  %c = load f32 %b[%at]\n"    \
    "  %s = fadd f32 %l, %m\n  %r = fadd f32 %s, %c\n  store f32 %o[%at], %r\n"
#define BELOW_SIZES                                                                                                    \
    "  %i = global_id x\n  %y = global_id y\n  %n0 = sext i64 %n\n  %h = lshr i64 %n0, 9\n  %inx = ult i64 %i, 512\n"  \
    "  %iny = ult i64 %y, %h\n  %in = and bool %inx, %iny\n"

#define COLUMNS                                                                                                        \
    "  %pitch = sext i64 %n\n  %sum = loop (%k: i64 = 0, %s: f32 = 0.0) -> f32 {\n  %go = ult i64 %k, 64\n"            \
    "  %stop = not bool %go\n  if %stop {\n  break %s\n  }\n  %row = mul i64 %k, %pitch\n  %at = add i64 %row, %i\n"   \
    "  %x = load f32 %a[%at]\n  %y = load f32 %b[%k]\n  %p = fmul f32 %x, %y\n  %t = fadd f32 %s, %p\n"                \
    "  %next = add i64 %k, 1\n  continue %next, %t\n  }\n  store f32 %o[%i], %sum\n"

static const struct ids_work works[] = {
    {"axpy", NUMBERS, NUMBERS, 1, 0, {SIGNATURE "  %i = global_id x\n" AXPY "  return\n}\n", GUARDED(BELOW_N, AXPY)}},
    {"smooth",
     (WIDTH + 2) * (NUMBERS / WIDTH),
     NUMBERS,
     2,
     0,
     {SIGNATURE "  %i = global_id x\n  %y = global_id y\n" SMOOTH "  return\n}\n", GUARDED(BELOW_SIZES, SMOOTH)}},
    {"columns",
     NUMBERS,
     NUMBERS / ROWS,
     1,
     0,
     {SIGNATURE "  %i = global_id x\n" COLUMNS "  return\n}\n", GUARDED(BELOW_N, COLUMNS)}},
    {"every", NUMBERS, NUMBERS, 1, 4096, {NULL, NULL}},
    {"rows", NUMBERS, NUMBERS / ROWS, 1, 0, {NULL, NULL}},
    {"trees", NUMBERS, NUMBERS / 256, 1, NUMBERS, {NULL, NULL}},
};

struct way {
    fusion_session *session;
    fusion_exec *exec;
    char name[32];
};

struct ids {
    const struct ids_work *work;
    fusion_session *session;
    fusion_buffer *a, *b, *o;
    struct way ways[MOST_WAYS];
    struct contender contenders[MOST_WAYS];
    unsigned n;
};

static bool run_way(void *self, unsigned repeat, double *ms)
{
    const struct way *w = self;
    double start = measure_now_ms();
    for (unsigned i = 0; i < repeat; i++) {
        fusion_event event;
        bench_check(fusion_exec_submit(w->exec, NULL, 0, &event));
        bench_check(fusion_event_wait(w->session, event, -1, NULL));
    }
    *ms = (measure_now_ms() - start) / repeat;
    return true;
}

static void add_way(struct ids *d, fusion_module *m, const char *kernel, const char *name)
{
    struct way *w = &d->ways[d->n];
    const fusion_arg args[] = {fusion_arg_read(d->a), fusion_arg_read(d->b), fusion_arg_write(d->o),
                               fusion_arg_i32((int32_t)d->work->results)};
    size_t items = d->work->items ? d->work->items : d->work->results;
    fusion_kernel_node node = {.module = m, .kernel = kernel, .dims = d->work->dims, .args = args, .n_args = 4};
    node.global[0] = node.dims == 2 ? WIDTH : items;
    node.global[1] = items / WIDTH;
    if (node.dims == 1) node.global[1] = 0;
    fusion_graph *g;
    bench_check(fusion_graph_create(d->session, &g));
    bench_check(fusion_graph_add_kernel(g, &node, NULL));
    const fusion_finalize_options options = {.mode = FUSION_ENABLE, .tier = FUSION_TIER_COMPILED};
    bench_check(fusion_graph_finalize(g, &options, &w->exec));
    fusion_graph_destroy(g);
    w->session = d->session;
    snprintf(w->name, sizeof w->name, "%s", name);
    d->contenders[d->n++] = (struct contender){w->name, run_way, w, false};
}

static void add_own(struct ids *d)
{
    static const char *const names[] = {"own", "own, guard"};
    for (int guard = 0; guard < 2; guard++) {
        const char *source = d->work->own[guard];
        fusion_module *m;
        if (!source) continue;
        bench_check(fusion_module_load(d->session, "ids.fk", source, strlen(source), &m));
        add_way(d, m, "k", names[guard]);
    }
}

static void add_level(struct ids *d, const char *level)
{
    static const char *const ids[] = {"int", "int_guard", "uint", "uint_guard", "size", "size_guard"};
    char path[512], kernel[64], name[32];
    fusion_module *m;
    snprintf(path, sizeof path, "%s/ids.%s.spv", BENCH_MODULES, level);
    bench_check(fusion_module_load_file(d->session, path, &m));
    for (unsigned i = 0; i < sizeof ids / sizeof *ids; i++) {
        if (strcmp(d->work->name, "every") == 0 && strstr(ids[i], "guard")) continue; /* the loop is one */
        snprintf(kernel, sizeof kernel, "%s_%s", d->work->name, ids[i]);
        snprintf(name, sizeof name, "%s %s", level, ids[i]);
        add_way(d, m, kernel, name);
    }
}

/* ---- results ---- */

static fusion_buffer *make_buffer(fusion_session *s, size_t n, bool fill)
{
    fusion_buffer *b;
    float *numbers;
    bench_check(fusion_buffer_create(s, NULL, FUSION_F32, n, 0, &b));
    bench_check(fusion_buffer_map(b, (void **)&numbers));
    for (size_t i = 0; i < n; i++) numbers[i] = fill ? (float)(i * 37 % 101) / 64 : 0;
    return b;
}

/* All give the same bits. */
static void compare(struct ids *d)
{
    float *now;
    size_t bytes = d->work->results * sizeof *now;
    float *first = malloc(bytes);
    bench_check(fusion_buffer_map(d->o, (void **)&now));
    for (unsigned i = 0; i < d->n; i++) {
        double ms;
        memset(now, 0, bytes);
        run_way(&d->ways[i], 1, &ms);
        if (!i) memcpy(first, now, bytes);
        if (memcmp(first, now, bytes) == 0) continue;
        fprintf(stderr, "bench: ids: %s: %s gives other results\n", d->work->name, d->ways[i].name);
        exit(1);
    }
    free(first);
}

/* The slowest against the fastest, by each one's best run, which others disturb least; of medians where `medians`. */
static double apart(json_object *row, bool medians)
{
    json_object *times, *first;
    double most = 0, least = 0;
    json_object_object_get_ex(row, medians ? "peers" : "best", &times);
    json_object_object_get_ex(row, "ours_ms", &first);
    if (medians) most = least = json_object_get_double(first);
    json_object_object_foreach(times, name, time)
    {
        (void)name;
        double ms = json_object_get_double(time);
        if (ms > most) most = ms;
        if (least == 0 || ms < least) least = ms;
    }
    return most / least;
}

static void measure(fusion_session *s, const struct ids_work *work, json_object *rows)
{
    struct ids d = {.work = work, .session = s};
    char title[64];
    snprintf(title, sizeof title, "ids: %s", work->name);
    d.a = make_buffer(s, work->a, true);
    d.b = make_buffer(s, NUMBERS, true);
    d.o = make_buffer(s, work->results, false);
    add_own(&d);
    add_level(&d, "O0");
    add_level(&d, "O1");
    add_level(&d, "O2");
    compare(&d);
    processor_watch(s);
    json_object *row = measure_work(title, d.contenders, d.n, REPEAT, rows);
    printf("    slowest / fastest of %u: best runs %.2f, medians %.2f\n", d.n, apart(row, false), apart(row, true));
    for (unsigned i = 0; i < d.n; i++) fusion_exec_destroy(d.ways[i].exec);
    fusion_buffer_destroy(d.a);
    fusion_buffer_destroy(d.b);
    fusion_buffer_destroy(d.o);
}

void bench_ids(fusion_session *s, json_object *rows)
{
    for (unsigned i = 0; i < sizeof works / sizeof *works; i++) measure(s, &works[i], rows);
}
