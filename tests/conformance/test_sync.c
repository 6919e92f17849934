/* What happens to a recording, and to its events, when the program synchronizes in the middle of it. */
#include "tests/conformance/kit.h"

/* in * 2 -> tmp, tmp * 3 -> out, recorded by a queue up to the moment that a test is about. */
struct recorded {
    fusion_queue *queue;
    fusion_buffer *in, *tmp, *out;
    fusion_event events[2];
};

static void submit(struct kit *k, fusion_queue *queue, fusion_buffer *from, fusion_buffer *to, int factor,
                   fusion_event *event)
{
    fusion_arg args[] = {fusion_arg_read(from), fusion_arg_write(to), fusion_arg_i32(factor)};
    fusion_kernel_node node = {
        .module = k->module, .kernel = "scale", .dims = 1, .global = {SIZE}, .args = args, .n_args = 3};
    expect_ok(fusion_queue_submit(queue, &node, event));
}

static struct recorded record(struct kit *k)
{
    struct recorded r = {.in = kit_ramp(k, "in", SIZE, 1, 0),
                         .tmp = kit_buffer(k, "tmp", SIZE, kit_private),
                         .out = kit_buffer(k, "out", SIZE, 0)};
    expect_ok(fusion_queue_create(k->session, &r.queue));
    expect_ok(fusion_graph_begin_recording(k->graph, r.queue));
    submit(k, r.queue, r.in, r.tmp, 2, &r.events[0]);
    submit(k, r.queue, r.tmp, r.out, 3, &r.events[1]);
    return r;
}

static void expect_values(fusion_buffer *buffer, int factor)
{
    for (int i = 0; i < SIZE; i++) assert_int_equal(kit_map(buffer)[i], factor * i);
}

static void expect_fused(struct kit *k, const struct recorded *r)
{
    kit_run(k, FUSION_REQUIRE);
    kit_expect_launches(k, 1);
    kit_expect_internalized(k, "tmp:private");
    expect_values(r->out, 6);
}

static void device_info_descriptor(struct kit *k)
{
    uint32_t n;
    expect_ok(fusion_device_count(k->session, &n));
    for (uint32_t i = 0; i < n; i++) {
        fusion_device_info info = {FUSION_SIZED(fusion_device_info)};
        expect_ok(fusion_device_get(k->session, i, &info));
        if (strcmp(info.name, k->device) == 0) {
            assert_non_null(strstr(info.aspects, "ext_oneapi_graph_fusion"));
            return;
        }
    }
    fail_msg("no device %s", k->device);
}

/* complete_fusion: what was recorded becomes one launch. */
static void complete_fusion(struct kit *k)
{
    struct recorded r = record(k);
    expect_values(r.out, 0); /* nothing has run yet */
    expect_ok(fusion_graph_end_recording(k->graph));
    expect_fused(k, &r);
}

/* cancel_fusion: the same commands run one by one, and every buffer has its contents. */
static void cancel_fusion(struct kit *k)
{
    struct recorded r = record(k);
    expect_ok(fusion_graph_end_recording(k->graph));
    kit_run(k, FUSION_NONE);
    kit_expect_launches(k, 2);
    kit_expect_internalized(k, "");
    expect_values(r.tmp, 2);
    expect_values(r.out, 6);
}

/* Events of recorded commands: nothing to wait for before, and the submission afterwards. */
static void expect_events(struct kit *k, fusion_mode mode)
{
    struct recorded r = record(k);
    for (int i = 0; i < 2; i++) {
        fusion_node node = 99;
        assert_true(fusion_event_node(r.events[i], &node));
        assert_int_equal(node, i);
        expect_error(fusion_event_wait(k->session, r.events[i], 1000, NULL), FUSION_INVALID);
        expect_in_reason("not submitted yet");
        expect_error(fusion_event_poll(k->session, r.events[i]), FUSION_INVALID);
    }
    expect_ok(fusion_graph_end_recording(k->graph));
    kit_finalize(k, mode);
    fusion_event event;
    expect_ok(fusion_exec_submit(k->exec, NULL, 0, &event));
    for (int i = 0; i < 2; i++) expect_ok(fusion_event_wait(k->session, r.events[i], 20000, NULL));
    expect_ok(fusion_event_poll(k->session, r.events[1]));
    expect_ok(fusion_event_wait(k->session, event, 20000, NULL));
    expect_values(r.out, 6);
}

static void event_wait_complete(struct kit *k)
{
    expect_events(k, FUSION_REQUIRE);
}

static void event_wait_cancel(struct kit *k)
{
    expect_events(k, FUSION_NONE);
}

/* ---- each kind of synchronization in the middle: refused or served, and the recording goes on ---- */

static void sync_queue_wait(struct kit *k)
{
    struct recorded r = record(k);
    expect_error(fusion_queue_wait(r.queue), FUSION_INVALID);
    expect_in_reason("records");
    expect_ok(fusion_graph_end_recording(k->graph));
    expect_ok(fusion_queue_wait(r.queue));
    expect_fused(k, &r);
}

static void sync_event_wait(struct kit *k)
{
    struct recorded r = record(k);
    expect_error(fusion_event_wait(k->session, r.events[0], -1, NULL), FUSION_INVALID);
    expect_ok(fusion_graph_end_recording(k->graph));
    expect_fused(k, &r);
}

/* The host sees what was before the recording; what it writes is what the graph reads when it runs. */
static void sync_host_accessor(struct kit *k)
{
    struct recorded r = record(k);
    int *in = kit_map(r.in);
    assert_int_equal(in[5], 5);
    for (int i = 0; i < SIZE; i++) in[i] = 10 * i;
    expect_ok(fusion_graph_end_recording(k->graph));
    kit_run(k, FUSION_REQUIRE);
    expect_values(r.out, 60);
}

static void sync_buffer_destruction(struct kit *k)
{
    struct recorded r = record(k);
    fusion_buffer_destroy(r.in);
    expect_ok(fusion_graph_end_recording(k->graph));
    kit_finalize(k, FUSION_REQUIRE);
    expect_error(fusion_exec_submit(k->exec, NULL, 0, NULL), FUSION_NOT_FOUND);
    expect_in_reason("destroyed");
    expect_values(r.out, 0);
}

static void touch(void *data)
{
    *(bool *)data = true;
}

/* A host task becomes a node: between the kernels it ends the group, and the order is kept. */
static void sync_host_task(struct kit *k)
{
    bool touched = false;
    struct recorded r = record(k);
    fusion_arg arg = fusion_arg_read(r.out);
    expect_ok(fusion_queue_host_task(r.queue, &arg, 1, touch, &touched, NULL));
    submit(k, r.queue, r.in, r.out, 7, NULL);
    assert_false(touched);
    expect_ok(fusion_graph_end_recording(k->graph));
    kit_expect_finalize_error(k, FUSION_REQUIRE, FUSION_KERNEL_NOT_SUPPORTED, "host");
    kit_run(k, FUSION_ENABLE);
    kit_expect_launches(k, 2);
    kit_expect_internalized(k, "tmp:private");
    assert_true(touched);
    expect_values(r.out, 7);
    /* A queue that does not record runs it at once. */
    touched = false;
    expect_ok(fusion_queue_host_task(r.queue, NULL, 0, touch, &touched, NULL));
    assert_true(touched);
}

/* Memory operations on a buffer of the recording, by the same queue and by another one. */
static void sync_acc_mem_op(struct kit *k)
{
    struct recorded r = record(k);
    fusion_queue *other;
    int32_t one = 1;
    fusion_buffer *copy = kit_buffer(k, "copy", SIZE, 0);
    fusion_memory in = {.buffer = r.in}, out = {.buffer = r.out}, to = {.buffer = copy};
    expect_ok(fusion_queue_create(k->session, &other));
    expect_ok(fusion_queue_copy(other, in, to, SIZE * 4, NULL)); /* at once */
    expect_ok(fusion_queue_wait(other));
    expect_values(copy, 1);
    expect_ok(fusion_queue_fill(r.queue, in, SIZE * 4, &one, 4, NULL)); /* recorded */
    expect_ok(fusion_queue_copy(r.queue, out, to, SIZE * 4, NULL));
    expect_values(r.in, 1);
    expect_ok(fusion_graph_end_recording(k->graph));
    kit_run(k, FUSION_REQUIRE);
    kit_expect_launches(k, 1);
    expect_values(copy, 6);
    for (int i = 0; i < SIZE; i++) assert_int_equal(kit_map(r.in)[i], 1);
}

static void sync_usm_mem_op(struct kit *k)
{
    void *a, *b;
    expect_ok(fusion_malloc(k->session, FUSION_USM_SHARED, SIZE * 4, &a));
    expect_ok(fusion_malloc(k->session, FUSION_USM_SHARED, SIZE * 4, &b));
    for (int i = 0; i < SIZE; i++) ((int *)a)[i] = i;
    struct recorded r = record(k);
    expect_ok(fusion_queue_copy(r.queue, (fusion_memory){.pointer = a}, (fusion_memory){.pointer = b}, SIZE * 4, NULL));
    assert_int_equal(((int *)b)[9], 0);
    expect_ok(fusion_graph_end_recording(k->graph));
    expect_fused(k, &r);
    assert_int_equal(((int *)b)[9], 9);
}

static void sync_queue_destruction(struct kit *k)
{
    struct recorded r = record(k);
    fusion_queue_destroy(r.queue);
    expect_error(fusion_graph_end_recording(k->graph), FUSION_INVALID); /* it ended with the queue */
    expect_fused(k, &r);
}

/* Another queue that does not record: its kernel runs now, before anything that was recorded. */
static void sync_second_queue(struct kit *k)
{
    struct recorded r = record(k);
    fusion_queue *other;
    fusion_event event;
    expect_ok(fusion_queue_create(k->session, &other));
    submit(k, other, r.in, r.out, -1, &event);
    expect_ok(fusion_event_wait(k->session, event, 20000, NULL));
    expect_values(r.out, -1);
    /* It cannot wait for what was recorded and not submitted. */
    expect_error(fusion_queue_depends_on(other, &r.events[1], 1), FUSION_INVALID);
    expect_ok(fusion_graph_end_recording(k->graph));
    expect_fused(k, &r);
    expect_ok(fusion_queue_depends_on(other, &r.events[1], 1));
    submit(k, other, r.out, r.in, 1, NULL);
    expect_ok(fusion_queue_wait(other));
    expect_values(r.in, 6);
}

/* ---- several queues ---- */

/* Two queues into one graph; an event of one is what the other waits for, without any buffer in common. */
static void two_queues_one_graph(struct kit *k)
{
    struct recorded r = record(k);
    fusion_queue *other;
    fusion_buffer *a = kit_ramp(k, "a", SIZE, 1, 0), *b = kit_buffer(k, "b", SIZE, 0);
    expect_ok(fusion_queue_create(k->session, &other));
    expect_ok(fusion_graph_begin_recording(k->graph, other));
    expect_error(fusion_graph_begin_recording(k->graph, other), FUSION_BUSY);
    expect_ok(fusion_queue_depends_on(other, &r.events[1], 1));
    fusion_event event;
    submit(k, other, a, b, 4, &event);
    fusion_node node;
    assert_true(fusion_event_node(event, &node));
    assert_int_equal(node, 2);
    fusion_exec *exec;
    fusion_queue_destroy(r.queue); /* the other one goes on */
    expect_error(fusion_graph_finalize(k->graph, NULL, &exec), FUSION_BUSY);
    expect_ok(fusion_graph_end_recording(k->graph));
    const fusion_report *report = kit_run(k, FUSION_REQUIRE);
    kit_expect_launches(k, 1);
    assert_int_equal(report->n_order, 3);
    assert_int_equal(report->order[2], 2);
    expect_values(b, 4);
    expect_values(r.out, 6);
}

struct pair {
    fusion_graph *graphs[2];
    fusion_queue *queues[2];
};

static struct pair two_recordings(struct kit *k)
{
    struct pair p;
    for (int i = 0; i < 2; i++) {
        expect_ok(fusion_graph_create(k->session, &p.graphs[i]));
        expect_ok(fusion_queue_create(k->session, &p.queues[i]));
        expect_ok(fusion_graph_begin_recording(p.graphs[i], p.queues[i]));
    }
    return p;
}

static fusion_exec *finish(struct kit *k, fusion_graph *graph)
{
    fusion_exec *exec = NULL;
    expect_ok(fusion_graph_end_recording(graph));
    expect_ok(
        fusion_graph_finalize(graph, &(fusion_finalize_options){.mode = FUSION_REQUIRE, .device = k->device}, &exec));
    return exec;
}

/* Submitting the second graph before the first is refused; in the other order both are right. */
static void expect_order(struct kit *k, struct pair *p)
{
    fusion_event event;
    fusion_exec *first = finish(k, p->graphs[0]), *second = finish(k, p->graphs[1]);
    expect_error(fusion_exec_submit(second, NULL, 0, NULL), FUSION_INVALID);
    expect_in_reason("has not been submitted yet");
    expect_ok(fusion_exec_submit(first, NULL, 0, NULL));
    expect_ok(fusion_exec_submit(second, NULL, 0, &event));
    expect_ok(fusion_event_wait(k->session, event, 20000, NULL));
}

static void sync_two_queues_event_dep(struct kit *k)
{
    struct pair p = two_recordings(k);
    fusion_buffer *in = kit_ramp(k, "in", SIZE, 1, 0), *a = kit_buffer(k, "a", SIZE, 0),
                  *b = kit_buffer(k, "b", SIZE, 0);
    fusion_event first, second;
    submit(k, p.queues[0], in, a, 2, &first);
    expect_ok(fusion_queue_depends_on(p.queues[1], &first, 1));
    submit(k, p.queues[1], in, b, 3, &second);
    /* The other way round as well would be a circle. */
    expect_error(fusion_queue_depends_on(p.queues[0], &second, 1), FUSION_INVALID);
    expect_in_reason("circle");
    expect_order(k, &p);
    expect_values(a, 2);
    expect_values(b, 3);
}

static void sync_two_queues_requirement(struct kit *k)
{
    struct pair p = two_recordings(k);
    fusion_buffer *in = kit_ramp(k, "in", SIZE, 1, 0), *mid = kit_buffer(k, "mid", SIZE, 0),
                  *out = kit_buffer(k, "out", SIZE, 0), *back = kit_buffer(k, "back", SIZE, 0);
    submit(k, p.queues[0], in, mid, 2, NULL);
    submit(k, p.queues[1], mid, out, 3, NULL); /* reads what the first graph writes */
    fusion_arg args[] = {fusion_arg_read(out), fusion_arg_write(back), fusion_arg_i32(5)};
    fusion_kernel_node node = {
        .module = k->module, .kernel = "scale", .dims = 1, .global = {SIZE}, .args = args, .n_args = 3};
    expect_error(fusion_queue_submit(p.queues[0], &node, NULL), FUSION_INVALID);
    expect_in_reason("circle");
    expect_order(k, &p); /* the command that was refused is not in it */
    expect_values(out, 6);
    expect_values(back, 0);
}

/* The same with memory of this process, by a queue that does not record: it has happened when the call returns. */
static void copies_at_once(struct kit *k)
{
    enum { WIDE = 16, ROWS = SIZE / WIDE, HALF = WIDE / 2 };
    static int given[SIZE], got[ROWS][HALF];
    fusion_queue *queue;
    fusion_buffer *a = kit_buffer(k, "a", SIZE, 0), *b = kit_buffer(k, "b", SIZE, 0);
    for (int i = 0; i < SIZE; i++) given[i] = 3 * i;
    expect_ok(fusion_queue_create(k->session, &queue));
    expect_ok(
        fusion_queue_copy(queue, (fusion_memory){.host = given}, (fusion_memory){.buffer = a}, sizeof given, NULL));
    submit(k, queue, a, b, 2, NULL);
    expect_ok(fusion_queue_copy_2d(queue, (fusion_memory){.buffer = b, .offset = HALF * 4}, WIDE * 4,
                                   (fusion_memory){.host = got}, HALF * 4, HALF * 4, ROWS, NULL));
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < HALF; x++) assert_int_equal(got[y][x], 6 * (y * WIDE + HALF + x));
    expect_error(fusion_queue_copy(queue, (fusion_memory){.host = given}, (fusion_memory){.host = got}, 4, NULL),
                 FUSION_INVALID);
}

/* queue-shortcut-functions: fill, copy and kernels without a node being built, before, between and behind. */
static void queue_shortcut_functions(struct kit *k)
{
    fusion_queue *queue;
    int32_t four = 4, zero = 0;
    fusion_buffer *in = kit_buffer(k, "in", SIZE, 0), *a = kit_buffer(k, "a", SIZE, 0),
                  *b = kit_buffer(k, "b", SIZE, 0), *out = kit_buffer(k, "out", SIZE, 0);
    expect_ok(fusion_queue_create(k->session, &queue));
    for (int place = 0; place < 2; place++) {
        kit_new_graph(k);
        memset(kit_map(in), 0, SIZE * 4);
        expect_ok(fusion_graph_begin_recording(k->graph, queue));
        expect_ok(fusion_queue_fill(queue, (fusion_memory){.buffer = in}, SIZE * 4, &four, 4, NULL));
        submit(k, queue, in, a, 2, NULL);
        if (place == 1) /* in the middle: a part of the launch */
            expect_ok(
                fusion_queue_copy(queue, (fusion_memory){.buffer = a}, (fusion_memory){.buffer = b}, SIZE * 4, NULL));
        submit(k, queue, place == 1 ? b : a, out, 3, NULL);
        expect_ok(fusion_queue_fill(queue, (fusion_memory){.buffer = in}, SIZE * 4, &zero, 4, NULL));
        expect_ok(fusion_graph_end_recording(k->graph));
        kit_run(k, FUSION_ENABLE);
        kit_expect_launches(k, 1);
        for (int i = 0; i < SIZE; i++) assert_true(kit_map(out)[i] == 24 && kit_map(in)[i] == 0);
    }
}

ON_DEVICES(device_info_descriptor)
ON_DEVICES(complete_fusion)
ON_DEVICES(cancel_fusion)
ON_DEVICES(event_wait_complete)
ON_DEVICES(event_wait_cancel)
ON_DEVICES(sync_queue_wait)
ON_DEVICES(sync_event_wait)
ON_DEVICES(sync_host_accessor)
ON_DEVICES(sync_buffer_destruction)
ON_DEVICES(sync_host_task)
ON_DEVICES(sync_acc_mem_op)
ON_DEVICES(sync_usm_mem_op)
ON_DEVICES(sync_queue_destruction)
ON_DEVICES(sync_second_queue)
ON_DEVICES(two_queues_one_graph)
ON_DEVICES(sync_two_queues_event_dep)
ON_DEVICES(sync_two_queues_requirement)
ON_DEVICES(copies_at_once)
ON_DEVICES(queue_shortcut_functions)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_device_info_descriptor),
        cmocka_unit_test(test_complete_fusion),
        cmocka_unit_test(test_cancel_fusion),
        cmocka_unit_test(test_event_wait_complete),
        cmocka_unit_test(test_event_wait_cancel),
        cmocka_unit_test(test_sync_queue_wait),
        cmocka_unit_test(test_sync_event_wait),
        cmocka_unit_test(test_sync_host_accessor),
        cmocka_unit_test(test_sync_buffer_destruction),
        cmocka_unit_test(test_sync_host_task),
        cmocka_unit_test(test_sync_acc_mem_op),
        cmocka_unit_test(test_sync_usm_mem_op),
        cmocka_unit_test(test_sync_queue_destruction),
        cmocka_unit_test(test_sync_second_queue),
        cmocka_unit_test(test_two_queues_one_graph),
        cmocka_unit_test(test_sync_two_queues_event_dep),
        cmocka_unit_test(test_sync_two_queues_requirement),
        cmocka_unit_test(test_copies_at_once),
        cmocka_unit_test(test_queue_shortcut_functions),
    };
    return cmocka_run_group_tests_name("conformance_sync", tests, kit_start, kit_stop);
}
