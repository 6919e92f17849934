/*
 * A client without memory: the n-th allocation of each call fails, for every n, once alone and once with all that come
 * after it. The call says so and has changed nothing, so the same call then succeeds; at the end the values are right.
 * The allocator is the test's own, so allocations of the C library on behalf of the client fail, too.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/service.h"

enum { SIZE = 64, SIDE = 8 };

static struct service service;
static long tested; /* failures that were made */

/* ---- the allocator ---- */

static struct {
    long left; /* allocations that succeed before the one that fails; -1: none fails */
    bool for_good, hit;
} plan = {.left = -1};

static bool fails(void)
{
    if (plan.left < 0) return false;
    if (plan.left > 0) {
        plan.left--;
        return false;
    }
    if (!plan.for_good) plan.left = -1;
    plan.hit = true;
    errno = ENOMEM;
    return true;
}

static void arm(long n, bool for_good)
{
    plan.left = n;
    plan.for_good = for_good;
    plan.hit = false;
}

/* Has one failed? */
static bool disarm(void)
{
    plan.left = -1;
    tested += plan.hit;
    return plan.hit;
}

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *p, size_t bytes);

void *malloc(size_t bytes)
{
    return fails() ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t n, size_t bytes)
{
    return fails() ? NULL : __libc_calloc(n, bytes);
}

void *realloc(void *p, size_t bytes)
{
    return fails() ? NULL : __libc_realloc(p, bytes);
}

/* A call that fails for each n, and then succeeds. Where it does without what it could not have, `again` makes room for
   the next try. */
#define EVERY(call, again)                                                                                             \
    do {                                                                                                               \
        bool hit_ = true;                                                                                              \
        for (long n_ = 0; hit_; n_++)                                                                                  \
            for (int for_good_ = 0; for_good_ < 2 && hit_; for_good_++) {                                              \
                arm(n_, for_good_);                                                                                    \
                fusion_status status_ = (call);                                                                        \
                hit_ = disarm();                                                                                       \
                fusion_status expected_ = hit_ && status_ ? FUSION_OUT_OF_MEMORY : FUSION_SUCCESS;                     \
                expect_status(status_, expected_, __FILE__, __LINE__);                                                 \
                if (hit_ && status_ == FUSION_SUCCESS) {                                                               \
                    again;                                                                                             \
                }                                                                                                      \
            }                                                                                                          \
    } while (0)
#define NOTHING (void)0
#define NEVER fail_msg("it succeeded without memory")

/* A call that cannot say that it failed. */
#define WITHOUT(call) (arm(0, true), (call), disarm())

/* ---- sessions ---- */

static void connecting(void **state)
{
    (void)state;
    fusion_session *s;
    EVERY(fusion_connect(service.socket, NULL, &s), fusion_disconnect(s));
    WITHOUT(fusion_disconnect(s));
}

static void starting_a_daemon(void **state)
{
    (void)state;
    fusion_session *s;
    fusion_connect_options options = {.private_daemon = true};
    EVERY(fusion_connect(NULL, &options, &s), fusion_disconnect(s));
    WITHOUT(fusion_disconnect(s));
}

static void queries(void **state)
{
    (void)state;
    fusion_session *s = service_connect(&service);
    fusion_device_info info = {FUSION_SIZED(fusion_device_info)};
    uint32_t count;
    char *text;
    EVERY(fusion_device_count(s, &count), NOTHING);
    EVERY(fusion_device_get(s, 0, &info), NOTHING);
    assert_string_equal(info.name, "cpu");
    EVERY(fusion_session_status(s, &text), free(text));
    assert_int_equal(text[strlen(text) - 1], '}');
    free(text);
    fusion_disconnect(s);
}

static void modules(void **state)
{
    (void)state;
    fusion_session *s = service_connect(&service);
    fusion_module *m, *linked;
    fusion_kernel_device_info info = {FUSION_SIZED(fusion_kernel_device_info)};
    char *text, path[128];
    snprintf(path, sizeof path, "%s/kernels.fk", service.folder);
    FILE *f = fopen(path, "w");
    fputs(test_kernels, f);
    fclose(f);
    EVERY(fusion_module_load_file(s, path, &m), fusion_module_destroy(m));
    EVERY(fusion_module_link(s, "linked", &m, 1, &linked), fusion_module_destroy(linked));
    assert_string_equal(fusion_module_kernel(linked, 0)->name, fusion_module_kernel(m, 0)->name);
    EVERY(fusion_module_text(linked, &text), free(text));
    assert_non_null(strstr(text, "kernel @scale"));
    free(text);
    EVERY(fusion_kernel_device_get(m, "scale", NULL, &info), NOTHING);
    WITHOUT(fusion_module_destroy(linked));
    WITHOUT(fusion_module_destroy(m));
    fusion_disconnect(s);
}

/* ---- graphs ---- */

struct client {
    fusion_session *session;
    fusion_module *module;
    fusion_buffer *in, *twice, *tmp, *out, *other, *sum, *filled;
    int *usm, *x;
    fusion_image *image;
    fusion_graph *graph;
    int host[SIZE];
};

static void add_one(void *data)
{
    struct client *c = data;
    for (int i = 0; i < SIZE; i++) c->usm[i]++;
}

static void take_one(struct client *c)
{
    for (int i = 0; i < SIZE; i++) c->usm[i]--;
}

static void make_buffer(struct client *c, const char *name, fusion_buffer **buffer)
{
    EVERY(fusion_buffer_create(c->session, name, FUSION_I32, SIZE, 0, buffer), fusion_buffer_destroy(*buffer));
}

static void make_memory(struct client *c)
{
    fusion_session *s = c->session;
    fusion_image_desc desc = {
        .width = SIDE, .height = SIDE, .channel_order = FUSION_CHANNEL_R, .channel_type = FUSION_UNSIGNED_INT32};
    int *twice;
    make_buffer(c, "in", &c->in);
    make_buffer(c, "twice", &c->twice);
    make_buffer(c, "tmp", &c->tmp);
    make_buffer(c, NULL, &c->out);
    make_buffer(c, "other", &c->other);
    make_buffer(c, "sum", &c->sum);
    make_buffer(c, "filled", &c->filled);
    EVERY(fusion_malloc(s, FUSION_USM_SHARED, sizeof(int) * SIZE, (void **)&c->usm), fusion_free(s, c->usm));
    EVERY(fusion_image_create(s, "image", &desc, &c->image), fusion_image_destroy(c->image));
    EVERY(fusion_buffer_map(c->in, (void **)&c->x), NOTHING);
    EVERY(fusion_buffer_map(c->twice, (void **)&twice), NOTHING);
    for (int i = 0; i < SIZE; i++) {
        c->host[i] = c->x[i] = i;
        twice[i] = 2 * i;
    }
    EVERY(fusion_image_write(c->image, NULL, c->host, 0), NOTHING);
}

/* sum = out + other */
static void add_inner_graph(struct client *c, fusion_node expected)
{
    fusion_graph *inner;
    fusion_node node;
    fusion_finalize_options options = {.mode = FUSION_ENABLE};
    EVERY(fusion_graph_create(c->session, &inner), fusion_graph_destroy(inner));
    fusion_arg args[] = {fusion_arg_read(c->out), fusion_arg_read(c->other), fusion_arg_write(c->sum)};
    fusion_kernel_node kernel = {
        .module = c->module, .kernel = "add", .dims = 1, .global = {SIZE}, .n_args = 3, .args = args};
    EVERY(fusion_graph_add_kernel(inner, &kernel, &node), NEVER);
    EVERY(fusion_graph_add_graph(c->graph, NULL, inner, &options, NULL, 0, &node), NEVER);
    assert_int_equal(node, expected);
    fusion_graph_destroy(inner);
}

/* tmp = 3 * in, out = tmp; the image's first pixel = 5, other = image; usm = host, then + 1; filled = 7. */
static void make_graph(struct client *c)
{
    static const int five[4] = {5}, seven = 7;
    static const fusion_region corner = {.width = 1, .height = 1};
    fusion_node node;
    fusion_arg args[] = {fusion_arg_read(c->in), fusion_arg_write(c->tmp), fusion_arg_i32(3)};
    fusion_kernel_node kernel = {
        .module = c->module, .kernel = "scale", .dims = 1, .global = {SIZE}, .n_args = 3, .args = args};
    fusion_memory tmp = {.buffer = c->tmp}, out = {.buffer = c->out}, usm = {.pointer = c->usm},
                  host = {.host = c->host}, filled = {.buffer = c->filled};
    fusion_pixels pixels = {.image = c->image}, other = {.memory = {.buffer = c->other}};
    fusion_arg all = fusion_arg_pointer(c->usm, FUSION_ACCESS_READ_WRITE, 0);
    EVERY(fusion_graph_create(c->session, &c->graph), fusion_graph_destroy(c->graph));
    fusion_graph *g = c->graph;
    EVERY(fusion_graph_add_kernel(g, &kernel, &node), NEVER);
    assert_int_equal(node, 0);
    EVERY(fusion_graph_add_copy(g, "second", tmp, out, sizeof(int) * SIZE, &node, 1, &node), NEVER);
    EVERY(fusion_graph_add_fill_image(g, NULL, c->image, &corner, five, NULL, 0, &node), NEVER);
    EVERY(fusion_graph_add_copy_pixels(g, NULL, pixels, other, SIDE, SIDE, NULL, 0, &node), NEVER);
    EVERY(fusion_graph_add_copy(g, NULL, host, usm, sizeof(int) * SIZE, NULL, 0, &node), NEVER);
    EVERY(fusion_graph_add_host_task(g, NULL, &all, 1, add_one, c, NULL, 0, &node), NEVER);
    EVERY(fusion_graph_add_fill(g, "last", filled, sizeof(int) * SIZE, &seven, 4, NULL, 0, &node), NEVER);
    assert_int_equal(node, 6);
    add_inner_graph(c, 7);
}

static const int *values(fusion_buffer *buffer)
{
    void *memory;
    EVERY(fusion_buffer_map(buffer, &memory), NOTHING);
    return memory;
}

/* factor: of all that comes from the first buffer. */
static void expect_values(struct client *c, int factor)
{
    const int *out = values(c->out), *other = values(c->other), *sum = values(c->sum), *filled = values(c->filled);
    for (int i = 0; i < SIZE; i++) {
        assert_int_equal(out[i], factor * i);
        assert_int_equal(other[i], i ? i : 5);
        assert_int_equal(sum[i], out[i] + other[i]);
        assert_int_equal(filled[i], 7);
        assert_int_equal(c->usm[i], i + 1);
    }
}

static void run(struct client *c, fusion_exec *exec, const fusion_rebind *rebind, uint32_t n)
{
    fusion_event event;
    EVERY(fusion_exec_submit(exec, rebind, n, &event), NOTHING);
    EVERY(fusion_event_wait(c->session, event, -1, NULL), NOTHING);
}

static void finalize_and_run(struct client *c, fusion_mode mode)
{
    fusion_exec *exec;
    char *dot;
    int five = 5;
    fusion_finalize_options options = {.mode = mode, .keep_ir = true};
    fusion_rebind rebind[] = {{.from = c->in, .to = c->twice}, {.node = 0, .arg = 2, .value = &five, .value_bytes = 4}};
    EVERY(fusion_graph_finalize(c->graph, &options, &exec), fusion_exec_destroy(exec));
    assert_string_equal(fusion_exec_node_name(exec, 1), "second");
    assert_int_equal(fusion_exec_report(exec)->n_order, 8);
    assert_true(fusion_exec_report(exec)->launches > 0);
    EVERY(fusion_exec_dot(exec, &dot), free(dot));
    assert_non_null(strstr(dot, "second"));
    free(dot);
    run(c, exec, NULL, 0);
    expect_values(c, 3);
    run(c, exec, rebind, 2);
    expect_values(c, 10);
    WITHOUT(fusion_exec_destroy(exec));
}

static void open_client(struct client *c)
{
    *c = (struct client){.session = service_connect(&service)};
    EVERY(fusion_module_load(c->session, "kernels", test_kernels, strlen(test_kernels), &c->module),
          fusion_module_destroy(c->module));
    make_memory(c);
}

static void graphs(void **state)
{
    (void)state;
    struct client c;
    open_client(&c);
    make_graph(&c);
    finalize_and_run(&c, FUSION_NONE);
    finalize_and_run(&c, FUSION_ENABLE);
    WITHOUT(fusion_graph_destroy(c.graph));
    WITHOUT(fusion_image_destroy(c.image));
    WITHOUT(fusion_buffer_destroy(c.tmp));
    WITHOUT(fusion_free(c.session, c.usm));
    make_buffer(&c, "tmp", &c.tmp);
    assert_int_equal(values(c.tmp)[SIZE - 1], 0);
    WITHOUT(fusion_disconnect(c.session));
}

/* ---- queues ---- */

static void queue_commands(struct client *c, fusion_queue *queue, fusion_event *last)
{
    static const int seven = 7;
    fusion_arg args[] = {fusion_arg_read(c->in), fusion_arg_write(c->tmp), fusion_arg_i32(3)};
    fusion_kernel_node kernel = {
        .module = c->module, .kernel = "scale", .dims = 1, .global = {SIZE}, .n_args = 3, .args = args};
    fusion_memory tmp = {.buffer = c->tmp}, out = {.buffer = c->out}, host = {.host = c->host},
                  usm = {.pointer = c->usm};
    fusion_memory filled = {.buffer = c->filled};
    EVERY(fusion_queue_submit(queue, &kernel, last), NOTHING);
    EVERY(fusion_queue_depends_on(queue, last, 1), NOTHING);
    EVERY(fusion_queue_copy(queue, tmp, out, sizeof(int) * SIZE, last), NOTHING);
    EVERY(fusion_queue_fill(queue, filled, sizeof(int) * SIZE, &seven, 4, last), NOTHING);
    EVERY(fusion_queue_copy(queue, host, usm, sizeof(int) * SIZE, last), NOTHING);
    EVERY(fusion_queue_host_task(queue, NULL, 0, add_one, c, last), take_one(c));
}

static void expect_queue_values(struct client *c)
{
    const int *out = values(c->out), *filled = values(c->filled);
    for (int i = 0; i < SIZE; i++) {
        assert_int_equal(out[i], 3 * i);
        assert_int_equal(filled[i], 7);
        assert_int_equal(c->usm[i], i + 1);
    }
}

static void queues(void **state)
{
    (void)state;
    struct client c;
    fusion_queue *queue;
    fusion_event last;
    open_client(&c);
    EVERY(fusion_queue_create(c.session, &queue), fusion_queue_destroy(queue));
    queue_commands(&c, queue, &last);
    EVERY(fusion_queue_wait(queue), NOTHING);
    expect_queue_values(&c);
    WITHOUT(fusion_queue_destroy(queue));
    fusion_disconnect(c.session);
}

/* Two graphs at once, of which the second has to wait for the first. */
static void recordings(void **state)
{
    (void)state;
    struct client c;
    fusion_queue *queue, *second;
    fusion_graph *graph, *later;
    fusion_exec *exec, *later_exec;
    fusion_event last, event;
    fusion_arg args[] = {{0}, {0}, fusion_arg_i32(2)};
    fusion_kernel_node kernel = {.kernel = "scale", .dims = 1, .global = {SIZE}, .n_args = 3, .args = args};
    open_client(&c);
    kernel.module = c.module;
    args[0] = fusion_arg_read(c.out);
    args[1] = fusion_arg_write(c.other);
    expect_ok(fusion_queue_create(c.session, &queue));
    expect_ok(fusion_queue_create(c.session, &second));
    expect_ok(fusion_graph_create(c.session, &graph));
    expect_ok(fusion_graph_create(c.session, &later));
    EVERY(fusion_graph_begin_recording(graph, queue), NEVER);
    EVERY(fusion_graph_begin_recording(later, second), NEVER);
    queue_commands(&c, queue, &last);
    EVERY(fusion_queue_depends_on(second, &last, 1), NEVER);
    EVERY(fusion_queue_submit(second, &kernel, &event), NEVER);
    WITHOUT(fusion_graph_end_recording(graph));
    WITHOUT(fusion_graph_end_recording(later));
    expect_ok(fusion_graph_finalize(graph, NULL, &exec));
    expect_ok(fusion_graph_finalize(later, NULL, &later_exec));
    expect_error(fusion_exec_submit(later_exec, NULL, 0, NULL), FUSION_INVALID);
    EVERY(fusion_exec_submit(exec, NULL, 0, NULL), NOTHING);
    EVERY(fusion_exec_submit(later_exec, NULL, 0, NULL), NOTHING);
    EVERY(fusion_event_wait(c.session, event, -1, NULL), NOTHING);
    expect_queue_values(&c);
    for (int i = 0; i < SIZE; i++) assert_int_equal(values(c.other)[i], 6 * i);
    fusion_disconnect(c.session);
}

/* ---- running ---- */

static int start(void **state)
{
    (void)state;
    service_start(&service, NULL);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    print_message("# %ld failed allocations\n", tested);
    service_clear(&service);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(connecting), cmocka_unit_test(starting_a_daemon),
                                       cmocka_unit_test(queries),    cmocka_unit_test(modules),
                                       cmocka_unit_test(graphs),     cmocka_unit_test(queues),
                                       cmocka_unit_test(recordings)};
    return cmocka_run_group_tests(tests, start, stop);
}
