/* Every kind of bad input: a clear error, and the daemon serves the next client. */
#include <errno.h>
#include <linux/futex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "client/exec/exec.h"
#include "client/module/state.h"
#include "client/session/request.h"
#include "proto/frame.h"
#include "proto/writer.h"
#include "tests/support/service.h"

enum { SIZE = 64 };

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

/* The point of every test here: somebody else is served as if nothing had happened. */
static void expect_service(void)
{
    fusion_session *session = service_connect(&service);
    fusion_module *module = load_test_kernels(session);
    fusion_graph *graph;
    fusion_buffer *in = index_buffer(session, "in", SIZE, 1, 0), *out = index_buffer(session, "out", SIZE, 0, 0);
    fusion_arg args[] = {fusion_arg_read(in), fusion_arg_write(out), fusion_arg_i32(11)};
    fusion_exec *exec;
    fusion_event event;
    void *memory;
    expect_ok(fusion_graph_create(session, &graph));
    add_node(graph, module, "scale", SIZE, args, 3);
    expect_ok(fusion_graph_finalize(graph, NULL, &exec));
    expect_ok(fusion_exec_submit(exec, NULL, 0, &event));
    expect_ok(fusion_event_wait(session, event, 20000, NULL));
    expect_ok(fusion_buffer_map(out, &memory));
    assert_int_equal(((int *)memory)[SIZE - 1], 11 * (SIZE - 1));
    fusion_disconnect(session);
}

/* A graph of one node; finalizing it must give the error. */
struct fixture {
    fusion_session *session;
    fusion_module *module;
    fusion_graph *graph;
    fusion_buffer *a, *b;
    fusion_exec *exec;
};

static void open_fixture(struct fixture *f)
{
    f->session = service_connect(&service);
    f->module = load_test_kernels(f->session);
    expect_ok(fusion_graph_create(f->session, &f->graph));
    f->a = index_buffer(f->session, "a", SIZE, 1, 0);
    f->b = index_buffer(f->session, "b", SIZE, 0, 0);
}

static void expect_finalize(struct fixture *f, const fusion_finalize_options *options, fusion_status expected)
{
    expect_error(fusion_graph_finalize(f->graph, options, &f->exec), expected);
}

/* Adding a node of the kernel must give the error, and leaves the graph as it was. */
static void expect_add(struct fixture *f, const char *kernel, const fusion_arg *args, uint32_t n,
                       fusion_status expected)
{
    fusion_kernel_node k = {
        .module = f->module, .kernel = kernel, .dims = 1, .global = {SIZE}, .args = args, .n_args = n};
    fusion_node node = 77;
    expect_error(fusion_graph_add_kernel(f->graph, &k, &node), expected);
    assert_int_equal(node, 77);
    fusion_error error = *fusion_last_error();
    fusion_arg good[] = {fusion_arg_read(f->a), fusion_arg_write(f->b), fusion_arg_i32(2)};
    assert_int_equal(add_node(f->graph, f->module, "scale", SIZE, good, 3), 0);
    fusion_graph_destroy(f->graph);
    expect_ok(fusion_graph_create(f->session, &f->graph));
    expect_error(fusion_graph_add_kernel(f->graph, &k, &node), expected); /* for who asks of its text */
    assert_string_equal(fusion_last_error()->reason, error.reason);
}

static void close_fixture(struct fixture *f)
{
    /* The session goes on after the error. */
    fusion_graph *graph;
    fusion_arg args[] = {fusion_arg_read(f->a), fusion_arg_write(f->b), fusion_arg_i32(2)};
    expect_ok(fusion_graph_create(f->session, &graph));
    add_node(graph, f->module, "scale", SIZE, args, 3);
    expect_ok(fusion_graph_finalize(graph, NULL, &f->exec));
    fusion_disconnect(f->session);
    expect_service();
}

static void test_unknown_kernel(void **state)
{
    (void)state;
    struct fixture f;
    open_fixture(&f);
    fusion_arg args[] = {fusion_arg_read(f.a), fusion_arg_write(f.b)};
    expect_add(&f, "no_such_kernel", args, 2, FUSION_NOT_FOUND);
    expect_in_reason("no_such_kernel");
    expect_in_reason("multiply"); /* what there is instead */
    close_fixture(&f);
}

static void test_too_few_arguments(void **state)
{
    (void)state;
    struct fixture f;
    open_fixture(&f);
    fusion_arg args[] = {fusion_arg_read(f.a), fusion_arg_write(f.b)};
    expect_add(&f, "scale", args, 2, FUSION_INVALID);
    expect_in_reason("2 arguments, but kernel scale has 3 parameters; the kernel is "
                     "scale(a: ptr.global i32 read, o: ptr.global i32 write, f: i32)");
    close_fixture(&f);
}

static void test_value_for_a_pointer(void **state)
{
    (void)state;
    struct fixture f;
    open_fixture(&f);
    fusion_arg args[] = {fusion_arg_i32(5), fusion_arg_write(f.b), fusion_arg_i32(2)};
    expect_add(&f, "scale", args, 3, FUSION_INVALID);
    expect_in_reason("kernel scale, argument 0 `a`");
    expect_in_reason(
        "it is of type ptr.global i32 and takes a buffer or USM pointer, but a value of type i32 was given");
    close_fixture(&f);
}

/* Bytes of the right number are not yet a value of the right type. */
static void test_value_of_another_type(void **state)
{
    (void)state;
    struct fixture f;
    open_fixture(&f);
    fusion_arg args[] = {fusion_arg_read(f.a), fusion_arg_write(f.b), fusion_arg_f32(2)};
    expect_add(&f, "scale", args, 3, FUSION_INVALID);
    expect_in_reason("argument 2 `f`");
    expect_in_reason("it is of type i32, but the value given is of type f32; the kernel is scale(");
    args[2] = fusion_arg_vector(FUSION_I16, 2, (int16_t[]){1, 2});
    expect_add(&f, "scale", args, 3, FUSION_INVALID);
    expect_in_reason("the value given is of type i16x2");
    args[2] = fusion_arg_vector(FUSION_F32, 17, NULL);
    expect_add(&f, "scale", args, 3, FUSION_INVALID);
    args[2].type = 99;
    expect_add(&f, "scale", args, 3, FUSION_INVALID);
    expect_in_reason("unknown type of a value: 99");
    /* Without a sign they are the same, and bytes are what the caller takes them for. */
    fusion_node node;
    args[2] = fusion_arg_u32(2);
    add_node(f.graph, f.module, "scale", SIZE, args, 3);
    args[2] = fusion_arg_value(&(float){2}, 4);
    node = add_node(f.graph, f.module, "scale", SIZE, args, 3);
    expect_finalize(&f, NULL, FUSION_SUCCESS);
    float number = 2;
    fusion_rebind rebind = {.node = node, .arg = 2, .value = &number, .value_bytes = 4, .type = FUSION_F32};
    expect_error(fusion_exec_submit(f.exec, &rebind, 1, NULL), FUSION_INVALID);
    expect_in_reason("it is of type i32, but the value given is of type f32");
    rebind.type = FUSION_U32;
    expect_ok(fusion_exec_submit(f.exec, &rebind, 1, NULL));
    rebind.type = FUSION_BYTES;
    expect_ok(fusion_exec_submit(f.exec, &rebind, 1, NULL));
    close_fixture(&f);
}

/* Every maker of a value goes with the type of its name, and with no other one. */
static void test_types_of_values(void **state)
{
    (void)state;
    struct fixture f;
    static const char text[] = "kernel @k0(%v: i8) {}\nkernel @k1(%v: i16) {}\nkernel @k2(%v: i32) {}\n"
                               "kernel @k3(%v: i64) {}\nkernel @k4(%v: f32) {}\nkernel @k5(%v: f64) {}\n"
                               "kernel @k6(%v: f32x3) {}\nkernel @k7(%v: i32x16) {}\nkernel @bool(%v: bool) {}\n";
    const float three[3] = {1, 2, 3};
    const uint32_t sixteen[16] = {0};
    const fusion_arg args[][2] = {
        {fusion_arg_i8(1), fusion_arg_u8(1)},
        {fusion_arg_i16(1), fusion_arg_u16(1)},
        {fusion_arg_i32(1), fusion_arg_u32(1)},
        {fusion_arg_i64(1), fusion_arg_u64(1)},
        {fusion_arg_f32(1), fusion_arg_f32(1)},
        {fusion_arg_f64(1), fusion_arg_f64(1)},
        {fusion_arg_vector(FUSION_F32, 3, three), fusion_arg_vector(FUSION_F32, 3, three)},
        {fusion_arg_vector(FUSION_U32, 16, sixteen), fusion_arg_vector(FUSION_I32, 16, sixteen)}};
    enum { TYPES = sizeof args / sizeof *args };
    open_fixture(&f);
    fusion_module_destroy(f.module);
    expect_ok(fusion_module_load(f.session, "types.fk", text, sizeof text - 1, &f.module));
    for (int kernel = 0; kernel < TYPES; kernel++) {
        char name[8];
        snprintf(name, sizeof name, "k%d", kernel);
        for (int given = 0; given < 2 * TYPES; given++) {
            fusion_kernel_node k = {.module = f.module,
                                    .kernel = name,
                                    .dims = 1,
                                    .global = {1},
                                    .args = &args[given / 2][given % 2],
                                    .n_args = 1};
            expect_error(fusion_graph_add_kernel(f.graph, &k, NULL),
                         given / 2 == kernel ? FUSION_SUCCESS : FUSION_INVALID);
        }
    }
    add_node(f.graph, f.module, "bool", 1, (fusion_arg[]){fusion_arg_bool(true)}, 1);
    expect_finalize(&f, NULL, FUSION_SUCCESS);
    fusion_module_destroy(f.module);
    f.module = load_test_kernels(f.session);
    close_fixture(&f);
}

static void test_two_buffers_of_one_name(void **state)
{
    (void)state;
    struct fixture f;
    open_fixture(&f);
    fusion_buffer *again = index_buffer(f.session, "a", SIZE, 0, 0);
    fusion_arg args[] = {fusion_arg_read(f.a), fusion_arg_write(again), fusion_arg_i32(2)};
    expect_add(&f, "scale", args, 3, FUSION_INVALID);
    expect_in_reason("another buffer or image of the graph has this name");
    assert_string_equal(fusion_last_error()->object, "a");
    close_fixture(&f);
}

static void test_value_of_another_size(void **state)
{
    (void)state;
    struct fixture f;
    open_fixture(&f);
    fusion_arg args[] = {fusion_arg_read(f.a), fusion_arg_write(f.b), fusion_arg_f64(2)};
    expect_add(&f, "scale", args, 3, FUSION_INVALID);
    expect_in_reason("it is of type i32, but the value given is of type f64");
    args[2] = fusion_arg_value("12345678", 8);
    expect_add(&f, "scale", args, 3, FUSION_INVALID);
    expect_in_reason("it is of type i32 and has 4 bytes, but the value given has 8");
    close_fixture(&f);
}

static void test_element_type_mismatch(void **state)
{
    (void)state;
    struct fixture f;
    open_fixture(&f);
    fusion_buffer *doubles;
    expect_ok(fusion_buffer_create(f.session, "doubles", FUSION_F64, SIZE, 0, &doubles));
    fusion_arg args[] = {fusion_arg_read(doubles), fusion_arg_write(f.b), fusion_arg_i32(2)};
    expect_add(&f, "scale", args, 3, FUSION_INVALID);
    expect_in_reason("it is of type ptr.global i32, but buffer doubles has elements of type f64");
    close_fixture(&f);
}

/* The access analysis proves a store where the user declared read. */
static void test_declared_access_is_wrong(void **state)
{
    (void)state;
    struct fixture f;
    open_fixture(&f);
    fusion_arg args[] = {fusion_arg_read(f.a), fusion_arg_read(f.b), fusion_arg_i32(2)};
    add_node(f.graph, f.module, "scale", SIZE, args, 3);
    expect_finalize(&f, NULL, FUSION_INVALID);
    close_fixture(&f);
}

/* A client's run on device reference tells of a shuffle from a work-item that an incomplete sub-group lacks; where all
   are there, and on the processor, nothing is said. */
static void test_shuffle_of_nobody(void **state)
{
    (void)state;
    enum { COMPLETE = 8, INCOMPLETE = 6 };
    static const char text[] = "kernel @look(%o: ptr.global i64 write) sub_group_size(4) {\n  %i = global_id x\n"
                               "  %x = sub_group_shuffle i64 %i, 3\n  store i64 %o[%i], %x\n  return\n}\n";
    static const struct {
        const char *device;
        uint64_t items;
        fusion_status status;
    } cases[] = {{"reference", COMPLETE, FUSION_SUCCESS},
                 {"reference", INCOMPLETE, FUSION_INVALID},
                 {"cpu", INCOMPLETE, FUSION_SUCCESS}};
    struct fixture f;
    fusion_module *module;
    fusion_buffer *out;
    open_fixture(&f);
    expect_ok(fusion_module_load(f.session, "look.fk", text, strlen(text), &module));
    expect_ok(fusion_buffer_create(f.session, "out", FUSION_I64, COMPLETE, 0, &out));
    for (int i = 0; i < 3; i++) {
        fusion_graph *graph;
        fusion_exec *exec;
        fusion_event done;
        fusion_arg args[] = {fusion_arg_write(out)};
        fusion_kernel_node k = {.module = module,
                                .kernel = "look",
                                .dims = 1,
                                .global = {cases[i].items},
                                .local = {cases[i].items},
                                .args = args,
                                .n_args = 1};
        expect_ok(fusion_graph_create(f.session, &graph));
        expect_ok(fusion_graph_add_kernel(graph, &k, NULL));
        expect_ok(fusion_graph_finalize(graph, &(fusion_finalize_options){.device = cases[i].device}, &exec));
        expect_ok(fusion_exec_submit(exec, NULL, 0, &done));
        expect_status(fusion_event_wait(f.session, done, 20000, NULL), cases[i].status, __FILE__, __LINE__);
        if (cases[i].status)
            expect_in_reason("takes the value of id 3 of a sub-group of 4 that is incomplete: it has 2");
    }
    close_fixture(&f);
}

static void test_cycle(void **state)
{
    (void)state;
    struct fixture f;
    open_fixture(&f);
    fusion_arg args[] = {fusion_arg_read(f.a), fusion_arg_write(f.b), fusion_arg_i32(2)};
    fusion_node second = 1, first = 0;
    fusion_kernel_node k = {.module = f.module,
                            .kernel = "scale",
                            .dims = 1,
                            .global = {SIZE},
                            .args = args,
                            .n_args = 3,
                            .n_depends_on = 1};
    k.name = "hen";
    k.depends_on = &second;
    expect_ok(fusion_graph_add_kernel(f.graph, &k, NULL));
    k.name = "egg";
    k.depends_on = &first;
    expect_ok(fusion_graph_add_kernel(f.graph, &k, NULL));
    expect_finalize(&f, NULL, FUSION_INVALID);
    expect_in_reason("hen");
    expect_in_reason("egg");
    close_fixture(&f);
}

static void test_require_fusion_impossible(void **state)
{
    (void)state;
    struct fixture f;
    open_fixture(&f);
    fusion_arg first[] = {fusion_arg_read(f.a), fusion_arg_write(f.b), fusion_arg_i32(2)};
    fusion_buffer *out = index_buffer(f.session, "c", SIZE, 0, 0);
    fusion_arg second[] = {fusion_arg_read(f.b), fusion_arg_write(out), fusion_arg_i32(2)};
    fusion_node scale = add_node(f.graph, f.module, "scale", SIZE, first, 3), copy;
    expect_ok(fusion_graph_add_copy_2d(f.graph, "between", (fusion_memory){.buffer = f.b}, SIZE * 2,
                                       (fusion_memory){.buffer = f.a}, SIZE * 2, SIZE * 2, 2, &scale, 1, &copy));
    second[0] = fusion_arg_read(f.a);
    add_node(f.graph, f.module, "scale", SIZE, second, 3);
    expect_finalize(&f, &(fusion_finalize_options){.mode = FUSION_REQUIRE}, FUSION_KERNEL_NOT_SUPPORTED);
    expect_in_reason("between");
    /* With enable_fusion it is no error. */
    expect_finalize(&f, &(fusion_finalize_options){.mode = FUSION_ENABLE}, FUSION_SUCCESS);
    assert_int_equal(fusion_exec_report(f.exec)->launches, 2);
    close_fixture(&f);
}

static void test_feature_absent(void **state)
{
    (void)state;
    static const char source[] = "kernel @k(%o: ptr.global i32 write) sub_group_size(1024) {\n  %i = global_id x\n  "
                                 "store i32 %o[%i], 1\n  return\n}\n";
    struct fixture f;
    fusion_module *module;
    open_fixture(&f);
    expect_ok(fusion_module_load(f.session, "wide.fk", source, strlen(source), &module));
    fusion_arg args[] = {fusion_arg_write(f.b)};
    add_node(f.graph, module, "k", SIZE, args, 1);
    expect_finalize(&f, NULL, FUSION_FEATURE_NOT_SUPPORTED);
    expect_in_reason("1024");
    close_fixture(&f);
}

/* What the CPU has no code for: the operation, its function and line, and the way out. */
static void test_operation_not_compiled(void **state)
{
    (void)state;
    static const char source[] =
        "kernel @k(%o: ptr.global i32 write, %m: image2d.read) {\n  %i = global_id x\n"
        "  %w = image_width %m\n  store i32 %o[%i], %w\n  return\n}\n"
        "kernel @pick(%o: ptr.global i32 read_write) {\n  %g = global_id x\n  %x = load i32 %o[%g]\n"
        "  %t = var [524288 x i32]\n  %p = elem i32 %t, %x\n  store i32 %p, %x\n  %q = elem i32 %t, %g\n"
        "  store i32 %q, 1\n  %y = load i32 %p\n  store i32 %o[%g], %y\n  return\n}\n";
    struct fixture f;
    fusion_module *module;
    open_fixture(&f);
    expect_ok(fusion_module_load(f.session, "far.fk", source, strlen(source), &module));
    fusion_arg args[] = {fusion_arg_read_write(f.b)};
    add_node(f.graph, module, "pick", SIZE, args, 1);
    expect_finalize(&f, NULL, FUSION_KERNEL_NOT_SUPPORTED);
    expect_in_reason("far.fk:10");
    expect_in_reason("function pick: var: private memory is limited to 1 MiB a variable");
    /* The reference device runs it. */
    expect_finalize(&f, &(fusion_finalize_options){.device = "reference"}, FUSION_SUCCESS);
    fusion_event event;
    expect_ok(fusion_exec_submit(f.exec, NULL, 0, &event));
    expect_ok(fusion_event_wait(f.session, event, 20000, NULL));
    close_fixture(&f);
}

static void test_unknown_device(void **state)
{
    (void)state;
    struct fixture f;
    open_fixture(&f);
    fusion_arg args[] = {fusion_arg_read(f.a), fusion_arg_write(f.b), fusion_arg_i32(2)};
    add_node(f.graph, f.module, "scale", SIZE, args, 3);
    expect_finalize(&f, &(fusion_finalize_options){.device = "abacus"}, FUSION_NOT_FOUND);
    expect_in_reason("abacus");
    close_fixture(&f);
}

static void test_contradicting_access_scopes(void **state)
{
    (void)state;
    struct fixture f;
    open_fixture(&f);
    fusion_buffer *tmp;
    expect_ok(fusion_buffer_create(f.session, "tmp", FUSION_I32, SIZE, FUSION_ACCESS_SCOPE_WORK_ITEM, &tmp));
    fusion_arg args[] = {fusion_arg_read(f.a), fusion_arg_write(tmp), fusion_arg_i32(2)};
    args[1].properties = FUSION_ACCESS_SCOPE_WORK_GROUP;
    add_node(f.graph, f.module, "scale", SIZE, args, 3);
    expect_finalize(&f, NULL, FUSION_INVALID);
    expect_in_reason("tmp");
    close_fixture(&f);
}

static void test_bad_module(void **state)
{
    (void)state;
    static const char source[] =
        "module \"bad\"\nkernel @k(%o: ptr.global i32 write) {\n  %i = global_id x\n  %y = add i32 %missing, 1\n"
        "  store i32 %o[%i], %y\n  %z = nonsense i32 %y\n  return\n}\n";
    struct fixture f;
    fusion_module *module;
    open_fixture(&f);
    expect_error(fusion_module_load(f.session, "bad.fk", source, strlen(source), &module), FUSION_INVALID);
    expect_in_reason("bad.fk:4");
    expect_in_reason("missing");
    expect_in_reason("bad.fk:6");
    static const unsigned char garbage[] = {0x93, 0xff, 0x00, 0x10, 0xc4, 0xff};
    expect_error(fusion_module_load(f.session, "garbage", garbage, sizeof garbage, &module), FUSION_INVALID);
    /* What is wrong has no room behind such a name: it is cut, not left out. */
    char text[10000];
    snprintf(text, sizeof text, "kernel @k%0*d() {\n  nonsense\n  return\n}\n", 9000, 0);
    expect_error(fusion_module_load(f.session, "long.fk", text, strlen(text), &module), FUSION_INVALID);
    expect_in_reason("long.fk:2:");
    close_fixture(&f);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    struct fixture f;
    fusion_buffer *huge;
    void *memory;
    open_fixture(&f);
    expect_ok(
        fusion_buffer_create(f.session, "huge", FUSION_F64, UINT64_C(1) << 38, 0, &huge)); /* 2 TiB: only a promise */
    expect_error(fusion_buffer_map(huge, &memory), FUSION_OUT_OF_MEMORY);
    expect_in_reason("2199023255552");
    expect_error(fusion_malloc(f.session, FUSION_USM_HOST, UINT64_C(1) << 42, &memory), FUSION_OUT_OF_MEMORY);
    close_fixture(&f);
}

static void test_handle_of_another_session(void **state)
{
    (void)state;
    struct fixture f, other;
    open_fixture(&f);
    open_fixture(&other);
    fusion_arg args[] = {fusion_arg_read(f.a), fusion_arg_write(f.b), fusion_arg_i32(2)};
    add_node(f.graph, f.module, "scale", SIZE, args, 3);
    expect_finalize(&f, NULL, FUSION_SUCCESS);
    fusion_event event;
    /* The number of the first session's handle, in the second one's ring. */
    fusion_exec stolen = *f.exec;
    stolen.session = other.session;
    stolen.id += 1000;
    stolen.n_slots = 0;
    expect_ok(fusion_exec_submit(&stolen, NULL, 0, &event));
    expect_error(fusion_event_wait(other.session, event, 20000, NULL), FUSION_NOT_FOUND);
    /* A module of another session in a graph. */
    fusion_module foreign = *f.module;
    foreign.id += 1000;
    fusion_arg own[] = {fusion_arg_read(other.a), fusion_arg_write(other.b), fusion_arg_i32(2)};
    fusion_kernel_node of_other = {
        .module = &foreign, .kernel = "scale", .dims = 1, .global = {SIZE}, .args = own, .n_args = 3};
    expect_error(fusion_graph_add_kernel(other.graph, &of_other, NULL), FUSION_INVALID);
    expect_in_reason("belongs to another session");
    foreign.session = other.session;
    add_node(other.graph, &foreign, "scale", SIZE, own, 3);
    expect_finalize(&other, NULL, FUSION_NOT_FOUND);
    /* A buffer of another session. */
    fusion_arg wrong[] = {fusion_arg_read(f.a), fusion_arg_write(other.b), fusion_arg_i32(2)};
    fusion_kernel_node k = {
        .module = other.module, .kernel = "scale", .dims = 1, .global = {SIZE}, .args = wrong, .n_args = 3};
    expect_error(fusion_graph_add_kernel(other.graph, &k, NULL), FUSION_INVALID);
    fusion_disconnect(other.session);
    close_fixture(&f);
}

/* ---- below the library ---- */

static int raw_connect(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", service.socket);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    struct timeval limit = {.tv_sec = 20};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    return fd;
}

/* Sends bytes on a new connection; the daemon must answer with the status and close it. */
static void expect_rejection(const void *bytes, size_t size, fusion_status expected)
{
    int fd = raw_connect();
    assert_int_equal(send(fd, bytes, size, MSG_NOSIGNAL), (ssize_t)size);
    struct proto_reader *reader = proto_reader_new(1 << 20);
    struct proto_message message = {0};
    const char *reason;
    int got;
    while ((got = proto_reader_next(reader, &message, &reason)) == 0)
        if (proto_reader_fill(reader, fd) <= 0) break;
    assert_int_equal(got, 1);
    assert_int_equal(message.status, expected);
    assert_true(strlen(message.reason) > 10);
    proto_message_clear(&message);
    proto_reader_free(reader);
    char rest;
    ssize_t n = recv(fd, &rest, 1, 0);
    assert_true(n == 0 || (n < 0 && errno == ECONNRESET));
    close(fd);
    expect_service();
}

static void frame(uint8_t *out, uint32_t size, uint16_t fds)
{
    const uint8_t head[8] = {(uint8_t)size,
                             (uint8_t)(size >> 8),
                             (uint8_t)(size >> 16),
                             (uint8_t)(size >> 24),
                             (uint8_t)fds,
                             (uint8_t)(fds >> 8),
                             0x31,
                             0x46};
    memcpy(out, head, 8);
}

static void test_malformed_msgpack(void **state)
{
    (void)state;
    uint8_t bytes[8 + 6] = {0};
    frame(bytes, 6, 0);
    memcpy(bytes + 8, "\x94\x00\x01\xc1\xc1\xc1", 6);
    expect_rejection(bytes, sizeof bytes, FUSION_PROTOCOL);
    frame(bytes, 6, 0);
    memcpy(bytes + 8, "\xdd\xff\xff\xff\xff\x00", 6); /* an array of 2^32 - 1 */
    expect_rejection(bytes, sizeof bytes, FUSION_PROTOCOL);
}

static void test_bad_magic(void **state)
{
    (void)state;
    expect_rejection("GET / HTTP/1.1\r\n\r\n", 18, FUSION_PROTOCOL);
}

static void test_too_large(void **state)
{
    (void)state;
    uint8_t bytes[8];
    frame(bytes, PROTO_MAX_MESSAGE + 1, 0);
    expect_rejection(bytes, sizeof bytes, FUSION_PROTOCOL);
}

static void test_too_deep(void **state)
{
    (void)state;
    uint8_t bytes[8 + 1000];
    frame(bytes, 1000, 0);
    memset(bytes + 8, 0x91, 999);
    bytes[8 + 999] = 0xc0;
    expect_rejection(bytes, sizeof bytes, FUSION_PROTOCOL);
}

static void send_request(const char *method, uint64_t min, uint64_t max, fusion_status expected)
{
    struct proto_writer w;
    proto_begin_request(&w, 1, method);
    proto_pack_map(&w, 3);
    proto_pack_uint(&w, "min", min);
    proto_pack_uint(&w, "max", max);
    proto_pack_string(&w, "name", "test");
    assert_true(proto_finish(&w));
    expect_rejection(w.buffer.data, w.buffer.size, expected);
    proto_writer_clear(&w);
}

static void test_wrong_version(void **state)
{
    (void)state;
    send_request("hello", 1000, 2000, FUSION_VERSION);
}

static void test_no_hello(void **state)
{
    (void)state;
    send_request("status", 1, 1, FUSION_PROTOCOL);
}

static void test_truncated(void **state)
{
    (void)state;
    uint8_t bytes[8 + 3];
    frame(bytes, 500, 0);
    memcpy(bytes + 8, "\x94\x00\x01", 3);
    int fd = raw_connect();
    assert_int_equal(send(fd, bytes, sizeof bytes, MSG_NOSIGNAL), (ssize_t)sizeof bytes);
    close(fd); /* gone in the middle of a message */
    expect_service();
}

static void test_unknown_method(void **state)
{
    (void)state;
    fusion_session *session = service_connect(&service);
    expect_error(client_request(session, "no.such.method", NULL, NULL, NULL, 0, NULL), FUSION_NOT_FOUND);
    expect_in_reason("no.such.method");
    expect_error(client_request(session, "module.text", NULL, NULL, NULL, 0, NULL), FUSION_INVALID);
    long long sessions = service_counter(session, "sessions"); /* the connection goes on */
    assert_true(sessions >= 1);
    fusion_disconnect(session);
    expect_service();
}

/* Garbage of many kinds where an entry of the ring should be. */
static void test_garbage_in_the_ring(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 12; seed++) {
        struct fixture f;
        open_fixture(&f);
        fusion_arg args[] = {fusion_arg_read(f.a), fusion_arg_write(f.b), fusion_arg_i32(2)};
        add_node(f.graph, f.module, "scale", SIZE, args, 3);
        expect_finalize(&f, NULL, FUSION_SUCCESS);
        fusion_event event;
        expect_ok(fusion_exec_submit(f.exec, NULL, 0, &event));
        expect_ok(fusion_event_wait(f.session, event, 20000, NULL));

        struct ring *r = f.session->ring;
        uint64_t head = atomic_load(&r->head), bytes = 8 * (1 + seed * 37 % 200);
        srand(seed);
        for (uint64_t i = 0; i < bytes; i++) r->data[(head + i) % r->data_bytes] = (uint8_t)(seed % 3 ? rand() : 0xff);
        if (seed % 4 == 0) ((struct ring_entry *)&r->data[head % r->data_bytes])->size = (uint32_t)bytes;
        atomic_store(&r->head, seed % 5 == 0 ? head + (UINT64_C(1) << 40) : head + bytes);
        atomic_fetch_add(&r->doorbell, 1);
        f.session->next_reserved = ++f.session->next_sequence; /* nothing is held back */
        syscall(SYS_futex, &r->doorbell, FUTEX_WAKE, 1, NULL, NULL, 0);
        ring_push(r, &(struct ring_entry){.size = sizeof(struct ring_entry), .sequence = event + 1}, NULL, 0);
        fusion_status status = fusion_event_wait(f.session, event + 1, 20000, NULL);
        assert_int_not_equal(status, FUSION_SUCCESS);
        assert_int_not_equal(status, FUSION_TIMEOUT);
        fusion_disconnect(f.session);
        expect_service();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unknown_kernel),
        cmocka_unit_test(test_too_few_arguments),
        cmocka_unit_test(test_value_of_another_type),
        cmocka_unit_test(test_types_of_values),
        cmocka_unit_test(test_two_buffers_of_one_name),
        cmocka_unit_test(test_value_for_a_pointer),
        cmocka_unit_test(test_value_of_another_size),
        cmocka_unit_test(test_element_type_mismatch),
        cmocka_unit_test(test_declared_access_is_wrong),
        cmocka_unit_test(test_shuffle_of_nobody),
        cmocka_unit_test(test_cycle),
        cmocka_unit_test(test_require_fusion_impossible),
        cmocka_unit_test(test_feature_absent),
        cmocka_unit_test(test_operation_not_compiled),
        cmocka_unit_test(test_unknown_device),
        cmocka_unit_test(test_contradicting_access_scopes),
        cmocka_unit_test(test_bad_module),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_handle_of_another_session),
        cmocka_unit_test(test_malformed_msgpack),
        cmocka_unit_test(test_bad_magic),
        cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_too_deep),
        cmocka_unit_test(test_wrong_version),
        cmocka_unit_test(test_no_hello),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_unknown_method),
        cmocka_unit_test(test_garbage_in_the_ring),
    };
    return cmocka_run_group_tests_name("errors", tests, start, stop);
}
