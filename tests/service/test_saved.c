/* Executables that were saved: loaded elsewhere without compiling, compiled where their code does not fit, refused
   where they are not whole. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/service.h"

enum { SIZE = 1000 };

static struct service service, other; /* each with a cache of its own */

static int start(void **state)
{
    (void)state;
    service_start(&service, NULL);
    service_start(&other, NULL);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    service_clear(&service);
    service_clear(&other);
    return 0;
}

/* (in * 3 + in) by kernels of two modules that have the same name, through a temporary; then into a USM allocation. */
struct pipeline {
    fusion_session *session;
    fusion_exec *exec;
    void *bytes;
    size_t size;
};

static fusion_exec *make(fusion_session *s, fusion_mode mode, fusion_tier tier, const char *device)
{
    static const char first[] =
        "kernel @k(%a: ptr.global i32 read, %o: ptr.global i32 write, %f: i32) {\n  %i = global_id x\n"
        "  %x = load i32 %a[%i]\n  %y = mul i32 %x, %f\n  store i32 %o[%i], %y\n}\n";
    static const char second[] =
        "kernel @k(%a: ptr.global i32 read, %b: ptr.global i32 read, %o: ptr.global i32 write) {\n"
        "  %i = global_id x\n  %x = load i32 %a[%i]\n  %z = load i32 %b[%i]\n  %y = add i32 %x, %z\n"
        "  store i32 %o[%i], %y\n}\n";
    fusion_module *one, *two;
    fusion_graph *graph;
    fusion_buffer *in = index_buffer(s, "in", SIZE, 1, 0), *between;
    fusion_exec *exec;
    void *out;
    expect_ok(fusion_module_load(s, "one.fk", first, sizeof first - 1, &one));
    expect_ok(fusion_module_load(s, "two.fk", second, sizeof second - 1, &two));
    expect_ok(fusion_buffer_create(s, "between", FUSION_I32, SIZE, FUSION_INTERNAL_MEMORY | FUSION_NO_INIT, &between));
    expect_ok(fusion_malloc(s, FUSION_USM_SHARED, SIZE * 4, &out));
    expect_ok(fusion_graph_create(s, &graph));
    fusion_arg a[] = {fusion_arg_read(in), fusion_arg_write(between), fusion_arg_i32(3)};
    fusion_arg b[] = {fusion_arg_read(between), fusion_arg_read(in), fusion_arg_pointer(out, FUSION_ACCESS_WRITE, 0)};
    add_node(graph, one, "k", SIZE, a, 3);
    add_node(graph, two, "k", SIZE, b, 3);
    const fusion_finalize_options options = {FUSION_SIZED(fusion_finalize_options), .mode = mode, .tier = tier,
                                             .device = device};
    expect_ok(fusion_graph_finalize(graph, &options, &exec));
    fusion_graph_destroy(graph);
    return exec;
}

static struct pipeline save(fusion_mode mode, const char *device)
{
    struct pipeline p = {.session = service_connect(&service)};
    p.exec = make(p.session, mode, FUSION_TIER_AUTOMATIC, device);
    expect_ok(fusion_exec_save(p.exec, &p.bytes, &p.size));
    return p;
}

static void clear(struct pipeline *p)
{
    free(p->bytes);
    fusion_disconnect(p->session);
}

static void fill(fusion_exec *exec, int factor)
{
    int *in;
    expect_ok(fusion_buffer_map(fusion_exec_buffer(exec, "in"), (void **)&in));
    for (int i = 0; i < SIZE; i++) in[i] = factor * i;
}

static const int *find_output(fusion_exec *exec)
{
    fusion_exec_memory_info info = {FUSION_SIZED(fusion_exec_memory_info)};
    for (uint32_t i = 0; fusion_exec_memory(exec, i, &info) == FUSION_SUCCESS; i++)
        if (info.pointer) return info.pointer;
    fail();
    return NULL;
}

static void run(fusion_session *s, fusion_exec *exec, const fusion_rebind *rebind, uint32_t n, int factor)
{
    fusion_event done;
    expect_ok(fusion_exec_submit(exec, rebind, n, &done));
    expect_ok(fusion_event_wait(s, done, -1, NULL));
    const int *out = find_output(exec);
    for (int i = 0; i < SIZE; i++) assert_int_equal(out[i], factor * i);
}

/* ---- loaded ---- */

static void in_another_service(void **state)
{
    (void)state;
    struct pipeline p = save(FUSION_REQUIRE, NULL);
    fusion_session *s = service_connect(&other);
    long long compiles = service_counter(s, "compiles"), hits = service_counter(s, "object_hits_bundle");
    fusion_exec *exec;
    expect_ok(fusion_exec_load(s, "pipeline", p.bytes, p.size, NULL, &exec));
    clear(&p);
    assert_int_equal(service_counter(s, "compiles"), compiles);
    assert_int_equal(service_counter(s, "object_hits_bundle"), hits + 1);
    const fusion_report *report = fusion_exec_report(exec);
    assert_int_equal(report->launches, 1);
    assert_string_equal(report->internalized[0].buffer, "between");
    assert_string_equal(report->groups[0].effort, "full");
    fill(exec, 1);
    run(s, exec, NULL, 0, 4);
    int32_t five = 5;
    const fusion_rebind factor = {.node = 0, .arg = 2, .value = &five, .value_bytes = sizeof five, .type = FUSION_I32};
    run(s, exec, &factor, 1, 6);
    fusion_buffer *in = index_buffer(s, "other in", SIZE, 10, 0);
    const fusion_rebind input = {.from = fusion_exec_buffer(exec, "in"), .to = in};
    run(s, exec, &input, 1, 40);
    fusion_exec_destroy(exec);
    fusion_disconnect(s);
}

static void memory_is_told(void **state)
{
    (void)state;
    struct pipeline p = save(FUSION_ENABLE, NULL);
    fusion_session *s = service_connect(&other);
    fusion_exec *exec;
    expect_ok(fusion_exec_load(s, NULL, p.bytes, p.size, NULL, &exec));
    fusion_exec_memory_info info = {FUSION_SIZED(fusion_exec_memory_info)};
    expect_ok(fusion_exec_memory(exec, 0, &info));
    assert_string_equal(info.name, "in");
    assert_true(info.reads && !info.writes && !info.internalized && info.type == FUSION_I32 && info.count == SIZE);
    expect_ok(fusion_exec_memory(exec, 1, &info));
    assert_true(info.buffer && info.internalized && info.reads && info.writes);
    expect_ok(fusion_exec_memory(exec, 2, &info));
    assert_true(info.pointer && !info.buffer && info.bytes == SIZE * 4);
    expect_error(fusion_exec_memory(exec, 3, &info), FUSION_NOT_FOUND);
    assert_null(fusion_exec_buffer(exec, "out"));
    /* One that went before: told, and no reason to fail when the others go. */
    fusion_buffer_destroy(fusion_exec_buffer(exec, "in"));
    expect_ok(fusion_exec_memory(exec, 0, &info));
    assert_null(info.buffer);
    assert_int_equal(service_counter(s, "modules"), 2);
    fusion_exec_destroy(exec);
    assert_int_equal(service_counter(s, "modules"), 0);
    assert_int_equal(service_counter(s, "executables"), 0);
    fusion_disconnect(s);
    clear(&p);
}

static void options_of_its_own(void **state)
{
    (void)state;
    struct pipeline p = save(FUSION_REQUIRE, NULL);
    fusion_session *s = service_connect(&other);
    fusion_exec *exec;
    const fusion_finalize_options options = {FUSION_SIZED(fusion_finalize_options), .device = "reference"};
    expect_ok(fusion_exec_load(s, NULL, p.bytes, p.size, &options, &exec));
    assert_int_equal(fusion_exec_report(exec)->launches, 2);
    fill(exec, 1);
    run(s, exec, NULL, 0, 4);
    const fusion_finalize_options wrong = {FUSION_SIZED(fusion_finalize_options), .mode = (fusion_mode)9};
    expect_error(fusion_exec_load(s, NULL, p.bytes, p.size, &wrong, &exec), FUSION_INVALID);
    fusion_disconnect(s);
    clear(&p);
    p = save(FUSION_NONE, "reference");
    s = service_connect(&other);
    expect_ok(fusion_exec_load(s, NULL, p.bytes, p.size, NULL, &exec));
    assert_string_equal(fusion_exec_report(exec)->groups[0].effort, "");
    fusion_disconnect(s);
    clear(&p);
}

/* What was loaded can be saved, and is the same file then. */
static void saved_again(void **state)
{
    (void)state;
    char path[128];
    struct pipeline p = save(FUSION_ENABLE, NULL);
    fusion_session *s = service_connect(&other);
    fusion_exec *exec;
    void *bytes;
    size_t size;
    struct stat file;
    snprintf(path, sizeof path, "%s/saved", other.folder);
    expect_ok(fusion_exec_save_file(p.exec, path));
    assert_int_equal(stat(path, &file), 0);
    assert_int_equal(file.st_size, p.size);
    expect_ok(fusion_exec_load_file(s, path, NULL, &exec));
    expect_ok(fusion_exec_save(exec, &bytes, &size));
    assert_int_equal(size, p.size);
    assert_memory_equal(bytes, p.bytes, size);
    free(bytes);
    expect_error(fusion_exec_save_file(exec, "/nowhere/file"), FUSION_IO);
    expect_error(fusion_exec_load_file(s, "/nowhere/file", NULL, &exec), FUSION_IO);
    fusion_disconnect(s);
    clear(&p);
}

/* ---- where the code does not fit ---- */

/* The first of these texts in the file. */
static uint8_t *find(const struct pipeline *p, const char *text)
{
    uint8_t *at = memmem(p->bytes, p->size, text, strlen(text));
    assert_non_null(at);
    return at;
}

/* Code of another version of the interface, or of a processor that is none, is compiled again. */
static void code_for_others(void **state)
{
    (void)state;
    static const char *const texts[] = {"kernels ", "x86_64"};
    for (int i = 0; i < 2; i++) {
        struct pipeline p = save(FUSION_REQUIRE, NULL);
        fusion_session *s = service_connect(&other);
        long long hits = service_counter(s, "object_hits_bundle");
        fusion_exec *exec;
        uint8_t *at = find(&p, texts[i]);
        at[i == 0 ? strlen(texts[i]) : 0] = i == 0 ? '3' : 'y';
        expect_ok(fusion_exec_load(s, NULL, p.bytes, p.size, NULL, &exec));
        assert_int_equal(service_counter(s, "object_hits_bundle"), hits);
        fill(exec, 1);
        run(s, exec, NULL, 0, 4);
        fusion_disconnect(s);
        clear(&p);
    }
}

/* ---- what cannot be ---- */

static void do_nothing(void *data)
{
    (void)data;
}

static void not_to_be_saved(void **state)
{
    (void)state;
    fusion_session *s = service_connect(&service);
    fusion_graph *graph;
    fusion_exec *exec;
    void *bytes;
    size_t size;
    expect_ok(fusion_graph_create(s, &graph));
    expect_ok(fusion_graph_add_host_task(graph, "task", NULL, 0, do_nothing, NULL, NULL, 0, NULL));
    expect_ok(fusion_graph_finalize(graph, NULL, &exec));
    expect_error(fusion_exec_save(exec, &bytes, &size), FUSION_INVALID);
    expect_in_reason("task");
    expect_in_reason("a function of this process");
    fusion_module *m = load_test_kernels(s);
    fusion_buffer *o = index_buffer(s, "o", SIZE, 0, 0);
    fusion_arg args[] = {fusion_arg_read(index_buffer(s, "a", SIZE, 1, 0)), fusion_arg_write(o), fusion_arg_i32(2)};
    expect_ok(fusion_graph_create(s, &graph));
    add_node(graph, m, "scale", SIZE, args, 3);
    expect_ok(fusion_graph_finalize(graph, NULL, &exec));
    fusion_module_destroy(m);
    expect_error(fusion_exec_save(exec, &bytes, &size), FUSION_NOT_FOUND);
    fusion_disconnect(s);
}

static void refused(fusion_session *s, const void *bytes, size_t size, fusion_status status, const char *why)
{
    fusion_exec *exec = NULL;
    expect_error(fusion_exec_load(s, "saved", bytes, size, NULL, &exec), status);
    expect_in_reason(why);
    assert_null(exec);
}

static void other_files(void **state)
{
    (void)state;
    struct pipeline p = save(FUSION_ENABLE, NULL);
    fusion_session *s = service_connect(&other);
    refused(s, test_kernels, strlen(test_kernels), FUSION_INVALID, "no saved executable");
    refused(s, "", 0, FUSION_INVALID, "empty");
    uint8_t *form = find(&p, "executable 1\n");
    form[11] = '2';
    refused(s, p.bytes, p.size, FUSION_VERSION, "another version");
    form[11] = 'x';
    refused(s, p.bytes, p.size, FUSION_INVALID, "executable.version");
    form[11] = '1';
    fusion_disconnect(s);
    clear(&p);
}

/* Wherever it ends, and whatever byte of it is another: an error with a reason, or an executable; never the end of the
   session, its service or this process. */
static void damaged(void **state)
{
    (void)state;
    struct pipeline p = save(FUSION_ENABLE, NULL);
    fusion_session *s = service_connect(&other);
    fusion_exec *exec;
    unsigned refusals = 0;
    for (size_t cut = 1; cut < p.size; cut += p.size / 60 + 1) {
        fusion_status status = fusion_exec_load(s, "cut", p.bytes, cut, NULL, &exec);
        assert_int_not_equal(status, FUSION_SUCCESS);
        assert_true(fusion_last_error()->reason[0]);
    }
    /* All but the objects, which check_object() has tests of. */
    size_t end = (size_t)(find(&p, "\x7f"
                                   "ELF") -
                          (uint8_t *)p.bytes);
    for (size_t at = 16; at < end; at += end / 150 + 1) {
        uint8_t *byte = (uint8_t *)p.bytes + at, before = *byte;
        *byte ^= (uint8_t)(1 + at % 255);
        if (fusion_exec_load(s, "spoilt", p.bytes, p.size, NULL, &exec) == FUSION_SUCCESS)
            fusion_exec_destroy(exec);
        else
            refusals++;
        *byte = before;
    }
    assert_true(refusals > 10);
    assert_int_equal(service_counter(s, "modules"), 0);
    assert_int_equal(service_counter(s, "executables"), 0);
    expect_ok(fusion_exec_load(s, "whole", p.bytes, p.size, NULL, &exec));
    fill(exec, 1);
    run(s, exec, NULL, 0, 4);
    fusion_disconnect(s);
    clear(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_another_service), cmocka_unit_test(memory_is_told),  cmocka_unit_test(options_of_its_own),
        cmocka_unit_test(saved_again),        cmocka_unit_test(code_for_others), cmocka_unit_test(not_to_be_saved),
        cmocka_unit_test(other_files),        cmocka_unit_test(damaged),
    };
    return cmocka_run_group_tests_name("saved executables", tests, start, stop);
}
