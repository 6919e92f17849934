/*
 * Times of the service and of its code, against the same work by others in the same interleaved run, all with two
 * threads. Prints medians, quartiles and ratios; asserts that the results agree, and nothing about time.
 *
 * bench [--processor] [--json FILE] [WORK ...]
 *
 * Without works: all. `forms` is all that are in OpenCL C (forms/); --help lists them. The daemon is $FUSIOND, or that
 * of the same build.
 */
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/forms/form.h"
#include "tests/bench/processor.h"
#include "tests/bench/service/service.h"
#include "tests/bench/work.h"

enum { THREADS = 2 };

/* As many processors for everybody: each one's threads follow from that. */
static void take_processors(void)
{
    cpu_set_t all, some;
    if (sched_getaffinity(0, sizeof all, &all) != 0) return;
    CPU_ZERO(&some);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&some) < THREADS; i++)
        if (CPU_ISSET(i, &all)) CPU_SET(i, &some);
    sched_setaffinity(0, sizeof some, &some);
    omp_set_num_threads(THREADS);
    setenv("POCL_MAX_PTHREAD_COUNT", "2", 1);
}

/* An empty one: what another build left in the user's cache is not what this one makes. */
static char cache[] = "/tmp/fusiond-bench-XXXXXX";

static void take_cache(void)
{
    if (!mkdtemp(cache)) exit(1);
    setenv("XDG_CACHE_HOME", cache, 1);
}

static void remove_cache(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", cache);
    if (system(command) != 0) fprintf(stderr, "bench: %s stays\n", cache);
}

struct options {
    bool processor;
    const char *json;
    char **works;
    int n_works;
};

static bool wanted(const struct options *o, const char *work)
{
    for (int i = 0; i < o->n_works; i++)
        if (strcmp(o->works[i], work) == 0) return true;
    return o->n_works == 0;
}

/* ---- works ---- */

static const char *const own_works[] = {"service", "ids", "chain", "mandelbrot", "layernorm", "black_scholes", "forms"};

static bool is_own(const char *name)
{
    for (size_t i = 0; i < sizeof own_works / sizeof *own_works; i++)
        if (strcmp(own_works[i], name) == 0) return true;
    return false;
}

static bool is_work(const char *name)
{
    if (is_own(name)) return true;
    for (const struct form *const *f = forms; *f; f++)
        if (strcmp((*f)->work, name) == 0) return true;
    return false;
}

static void measure_service(fusion_session *s, json_object *rows)
{
    bench_finalize(s, rows);
    bench_submit(s, rows);
    bench_disk_cache(rows);
    bench_compilers(rows);
    bench_clients(rows);
}

static void run(fusion_session *s, const struct options *o, json_object *rows)
{
    if (wanted(o, "service") && !processor_used()) measure_service(s, rows);
    if (wanted(o, "ids")) bench_ids(s, rows);
    if (wanted(o, "chain")) {
        bench_chain(s, 1 << 16, 200, rows);
        bench_chain(s, 1 << 24, 1, rows);
    }
    if (wanted(o, "mandelbrot")) bench_mandelbrot(s, rows);
    if (wanted(o, "layernorm")) bench_layernorm(s, rows);
    if (wanted(o, "black_scholes")) bench_black_scholes(s, rows);
    for (const struct form *const *f = forms; *f; f++)
        if (wanted(o, (*f)->work) || wanted(o, "forms")) form_measure(s, *f, rows);
    form_summary(rows);
}

/* ---- the command line ---- */

static int usage(FILE *to, int status)
{
    fputs("usage: bench [--processor] [--json FILE] [WORK ...]\nworks:", to);
    for (size_t i = 0; i < sizeof own_works / sizeof *own_works; i++) fprintf(to, " %s", own_works[i]);
    for (const struct form *const *f = forms; *f; f++)
        if (!is_own((*f)->work)) fprintf(to, " %s", (*f)->work);
    fputc('\n', to);
    return status;
}

/* Works and options in any order. */
static bool parse(struct options *o, int argc, char **argv)
{
    o->works = calloc((size_t)argc, sizeof *o->works);
    if (!o->works) return false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--processor") == 0) {
            o->processor = true;
        } else if (strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
            o->json = argv[++i];
        } else if (is_work(argv[i])) {
            o->works[o->n_works++] = argv[i];
        } else {
            fprintf(stderr, "bench: %s is no %s\n", argv[i], *argv[i] == '-' ? "option" : "work");
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    struct options o = {0};
    if (argc == 2 && strcmp(argv[1], "--help") == 0) return usage(stdout, 0);
    if (!parse(&o, argc, argv)) return usage(stderr, 2);
    if (o.processor) processor_use(argv);
    setenv("FUSIOND", BENCH_DAEMON, 0);
    take_processors();
    take_cache();
    atexit(remove_cache);
    fusion_session *s;
    json_object *out = json_object_new_object(), *rows = json_object_new_array();
    json_object_object_add(out, "rows", rows);
    bench_check(fusion_connect(NULL, NULL, &s));
    run(s, &o, rows);
    fusion_disconnect(s);
    if (o.json && json_object_to_file_ext(o.json, out, JSON_C_TO_STRING_PRETTY) < 0) perror(o.json);
    json_object_put(out);
    free(o.works);
    return 0;
}
