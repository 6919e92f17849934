/* fusiond-executor: buffers, executables, submissions, and what it refuses. Its kernels are compiled by cc. */
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "ir/msgpack/codec.h"
#include "ir/text/parse/parse.h"
#include "proto/writer.h"
#include "tests/support/executor.h"

/* out[i] = in[i] * factor */
static const char scale_source[] =
    "struct args { float *in, *out; float factor; };\n"
    "const struct kernel_object_info fusion_kernel_info = {KERNEL_ABI_VERSION, 1, 24, 0, 0, 1};\n"
    "void fusion_kernel(const struct kernel_launch *l, const void *p, uint64_t first, uint64_t end, void *local)\n"
    "{\n"
    "    const struct args *a = p;\n"
    "    for (uint64_t i = first * l->local_size[0]; i < end * l->local_size[0] && i < l->global_size[0]; i++)\n"
    "        a->out[i] = a->in[i] * a->factor;\n"
    "}\n";

enum { N = 64 };

static struct test_program scale_program(uint64_t n)
{
    return (struct test_program){
        .n_launches = 1,
        .n_slots = 2,
        .n_values = 1,
        .value_sizes = {4},
        .slots = {{"in", n * 4}, {"out", n * 4}},
        .launches = {
            {"scale", n, 16, 24, 3, {{0, 0, 0, 0, 8, false}, {0, 1, 0, 8, 8, true}, {1, 0, 0, 16, 4, false}}}}};
}

/* An executor with scale loaded on buffers 1 and 2 (and 3 to spare) of N floats, factor 2. */
struct fixture {
    struct executor x;
    struct memory in, out, spare;
    uint64_t scale;
    int object;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct test_program p = scale_program(N);
    float factor = 2;
    *state = f;
    executor_start(&f->x, NULL);
    f->in = memory_new(N * 4);
    f->out = memory_new(N * 4);
    f->spare = memory_new(N * 8);
    for (int i = 0; i < N; i++) ((float *)f->in.data)[i] = (float)i;
    assert_int_equal(executor_attach(&f->x, 1, &f->in, 0), FUSION_SUCCESS);
    assert_int_equal(executor_attach(&f->x, 2, &f->out, 0), FUSION_SUCCESS);
    assert_int_equal(executor_attach(&f->x, 3, &f->spare, 0), FUSION_SUCCESS);
    f->object = object_compile(scale_source);
    assert_int_equal(executor_load(&f->x, &p, &f->object, (uint64_t[]){1, 2}, (const void *[]){&factor}, &f->scale),
                     FUSION_SUCCESS);
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    executor_stop(&f->x);
    memory_free(&f->in);
    memory_free(&f->out);
    memory_free(&f->spare);
    close(f->object);
    free(f);
    return 0;
}

static void assert_scaled(const void *memory, float factor)
{
    const float *data = memory;
    for (int i = 0; i < N; i++)
        if (data[i] != (float)i * factor) fail_msg("[%d] is %g, not %g", i, data[i], (float)i * factor);
}

static fusion_status release(struct executor *x, const char *method, const char *key, uint64_t id)
{
    struct proto_writer w;
    child_begin(&x->child, &w, method);
    proto_pack_map(&w, 1);
    proto_pack_uint(&w, key, id);
    return child_do(&x->child, &w);
}

/* ---- running ---- */

static void test_submit(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(executor_submit(&f->x, f->scale, NULL, 0, NULL, 0), FUSION_SUCCESS);
    assert_scaled(f->out.data, 2);
    assert_true(executor_completion(&f->x)->run_ns > 0);
}

static void test_rebinding(void **state)
{
    struct fixture *f = *state;
    struct test_value five = {0, 4, 0};
    memcpy(&five.data, &(float){5}, 4);
    assert_int_equal(executor_submit(&f->x, f->scale, &(struct test_bind){1, 3, N * 4}, 1, &five, 1), FUSION_SUCCESS);
    assert_scaled((char *)f->spare.data + N * 4, 5);
    for (int i = 0; i < N; i++) assert_true(((float *)f->spare.data)[i] == 0 && ((float *)f->out.data)[i] == 0);
    /* ... and the next one is as finalized again. */
    assert_int_equal(executor_submit(&f->x, f->scale, NULL, 0, NULL, 0), FUSION_SUCCESS);
    assert_scaled(f->out.data, 2);
}

/* Each work-group runs exactly once, however they are shared out. */
static void test_every_group_once(void **state)
{
    (void)state;
    static const char source[] =
        "struct args { unsigned char *count; uint64_t unused; };\n"
        "const struct kernel_object_info fusion_kernel_info = {KERNEL_ABI_VERSION, 1, 8, 0, 0, 1};\n"
        "void fusion_kernel(const struct kernel_launch *l, const void *p, uint64_t first, uint64_t end, void *local)\n"
        "{\n"
        "    const struct args *a = p;\n"
        "    for (uint64_t g = first; g < end; g++) a->count[g]++;\n"
        "}\n";
    enum { GROUPS = 100003, ITEMS = 64, RUNS = 100 };
    struct test_program p = {.n_launches = 1,
                             .n_slots = 1,
                             .slots = {{"count", GROUPS}},
                             .launches = {{"count", GROUPS * ITEMS - 5, ITEMS, 8, 1, {{0, 0, 0, 0, 8, true}}}}};
    struct executor x;
    struct memory count = memory_new(GROUPS);
    int object = object_compile(source);
    uint64_t id;
    executor_start(&x, "5");
    assert_int_equal(executor_attach(&x, 1, &count, 0), FUSION_SUCCESS);
    assert_int_equal(executor_load(&x, &p, &object, (uint64_t[]){1}, NULL, &id), FUSION_SUCCESS);
    for (int i = 0; i < RUNS; i++) assert_int_equal(executor_submit(&x, id, NULL, 0, NULL, 0), FUSION_SUCCESS);
    for (int g = 0; g < GROUPS; g++)
        if (((unsigned char *)count.data)[g] != RUNS)
            fail_msg("group %d ran %d times", g, ((unsigned char *)count.data)[g]);
    executor_stop(&x);
    memory_free(&count);
    close(object);
}

static void test_copy_and_fill(void **state)
{
    (void)state;
    enum { FLOATS = 1 << 20 };
    struct test_program p = {
        .n_slots = 2,
        .slots = {{"a", FLOATS * 4}, {"b", FLOATS * 4}},
        .n_steps = 3,
        .steps = {{.kind = 2, .a = 0, .a_offset = 4, .bytes = FLOATS * 4 - 4, .pattern = 1.5f},
                  {.kind = 1, .a = 0, .b = 1, .a_offset = 4, .b_offset = 8, .bytes = FLOATS * 4 - 8},
                  {.kind = 1, .a = 1, .b = 1, .a_offset = 8, .b_offset = 0, .bytes = 16}}};
    struct executor x;
    struct memory a = memory_new(FLOATS * 4), b = memory_new(FLOATS * 4);
    uint64_t id;
    executor_start(&x, NULL);
    assert_int_equal(executor_attach(&x, 1, &a, 0), FUSION_SUCCESS);
    assert_int_equal(executor_attach(&x, 2, &b, 0), FUSION_SUCCESS);
    assert_int_equal(executor_load(&x, &p, NULL, (uint64_t[]){1, 2}, NULL, &id), FUSION_SUCCESS);
    assert_int_equal(executor_submit(&x, id, NULL, 0, NULL, 0), FUSION_SUCCESS);
    const float *fa = a.data, *fb = b.data;
    assert_true(fa[0] == 0);
    for (int i = 1; i < FLOATS; i++) assert_true(fa[i] == 1.5f);
    for (int i = 0; i < FLOATS; i++) assert_true(fb[i] == 1.5f);
    executor_stop(&x);
    memory_free(&a);
    memory_free(&b);
}

/* Host tasks part the steps; a submission runs one part, and no other. */
static void test_parts(void **state)
{
    (void)state;
    struct test_program p = {.n_slots = 1,
                             .slots = {{"a", 16}},
                             .n_steps = 4,
                             .steps = {{.kind = 2, .bytes = 8, .pattern = 1.5f},
                                       {.kind = 3},
                                       {.kind = 2, .a_offset = 8, .bytes = 8, .pattern = 2.5f},
                                       {.kind = 3}}};
    struct executor x;
    struct memory a = memory_new(16);
    uint64_t id;
    executor_start(&x, NULL);
    assert_int_equal(executor_attach(&x, 1, &a, 0), FUSION_SUCCESS);
    assert_int_equal(executor_load(&x, &p, NULL, (uint64_t[]){1}, NULL, &id), FUSION_SUCCESS);
    float *f = a.data;
    for (x.part = 0; x.part < 3; x.part++) {
        f[0] = f[3] = 0;
        assert_int_equal(executor_submit(&x, id, NULL, 0, NULL, 0), FUSION_SUCCESS);
        assert_true(f[0] == (x.part == 0 ? 1.5f : 0) && f[3] == (x.part == 1 ? 2.5f : 0));
    }
    assert_int_equal(executor_submit(&x, id, NULL, 0, NULL, 0), FUSION_INVALID);
    assert_non_null(strstr(executor_failure(&x)->reason, "part 3 of an executable that has 3"));
    executor_stop(&x);
    memory_free(&a);
}

/* Local memory: own variables, scratch, then local pointers; 64-byte aligned; a thread's own. */
static void test_local_memory(void **state)
{
    (void)state;
    static const char source[] =
        "struct args { uint64_t *out; uint64_t a, b; };\n"
        "const struct kernel_object_info fusion_kernel_info = {KERNEL_ABI_VERSION, 1, 24, 20, 8, 1};\n"
        "void fusion_kernel(const struct kernel_launch *l, const void *p, uint64_t first, uint64_t end, void *local)\n"
        "{\n"
        "    const struct args *a = p;\n"
        "    for (uint64_t g = first; g < end; g++) {\n"
        "        __builtin_memset(local, 255, a->b + 100);\n"
        "        a->out[g] = (uintptr_t)local % 64 == 0 ? a->a << 32 | a->b : 0;\n"
        "    }\n"
        "}\n";
    struct test_program p = {
        .n_launches = 1,
        .n_slots = 1,
        .slots = {{"out", 8 * 8}},
        .launches = {{"local", 8 * 10, 10, 24, 3, {{0, 0, 0, 0, 8, true}, {2, 0, 65, 8, 8}, {2, 0, 100, 16, 8}}}}};
    struct executor x;
    struct memory out = memory_new(8 * 8);
    int object = object_compile(source);
    uint64_t id;
    executor_start(&x, "3");
    assert_int_equal(executor_attach(&x, 1, &out, 0), FUSION_SUCCESS);
    assert_int_equal(executor_load(&x, &p, &object, (uint64_t[]){1}, NULL, &id), FUSION_SUCCESS);
    assert_int_equal(executor_submit(&x, id, NULL, 0, NULL, 0), FUSION_SUCCESS);
    uint64_t first = 64 + 128, second = first + 128; /* 20 and 8 * 10 and 65 bytes, each to the next 64 */
    for (int g = 0; g < 8; g++) assert_int_equal(((uint64_t *)out.data)[g], first << 32 | second);
    executor_stop(&x);
    memory_free(&out);
    close(object);
}

static void test_usm_address(void **state)
{
    struct fixture *f = *state;
    struct memory m = memory_new(1 << 16);
    uint64_t address = (uint64_t)1 << 45;
    assert_int_equal(executor_attach(&f->x, 10, &m, address), FUSION_SUCCESS);
    assert_int_equal(executor_attach(&f->x, 11, &m, address), FUSION_BUSY);
    assert_int_equal(executor_attach(&f->x, 11, &m, address + 1), FUSION_INVALID);
    assert_int_equal(release(&f->x, "buffer.release", "buffer", 10), FUSION_SUCCESS);
    assert_int_equal(executor_attach(&f->x, 11, &m, address), FUSION_SUCCESS);
    memory_free(&m);
}

static void test_event(void **state)
{
    struct fixture *f = *state;
    struct pollfd poll_fd = {f->x.event_fd, POLLIN, 0};
    assert_int_equal(executor_submit(&f->x, f->scale, NULL, 0, NULL, 0), FUSION_SUCCESS);
    assert_int_equal(poll(&poll_fd, 1, 100), 0);
    atomic_store(&f->x.ring->wants_event, 1);
    assert_int_equal(executor_submit(&f->x, f->scale, NULL, 0, NULL, 0), FUSION_SUCCESS);
    assert_int_equal(poll(&poll_fd, 1, 10000), 1);
}

/* ---- objects ---- */

/* -a->factor instead of a->factor */
static int compile_negative(void)
{
    char source[sizeof scale_source + 8];
    const char *at = strstr(scale_source, "a->factor;");
    snprintf(source, sizeof source, "%.*s%s", (int)(at - scale_source), scale_source, "-a->factor;\n}\n");
    return object_compile(source);
}

/* Another object under the same descriptor number, while the first is loaded, is another object. */
static void test_objects_are_not_mixed_up(void **state)
{
    struct fixture *f = *state;
    struct test_program p = scale_program(N);
    float factor = 3;
    uint64_t ids[8];
    int negative = compile_negative();
    for (int i = 0; i < 8; i++)
        assert_int_equal(executor_load(&f->x, &p, i % 2 ? &f->object : &negative, (uint64_t[]){1, 2},
                                       (const void *[]){&factor}, &ids[i]),
                         FUSION_SUCCESS);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(executor_submit(&f->x, ids[i], NULL, 0, NULL, 0), FUSION_SUCCESS);
        assert_scaled(f->out.data, i % 2 ? 3 : -3);
        assert_int_equal(release(&f->x, "executable.release", "executable", ids[i]), FUSION_SUCCESS);
        assert_int_equal(executor_submit(&f->x, ids[i], NULL, 0, NULL, 0), FUSION_NOT_FOUND);
    }
    close(negative);
}

/* From the next submission on, the one with the values that the executable was loaded with. */
static void test_replaced(void **state)
{
    struct fixture *f = *state;
    int negative = compile_negative(), empty = object_compile("int nothing;\n");
    for (int i = 0; i < 6; i++) {
        assert_int_equal(executor_submit(&f->x, f->scale, NULL, 0, NULL, 0), FUSION_SUCCESS);
        assert_scaled(f->out.data, i % 2 ? -2 : 2);
        if (i > 3) assert_int_equal(executor_replace(&f->x, f->scale, 0, negative), FUSION_SUCCESS); /* none has run */
        assert_int_equal(executor_replace(&f->x, f->scale, 0, i % 2 ? f->object : negative), FUSION_SUCCESS);
        assert_int_equal(executor_replace(&f->x, f->scale, 0, empty), FUSION_INTERNAL);
        assert_int_equal(executor_replace(&f->x, f->scale, 1, negative), FUSION_INTERNAL);
        assert_int_equal(executor_replace(&f->x, f->scale + 100, 0, negative), FUSION_NOT_FOUND);
    }
    close(negative);
    close(empty);
}

/* ---- code that comes while its launch runs ---- */

#define KERNEL_HEAD "kernel @scale(%in: ptr.global f32 read, %out: ptr.global f32 write, %factor: f32) {\n"

static uint8_t *encode(const char *text, size_t *size)
{
    struct diag_list list = {0};
    struct ir_module *m = ir_parse(text, strlen(text), "test.fk", &list);
    if (!m) fail_msg("%s", diag_format(&list));
    uint8_t *bytes = ir_encode(m, size);
    ir_module_free(m);
    return bytes;
}

/* A kernel as its own object. */
static int kernel_object(const char *text)
{
    size_t size;
    uint8_t *bytes = encode(text, &size);
    int fd = memfd_create("kernel", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_int_equal(write(fd, bytes, size), size);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE), 0);
    free(bytes);
    return fd;
}

static void *submit_scale(void *data)
{
    struct fixture *f = data;
    executor_submit(&f->x, f->scale, NULL, 0, NULL, 0);
    return NULL;
}

/* The work-groups that have begun end as they began; the others, here of another kernel to tell them apart, are code.
 */
static void test_replaced_meanwhile(void **state)
{
    enum { MANY = 1 << 18, GROUP = 16 };
    struct fixture *f = *state;
    struct test_program p = scale_program(MANY);
    struct memory in = memory_new(MANY * 4), out = memory_new(MANY * 4);
    float *from = in.data, factor = 2;
    volatile float *to = out.data;
    pthread_t thread;
    for (int i = 1; i < MANY; i++) from[i] = (float)i;
    assert_int_equal(executor_attach(&f->x, 4, &in, 0), FUSION_SUCCESS);
    assert_int_equal(executor_attach(&f->x, 5, &out, 0), FUSION_SUCCESS);
    int negative = compile_negative();
    int kernel = kernel_object(KERNEL_HEAD "  %i = global_id x\n  %z = ieq i64 %i, 0\n  if %z {\n"
                                           "    store f32 %out[%i], 0.5, volatile\n    loop {\n"
                                           "      %w = load f32 %in[%i], volatile\n      %c = fone f32 %w, 0.0\n"
                                           "      if %c { break }\n      continue\n    }\n  }\n"
                                           "  %v = load f32 %in[%i]\n  %y = fmul f32 %v, %factor\n"
                                           "  store f32 %out[%i], %y\n}\n");
    assert_int_equal(executor_load(&f->x, &p, &kernel, (uint64_t[]){4, 5}, (const void *[]){&factor}, &f->scale),
                     FUSION_SUCCESS);
    pthread_create(&thread, NULL, submit_scale, f);
    while (to[0] != 0.5f) usleep(1000);
    assert_int_equal(executor_replace(&f->x, f->scale, 0, negative), FUSION_SUCCESS);
    from[0] = 1; /* which it waits for */
    pthread_join(thread, NULL);
    assert_int_equal(executor_completion(&f->x)->status, FUSION_SUCCESS);
    int first = 0;
    while (first < MANY && to[first] == from[first] * 2) first++;
    assert_in_range(first, GROUP, MANY - GROUP);
    assert_int_equal(first % GROUP, 0);
    for (int i = first; i < MANY; i++) assert_true(to[i] == from[i] * -2);
    memory_free(&in);
    memory_free(&out);
    close(negative);
    close(kernel);
}

static void test_bad_objects(void **state)
{
    struct fixture *f = *state;
    struct test_program p = scale_program(N), larger = scale_program(N);
    float factor = 1;
    const void *values[] = {&factor};
    struct memory unsealed = memory_new(4096);
    int old = object_compile("const struct kernel_object_info fusion_kernel_info = {KERNEL_ABI_VERSION + 1};\n"
                             "void fusion_kernel(void) {}\n");
    int empty = object_compile("int nothing;\n");
    assert_int_equal(executor_load(&f->x, &p, &unsealed.fd, (uint64_t[]){1, 2}, values, NULL), FUSION_INTERNAL);
    assert_int_equal(fcntl(unsealed.fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE), 0);
    assert_int_equal(executor_load(&f->x, &p, &old, (uint64_t[]){1, 2}, values, NULL), FUSION_INTERNAL);
    assert_int_equal(executor_load(&f->x, &p, &empty, (uint64_t[]){1, 2}, values, NULL), FUSION_INTERNAL);
    larger.launches[0].args_size = 32;
    assert_int_equal(executor_load(&f->x, &larger, &f->object, (uint64_t[]){1, 2}, values, NULL), FUSION_INTERNAL);
    close(old);
    close(empty);
    memory_free(&unsealed);
    assert_int_equal(executor_submit(&f->x, f->scale, NULL, 0, NULL, 0), FUSION_SUCCESS);
}

/* An executable whose objects come later is usable when the last is there. */
static void test_objects_in_parts(void **state)
{
    struct fixture *f = *state;
    struct test_program p = scale_program(N);
    float factor = 7;
    uint64_t id;
    struct proto_writer w;
    p.n_launches = 2;
    p.launches[1] = p.launches[0];
    assert_int_equal(executor_load(&f->x, &p, NULL, (uint64_t[]){1, 2}, (const void *[]){&factor}, &id),
                     FUSION_SUCCESS);
    assert_int_equal(executor_submit(&f->x, id, NULL, 0, NULL, 0), FUSION_BUSY);
    for (uint64_t first = 0; first < 3; first++) {
        child_begin(&f->x.child, &w, "executable.objects");
        proto_pack_map(&w, 2);
        proto_pack_uint(&w, "executable", id);
        proto_pack_uint(&w, "first", first);
        w.fds[w.n_fds++] = f->object;
        assert_int_equal(child_do(&f->x.child, &w), first < 2 ? FUSION_SUCCESS : FUSION_INTERNAL);
    }
    assert_int_equal(executor_submit(&f->x, id, NULL, 0, NULL, 0), FUSION_SUCCESS);
    assert_scaled(f->out.data, 7);
}

/* ---- what is refused ---- */

static void test_attach_errors(void **state)
{
    struct fixture *f = *state;
    struct memory unsealed = {.fd = memfd_create("x", MFD_CLOEXEC | MFD_ALLOW_SEALING), .bytes = 4096};
    struct memory small = memory_new(4096), no_memfd = {.fd = open("/dev/null", O_RDWR | O_CLOEXEC), .bytes = 4096};
    assert_int_equal(ftruncate(unsealed.fd, 4096), 0);
    assert_int_equal(executor_attach(&f->x, 20, &unsealed, 0), FUSION_INVALID);
    assert_int_equal(executor_attach(&f->x, 20, &no_memfd, 0), FUSION_INVALID);
    small.bytes = 4097;
    assert_int_equal(executor_attach(&f->x, 20, &small, 0), FUSION_INVALID);
    static const uint64_t offsets[] = {4096, 64, UINT64_MAX, UINT64_MAX - 63};
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        small.offset = offsets[i];
        small.bytes = i ? 4096 : 1;
        assert_int_equal(executor_attach(&f->x, 20, &small, 0), FUSION_INVALID);
    }
    small.offset = 0;
    small.bytes = 4096;
    assert_int_equal(executor_attach(&f->x, 0, &small, 0), FUSION_INVALID);
    assert_int_equal(executor_attach(&f->x, 20, &small, 0), FUSION_SUCCESS);
    assert_int_equal(executor_attach(&f->x, 20, &small, 0), FUSION_INVALID);
    assert_int_equal(release(&f->x, "buffer.release", "buffer", 20), FUSION_SUCCESS);
    assert_int_equal(release(&f->x, "buffer.release", "buffer", 20), FUSION_NOT_FOUND);
    assert_int_equal(release(&f->x, "buffer.attach", "buffer", 20), FUSION_PROTOCOL);
    assert_int_equal(release(&f->x, "no.such", "buffer", 20), FUSION_PROTOCOL);
    close(unsealed.fd);
    close(no_memfd.fd);
    memory_free(&small);
}

static void assert_refused(struct fixture *f, fusion_status status, struct test_bind b, const char *object)
{
    assert_int_equal(executor_submit(&f->x, f->scale, &b, 1, NULL, 0), status);
    assert_string_equal(executor_failure(&f->x)->object, object);
    assert_true(executor_failure(&f->x)->reason[0] != 0);
}

static void test_binding_errors(void **state)
{
    struct fixture *f = *state;
    assert_refused(f, FUSION_NOT_FOUND, (struct test_bind){1, 99, 0}, "buffer out");
    assert_refused(f, FUSION_NOT_FOUND, (struct test_bind){0, 0, 0}, "buffer in");
    assert_refused(f, FUSION_INVALID, (struct test_bind){2, 1, 0}, "slot 2");
    assert_refused(f, FUSION_INVALID, (struct test_bind){1, 3, N * 4 + 1}, "buffer out");
    assert_refused(f, FUSION_INVALID, (struct test_bind){1, 3, UINT64_MAX}, "buffer out");
    struct test_value large = {0, 8, 0}, unknown = {1, 4, 0};
    assert_int_equal(executor_submit(&f->x, f->scale, NULL, 0, &large, 1), FUSION_INVALID);
    assert_int_equal(executor_submit(&f->x, f->scale, NULL, 0, &unknown, 1), FUSION_INVALID);
    assert_int_equal(executor_submit(&f->x, 12345, NULL, 0, NULL, 0), FUSION_NOT_FOUND);
    assert_int_equal(release(&f->x, "buffer.release", "buffer", 2), FUSION_SUCCESS);
    assert_int_equal(executor_submit(&f->x, f->scale, NULL, 0, NULL, 0), FUSION_NOT_FOUND);
    assert_int_equal(executor_attach(&f->x, 2, &f->out, 0), FUSION_SUCCESS);
    assert_int_equal(executor_submit(&f->x, f->scale, NULL, 0, NULL, 0), FUSION_SUCCESS);
}

static void test_overlap(void **state)
{
    struct fixture *f = *state;
    struct test_bind halves[] = {{0, 3, 0}, {1, 3, N * 4}}, crossing[] = {{0, 3, 0}, {1, 3, N * 4 - 4}};
    assert_refused(f, FUSION_INVALID, (struct test_bind){1, 1, 0}, "buffers in and out");
    assert_int_equal(executor_submit(&f->x, f->scale, halves, 2, NULL, 0), FUSION_SUCCESS);
    assert_int_equal(executor_submit(&f->x, f->scale, crossing, 2, NULL, 0), FUSION_INVALID);
    /* The same memory under two numbers is the same memory. */
    assert_int_equal(executor_attach(&f->x, 30, &f->in, 0), FUSION_SUCCESS);
    assert_refused(f, FUSION_INVALID, (struct test_bind){1, 30, 0}, "buffers in and out");
}

/* What is only read may be shared; what is internalized needs no memory. */
static void test_shared_and_absent_slots(void **state)
{
    struct fixture *f = *state;
    struct test_program p = scale_program(N);
    float factor = 4;
    uint64_t id;
    p.n_slots = 4;
    p.slots[2] = p.slots[0];
    p.slots[3] = (struct test_slot){"internal", 1 << 20, true};
    assert_int_equal(executor_load(&f->x, &p, &f->object, (uint64_t[]){1, 2, 1, 0}, (const void *[]){&factor}, &id),
                     FUSION_SUCCESS);
    assert_int_equal(executor_submit(&f->x, id, NULL, 0, NULL, 0), FUSION_SUCCESS);
    assert_scaled(f->out.data, 4);
}

/* ---- device reference ---- */

static fusion_status run_reference(struct fixture *f, const char *text)
{
    size_t size;
    uint8_t *ir = encode(text, &size);
    struct test_program p = scale_program(N);
    float factor = 6;
    uint64_t id;
    p.device = "reference";
    p.launches[0].ir = ir;
    p.launches[0].ir_size = size;
    assert_int_equal(executor_load(&f->x, &p, NULL, (uint64_t[]){1, 2}, (const void *[]){&factor}, &id),
                     FUSION_SUCCESS);
    free(ir);
    return executor_submit(&f->x, id, NULL, 0, NULL, 0);
}

static void test_reference(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(run_reference(f,
                                   KERNEL_HEAD "  %i = global_id x\n  %v = load f32 %in[%i]\n"
                                               "  %w = fmul f32 %v, %factor\n  store f32 %out[%i], %w\n  return\n}\n"),
                     FUSION_SUCCESS);
    assert_scaled(f->out.data, 6);
    assert_int_equal(run_reference(f, KERNEL_HEAD "  %v = load f32 %in\n  store f32 %out, %v\n  return\n}\n"),
                     FUSION_KERNEL_FAULT);
    assert_string_equal(executor_failure(&f->x)->object, "kernel scale");
    assert_true(strlen(executor_failure(&f->x)->reason) > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_submit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_rebinding, set_up, tear_down),
        cmocka_unit_test(test_every_group_once),
        cmocka_unit_test(test_copy_and_fill),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_local_memory),
        cmocka_unit_test_setup_teardown(test_usm_address, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_event, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_objects_are_not_mixed_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_replaced, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_replaced_meanwhile, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bad_objects, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_objects_in_parts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_attach_errors, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_binding_errors, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_overlap, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_shared_and_absent_slots, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_reference, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("executor", tests, NULL, NULL);
}
