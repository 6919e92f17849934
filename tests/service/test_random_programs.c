/* Random programs through the whole service: images, addresses in memory, host tasks, addresses that are only looked
   at, several threads. Submitted command by command, recorded and built, apart, fused and required to be, compiled for
   each instruction set, interpreted and debugged, they leave the same behind, to the last bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/cases.h"
#include "tests/support/program_run.h"
#include "tests/support/service.h"

enum { THREADS = 3 };

/* A service for each instruction set: what this machine lacks is the best that it has. */
static const char *const isas[] = {"avx512", "avx2", "sse4", "generic"};
enum { ISAS = sizeof isas / sizeof *isas };

static struct place {
    struct service service;
    fusion_session *session;
    fusion_module *module;
} places[ISAS];

static int start(void **state)
{
    (void)state;
    char *text = program_module();
    for (int i = 0; i < ISAS; i++) {
        setenv("FUSIOND_ISA", isas[i], 1);
        service_start(&places[i].service, NULL);
        places[i].session = service_connect(&places[i].service);
        expect_ok(fusion_module_load(places[i].session, "program", text, strlen(text), &places[i].module));
    }
    unsetenv("FUSIOND_ISA");
    free(text);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    for (int i = 0; i < ISAS; i++) {
        fusion_disconnect(places[i].session);
        service_clear(&places[i].service);
    }
    return 0;
}

struct way {
    const char *name;
    enum program_way way;
    fusion_finalize_options options;
};

static const struct way ways[] = {
    {"by command", PROGRAM_BY_COMMAND, {0}},
    {"fused", PROGRAM_BUILT, {.mode = FUSION_ENABLE}},
    {"fused with barriers", PROGRAM_BUILT, {.mode = FUSION_ENABLE, .insert_barriers = true}},
    {"required", PROGRAM_BUILT, {.mode = FUSION_REQUIRE}},
    {"recorded, fused", PROGRAM_RECORDED, {.mode = FUSION_ENABLE}},
    {"recorded", PROGRAM_RECORDED, {.mode = FUSION_NONE}},
    {"fused, interpreted", PROGRAM_BUILT, {.mode = FUSION_ENABLE, .device = "reference"}},
    {"debugged", PROGRAM_BUILT, {.mode = FUSION_ENABLE, .debug = true}},
};
enum { WAYS = sizeof ways / sizeof *ways };

struct count {
    unsigned programs, required, saved, internalized;
};

static void fail_run(unsigned seed, const char *isa, const char *way, const struct program *p, const char *why)
{
    fail_msg("seed %u, %s, %s: %s\n%s", seed, isa, way, why, program_text(p));
}

/* Whether the outcome counts: what must be one launch and cannot is refused, and its word need not be true. */
static bool counts(const struct way *way, const struct program_outcome *out)
{
    if (way->options.mode != FUSION_REQUIRE) return true;
    return out->status != FUSION_KERNEL_NOT_SUPPORTED && !out->vouched;
}

static void check_way(const struct place *place, const struct program *p, const struct way *way, unsigned seed,
                      const struct program_outcome *wanted, struct count *count)
{
    static struct program_outcome found;
    const char *isa = isas[place - places];
    char why[200];
    program_run(place->session, place->module, p, way->way, &way->options, &found);
    if (!counts(way, &found)) return;
    if (found.status != FUSION_SUCCESS) fail_run(seed, isa, way->name, p, found.error);
    if (program_differs(wanted, &found, why, sizeof why)) fail_run(seed, isa, way->name, p, why);
    count->required += way->options.mode == FUSION_REQUIRE;
    if (way->way != PROGRAM_BUILT) return;
    count->saved += wanted->launches - found.launches;
    count->internalized += found.internalized;
}

static unsigned first_seed(void)
{
    const char *s = getenv("FUSIOND_TEST_SEED");
    return s ? (unsigned)strtoul(s, NULL, 10) : 0;
}

/* What its kernels leave behind one by one in the interpreter is what a program must leave behind. */
static void every_way_is_the_same(void **state)
{
    (void)state;
    static struct program_outcome wanted;
    struct count count = {0};
    const fusion_finalize_options apart = {.mode = FUSION_NONE, .device = "reference"};
    for (unsigned seed = first_seed(); count.programs < test_graphs(16); seed++, count.programs++) {
        const struct place *place = &places[seed % ISAS];
        struct program p;
        program_new(&p, seed);
        program_run(place->session, place->module, &p, PROGRAM_BUILT, &apart, &wanted);
        if (wanted.status != FUSION_SUCCESS) fail_run(seed, "reference", "apart", &p, wanted.error);
        for (int i = 0; i < WAYS; i++) check_way(place, &p, &ways[i], seed, &wanted, &count);
    }
    print_message("# %u programs: %u launches saved, %u buffers internalized, %u programs one launch\n", count.programs,
                  count.saved, count.internalized, count.required);
    assert_true(count.saved > 0 && count.internalized > 0 && count.required > 0);
}

/* ---- several threads ---- */

struct worker {
    pthread_t thread;
    const struct place *place;
    struct program program;
    const struct way *way;
    struct program_outcome out;
};

static void *work(void *data)
{
    struct worker *w = data;
    program_run(w->place->session, w->place->module, &w->program, w->way->way, &w->way->options, &w->out);
    return NULL;
}

static void threads_do_not_meet(void **state)
{
    (void)state;
    static const struct way *const chosen[THREADS] = {&ways[1], &ways[4], &ways[0]};
    static struct worker workers[THREADS];
    static struct program_outcome alone;
    unsigned first = first_seed();
    for (unsigned seed = first; seed < first + (test_graphs(16) + 3) / 4; seed++) {
        for (int i = 0; i < THREADS; i++) {
            workers[i].place = &places[seed % ISAS];
            program_new(&workers[i].program, 1000000 + seed * THREADS + (unsigned)i);
            workers[i].way = chosen[i];
        }
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
        for (int i = 0; i < THREADS; i++) pthread_join(workers[i].thread, NULL);
        for (int i = 0; i < THREADS; i++) {
            const struct worker *w = &workers[i];
            const fusion_finalize_options apart = {.mode = FUSION_NONE};
            char why[200];
            program_run(w->place->session, w->place->module, &w->program, PROGRAM_BUILT, &apart, &alone);
            if (w->out.status != FUSION_SUCCESS)
                fail_run(seed, "one of three threads", w->way->name, &w->program, w->out.error);
            if (program_differs(&alone, &w->out, why, sizeof why))
                fail_run(seed, "one of three threads", w->way->name, &w->program, why);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_is_the_same),
        cmocka_unit_test(threads_do_not_meet),
    };
    return cmocka_run_group_tests_name("random_programs", tests, start, stop);
}
