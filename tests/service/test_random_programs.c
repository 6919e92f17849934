/* Random programs through the whole service: images, addresses in memory, host tasks, addresses that are only looked
   at, several threads. Submitted command by command, recorded and built, apart, fused and required to be, compiled for
   each instruction set with more and less effort, with their code or before it is there, interpreted and debugged, they
   leave the same behind, to the last bit.

   What takes time is gcc, so a program goes some of these ways, chosen by its seed: all of them with
   FUSIOND_TEST_WAYS=all, only those without gcc with =interpreted, which is ten times as fast and enough for the
   fuser; FUSIOND_TEST_DEVICE=NAME has the first way and those of that device only. Where it runs follows from its seed
   as well: FUSIOND_TEST_SEED=N FUSIOND_TEST_GRAPHS=1 is program N again, with those that run beside it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/cases.h"
#include "tests/support/program_run.h"
#include "tests/support/rng.h"
#include "tests/support/service.h"

enum { THREADS = 3 /* programs at the same time */, STEP_MS = 200, PROGRAMS = 24, VULKAN_PROGRAMS = 500 };
_Static_assert(PROGRAM_SEEDS % THREADS == 0, "which are of one module");

/* What this machine lacks is the best that it has. */
static const char *const isas[] = {"avx512", "avx2", "sse4", "generic"};
static const char *const efforts[] = {"full", "scalar", "plain vector", "interpreted"};
enum { ISAS = sizeof isas / sizeof *isas, EFFORTS = sizeof efforts / sizeof *efforts, TURNS = 8 };

/* A service for each instruction set and effort, which starts when the first program comes. */
static struct place {
    struct service service;
    fusion_session *session;
    fusion_module *module;
    uint64_t module_number;
    unsigned programs;
} places[ISAS][EFFORTS];

struct way {
    const char *name;
    enum program_way way;
    fusion_finalize_options options;
    bool apart; /* each kernel by itself is made for it */
};

/* The first two make kernels that the others then find made: a program goes one of them. */
static const struct way ways[] = {
    {"fused", PROGRAM_BUILT, {.mode = FUSION_ENABLE}},
    {"fused with barriers", PROGRAM_BUILT, {.mode = FUSION_ENABLE, .insert_barriers = true}},
    {"by command", PROGRAM_BY_COMMAND, {0}, .apart = true},
    {"required", PROGRAM_BUILT, {.mode = FUSION_REQUIRE}},
    {"recorded, fused", PROGRAM_RECORDED, {.mode = FUSION_ENABLE}},
    {"recorded", PROGRAM_RECORDED, {.mode = FUSION_NONE}, .apart = true},
    {"fused, interpreted", PROGRAM_BUILT, {.mode = FUSION_ENABLE, .device = "reference"}},
    {"debugged", PROGRAM_BUILT, {.mode = FUSION_ENABLE, .debug = true}},
    {"on vulkan", PROGRAM_BUILT, {.mode = FUSION_NONE, .device = "vulkan"}},
    {"fused, on vulkan", PROGRAM_BUILT, {.mode = FUSION_ENABLE, .device = "vulkan"}},
    {"on level_zero", PROGRAM_BUILT, {.mode = FUSION_NONE, .device = "level_zero"}},
    {"fused, on level_zero", PROGRAM_BUILT, {.mode = FUSION_ENABLE, .device = "level_zero"}},
};
enum { WAYS = sizeof ways / sizeof *ways, FIRST_WAYS = 2, INTERPRETED_WAYS = 6 /* two from there on */ };

static struct count {
    unsigned programs, refused, saved, internalized;
} counts[WAYS];

/* ---- places ---- */

static bool asked_for(const char *ways_named)
{
    const char *wanted = getenv("FUSIOND_TEST_WAYS");
    return wanted && strcmp(wanted, ways_named) == 0;
}

/* Whether the service knows of the device that is asked for, that it is there or that it is not. */
static bool knows_device(fusion_session *session)
{
    const char *wanted = getenv("FUSIOND_TEST_DEVICE");
    char name[64] = "", reason[256];
    if (!wanted || service_has_device(session, wanted)) return true;
    for (uint32_t i = 0; fusion_device_absent(session, i, name, reason) == FUSION_SUCCESS; i++)
        if (strcmp(name, wanted) == 0) return true;
    return false;
}

/* On a busy machine looking for GPUs takes longer than a service waits for it: sessions after that have them. */
static void connect_to(struct place *place)
{
    const fusion_connect_options options = {.time_limit_ms = PROGRAM_PATIENCE_MS,
                                            .request_limit_ms = PROGRAM_PATIENCE_MS};
    const int tries = PROGRAM_PATIENCE_MS / STEP_MS;
    expect_ok(fusion_connect(place->service.socket, &options, &place->session));
    for (int i = 0; i < tries && !knows_device(place->session); i++) {
        fusion_disconnect(place->session);
        usleep(STEP_MS * 1000);
        expect_ok(fusion_connect(place->service.socket, &options, &place->session));
    }
}

static void start(struct place *place)
{
    static const char *const patient[] = {"--compile-limit", "600000", NULL};
    const size_t at = (size_t)(place - places[0]);
    setenv("FUSIOND_ISA", isas[at / EFFORTS], 1);
    setenv("FUSIOND_EFFORT", efforts[at % EFFORTS], 1);
    const bool quick = (at / EFFORTS + at % EFFORTS) % 2, given = getenv("FUSIOND_TIER");
    if (!given) setenv("FUSIOND_TIER", quick ? "quick" : "compiled", 1);
    service_start(&place->service, patient);
    unsetenv("FUSIOND_ISA");
    unsetenv("FUSIOND_EFFORT");
    if (!given) unsetenv("FUSIOND_TIER");
    connect_to(place);
}

static void load(struct place *place, uint64_t number)
{
    char *text = program_module(number);
    fusion_module_destroy(place->module);
    expect_ok(fusion_module_load(place->session, "program", text, strlen(text), &place->module));
    place->module_number = number;
    free(text);
}

/* Of the programs that run at the same time. */
static struct place *place_of(unsigned batch)
{
    static const unsigned turns[] = {0, 2, 1, 2, 3, 1, 2, 2}; /* vectors in three of eight; gcc takes longest there */
    const bool interpreted = asked_for("interpreted");        /* then nothing is compiled for any of them */
    struct place *place = interpreted ? &places[0][EFFORTS - 1] : &places[batch % ISAS][turns[batch / ISAS % TURNS]];
    const uint64_t module = (uint64_t)batch * THREADS / PROGRAM_SEEDS;
    if (!place->session) start(place);
    if (!place->module || place->module_number != module) load(place, module);
    return place;
}

static int stop(void **state)
{
    (void)state;
    for (struct place *p = places[0]; p < places[ISAS]; p++) {
        if (!p->session) continue;
        fusion_disconnect(p->session);
        service_clear(&p->service);
    }
    return 0;
}

/* ---- a program ---- */

struct worker {
    unsigned seed;
    const struct place *place;
    struct program program;
    struct program_outcome wanted; /* what its kernels leave behind one by one in the interpreter */
    struct program_outcome on_gpu; /* likewise there */
    const struct way *way;
    struct program_outcome found;
    pthread_t thread;
};

static void fail_run(const struct worker *w, const char *way, const char *why)
{
    const size_t at = (size_t)(w->place - places[0]);
    fail_msg("seed %u, %s, effort %s, %s: %s\n%s", w->seed, isas[at / EFFORTS], efforts[at % EFFORTS], way, why,
             program_text(&w->program));
}

static void begin(struct worker *w, unsigned seed, const struct place *place)
{
    const fusion_finalize_options apart = {.mode = FUSION_NONE, .device = "reference"};
    w->seed = seed;
    w->place = place;
    program_new(&w->program, seed);
    program_run(place->session, place->module, &w->program, PROGRAM_BUILT, &apart, &w->wanted);
    if (w->wanted.status != FUSION_SUCCESS) fail_run(w, "apart, interpreted", w->wanted.error);
}

/* Whether the outcome counts: what must be one launch and cannot is refused, and its word need not be true. */
static bool is_for_sure(const struct way *way, const struct program_outcome *out)
{
    if (way->options.mode != FUSION_REQUIRE) return true;
    return out->status != FUSION_KERNEL_NOT_SUPPORTED && !out->vouched;
}

static bool is_on_gpu(const struct way *way)
{
    return way->options.device && strcmp(way->options.device, "reference") != 0;
}

/* The other devices have all that there is; these may also be absent. */
static bool lacks_something(const struct way *way, const struct program_outcome *out)
{
    if (!is_on_gpu(way)) return false;
    return out->status == FUSION_FEATURE_NOT_SUPPORTED || out->status == FUSION_KERNEL_NOT_SUPPORTED;
}

/* Of the mathematical library those devices have their own, which are the same whether kernels are fused or not. NULL:
   apart it cannot run there. */
static const struct program_outcome *wanted_of(struct worker *w)
{
    const fusion_finalize_options apart = {.mode = FUSION_NONE, .device = w->way->options.device};
    if (!is_on_gpu(w->way) || !program_needs_library(&w->program)) return &w->wanted;
    program_run(w->place->session, w->place->module, &w->program, PROGRAM_BUILT, &apart, &w->on_gpu);
    if (lacks_something(w->way, &w->on_gpu)) return NULL;
    if (w->on_gpu.status != FUSION_SUCCESS) fail_run(w, "apart, on a GPU", w->on_gpu.error);
    return &w->on_gpu;
}

static void check(struct worker *w)
{
    const struct program_outcome *found = &w->found, *wanted;
    struct count *count = &counts[w->way - ways];
    char why[200];
    if (!lacks_something(w->way, found) && !is_for_sure(w->way, found)) return;
    if (!lacks_something(w->way, found) && found->status != FUSION_SUCCESS) fail_run(w, w->way->name, found->error);
    wanted = found->status == FUSION_SUCCESS ? wanted_of(w) : NULL;
    if (!wanted) {
        count->refused++;
        return;
    }
    if (program_differs(wanted, found, why, sizeof why)) fail_run(w, w->way->name, why);
    count->programs++;
    count->internalized += found->internalized;
    if (w->way->way == PROGRAM_BUILT) count->saved += w->wanted.launches - found->launches;
}

static void *work(void *data)
{
    struct worker *w = data;
    program_run(w->place->session, w->place->module, &w->program, w->way->way, &w->way->options, &w->found);
    return NULL;
}

static const struct way *first_way(unsigned batch, unsigned i)
{
    if (asked_for("interpreted")) return &ways[INTERPRETED_WAYS + i % 2];
    return &ways[(batch / (ISAS * TURNS) + i) % FIRST_WAYS];
}

/* Half of the others, but a third of the programs go those for which each kernel is made by itself; or all. */
static void go_other_ways(struct worker *w)
{
    const struct way *first = w->way;
    struct rng rng = {w->seed ^ 0x77617973};
    bool apart = rng_below(&rng, 3) == 0;
    const char *only = getenv("FUSIOND_TEST_DEVICE");
    for (const struct way *way = ways; way < ways + WAYS; way++) {
        bool goes = way >= ways + FIRST_WAYS && (way->apart ? apart : rng_chance(&rng, 50));
        if (asked_for("all")) goes = true;
        if (asked_for("interpreted")) goes = only || way->options.device || way->options.debug;
        if (only && (!way->options.device || strcmp(way->options.device, only) != 0)) continue;
        if (way == first || !goes) continue;
        w->way = way;
        work(w);
        check(w);
    }
}

/* The first way all go at the same time: their kernels are made then. */
static void run_batch(unsigned batch)
{
    static struct worker workers[THREADS];
    struct place *place = place_of(batch);
    for (unsigned i = 0; i < THREADS; i++) {
        begin(&workers[i], batch * THREADS + i, place);
        workers[i].way = first_way(batch, i);
    }
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < THREADS; i++) check(&workers[i]);
    for (int i = 0; i < THREADS; i++) go_other_ways(&workers[i]);
    place->programs += THREADS;
}

static void say_what_ran(void)
{
    for (int i = 0; i < ISAS * EFFORTS; i++) {
        const struct place *p = &places[i / EFFORTS][i % EFFORTS];
        if (!p->session) continue;
        print_message("# %s, effort %s: %u programs, %lld compiles, %lld launches quick at first\n", isas[i / EFFORTS],
                      efforts[i % EFFORTS], p->programs, service_counter(p->session, "compiles"),
                      service_counter(p->session, "quick_launches"));
    }
    for (int i = 0; i < WAYS; i++)
        print_message("# %s: %u programs, %u launches saved, %u buffers internalized, %u refused\n", ways[i].name,
                      counts[i].programs, counts[i].saved, counts[i].internalized, counts[i].refused);
}

/* Where the device that is asked for is there, programs ran on it. */
static void expect_on_device(void)
{
    const char *wanted = getenv("FUSIOND_TEST_DEVICE");
    unsigned programs = 0;
    bool there = false;
    if (!wanted) return;
    for (struct place *p = places[0]; p < places[ISAS]; p++)
        there |= p->session && service_has_device(p->session, wanted);
    for (int i = 0; i < WAYS; i++)
        if (ways[i].options.device && strcmp(ways[i].options.device, wanted) == 0) programs += counts[i].programs;
    assert_true(!there || programs > 0);
}

static void every_way_is_the_same(void **state)
{
    (void)state;
    const char *s = getenv("FUSIOND_TEST_SEED");
    unsigned first = s ? (unsigned)strtoul(s, NULL, 10) / THREADS : 0;
    const char *device = getenv("FUSIOND_TEST_DEVICE");
    bool on_vulkan = device && strcmp(device, "vulkan") == 0;
    unsigned batches = (test_graphs(on_vulkan ? VULKAN_PROGRAMS : PROGRAMS) + THREADS - 1) / THREADS;
    for (unsigned i = 0; i < batches; i++) run_batch(first + i);
    say_what_ran();
    expect_on_device();
    if (batches >= 8 && !asked_for("interpreted"))
        assert_true(counts[0].saved && counts[0].internalized + counts[1].internalized);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_way_is_the_same)};
    return cmocka_run_group_tests_name("random_programs", tests, NULL, stop);
}
