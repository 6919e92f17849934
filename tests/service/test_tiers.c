/* The quick tier: a handle is there before its code, which takes over when it has been made, and nothing else changes.
   That both tiers compute the same, test_random_programs finds. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/service.h"

enum { SIZE = 300, PATIENCE_MS = 60000 };

static struct service service;

static int start(void **state)
{
    (void)state;
    static const char *const options[] = {"--compilers", "1", NULL};
    setenv("FUSIOND_TIER", "automatic", 1);
    service_start(&service, options);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    service_clear(&service);
    return 0;
}

/* ---- a client that adds a constant which no other one adds ---- */

struct client {
    fusion_session *session;
    fusion_module *module;
    fusion_graph *graph;
    fusion_buffer *in, *out;
    fusion_exec *exec;
    int constant;
    uint64_t size;
};

static void open_client(struct client *c, int constant, uint64_t size)
{
    char text[300];
    int n = snprintf(text, sizeof text,
                     "kernel @k(%%a: ptr.global i32 read, %%o: ptr.global i32 write) {\n  %%i = global_id x\n"
                     "  %%x = load i32 %%a[%%i]\n  %%y = add i32 %%x, %d\n  store i32 %%o[%%i], %%y\n}\n",
                     constant);
    *c = (struct client){.session = service_connect(&service), .constant = constant, .size = size};
    expect_ok(fusion_module_load(c->session, "k.fk", text, (size_t)n, &c->module));
    c->in = index_buffer(c->session, "in", size, 3, 0);
    c->out = index_buffer(c->session, "out", size, 0, 0);
    expect_ok(fusion_graph_create(c->session, &c->graph));
    fusion_arg args[] = {fusion_arg_read(c->in), fusion_arg_write(c->out)};
    add_node(c->graph, c->module, "k", size, args, 2);
}

static int new_constant(void)
{
    static int last = 1000;
    return ++last;
}

static const fusion_group *finalize(struct client *c, fusion_tier tier)
{
    expect_ok(fusion_graph_finalize(c->graph, &(fusion_finalize_options){.tier = tier}, &c->exec));
    return &fusion_exec_report(c->exec)->groups[0];
}

static void run(struct client *c)
{
    fusion_event done;
    void *memory;
    expect_ok(fusion_buffer_map(c->out, &memory));
    memset(memory, 0, c->size * 4);
    expect_ok(fusion_exec_submit(c->exec, NULL, 0, &done));
    expect_ok(fusion_event_wait(c->session, done, PATIENCE_MS, NULL));
    for (uint64_t i = 0; i < c->size; i++) assert_int_equal(((int *)memory)[i], 3 * (int)i + c->constant);
}

/* Until its code has been made, or will not be. */
static void wait_for_code(fusion_exec *exec)
{
    const fusion_group *group = &fusion_exec_report(exec)->groups[0];
    for (int ms = 0; ms < PATIENCE_MS && strcmp(group->tier, "final") != 0; ms += 5) {
        usleep(5000);
        expect_ok(fusion_exec_update_report(exec));
    }
    assert_string_equal(group->tier, "final");
}

/* ---- tests ---- */

static void test_the_code_takes_over(void **state)
{
    (void)state;
    struct client c;
    open_client(&c, new_constant(), SIZE);
    long long quick = service_counter(c.session, "quick_launches"), compiles = service_counter(c.session, "compiles"),
              replaced = service_counter(c.session, "launches_replaced");
    const fusion_group *group = finalize(&c, FUSION_TIER_QUICK);
    assert_string_equal(group->tier, "quick");
    assert_string_equal(group->effort, "interpreted");
    assert_int_equal(group->lanes, 1);
    assert_string_equal(fusion_exec_report(c.exec)->cache, "miss");
    run(&c);
    wait_for_code(c.exec);
    assert_string_equal(group->effort, "full");
    assert_null(group->reason);
    run(&c);
    assert_int_equal(service_counter(c.session, "quick_launches"), quick + 1);
    assert_int_equal(service_counter(c.session, "launches_replaced"), replaced + 1);
    assert_int_equal(service_counter(c.session, "compiles"), compiles + 1);
    /* What was made is in the cache, like all code; the interpreted kernel is not. */
    fusion_exec_destroy(c.exec);
    group = finalize(&c, FUSION_TIER_QUICK);
    assert_string_equal(group->tier, "final");
    assert_string_equal(group->effort, "full");
    run(&c);
    fusion_disconnect(c.session);
}

static void test_choice(void **state)
{
    (void)state;
    struct client little, much, waits, shown, reference;
    open_client(&little, new_constant(), SIZE);
    assert_string_equal(finalize(&little, FUSION_TIER_AUTOMATIC)->tier, "quick");
    open_client(&much, new_constant(), 1 << 24);
    assert_string_equal(finalize(&much, FUSION_TIER_AUTOMATIC)->tier, "final");
    open_client(&waits, new_constant(), SIZE);
    assert_string_equal(finalize(&waits, FUSION_TIER_COMPILED)->tier, "final");
    open_client(&shown, new_constant(), SIZE);
    const fusion_finalize_options with_assembly = {.tier = FUSION_TIER_QUICK, .keep_assembly = true};
    expect_ok(fusion_graph_finalize(shown.graph, &with_assembly, &shown.exec));
    assert_non_null(fusion_exec_report(shown.exec)->groups[0].assembly);
    open_client(&reference, new_constant(), SIZE);
    const fusion_finalize_options interpreted = {.tier = FUSION_TIER_QUICK, .device = "reference"};
    expect_ok(fusion_graph_finalize(reference.graph, &interpreted, &reference.exec));
    assert_string_equal(fusion_exec_report(reference.exec)->groups[0].tier, "");
    struct client *all[] = {&little, &much, &waits, &shown, &reference};
    for (int i = 0; i < 5; i++) {
        run(all[i]);
        expect_ok(fusion_exec_update_report(all[i]->exec));
        fusion_disconnect(all[i]->session);
    }
    const fusion_finalize_options unknown = {.tier = (fusion_tier)3};
    open_client(&little, new_constant(), SIZE);
    expect_error(fusion_graph_finalize(little.graph, &unknown, &little.exec), FUSION_INVALID);
    fusion_disconnect(little.session);
}

/* Loops whose rounds are not known count as many. */
static void test_loops_are_work(void **state)
{
    (void)state;
    enum { MANY = 1 << 16 };
    static const char text[] = "kernel @k(%o: ptr.global i32 read_write, %n: i32) {\n  %i = global_id x\n"
                               "  loop (%k: i32 = 0) {\n    %c = sge i32 %k, %n\n    if %c { break }\n"
                               "    %x = load i32 %o[%i]\n    %y = add i32 %x, %k\n    store i32 %o[%i], %y\n"
                               "    %m = add i32 %k, 1\n    continue %m\n  }\n}\n";
    struct client c;
    open_client(&c, new_constant(), MANY);
    fusion_module *module;
    fusion_graph *graph;
    expect_ok(fusion_module_load(c.session, "loop.fk", text, sizeof text - 1, &module));
    expect_ok(fusion_graph_create(c.session, &graph));
    fusion_arg args[] = {fusion_arg_read_write(c.out), fusion_arg_i32(10)};
    add_node(graph, module, "k", MANY, args, 2);
    expect_ok(fusion_graph_finalize(graph, NULL, &c.exec));
    assert_string_equal(fusion_exec_report(c.exec)->groups[0].tier, "final");
    fusion_disconnect(c.session);
}

/* Equal launches of several clients are compiled once, and all of them get the code. */
static void test_joined(void **state)
{
    (void)state;
    enum { CLIENTS = 4 };
    struct client c[CLIENTS];
    int constant = new_constant();
    for (int i = 0; i < CLIENTS; i++) open_client(&c[i], constant, SIZE);
    long long compiles = service_counter(c[0].session, "compiles");
    for (int i = 0; i < CLIENTS; i++) finalize(&c[i], FUSION_TIER_QUICK);
    for (int i = 0; i < CLIENTS; i++) {
        run(&c[i]);
        wait_for_code(c[i].exec);
        run(&c[i]);
    }
    assert_int_equal(service_counter(c[0].session, "compiles"), compiles + 1);
    for (int i = 0; i < CLIENTS; i++) fusion_disconnect(c[i].session);
}

/* A work-group that runs when its code comes ends as it began; the next launch is code. */
static void test_under_way(void **state)
{
    (void)state;
    static const char text[] = "kernel @k(%stop: ptr.global i32 read, %o: ptr.global i32 write) {\n"
                               "  loop (%n: i32 = 0) {\n    %v = load i32 %stop[0], volatile\n"
                               "    %c = ine i32 %v, 0\n    if %c { break }\n    %m = add i32 %n, 1\n"
                               "    store i32 %o[0], %m, volatile\n    continue %m\n  }\n  store i32 %o[1], 77\n}\n";
    struct client c;
    fusion_module *module;
    fusion_graph *graph;
    fusion_event done;
    void *stop, *out;
    open_client(&c, new_constant(), SIZE);
    expect_ok(fusion_module_load(c.session, "spin.fk", text, sizeof text - 1, &module));
    expect_ok(fusion_graph_create(c.session, &graph));
    fusion_arg args[] = {fusion_arg_read(c.in), fusion_arg_write(c.out)};
    add_node(graph, module, "k", 1, args, 2);
    expect_ok(fusion_buffer_map(c.in, &stop));
    expect_ok(fusion_buffer_map(c.out, &out));
    expect_ok(fusion_graph_finalize(graph, &(fusion_finalize_options){.tier = FUSION_TIER_QUICK}, &c.exec));
    for (int round = 0; round < 2; round++) {
        memset(out, 0, 8);
        atomic_store((_Atomic int *)stop, 0);
        expect_ok(fusion_exec_submit(c.exec, NULL, 0, &done));
        while (atomic_load((_Atomic int *)out) == 0) usleep(1000); /* it runs */
        wait_for_code(c.exec);
        assert_int_equal(fusion_event_poll(c.session, done), FUSION_BUSY);
        atomic_store((_Atomic int *)stop, 1);
        expect_ok(fusion_event_wait(c.session, done, PATIENCE_MS, NULL));
        assert_int_equal(((int *)out)[1], 77);
    }
    fusion_disconnect(c.session);
}

/* Where the arrays of a work-group lie is the code's business. */
static void test_local_memory(void **state)
{
    (void)state;
    enum { GROUP = 16, ITEMS = 64 };
    static const char text[] =
        "kernel @k(%o: ptr.global i32 write, %a: ptr.local i32, %b: ptr.local i32) {\n"
        "  %i = global_id x\n  %l = local_id x\n  %v = trunc i32 %i\n  %w = mul i32 %v, 7\n"
        "  store i32 %a[%l], %v\n  store i32 %b[%l], %w\n  barrier work_group, local\n"
        "  %n = xor i64 %l, 15\n  %x = load i32 %a[%n]\n  %y = load i32 %b[%n]\n  %s = add i32 %x, %y\n"
        "  store i32 %o[%i], %s\n}\n";
    struct client c;
    fusion_module *module;
    fusion_graph *graph;
    fusion_event done;
    void *out;
    open_client(&c, new_constant(), SIZE);
    expect_ok(fusion_module_load(c.session, "local.fk", text, sizeof text - 1, &module));
    expect_ok(fusion_graph_create(c.session, &graph));
    fusion_arg args[] = {fusion_arg_write(c.out), fusion_arg_local(GROUP * 4), fusion_arg_local(GROUP * 4)};
    fusion_kernel_node node = {
        .module = module, .kernel = "k", .dims = 1, .global = {ITEMS}, .local = {GROUP}, .n_args = 3, .args = args};
    expect_ok(fusion_graph_add_kernel(graph, &node, NULL));
    expect_ok(fusion_graph_finalize(graph, &(fusion_finalize_options){.tier = FUSION_TIER_QUICK}, &c.exec));
    expect_ok(fusion_buffer_map(c.out, &out));
    for (int round = 0; round < 3; round++) {
        memset(out, 0, ITEMS * 4);
        expect_ok(fusion_exec_submit(c.exec, NULL, 0, &done));
        expect_ok(fusion_event_wait(c.session, done, PATIENCE_MS, NULL));
        for (int i = 0; i < ITEMS; i++) assert_int_equal(((int *)out)[i], (i ^ 15) * 8);
        if (round == 0) wait_for_code(c.exec);
    }
    fusion_disconnect(c.session);
}

/* Handles and sessions go while their code is being made, in any state of it. */
static void test_gone_meanwhile(void **state)
{
    (void)state;
    struct client c;
    for (unsigned i = 0; i < 12; i++) {
        open_client(&c, new_constant(), SIZE);
        finalize(&c, FUSION_TIER_QUICK);
        if (i % 3) run(&c);
        usleep(i * 7000);
        if (i % 2) fusion_exec_destroy(c.exec);
        fusion_disconnect(c.session);
    }
    open_client(&c, new_constant(), SIZE);
    finalize(&c, FUSION_TIER_COMPILED); /* the compiler is still there */
    run(&c);
    assert_int_equal(service_counter(c.session, "executables"), 1);
    assert_int_equal(service_counter(c.session, "compilers_lost"), 0);
    fusion_disconnect(c.session);
}

/* And waits until that is known: so the next submission does not meet the one that dies. */
static void kill_executor(fusion_session *session)
{
    pid_t pids[64];
    long long lost = service_counter(session, "executors_lost");
    int n = service_executors(&service, false, pids, 64);
    assert_true(n > 0);
    kill(pids[n - 1], SIGKILL);
    for (int ms = 0; ms < PATIENCE_MS && service_counter(session, "executors_lost") == lost; ms++) usleep(1000);
}

/* A new executor gets what is best by then, and later what comes later. */
static void test_executor_dies(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 8; i++) {
        struct client c;
        open_client(&c, new_constant(), SIZE);
        finalize(&c, FUSION_TIER_QUICK);
        usleep(i * 8000);
        kill_executor(c.session);
        run(&c);
        wait_for_code(c.exec);
        run(&c);
        kill_executor(c.session);
        run(&c);
        assert_string_equal(fusion_exec_report(c.exec)->groups[0].effort, "full");
        fusion_disconnect(c.session);
    }
}

/* What clients wait for goes before what nobody waits for: here one compiler is busy with the latter for long. */
static void test_clients_go_first(void **state)
{
    (void)state;
    enum { BACKGROUND = 24 };
    struct client many[BACKGROUND], c;
    for (int i = 0; i < BACKGROUND; i++) open_client(&many[i], new_constant(), SIZE);
    for (int i = 0; i < BACKGROUND; i++) finalize(&many[i], FUSION_TIER_QUICK);
    open_client(&c, new_constant(), SIZE);
    finalize(&c, FUSION_TIER_COMPILED);
    run(&c);
    int late = 0;
    for (int i = 0; i < BACKGROUND; i++) {
        expect_ok(fusion_exec_update_report(many[i].exec));
        late += strcmp(fusion_exec_report(many[i].exec)->groups[0].tier, "quick") == 0;
    }
    assert_true(late > 0);
    for (int i = 0; i < BACKGROUND; i++) wait_for_code(many[i].exec);
    for (int i = 0; i < BACKGROUND; i++) run(&many[i]);
    for (int i = 0; i < BACKGROUND; i++) fusion_disconnect(many[i].session);
    fusion_disconnect(c.session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_code_takes_over), cmocka_unit_test(test_choice),
        cmocka_unit_test(test_loops_are_work),      cmocka_unit_test(test_joined),
        cmocka_unit_test(test_under_way),           cmocka_unit_test(test_local_memory),
        cmocka_unit_test(test_gone_meanwhile),      cmocka_unit_test(test_executor_dies),
        cmocka_unit_test(test_clients_go_first),
    };
    return cmocka_run_group_tests_name("tiers", tests, start, stop);
}
