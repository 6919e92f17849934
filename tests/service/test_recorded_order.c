/* What a queue records runs as it would have run at once: also where no argument says that commands have to do with
   each other. Names are such that an order by name would be another one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/service.h"

enum { SIZE = 32, MOST_LOG = 4000, MANY = 12 };

static const char kernels[] =
    /* through the pointer in %t[0] */
    "kernel @z_put(%t: ptr.global i64 read, %v: i32) {\n  %i = global_id x\n  %p = load ptr.global %t\n"
    "  store i32 %p[%i], %v\n  return\n}\n"
    "kernel @a_get(%t: ptr.global i64 read, %o: ptr.global i32 write) {\n  %i = global_id x\n"
    "  %p = load ptr.global %t\n  %x = load i32 %p[%i]\n  store i32 %o[%i], %x\n  return\n}\n"
    /* through an argument */
    "kernel @a_copy(%b: ptr.global i32 read, %o: ptr.global i32 write) {\n  %i = global_id x\n  %x = load i32 %b[%i]\n"
    "  store i32 %o[%i], %x\n  return\n}\n"
    "kernel @a_set(%b: ptr.global i32 write, %v: i32) {\n  %i = global_id x\n  store i32 %b[%i], %v\n  return\n}\n"
    /* the address of a buffer goes into memory */
    "kernel @z_publish(%b: ptr.global i32 read_write, %t: ptr.global i64 write) {\n  store ptr.global %t, %b\n  "
    "return\n}\n";

static struct service service;

static int start(void **state)
{
    (void)state;
    service_start(&service, NULL);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    service_clear(&service);
    return 0;
}

/* What programs use, and what they leave. */
struct world {
    fusion_session *session;
    fusion_module *module;
    fusion_queue *queue;
    void **table;
    int *target;
    fusion_buffer *out[4], *hidden, *address;
    int *seen[4];
    int host[SIZE];
    char log[MOST_LOG];
};

static void open_world(struct world *w)
{
    void *memory;
    *w = (struct world){.session = service_connect(&service)};
    expect_ok(fusion_module_load(w->session, "order.fk", kernels, sizeof kernels - 1, &w->module));
    expect_ok(fusion_queue_create(w->session, &w->queue));
    expect_ok(fusion_malloc(w->session, FUSION_USM_SHARED, sizeof *w->table, (void **)&w->table));
    expect_ok(fusion_malloc(w->session, FUSION_USM_SHARED, SIZE * 4, (void **)&w->target));
    *w->table = w->target;
    for (int i = 0; i < 4; i++) {
        w->out[i] = index_buffer(w->session, NULL, SIZE, 0, 0);
        expect_ok(fusion_buffer_map(w->out[i], &memory));
        w->seen[i] = memory;
    }
    w->hidden = index_buffer(w->session, "hidden", SIZE, 1, 0);
    expect_ok(fusion_buffer_create(w->session, "address", FUSION_I64, 1, 0, &w->address));
}

static void submit(struct world *w, const char *kernel, const fusion_arg *args, uint32_t n)
{
    fusion_kernel_node node = {
        .module = w->module, .kernel = kernel, .dims = 1, .global = {SIZE}, .args = args, .n_args = n};
    expect_ok(fusion_queue_submit(w->queue, &node, NULL));
}

static fusion_arg usm(void *pointer, fusion_access access)
{
    return fusion_arg_pointer(pointer, access, 0);
}

static void put(struct world *w, int value)
{
    submit(w, "z_put", (fusion_arg[]){usm(w->table, FUSION_ACCESS_READ), fusion_arg_i32(value)}, 2);
}

static void get(struct world *w, int out)
{
    submit(w, "a_get", (fusion_arg[]){usm(w->table, FUSION_ACCESS_READ), fusion_arg_write(w->out[out])}, 2);
}

static void copy(struct world *w, int out)
{
    submit(w, "a_copy", (fusion_arg[]){usm(w->target, FUSION_ACCESS_READ), fusion_arg_write(w->out[out])}, 2);
}

static void set(struct world *w, int value)
{
    submit(w, "a_set", (fusion_arg[]){usm(w->target, FUSION_ACCESS_WRITE), fusion_arg_i32(value)}, 2);
}

/* ---- programs ---- */

static void put_then_read_the_argument(struct world *w)
{
    put(w, 5);
    copy(w, 0);
}

static void write_the_argument_then_get(struct world *w)
{
    set(w, 6);
    get(w, 0);
}

static void get_then_write_the_argument(struct world *w)
{
    set(w, 1);
    get(w, 0);
    set(w, 2);
    get(w, 1);
    set(w, 3);
}

static void put_then_get(struct world *w)
{
    put(w, 7);
    get(w, 0);
    put(w, 8);
    get(w, 1);
}

static void read_the_argument_then_put(struct world *w)
{
    set(w, 1);
    copy(w, 0);
    put(w, 9);
    copy(w, 1);
}

static void commands_and_pointers(struct world *w)
{
    int pattern = 11;
    expect_ok(fusion_queue_fill(w->queue, (fusion_memory){.pointer = w->target}, SIZE * 4, &pattern, 4, NULL));
    get(w, 0);
    put(w, 12);
    expect_ok(fusion_queue_copy(w->queue, (fusion_memory){.pointer = w->target}, (fusion_memory){.buffer = w->out[1]},
                                SIZE * 4, NULL));
    put(w, 13);
}

/* A buffer whose address a kernel has put into memory. */
static void published_buffer(struct world *w)
{
    fusion_arg publish[] = {fusion_arg_read_write(w->hidden), fusion_arg_write(w->address)};
    fusion_arg write[] = {fusion_arg_read(w->address), fusion_arg_i32(21)};
    fusion_arg look[] = {fusion_arg_read(w->hidden), fusion_arg_write(w->out[0])};
    submit(w, "z_publish", publish, 2);
    submit(w, "z_put", write, 2);
    submit(w, "a_copy", look, 2);
}

/* ---- host tasks ---- */

struct entry {
    struct world *world;
    char text[12];
    const int *look; /* what it notes besides */
};

static struct entry entries[2 * MANY];
static int n_entries;

static void note(void *data)
{
    const struct entry *e = data;
    size_t used = strlen(e->world->log);
    snprintf(e->world->log + used, MOST_LOG - used, "%s=%d ", e->text, e->look ? *e->look : 0);
}

static void host_task(struct world *w, const int *look, const fusion_arg *args, uint32_t n_args)
{
    struct entry *e = &entries[n_entries++];
    *e = (struct entry){.world = w, .look = look};
    snprintf(e->text, sizeof e->text, "%d", n_entries);
    expect_ok(fusion_queue_host_task(w->queue, args, n_args, note, e, NULL));
}

static void host_tasks_without_arguments(struct world *w)
{
    for (int i = 0; i < MANY; i++) host_task(w, NULL, NULL, 0);
}

/* They look at memory that they do not name. */
static void host_tasks_among_kernels(struct world *w)
{
    host_task(w, w->target, NULL, 0);
    set(w, 31);
    host_task(w, w->target, NULL, 0);
    put(w, 32);
    set(w, 33);
    host_task(w, w->target, NULL, 0);
    copy(w, 2);
}

static void host_tasks_with_and_without(struct world *w)
{
    fusion_arg look[] = {usm(w->target, FUSION_ACCESS_READ)}, other[] = {fusion_arg_read(w->out[3])};
    set(w, 41);
    host_task(w, w->target, look, 1);
    host_task(w, NULL, other, 1);
    set(w, 42);
    host_task(w, w->target, look, 1);
    host_task(w, NULL, other, 1);
}

/* Memory of the process that a copy fills and a function reads. */
static void copies_and_host_tasks(struct world *w)
{
    fusion_memory target = {.pointer = w->target}, host = {.host = w->host};
    fusion_arg other[] = {fusion_arg_read(w->out[3])};
    set(w, 51);
    expect_ok(fusion_queue_copy(w->queue, target, host, SIZE * 4, NULL));
    host_task(w, &w->host[3], other, 1);
    set(w, 52);
    expect_ok(fusion_queue_copy(w->queue, target, host, SIZE * 4, NULL));
    host_task(w, &w->host[3], other, 1);
}

/* ---- the comparison ---- */

typedef void program_fn(struct world *w);

static void run_at_once(struct world *w, program_fn *program)
{
    program(w);
    expect_ok(fusion_queue_wait(w->queue));
}

static void run_recorded(struct world *w, program_fn *program, fusion_mode mode)
{
    fusion_graph *graph;
    fusion_exec *exec;
    fusion_event event;
    expect_ok(fusion_graph_create(w->session, &graph));
    expect_ok(fusion_graph_begin_recording(graph, w->queue));
    program(w);
    expect_ok(fusion_graph_end_recording(graph));
    expect_ok(fusion_graph_finalize(graph, &(fusion_finalize_options){.mode = mode}, &exec));
    expect_ok(fusion_exec_submit(exec, NULL, 0, &event));
    expect_ok(fusion_event_wait(w->session, event, 20000, NULL));
}

static void expect_same(const struct world *a, const struct world *b, const char *what)
{
    for (int i = 0; i < 4; i++)
        if (memcmp(a->seen[i], b->seen[i], SIZE * 4))
            fail_msg("%s: buffer %d begins with %d at once, %d recorded", what, i, a->seen[i][0], b->seen[i][0]);
    if (memcmp(a->target, b->target, SIZE * 4))
        fail_msg("%s: the allocation begins with %d at once, %d recorded", what, a->target[0], b->target[0]);
    if (strcmp(a->log, b->log)) fail_msg("%s: host tasks ran as %s at once, %s recorded", what, a->log, b->log);
}

static void compare(program_fn *program, const char *what, bool require)
{
    struct world at_once;
    open_world(&at_once);
    n_entries = 0;
    run_at_once(&at_once, program);
    for (fusion_mode mode = FUSION_NONE; mode <= (require ? FUSION_REQUIRE : FUSION_ENABLE); mode++) {
        struct world recorded;
        open_world(&recorded);
        n_entries = 0;
        run_recorded(&recorded, program, mode);
        expect_same(&at_once, &recorded, what);
        fusion_disconnect(recorded.session);
    }
    fusion_disconnect(at_once.session);
}

static void test_pointers_in_memory(void **state)
{
    (void)state;
    compare(put_then_read_the_argument, "put, copy", true);
    compare(write_the_argument_then_get, "set, get", true);
    compare(get_then_write_the_argument, "set, get, set, get, set", true);
    compare(put_then_get, "put, get, put, get", true);
    compare(read_the_argument_then_put, "set, copy, put, copy", true);
    compare(commands_and_pointers, "fill, get, put, copy, put", false);
    compare(published_buffer, "publish, put, copy", false);
}

static void test_host_tasks(void **state)
{
    (void)state;
    compare(host_tasks_without_arguments, "host tasks without arguments", false);
    compare(host_tasks_among_kernels, "host tasks among kernels", false);
    compare(host_tasks_with_and_without, "host tasks with arguments", false);
    compare(copies_and_host_tasks, "copies and host tasks", false);
}

/* The order of a queue reaches over the end of its recording, and not to other queues. */
static void test_recording_goes_on(void **state)
{
    (void)state;
    struct world w;
    fusion_graph *graph;
    fusion_exec *exec;
    fusion_event event;
    open_world(&w);
    n_entries = 0;
    expect_ok(fusion_graph_create(w.session, &graph));
    for (int i = 0; i < MANY; i++) {
        expect_ok(fusion_graph_begin_recording(graph, w.queue));
        host_task(&w, NULL, NULL, 0);
        expect_ok(fusion_graph_end_recording(graph));
    }
    expect_ok(fusion_graph_finalize(graph, NULL, &exec));
    expect_ok(fusion_exec_submit(exec, NULL, 0, &event));
    assert_string_equal(w.log, "1=0 2=0 3=0 4=0 5=0 6=0 7=0 8=0 9=0 10=0 11=0 12=0 ");
    fusion_disconnect(w.session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pointers_in_memory),
        cmocka_unit_test(test_host_tasks),
        cmocka_unit_test(test_recording_goes_on),
    };
    return cmocka_run_group_tests_name("recorded order", tests, start, stop);
}
