/* Tuning: what was kept for a graph is found again by every session of the user, and nothing that is computed depends
   on it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/service.h"

enum { SIZE = 5000, FACTOR = 3 };

struct asked {
    const char *tuning; /* NULL: nothing is said */
    bool keep, debug;
    fusion_mode mode;
    uint64_t size; /* 0: the usual one */
};

struct got {
    uint32_t launches;
    bool tuned;
    char text[80], cut[16];
};

static fusion_status finalize(fusion_session *session, const struct asked *a, fusion_buffer **out, fusion_exec **exec)
{
    fusion_module *module = load_test_kernels(session);
    fusion_graph *graph;
    uint64_t size = a->size ? a->size : SIZE;
    fusion_buffer *in = index_buffer(session, "in", size, 1, 0), *t = index_buffer(session, "t", size, 0, 0);
    const fusion_finalize_options options = {FUSION_SIZED(fusion_finalize_options), .mode = a->mode, .debug = a->debug,
                                             .tuning = a->tuning, .keep_tuning = a->keep};
    *out = index_buffer(session, "out", size, 0, 0);
    expect_ok(fusion_graph_create(session, &graph));
    fusion_arg first[] = {fusion_arg_read(in), fusion_arg_write(t), fusion_arg_i32(FACTOR)};
    fusion_arg second[] = {fusion_arg_read(t), fusion_arg_write(*out), fusion_arg_i32(FACTOR)};
    add_node(graph, module, "scale", size, first, 3);
    add_node(graph, module, "scale", size, second, 3);
    return fusion_graph_finalize(graph, &options, exec);
}

/* In a session of its own. */
static struct got run(const struct service *s, struct asked a)
{
    struct got got = {0};
    fusion_session *session = service_connect(s);
    fusion_exec *exec;
    fusion_buffer *out;
    fusion_event event;
    void *memory;
    expect_ok(finalize(session, &a, &out, &exec));
    expect_ok(fusion_exec_submit(exec, NULL, 0, &event));
    expect_ok(fusion_event_wait(session, event, 60000, NULL));
    expect_ok(fusion_buffer_map(out, &memory));
    for (int i = 0; i < (int)(a.size ? a.size : SIZE); i++) assert_int_equal(((int *)memory)[i], i * FACTOR * FACTOR);
    const fusion_report *r = fusion_exec_report(exec);
    got.launches = r->launches;
    for (uint32_t i = 0; i < r->n_remarks; i++) {
        const fusion_remark *m = &r->remarks[i];
        if (strcmp(m->code, "tuned") == 0) {
            got.tuned = true;
            snprintf(got.text, sizeof got.text, "%s", m->text);
        }
        if (strcmp(m->code, "not_fused_tuned") == 0) snprintf(got.cut, sizeof got.cut, "%s", m->node);
    }
    fusion_disconnect(session);
    return got;
}

static const struct asked plain = {.mode = FUSION_ENABLE};

static void what_was_kept_is_found_again(void **state)
{
    struct service s;
    (void)state;
    service_start(&s, NULL);
    assert_int_equal(run(&s, plain).launches, 1);
    struct got once = run(&s, (struct asked){.mode = FUSION_ENABLE, .tuning = "cut=1"});
    assert_true(once.launches == 2 && once.tuned && *once.cut);
    struct got still = run(&s, plain);
    assert_true(still.launches == 1 && !still.tuned); /* it was not kept */
    assert_int_equal(run(&s, (struct asked){.mode = FUSION_ENABLE, .tuning = "cut=1", .keep = true}).launches, 2);
    struct got later = run(&s, plain);
    assert_true(later.launches == 2 && later.tuned);
    assert_non_null(strstr(later.text, "cut=1"));
    struct got without = run(&s, (struct asked){.mode = FUSION_ENABLE, .tuning = ""});
    assert_true(without.launches == 1 && !without.tuned);
    assert_int_equal(run(&s, (struct asked){.mode = FUSION_ENABLE, .size = SIZE - 1}).launches, 1); /* another graph */
    assert_int_equal(run(&s, (struct asked){.mode = FUSION_REQUIRE}).launches, 1);
    assert_int_equal(run(&s, (struct asked){.mode = FUSION_NONE}).launches, 2);
    assert_false(run(&s, (struct asked){.mode = FUSION_ENABLE, .debug = true}).tuned);
    run(&s, (struct asked){.mode = FUSION_ENABLE, .tuning = "", .keep = true});
    assert_int_equal(run(&s, plain).launches, 1);
    service_clear(&s);
}

static void it_outlives_the_daemon(void **state)
{
    struct service s;
    (void)state;
    service_start(&s, NULL);
    run(&s, (struct asked){.mode = FUSION_ENABLE, .tuning = "cut=1 items=64", .keep = true});
    service_stop(&s);
    service_restart(&s, NULL);
    assert_int_equal(run(&s, plain).launches, 2);
    service_clear(&s);
}

static void words_that_are_none(void **state)
{
    static const char *const wrong[] = {"cut",
                                        "cut=x",
                                        "cut=-1",
                                        "bands=0",
                                        "bands=yes",
                                        "recompute=yes",
                                        "items=0",
                                        "items=1x",
                                        " ",
                                        "cut=1 ",
                                        "cut=1  cut=2",
                                        "colour=red",
                                        "cut=99999999999999999999999999999999"};
    struct service s;
    (void)state;
    service_start(&s, NULL);
    fusion_session *session = service_connect(&s);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        fusion_buffer *out;
        fusion_exec *exec;
        const struct asked a = {.mode = FUSION_ENABLE, .tuning = wrong[i], .keep = true};
        assert_int_equal(finalize(session, &a, &out, &exec), FUSION_INVALID);
        assert_string_equal(fusion_last_error()->object, "tuning");
    }
    char many[2000] = "";
    for (int i = 0; i < 300; i++) snprintf(many + strlen(many), sizeof many - strlen(many), "%scut=1", i ? " " : "");
    fusion_buffer *out;
    fusion_exec *exec;
    assert_int_equal(finalize(session, &(struct asked){.mode = FUSION_ENABLE, .tuning = many}, &out, &exec),
                     FUSION_INVALID);
    fusion_disconnect(session);
    assert_int_equal(run(&s, plain).launches, 1); /* none was kept */
    service_clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_kept_is_found_again),
        cmocka_unit_test(it_outlives_the_daemon),
        cmocka_unit_test(words_that_are_none),
    };
    return cmocka_run_group_tests_name("tuning", tests, NULL, NULL);
}
