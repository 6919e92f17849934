/*
 * Buffers end where pages do: an access of the next element is a fault that is told, with the buffer's name, wherever
 * alignment allows; all elements are there, and so are other buffers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/service.h"

enum { AROUND = 64, LARGE = 4096, TEXT = 16384 };

static const struct element {
    fusion_type type;
    const char *name;
    unsigned bytes;
} elements[] = {{FUSION_U8, "i8", 1},   {FUSION_I16, "i16", 2}, {FUSION_F16, "f16", 2}, {FUSION_I32, "i32", 4},
                {FUSION_F32, "f32", 4}, {FUSION_I64, "i64", 8}, {FUSION_F64, "f64", 8}};
static const uint64_t counts[] = {10, 1003, 1, 11, 512, 1024, 1040, 4096, 1000003};
enum { OF_EACH_TYPE = 2, ALL = sizeof counts / sizeof *counts }; /* of f32 all: deaths take time */

static struct service service;
static fusion_session *session;
static fusion_module *module;

/* Of each type: one work-item copies an element from and to the places that lie in memory. */
static void open_session(void)
{
    static char text[TEXT];
    int n = 0;
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "kernel @move_%s(%%at: ptr.global i64 read, %%x: ptr.global %s, %%o: ptr.global %s) {\n"
                      "    %%j = load i64 %%at[0]\n"
                      "    %%k = load i64 %%at[1]\n"
                      "    %%v = load %s %%x[%%j]\n"
                      "    store %s %%o[%%k], %%v\n"
                      "}\n",
                      elements[i].name, elements[i].name, elements[i].name, elements[i].name, elements[i].name);
    session = service_connect(&service);
    expect_ok(fusion_module_load(session, "ends.fk", text, strlen(text), &module));
}

static int set_up(void **state)
{
    (void)state;
    service_start(&service, NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    service_clear(&service);
    return 0;
}

struct moving {
    fusion_buffer *at, *x, *o, *beside;
    int64_t *places;
    uint8_t *from, *to, *other;
    fusion_graph *graph;
    fusion_exec *exec;
};

static void *map(fusion_buffer *b)
{
    void *memory;
    expect_ok(fusion_buffer_map(b, &memory));
    return memory;
}

static fusion_buffer *make(const char *name, const struct element *e, uint64_t count)
{
    fusion_buffer *b;
    expect_ok(fusion_buffer_create(session, name, e->type, count, 0, &b));
    return b;
}

/* In the open session. pointer: where elements go to; NULL: to a buffer. */
static struct moving moving_new(const struct element *e, uint64_t count, void *pointer)
{
    char kernel[16];
    const struct element index = {FUSION_I64, "i64", 8};
    struct moving m = {make("at", &index, 2), make("x", e, count), make("o", e, count), make("beside", e, count)};
    m.places = map(m.at);
    m.from = map(m.x);
    m.to = map(m.o);
    m.other = map(m.beside);
    for (uint64_t i = 0; i < count * e->bytes; i++) m.from[i] = (uint8_t)(i % 253 + 1);
    memset(m.other, 0x5a, count * e->bytes);
    snprintf(kernel, sizeof kernel, "move_%s", e->name);
    fusion_arg args[] = {fusion_arg_read(m.at), fusion_arg_read(m.x),
                         pointer ? fusion_arg_pointer(pointer, FUSION_ACCESS_WRITE, 0) : fusion_arg_write(m.o)};
    expect_ok(fusion_graph_create(session, &m.graph));
    add_node(m.graph, module, kernel, 1, args, 3);
    expect_ok(fusion_graph_finalize(m.graph, NULL, &m.exec));
    return m;
}

static void moving_free(struct moving *m)
{
    fusion_exec_destroy(m->exec);
    fusion_graph_destroy(m->graph);
    fusion_buffer_destroy(m->at);
    fusion_buffer_destroy(m->x);
    fusion_buffer_destroy(m->o);
    fusion_buffer_destroy(m->beside);
    fusion_disconnect(session);
}

static fusion_status move(struct moving *m, int64_t from, int64_t to)
{
    fusion_event event;
    m->places[0] = from;
    m->places[1] = to;
    expect_ok(fusion_exec_submit(m->exec, NULL, 0, &event));
    return fusion_event_wait(session, event, 60000, NULL);
}

static void expect_fault(struct moving *m, int64_t from, int64_t to, const char *buffer, uint64_t left)
{
    char reason[80];
    expect_error(move(m, from, to), FUSION_KERNEL_FAULT);
    snprintf(reason, sizeof reason, "%llu bytes beyond the end of buffer %s (", (unsigned long long)left, buffer);
    expect_in_reason(reason);
}

/* What alignment leaves behind the last element of large buffers. */
static uint64_t left_behind(uint64_t bytes)
{
    return bytes <= LARGE ? 0 : (AROUND - bytes % AROUND) % AROUND;
}

static void check(const struct element *e, uint64_t count)
{
    open_session();
    struct moving m = moving_new(e, count, NULL);
    uint64_t bytes = count * e->bytes, left = left_behind(bytes);
    int64_t last = (int64_t)count - 1, first_fault = (int64_t)count + (int64_t)(left / e->bytes);
    assert_int_equal((uintptr_t)m.to % (bytes <= LARGE ? e->bytes : AROUND), 0);
    expect_ok(move(&m, last, 0));
    expect_ok(move(&m, 0, last));
    assert_memory_equal(m.to, count > 1 ? m.from + (size_t)last * e->bytes : m.from, e->bytes);
    assert_memory_equal(m.to + (size_t)last * e->bytes, m.from, e->bytes);
    expect_fault(&m, 0, first_fault, "o", left);
    expect_fault(&m, first_fault, 0, "x", left);
    for (uint64_t i = 0; i < bytes; i++) assert_int_equal(m.other[i], 0x5a);
    for (uint64_t i = 0; i < bytes; i++) assert_int_equal(m.from[i], i % 253 + 1);
    expect_ok(move(&m, last, last)); /* contents and handles are there as before */
    assert_memory_equal(m.to + (size_t)last * e->bytes, m.from + (size_t)last * e->bytes, e->bytes);
    moving_free(&m);
}

static void the_next_element_is_a_fault(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
        for (size_t k = 0; k < (elements[i].type == FUSION_F32 ? ALL : OF_EACH_TYPE); k++)
            check(&elements[i], counts[k]);
}

/* Memory of no type may hold anything: it begins as a vector of 64 bytes does. */
static void what_has_no_type_is_aligned(void **state)
{
    (void)state;
    const struct element bytes = {FUSION_BYTES, "i8", 1};
    static const uint64_t sizes[] = {1, 40, 64, 192, 1000, 4096, 10000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        open_session();
        struct moving m = moving_new(&bytes, sizes[i], NULL);
        uint64_t left = (AROUND - sizes[i] % AROUND) % AROUND;
        assert_int_equal((uintptr_t)m.to % AROUND, 0);
        expect_ok(move(&m, (int64_t)sizes[i] - 1, 0));
        expect_fault(&m, 0, (int64_t)(sizes[i] + left), "o", left);
        moving_free(&m);
    }
}

/* The same of USM allocations: their addresses are the client's, and nothing else lies behind them. */
static void allocations_end_there_too(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {64, 192, 4096, 4160, 100};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t left = (AROUND - sizes[i] % AROUND) % AROUND;
        uint8_t *memory;
        open_session();
        expect_ok(fusion_malloc(session, FUSION_USM_SHARED, sizes[i], (void **)&memory));
        assert_int_equal((uintptr_t)memory % AROUND, 0);
        struct moving m = moving_new(&elements[0], 10, memory);
        expect_ok(move(&m, 3, (int64_t)sizes[i] - 1));
        assert_int_equal(memory[sizes[i] - 1], m.from[3]);
        expect_error(move(&m, 3, (int64_t)(sizes[i] + left)), FUSION_KERNEL_FAULT);
        expect_ok(move(&m, 4, 0));
        assert_int_equal(memory[0], m.from[4]);
        expect_ok(fusion_free(session, memory));
        moving_free(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_next_element_is_a_fault),
        cmocka_unit_test(what_has_no_type_is_aligned),
        cmocka_unit_test(allocations_end_there_too),
    };
    return cmocka_run_group_tests_name("ends", tests, set_up, tear_down);
}
