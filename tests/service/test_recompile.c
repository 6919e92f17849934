/* What makes the service plan or compile again, change by change: what is data never does, what is code always does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/service.h"

enum { SIZE = 320, ROOM = 32 };

/* All take %w, which holds 0, 1, 2 ... : that this is so is not known when they are compiled. */
static const char kernels[] =
    "kernel @scale(%a: ptr.global i32 read, %w: ptr.global i32 read, %o: ptr.global i32 write, %f: i32) {\n"
    "  %i = global_id x\n  %x = load i32 %a[%i]\n  %y = mul i32 %x, %f\n  store i32 %o[%i], %y\n}\n"
    "kernel @some(%a: ptr.global i32 read, %w: ptr.global i32 read, %o: ptr.global i32 write, %f: i32) {\n"
    "  %i = global_id x\n  %x = load i32 %a[%i]\n  %c = sge i32 %x, 0\n"
    "  if %c {\n    %y = mul i32 %x, %f\n    store i32 %o[%i], %y\n  }\n}\n"
    "kernel @place(%a: ptr.global i32 read, %w: ptr.global i32 read, %o: ptr.global i32 write, %f: i32) {\n"
    "  %i = global_id x\n  %v = load i32 %w[%i]\n  %j = sext i64 %v\n  %x = load i32 %a[%i]\n  %y = mul i32 %x, %f\n"
    "  store i32 %o[%j], %y\n}\n"
    "kernel @pick(%a: ptr.global i32 read, %w: ptr.global i32 read, %o: ptr.global i32 write, %f: i32) {\n"
    "  %i = global_id x\n  %v = load i32 %w[%i]\n  %j = sext i64 %v\n  %x = load i32 %a[%j]\n  %y = mul i32 %x, %f\n"
    "  store i32 %o[%i], %y\n}\n";

struct chain {
    const char *first, *second;
    fusion_mode mode;
    unsigned properties; /* of the temporary */
    bool barriers, in_place;
    uint64_t offset;
    int32_t factor;
    const char *device;
};

struct done {
    long long plans, compiles; /* that were made for it */
};

static void add(fusion_graph *graph, fusion_module *module, const struct chain *c, const char *kernel,
                const fusion_arg *args)
{
    fusion_kernel_node node = {.module = module,
                               .kernel = kernel,
                               .dims = 1,
                               .global = {SIZE},
                               .offset = {c->offset},
                               .local = {16},
                               .args = args,
                               .n_args = 4};
    expect_ok(fusion_graph_add_kernel(graph, &node, NULL));
}

static void check_values(fusion_buffer *out, const struct chain *c)
{
    void *memory;
    expect_ok(fusion_buffer_map(out, &memory));
    for (uint64_t i = c->offset; i < c->offset + SIZE; i++)
        assert_int_equal(((int *)memory)[i], (int)i * c->factor * c->factor);
}

static long long plans_made(fusion_session *session)
{
    return service_counter(session, "finalizes") - service_counter(session, "plan_hits");
}

/* in * factor * factor through a temporary, in a session and with buffers of its own. */
static struct done run(const struct service *s, const struct chain *c)
{
    fusion_session *session = service_connect(s);
    fusion_module *module;
    fusion_graph *graph;
    fusion_exec *exec;
    fusion_event event;
    struct done done = {plans_made(session), service_counter(session, "compiles")};
    expect_ok(fusion_module_load(session, "recompile.fk", kernels, strlen(kernels), &module));
    fusion_buffer *in = index_buffer(session, "in", SIZE + ROOM, 1, 0),
                  *w = index_buffer(session, "w", SIZE + ROOM, 1, 0),
                  *out = c->in_place ? in : index_buffer(session, "out", SIZE + ROOM, 0, 0), *tmp;
    expect_ok(fusion_buffer_create(session, "tmp", FUSION_I32, SIZE + ROOM, c->properties, &tmp));
    expect_ok(fusion_graph_create(session, &graph));
    add(graph, module, c, c->first,
        (fusion_arg[]){fusion_arg_read(in), fusion_arg_read(w), fusion_arg_write(tmp), fusion_arg_i32(c->factor)});
    add(graph, module, c, c->second,
        (fusion_arg[]){fusion_arg_read(tmp), fusion_arg_read(w), fusion_arg_write(out), fusion_arg_i32(c->factor)});
    fusion_finalize_options options = {.mode = c->mode, .insert_barriers = c->barriers, .device = c->device};
    expect_ok(fusion_graph_finalize(graph, &options, &exec));
    expect_ok(fusion_exec_submit(exec, NULL, 0, &event));
    expect_ok(fusion_event_wait(session, event, 20000, NULL));
    check_values(out, c);
    done.plans = plans_made(session) - done.plans;
    done.compiles = service_counter(session, "compiles") - done.compiles;
    if (!done.plans && !done.compiles) assert_string_not_equal(fusion_exec_report(exec)->cache, "miss");
    fusion_disconnect(session);
    return done;
}

static void expect_done(const struct service *s, const struct chain *c, long long plans, long long compiles)
{
    struct done done = run(s, c);
    assert_int_equal(done.plans, plans);
    assert_int_equal(done.compiles, compiles);
}

static const struct chain usual = {
    .first = "scale", .second = "scale", .mode = FUSION_ENABLE, .properties = FUSION_INTERNAL_MEMORY, .factor = 3};

static void data_is_never_compiled_again(void **state)
{
    (void)state;
    struct service s;
    struct chain c = usual;
    service_start(&s, NULL);
    expect_done(&s, &c, 1, 1);
    expect_done(&s, &c, 0, 0); /* new buffers of the same shape, in another session */
    c.factor = 7;
    expect_done(&s, &c, 0, 0);
    c.offset = ROOM / 2; /* another graph, but the same code */
    expect_done(&s, &c, 1, 0);
    c = usual;
    expect_done(&s, &c, 0, 0);
    service_clear(&s);
}

/* The other process says by its exit status what was made for it. */
static void nor_for_a_second_process(void **state)
{
    (void)state;
    struct service s;
    service_start(&s, NULL);
    expect_done(&s, &usual, 1, 1);
    pid_t pid = fork_or_fail();
    if (pid == 0) {
        struct done done = run(&s, &usual);
        _exit(done.plans == 0 && done.compiles == 0 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    service_clear(&s);
}

/* Runs one, then the other, then both again: each has a plan and code of its own, and keeps them. */
static void expect_apart(const struct chain *one, const struct chain *other, long long plans, long long compiles)
{
    struct service s;
    service_start(&s, NULL);
    run(&s, one);
    expect_done(&s, other, plans, compiles);
    expect_done(&s, one, 0, 0);
    expect_done(&s, other, 0, 0);
    service_clear(&s);
}

static void a_barrier_is_code(void **state)
{
    (void)state;
    struct chain c = usual;
    c.barriers = true;
    expect_apart(&usual, &c, 1, 1);
}

static void aliasing_is_code(void **state)
{
    (void)state;
    struct chain c = usual;
    c.in_place = true;
    expect_apart(&usual, &c, 1, 1);
}

static void a_mode_is_code(void **state)
{
    (void)state;
    struct chain c = usual;
    c.mode = FUSION_NONE;
    expect_apart(&usual, &c, 1, 1); /* both launches are one kernel */
    c.mode = FUSION_REQUIRE;
    expect_apart(&usual, &c, 1, 0); /* what was enabled was done */
}

static void each_property_is_code(void **state)
{
    (void)state;
    struct chain c = usual, with;
    c.properties = 0;
    expect_apart(&c, &usual, 1, 1); /* fusion_internal_memory */
    c = with = usual;
    c.first = with.first = "some";
    with.properties |= FUSION_NO_INIT;
    expect_apart(&c, &with, 1, 1);
    c = with = usual;
    c.first = with.first = "place";
    c.second = with.second = "pick";
    c.properties = 0;
    with.properties = FUSION_ACCESS_SCOPE_WORK_ITEM;
    expect_apart(&c, &with, 1, 1); /* one launch instead of two */
    c.barriers = with.barriers = true;
    with.properties = FUSION_ACCESS_SCOPE_WORK_GROUP;
    expect_apart(&c, &with, 1, 1);
}

/* What is proved needs no property: the plan is made again, and finds the same code. */
static void a_property_that_says_nothing_new(void **state)
{
    (void)state;
    struct chain c = usual;
    c.properties |= FUSION_ACCESS_SCOPE_WORK_ITEM;
    expect_apart(&usual, &c, 1, 0);
    c.properties |= FUSION_NO_INIT;
    expect_apart(&usual, &c, 1, 0);
}

static void a_target_is_code(void **state)
{
    (void)state;
    struct chain c = usual;
    c.device = "reference"; /* which compiles nothing */
    expect_apart(&usual, &c, 1, 0);
    struct service s;
    service_start(&s, NULL);
    expect_done(&s, &usual, 1, 1);
    service_stop(&s);
    setenv("FUSIOND_ISA", "generic", 1);
    service_restart(&s, NULL);
    unsetenv("FUSIOND_ISA");
    expect_done(&s, &usual, 1, 1);
    service_stop(&s);
    setenv("FUSIOND_EFFORT", "minimal", 1);
    service_restart(&s, NULL);
    unsetenv("FUSIOND_EFFORT");
    expect_done(&s, &usual, 1, 1);
    service_stop(&s);
    service_restart(&s, NULL);
    assert_int_equal(run(&s, &usual).compiles, 0); /* all are on disk */
    service_clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_is_never_compiled_again),
        cmocka_unit_test(nor_for_a_second_process),
        cmocka_unit_test(a_barrier_is_code),
        cmocka_unit_test(aliasing_is_code),
        cmocka_unit_test(a_mode_is_code),
        cmocka_unit_test(each_property_is_code),
        cmocka_unit_test(a_property_that_says_nothing_new),
        cmocka_unit_test(a_target_is_code),
    };
    return cmocka_run_group_tests_name("recompile", tests, NULL, NULL);
}
