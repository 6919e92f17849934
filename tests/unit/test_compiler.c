/* fusiond-compiler: modules, plans and objects, and that no job can end it. */
#include <dlfcn.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fuser/cpu/abi/kernel_abi.h"
#include "proto/fields.h"
#include "proto/frame.h"
#include "proto/graph.h"
#include "proto/transfer.h"
#include "proto/writer.h"
#include "tests/support/child.h"
#include "tests/support/fork.h"
#include "tests/support/rng.h"

#define BINARY(name, op)                                                                                               \
    "kernel @" name "(%x: ptr.global f32 read, %y: ptr.global f32 read, %o: ptr.global f32 write) {\n"                 \
    "  %i = global_id x\n"                                                                                             \
    "  %a = load f32 %x[%i]\n"                                                                                         \
    "  %b = load f32 %y[%i]\n"                                                                                         \
    "  %c = " op " f32 %a, %b\n"                                                                                       \
    "  store f32 %o[%i], %c\n"                                                                                         \
    "}\n"

static const char module_text[] = BINARY("add", "fadd") BINARY("mul", "fmul") BINARY("sub", "fsub");

enum { N = 1000, GROUP = 50 };

/* ---- talking to it ---- */

struct fixture {
    struct child child;
    uint8_t *ir; /* of module_text, as the compiler gave it */
    size_t ir_size;
};

static fusion_status load(struct fixture *f, const char *name, const void *data, size_t size,
                          struct proto_message *reply)
{
    struct proto_writer w;
    child_begin(&f->child, &w, "module");
    proto_pack_map(&w, 3);
    proto_pack_string(&w, "name", name);
    proto_pack_bytes(&w, "data", data, size);
    proto_pack_bool(&w, "want_text", true);
    return child_call(&f->child, &w, reply);
}

static uint8_t *copy_bytes(const msgpack_object *map, const char *key, size_t *size)
{
    const void *bytes;
    assert_true(proto_get_bytes(map, key, &bytes, size));
    return memcpy(malloc(*size + 1), bytes, *size);
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct proto_message m;
    *state = f;
    child_start(&f->child, "compiler", NULL, 0, NULL);
    assert_true(child_receive(&f->child, &m));
    assert_int_equal(m.kind, PROTO_NOTICE);
    assert_string_equal(m.method, "ready");
    proto_message_clear(&m);
    assert_int_equal(load(f, "k", module_text, sizeof module_text - 1, &m), FUSION_SUCCESS);
    f->ir = copy_bytes(&m.params, "ir", &f->ir_size);
    proto_message_clear(&m);
    return 0;
}

/* It lives to the end of every test, and leaves in peace. */
static int tear_down(void **state)
{
    struct fixture *f = *state;
    int status = child_stop(&f->child);
    free(f->ir);
    free(f);
    if (!WIFEXITED(status) || WEXITSTATUS(status)) fail_msg("the compiler's wait status is %#x", (unsigned)status);
    return 0;
}

static const msgpack_object *element(const msgpack_object *list, uint32_t i)
{
    assert_non_null(list);
    assert_int_equal(list->type, MSGPACK_OBJECT_ARRAY);
    assert_true(i < list->via.array.size);
    return &list->via.array.ptr[i];
}

static uint32_t length(const msgpack_object *map, const char *key)
{
    const msgpack_object *list = proto_get(map, key);
    assert_true(list && list->type == MSGPACK_OBJECT_ARRAY);
    return list->via.array.size;
}

static void assert_text(const msgpack_object *map, const char *key, const char *expected)
{
    char *text;
    assert_true(proto_get_string(map, key, &text, 1 << 20));
    assert_string_equal(text, expected);
    free(text);
}

/* ---- module ---- */

static void test_module(void **state)
{
    struct fixture *f = *state;
    struct proto_message m, again;
    assert_int_equal(load(f, "k", module_text, sizeof module_text - 1, &m), FUSION_SUCCESS);
    const msgpack_object *kernels = proto_get(&m.params, "kernels");
    assert_int_equal(length(&m.params, "kernels"), 3);
    assert_text(element(kernels, 0), "name", "add");
    const msgpack_object *args = proto_get(element(kernels, 0), "args");
    assert_text(element(args, 0), "name", "x");
    assert_text(element(args, 0), "type", "ptr.global f32");
    assert_text(element(args, 0), "access", "read");
    assert_text(element(args, 2), "access", "write");
    /* Its own bytes are a module too, the same one. */
    assert_int_equal(load(f, "k", f->ir, f->ir_size, &again), FUSION_SUCCESS);
    size_t size;
    uint8_t *ir = copy_bytes(&again.params, "ir", &size);
    assert_int_equal(size, f->ir_size);
    assert_memory_equal(ir, f->ir, size);
    free(ir);
    proto_message_clear(&m);
    proto_message_clear(&again);
}

/* Where a kernel does not say what it does with a pointer, analysis does. */
static void test_access_is_found(void **state)
{
    static const char text[] =
        "kernel @k(%a: ptr.global f32, %b: ptr.global f32, %c: ptr.global f32, %n: i64) {\n"
        "  %v = load f32 %a[%n]\n  store f32 %b[%n], %v\n  %w = load f32 %c\n  store f32 %c, %w\n}\n";
    static const char *const expected[] = {"read", "write", "read_write", ""};
    struct fixture *f = *state;
    struct proto_message m;
    assert_int_equal(load(f, "k", text, sizeof text - 1, &m), FUSION_SUCCESS);
    const msgpack_object *args = proto_get(element(proto_get(&m.params, "kernels"), 0), "args");
    for (uint32_t i = 0; i < 4; i++) assert_text(element(args, i), "access", expected[i]);
    uint64_t size;
    assert_true(proto_get_uint(element(args, 3), "size", &size));
    assert_int_equal(size, 8);
    proto_message_clear(&m);
}

static void test_bad_module(void **state)
{
    static const char text[] = "kernel @k(%a: ptr.global f32) {\n  %v = load f32 %nothing\n  store f99 %a, %v\n}\n";
    struct fixture *f = *state;
    struct proto_message m;
    assert_int_equal(load(f, "bad.fk", text, sizeof text - 1, &m), FUSION_INVALID);
    assert_string_equal(m.object, "module bad.fk");
    assert_non_null(strstr(m.reason, "bad.fk:2:"));
    assert_non_null(strstr(m.reason, "bad.fk:3:"));
    proto_message_clear(&m);
    assert_int_equal(load(f, "k.spv", "\x03\x02\x23\x07\0\0\1\0", 8, &m), FUSION_INVALID);
    assert_non_null(strstr(m.reason, "SPIR-V"));
    proto_message_clear(&m);
}

/* ---- plan ---- */

/* out = (a + b) * c - (a + b): three temporaries, four kernels. */
struct diamond {
    struct proto_slot slots[7];
    struct proto_node nodes[4];
    struct proto_arg args[4][3];
    struct proto_graph graph;
};

static struct proto_arg slot_arg(uint32_t slot, uint8_t access)
{
    return (struct proto_arg){.kind = PROTO_ARG_SLOT, .access = access, .index = slot};
}

static void make_diamond(struct diamond *d)
{
    enum { A, B, C, T1, T2, T3, OUT };
    static char *const slot_names[] = {"a", "b", "c", "t1", "t2", "t3", "out"};
    static char *const node_names[] = {"one", "two", "three", "four"}, *const kernels[] = {"add", "mul", "mul", "sub"};
    static const uint32_t operands[4][3] = {{A, B, T1}, {T1, C, T2}, {T1, A, T3}, {T2, T3, OUT}};
    *d = (struct diamond){.graph = {1, 7, 0, 4, d->slots, NULL, d->nodes}};
    for (int i = 0; i < 7; i++) {
        struct proto_props props = {0};
        if (i >= T1 && i <= T3) props = (struct proto_props){PROTO_SCOPE_WORK_ITEM, true, true};
        d->slots[i] = (struct proto_slot){
            .name = slot_names[i], .bytes = N * 4, .elem = PROTO_ELEM_F32, .lanes = 1, .props = props};
    }
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 3; k++)
            d->args[i][k] = slot_arg(operands[i][k], k < 2 ? PROTO_ACCESS_READ : PROTO_ACCESS_WRITE);
        d->nodes[i] = (struct proto_node){.kind = PROTO_NODE_KERNEL,
                                          .name = node_names[i],
                                          .kernel = kernels[i],
                                          .dims = 1,
                                          .global = {N, 1, 1},
                                          .local = {GROUP, 1, 1},
                                          .n_args = 3,
                                          .args = d->args[i]};
    }
}

static fusion_status plan_bytes(struct fixture *f, const void *graph, size_t size, uint64_t mode, const char *device,
                                struct proto_message *reply)
{
    struct proto_writer w;
    child_begin(&f->child, &w, "plan");
    proto_pack_map(&w, 6);
    proto_pack_bytes(&w, "graph", graph, size);
    proto_pack_key(&w, "modules");
    msgpack_pack_array(&w.packer, 1);
    msgpack_pack_bin_with_body(&w.packer, f->ir, f->ir_size);
    proto_pack_uint(&w, "mode", mode);
    proto_pack_bool(&w, "insert_barriers", false);
    proto_pack_string(&w, "device", device);
    proto_pack_bool(&w, "keep_ir", true);
    return child_call(&f->child, &w, reply);
}

static fusion_status plan(struct fixture *f, const struct proto_graph *g, uint64_t mode, const char *device,
                          struct proto_message *reply)
{
    size_t size;
    uint8_t *bytes = proto_graph_encode(g, &size);
    fusion_status status = plan_bytes(f, bytes, size, mode, device, reply);
    free(bytes);
    return status;
}

static void unpack(const struct proto_message *m, const char *key, msgpack_unpacked *out)
{
    const void *bytes;
    size_t size, at = 0;
    assert_true(proto_get_bytes(&m->params, key, &bytes, &size));
    msgpack_unpacked_init(out);
    assert_int_equal(msgpack_unpack_next(out, bytes, size, &at), MSGPACK_UNPACK_SUCCESS);
}

static uint32_t count_homes(const msgpack_object *report, const char *home)
{
    const msgpack_object *homes = proto_get(report, "homes");
    uint32_t n = 0;
    for (uint32_t i = 0; i < length(report, "homes"); i++) {
        const msgpack_object_str *s = &element(homes, i)->via.str;
        n += s->size == strlen(home) && memcmp(s->ptr, home, s->size) == 0;
    }
    return n;
}

static void test_plan_fused(void **state)
{
    struct fixture *f = *state;
    struct diamond d;
    struct proto_message m;
    msgpack_unpacked report, program;
    make_diamond(&d);
    if (plan(f, &d.graph, 2, "cpu", &m) != FUSION_SUCCESS) fail_msg("%s: %s", m.object, m.reason);
    unpack(&m, "report", &report);
    unpack(&m, "program", &program);
    assert_int_equal(length(&report.data, "launches"), 1);
    assert_int_equal(length(element(proto_get(&report.data, "launches"), 0), "nodes"), 4);
    assert_int_equal(count_homes(&report.data, "private"), 3);
    assert_int_equal(count_homes(&report.data, "memory"), 4);
    assert_true(length(&report.data, "remarks") > 0);
    uint64_t fused, unfused;
    assert_true(proto_get_uint(&report.data, "bytes_fused", &fused));
    assert_true(proto_get_uint(&report.data, "bytes_unfused", &unfused));
    assert_int_equal(fused, 4 * N * 4);
    assert_int_equal(unfused, 12 * N * 4);
    /* Four arguments remain, one of them written. */
    const msgpack_object *params = proto_get(element(proto_get(&program.data, "launches"), 0), "params");
    assert_int_equal(params->via.array.size, 4);
    unsigned written = 0;
    for (uint32_t i = 0; i < 4; i++) {
        bool writes;
        assert_true(proto_get_bool(element(params, i), "writes", &writes));
        written += writes;
        uint64_t bytes = 0;
        assert_true(proto_get_uint(element(params, i), "written", &bytes) == writes);
        assert_int_equal(bytes, writes ? N * 4 : 0);
    }
    assert_int_equal(written, 1);
    msgpack_unpacked_destroy(&report);
    msgpack_unpacked_destroy(&program);
    proto_message_clear(&m);
}

static void test_plan_unfused(void **state)
{
    struct fixture *f = *state;
    struct diamond d;
    struct proto_message m;
    msgpack_unpacked report;
    make_diamond(&d);
    assert_int_equal(plan(f, &d.graph, 0, "cpu", &m), FUSION_SUCCESS);
    unpack(&m, "report", &report);
    assert_int_equal(length(&report.data, "launches"), 4);
    assert_int_equal(length(&m.params, "kernels"), 4);
    assert_int_equal(count_homes(&report.data, "memory"), 7);
    msgpack_unpacked_destroy(&report);
    proto_message_clear(&m);
    /* The interpreter's program carries its kernels itself. */
    assert_int_equal(plan(f, &d.graph, 0, "reference", &m), FUSION_SUCCESS);
    assert_int_equal(length(&m.params, "kernels"), 0);
    unpack(&m, "program", &report);
    const msgpack_object *launches = proto_get(&report.data, "launches");
    for (uint32_t i = 0; i < 4; i++) assert_non_null(proto_get(element(launches, i), "ir"));
    msgpack_unpacked_destroy(&report);
    proto_message_clear(&m);
}

static void assert_refused(struct fixture *f, const struct diamond *d, const char *device, fusion_status status,
                           const char *object, const char *reason)
{
    struct proto_message m;
    assert_int_equal(plan(f, &d->graph, 1, device, &m), status);
    assert_string_equal(m.object, object);
    if (!strstr(m.reason, reason)) fail_msg("\"%s\" is not in \"%s\"", reason, m.reason);
    proto_message_clear(&m);
}

static void test_plan_errors(void **state)
{
    struct fixture *f = *state;
    struct diamond d;
    make_diamond(&d);
    d.nodes[1].kernel = "nope";
    assert_refused(f, &d, "cpu", FUSION_NOT_FOUND, "kernel k.nope", "add, mul, sub");
    make_diamond(&d);
    assert_refused(f, &d, "gpu", FUSION_NOT_FOUND, "device gpu", "cpu");
    uint32_t back = 3;
    d.nodes[0].n_deps = 1;
    d.nodes[0].deps = &back;
    struct proto_message m;
    assert_int_equal(plan(f, &d.graph, 1, "cpu", &m), FUSION_INVALID);
    assert_non_null(strstr(m.reason, "cycle"));
    proto_message_clear(&m);
}

/* ---- compile ---- */

static void *load_object(const struct proto_message *m)
{
    const void *elf;
    size_t size;
    char path[32];
    assert_true(proto_get_bytes(&m->params, "object", &elf, &size));
    int fd = memfd_create("object", MFD_CLOEXEC);
    assert_int_equal(write(fd, elf, size), size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) fail_msg("%s", dlerror());
    close(fd);
    return library;
}

static void run_diamond(void *library, const float *a, const float *b, const float *c, float *out)
{
    kernel_entry *entry = (kernel_entry *)dlsym(library, KERNEL_ENTRY_SYMBOL);
    const struct kernel_object_info *info = dlsym(library, KERNEL_INFO_SYMBOL);
    assert_non_null(entry);
    assert_int_equal(info->abi_version, KERNEL_ABI_VERSION);
    assert_int_equal(info->args_size, 4 * sizeof(void *));
    const struct kernel_launch launch = {{N, 1, 1}, {0, 0, 0}, {GROUP, 1, 1}, {N / GROUP, 1, 1}, 1, 0, 64 << 10, NULL};
    const void *args[] = {a, b, c, out};
    void *local = aligned_alloc(64, 64 << 10);
    entry(&launch, args, 0, N / GROUP, local);
    free(local);
}

static void test_compile(void **state)
{
    struct fixture *f = *state;
    struct diamond d;
    struct proto_message planned, compiled;
    struct proto_writer w;
    make_diamond(&d);
    assert_int_equal(plan(f, &d.graph, 1, "cpu", &planned), FUSION_SUCCESS);
    const msgpack_object *kernel = element(proto_get(&planned.params, "kernels"), 0);
    child_begin(&f->child, &w, "compile");
    proto_pack_map(&w, 2);
    proto_pack_bytes(&w, "kernel", kernel->via.bin.ptr, kernel->via.bin.size);
    proto_pack_bool(&w, "keep_assembly", true);
    if (child_call(&f->child, &w, &compiled) != FUSION_SUCCESS) fail_msg("%s: %s", compiled.object, compiled.reason);
    char *assembly;
    assert_true(proto_get_string(&compiled.params, "assembly", &assembly, 1 << 24));
    assert_non_null(strstr(assembly, KERNEL_ENTRY_SYMBOL));
    free(assembly);
    static float a[N], b[N], c[N], out[N];
    for (int i = 0; i < N; i++) a[i] = (float)i, b[i] = (float)(2 * i + 1), c[i] = (float)(i % 7);
    void *library = load_object(&compiled);
    run_diamond(library, a, b, c, out);
    for (int i = 0; i < N; i++) {
        volatile float t1 = a[i] + b[i], t2 = t1 * c[i], t3 = t1 * a[i], expected = t2 - t3;
        if (out[i] != expected) fail_msg("[%d] is %g, not %g", i, out[i], expected);
    }
    dlclose(library);
    proto_message_clear(&planned);
    proto_message_clear(&compiled);
}

/* ---- damage ---- */

/* Whatever bytes a job holds, the answer is a reply. */
static void test_damaged_jobs(void **state)
{
    struct fixture *f = *state;
    struct rng rng = {1};
    struct diamond d;
    struct proto_message m;
    size_t size;
    make_diamond(&d);
    uint8_t *graph = proto_graph_encode(&d.graph, &size);
    for (int i = 0; i < 300; i++) {
        uint8_t *module = memcpy(malloc(f->ir_size), f->ir, f->ir_size), old = graph[i % size];
        for (int k = 0; k < 3; k++) module[rng_below(&rng, (uint32_t)f->ir_size)] = (uint8_t)rng_next(&rng);
        graph[i % size] = (uint8_t)rng_next(&rng);
        assert_int_not_equal(load(f, "k", module, f->ir_size, &m), FUSION_CONNECTION);
        proto_message_clear(&m);
        assert_int_not_equal(plan_bytes(f, graph, size, i % 4, "cpu", &m), FUSION_CONNECTION);
        proto_message_clear(&m);
        graph[i % size] = old;
        free(module);
    }
    assert_int_equal(plan_bytes(f, graph, size, 1, "cpu", &m), FUSION_SUCCESS);
    proto_message_clear(&m);
    free(graph);
}

static void test_wrong_parameters(void **state)
{
    struct fixture *f = *state;
    static const char *const methods[] = {"module", "plan", "compile", "no.such"};
    for (int i = 0; i < 4; i++) {
        struct proto_writer w;
        child_begin(&f->child, &w, methods[i]);
        proto_pack_map(&w, 1);
        proto_pack_uint(&w, "name", 1);
        assert_int_equal(child_do(&f->child, &w), FUSION_PROTOCOL);
    }
}

/* ---- whom a job goes before ---- */

static void send_notice(const struct fixture *f, const char *method, uint64_t priority, int fd)
{
    struct proto_writer w;
    proto_begin_notice(&w, method);
    proto_pack_map(&w, 1);
    proto_pack_uint(&w, "priority", priority);
    if (fd >= 0) w.fds[w.n_fds++] = fd;
    assert_true(proto_finish(&w));
    assert_int_equal(proto_send(f->child.connection, &w, 0), 0);
    w.n_fds = 0;
    proto_writer_clear(&w);
}

/* The number that the next notice has. */
static uint64_t receive_number(struct fixture *f, const char *method, const char *key)
{
    struct proto_message m;
    uint64_t number;
    assert_true(child_receive(&f->child, &m));
    assert_string_equal(m.method, method);
    assert_true(proto_get_uint(&m.params, key, &number));
    proto_message_clear(&m);
    return number;
}

static bool await_priority(pid_t pid, int policy, int nice_value)
{
    for (int ms = 0; ms < 20000; ms++, usleep(1000))
        if (sched_getscheduler(pid) == policy && getpriority(PRIO_PROCESS, (id_t)pid) == nice_value) return true;
    return false;
}

/* May a process of this user that has stepped back come forward again? */
static bool may_return(void)
{
    const struct sched_param none = {0};
    int status = 1;
    pid_t pid = fork_or_fail();
    if (pid == 0) {
        bool idle = sched_setscheduler(0, SCHED_IDLE, &none) == 0;
        _exit(!idle || sched_setscheduler(0, SCHED_OTHER, &none) != 0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status == 0;
}

/* A process in the job's group, as the assembler is that a job starts. */
static pid_t start_in_group(pid_t group)
{
    pid_t pid = fork_or_fail();
    if (pid == 0) prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (pid == 0) close_range(3, ~0u, 0); /* the job's connection */
    while (pid == 0) pause();
    assert_true(pid > 0);
    assert_int_equal(setpgid(pid, group), 0);
    return pid;
}

/* Where it could not come forward again it does not go as far back as it can. */
static void test_priority(void **state)
{
    struct fixture *f = *state;
    bool returns = may_return();
    int pair[2], own = getpriority(PRIO_PROCESS, 0);
    int last = returns ? SCHED_IDLE : SCHED_OTHER, last_nice = returns ? own : 19;
    int lower = own + 10 < 19 ? own + 10 : 19; /* the test may be behind others itself */
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    send_notice(f, "job", 2, pair[1]);
    close(pair[1]);
    pid_t pid = (pid_t)receive_number(f, "started", "pid"); /* it waits for its request */
    assert_true(await_priority(pid, last, last_nice));
    pid_t started = start_in_group(pid);
    if (returns) {
        send_notice(f, "priority", 2, -1);
        assert_true(await_priority(started, last, last_nice));
        send_notice(f, "priority", 0, -1);
        assert_true(await_priority(pid, SCHED_OTHER, own));
        assert_true(await_priority(started, SCHED_OTHER, own));
        send_notice(f, "priority", 1, -1);
        assert_true(await_priority(pid, SCHED_OTHER, lower));
    }
    send_notice(f, "priority", 2, -1);
    assert_true(await_priority(pid, last, last_nice));
    assert_true(await_priority(started, last, last_nice));
    close(pair[0]);
    assert_int_equal(waitpid(started, NULL, 0), started); /* it has ended with the job */
    receive_number(f, "idle", "used_us");
    send_notice(f, "priority", 0, -1); /* too late: nothing runs */
    struct proto_message m;
    assert_int_equal(load(f, "k", module_text, sizeof module_text - 1, &m), FUSION_SUCCESS);
    proto_message_clear(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_module, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_access_is_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bad_module, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_plan_fused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_plan_unfused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_plan_errors, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_compile, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_damaged_jobs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_wrong_parameters, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_priority, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("compiler", tests, NULL, NULL);
}
