/* printf of kernels: what clients get, in which order, and what there is no room for; on both devices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/service.h"

enum { ITEMS = 1000, CLIENT_ROOM = 4 << 20 };

/* One argument each: its word (an i32, a string), itself, and the word that ends them. In global memory, each work-item
   would need a place of its own. */
static const char text[] =
    "constant @format: [16 x i8] = hex\"6974656d2025643a2025730a00000000\"\n" /* "item %d: %s\n" */
    "constant @odd: [4 x i8] = hex\"6f646400\"\n"
    "constant @even: [8 x i8] = hex\"6576656e00000000\"\n"
    "func @say(%n: i32) -> i32 {\n"
    "    %args = var [5 x i64]\n    %at1 = elem i64 %args, 1\n    %at2 = elem i64 %args, 2\n"
    "    %at3 = elem i64 %args, 3\n    %at4 = elem i64 %args, 4\n"
    "    %o = global @odd\n    %e = global @even\n    %f = global @format\n"
    "    %bit = and i32 %n, 1\n    %is = ieq i32 %bit, 1\n    %word = select ptr.constant %is, %o, %e\n"
    "    store i64 %args, 0x10400\n    store i32 %at1, %n\n    store i64 %at2, 0x10802\n"
    "    store ptr.constant %at3, %word\n    store i64 %at4, 0\n"
    "    %i = global_linear_id\n    %r = printf [5 x i64] %i, %f, %args\n    return %r\n"
    "}\n"
    "kernel @tell(%x: ptr.global i32 read, %o: ptr.global i32 write) {\n"
    "    %i = global_id x\n    %n = load i32 %x[%i]\n    %r = call @say(%n)\n    store i32 %o[%i], %r\n"
    "}\n"
    /* The even ones, on both sides of a barrier. */
    "kernel @twice(%x: ptr.global i32 read) work_group_size(20) {\n"
    "    %i = global_id x\n    %n = load i32 %x[%i]\n    %bit = and i32 %n, 1\n    %is = ieq i32 %bit, 0\n"
    "    if %is { %r = call @say(%n) }\n    barrier work_group, local\n    %more = add i32 %n, 1\n"
    "    if %is { %s = call @say(%more) }\n"
    "}\n"
    /* A string that is made where it is printed, and is another one the next time. */
    "constant @string: [4 x i8] = hex\"25730a00\"\n"
    "kernel @made() {\n"
    "    %i = global_linear_id\n    %n = trunc i8 %i\n    %args = var [3 x i64]\n    %text = var [4 x i8]\n"
    "    %at1 = elem i64 %args, 1\n    %at2 = elem i64 %args, 2\n    %t1 = elem i8 %text, 1\n    %t2 = elem i8 %text, "
    "2\n"
    "    %f = global @string\n    %a = add i8 %n, 97\n    %b = add i8 %n, 65\n"
    "    store i64 %args, 0x10802\n    store ptr.private %at1, %text\n    store i64 %at2, 0\n"
    "    store i8 %text, %a\n    store i8 %t1, 33\n    store i8 %t2, 0\n    %r = printf [3 x i64] %i, %f, %args\n"
    "    store i8 %text, %b\n    store i8 %t1, 0\n    %s = printf [3 x i64] %i, %f, %args\n"
    "}\n"
    /* "%d|%6.2f|%v4d|%c|%q%%|%-5s|%u\n": numbers of all sizes, what is no directive, one without an argument. */
    "constant @mixed: [31 x i8] = hex\"25647c25362e32667c257634647c25637c257125257c252d35737c25750a00\"\n"
    "kernel @mix(%x: ptr.global i32 read) {\n"
    "    %i = global_id x\n    %n = load i32 %x[%i]\n    %args = var [15 x i64]\n    %f = global @mixed\n"
    "    %o = global @odd\n    %d = stof f64 %n\n    %q = fdiv f64 %d, 4.0\n    %b = trunc i8 %n\n    %c = add i8 %b, "
    "65\n"
    "    %v = vec i32x4 %n, 1, 2, 3\n"
    "    %at1 = elem i64 %args, 1\n    %at2 = elem i64 %args, 2\n    %at3 = elem i64 %args, 3\n"
    "    %at4 = elem i64 %args, 4\n    %at5 = elem i64 %args, 5\n    %at7 = elem i64 %args, 7\n"
    "    %at8 = elem i64 %args, 8\n    %at9 = elem i64 %args, 9\n    %at10 = elem i64 %args, 10\n"
    "    %at11 = elem i64 %args, 11\n"
    "    store i64 %args, 0x10400\n    store i32 %at1, %n\n    store i64 %at2, 0x10801\n    store f64 %at3, %q\n"
    "    store i64 %at4, 0x40400\n    store i32x4 %at5, %v, align 8\n    store i64 %at7, 0x10100\n"
    "    store i8 %at8, %c\n    store i64 %at9, 0x10802\n    store ptr.constant %at10, %o\n    store i64 %at11, 0\n"
    "    %l = global_linear_id\n    %r = printf [15 x i64] %l, %f, %args\n"
    "}\n"
    /* One format, or another, or a third one. */
    "kernel @either(%x: ptr.global i32 read) {\n"
    "    %i = global_linear_id\n    %n = load i32 %x[%i]\n    %args = var [1 x i64]\n    store i64 %args, 0\n"
    "    %o = global @odd\n    %e = global @even\n    %bit = and i32 %n, 1\n    %is = ieq i32 %bit, 1\n"
    "    %f = select ptr.constant %is, %o, %e\n    %last = ieq i32 %n, 3\n    %d = global @string\n"
    "    %g = select ptr.constant %last, %d, %f\n    %r = printf [1 x i64] %i, %g, %args\n"
    "}\n"
    /* The same chosen by ifs, one in the other, of which one ends elsewhere; the chosen one passes through a selection.
     */
    "kernel @by_ifs(%x: ptr.global i32 read) {\n"
    "    %i = global_linear_id\n    %n = load i32 %x[%i]\n    %args = var [1 x i64]\n    store i64 %args, 0\n"
    "    %bit = and i32 %n, 1\n    %is = ieq i32 %bit, 1\n    %last = ieq i32 %n, 3\n    %none = ieq i32 %n, 2\n"
    "    %g = if %last -> ptr.constant {\n        %d = global @string\n        yield %d\n    } else {\n"
    "        %f = if %is -> ptr.constant {\n            %o = global @odd\n            yield %o\n        } else {\n"
    "            if %none { return } else { yield }\n            %e = global @even\n            yield %e\n        }\n"
    "        yield %f\n    }\n"
    "    %first = ieq i32 %n, 0\n    %p = global @mixed\n    %end = elem i8 %p, 27\n"
    "    %h = select ptr.constant %first, %end, %g\n    %r = printf [1 x i64] %i, %h, %args\n"
    "}\n"
    /* Carried by a loop, which changes the two in each round; the one that was printed last leaves it. None is there
       before. */
    "kernel @by_rounds(%x: ptr.global i32 read) {\n"
    "    %i = global_linear_id\n    %x0 = load i32 %x[%i]\n    %n = add i32 %x0, 1\n    %args = var [1 x i64]\n"
    "    store i64 %args, 0\n    %o = global @odd\n    %e = global @even\n"
    "    %last, %t = loop (%f: ptr.constant = %o, %g: ptr.constant = %e, %before: ptr.constant = null, %k: i32 = 0) -> "
    "ptr.constant, i32 {\n"
    "        %done = sge i32 %k, %n\n        if %done { break %before, %k } else { yield }\n"
    "        %r = printf [1 x i64] %i, %f, %args\n        %m = add i32 %k, 1\n        continue %g, %f, %f, %m\n    }\n"
    "    %r2 = printf [1 x i64] %i, %last, %args\n}\n"
    /* One that is not known. */
    "kernel @given(%x: ptr.global i32 read, %f: ptr.constant i32 read) {\n"
    "    %i = global_linear_id\n    %args = var [1 x i64]\n    store i64 %args, 0\n"
    "    %r = printf [1 x i64] %i, %f, %args\n}\n"
    "kernel @plus(%x: ptr.global i32 read, %o: ptr.global i32 write) {\n"
    "    %i = global_id x\n    %n = load i32 %x[%i]\n    %m = add i32 %n, 1\n    store i32 %o[%i], %m\n"
    "}\n";

static const char *devices[2] = {"cpu", "reference"};
static int n_devices = 2;
static bool absent;
static struct service service;
static fusion_session *session;
static struct {
    char text[CLIENT_ROOM];
    size_t n;
} printed;

static void collect(void *data, const char *part, size_t bytes)
{
    assert_ptr_equal(data, &printed);
    assert_true(printed.n + bytes < sizeof printed.text);
    memcpy(printed.text + printed.n, part, bytes);
    printed.n += bytes;
    printed.text[printed.n] = 0;
}

static int set_up(void **state)
{
    (void)state;
    service_start(&service, NULL);
    session = service_connect(&service);
    expect_ok(fusion_session_set_print(session, collect, &printed));
    char name[64], reason[256];
    for (uint32_t i = 0; fusion_device_absent(session, i, name, reason) == FUSION_SUCCESS; i++)
        if (strcmp(name, devices[0]) == 0) {
            printf("# skipped: no device %s: %s\n", name, reason);
            absent = true;
        }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fusion_disconnect(session);
    service_clear(&service);
    return 0;
}

static void forget(void)
{
    printed.n = 0;
    printed.text[0] = 0;
}

static fusion_module *load(fusion_session *s)
{
    fusion_module *m;
    expect_ok(fusion_module_load(s, "print", text, sizeof text - 1, &m));
    return m;
}

static void run(fusion_exec *exec)
{
    fusion_event event;
    expect_ok(fusion_exec_submit(exec, NULL, 0, &event));
    expect_ok(fusion_event_wait(session, event, -1, NULL));
}

/* "item 0: even\n" ... as many times over, of the numbers first, first + step ... */
static size_t line(char *to, int n)
{
    return (size_t)sprintf(to, "item %d: %s\n", n, n & 1 ? "odd" : "even");
}

static void expect_printed(const char *wanted)
{
    if (strcmp(printed.text, wanted) == 0) return;
    size_t at = 0;
    while (printed.text[at] == wanted[at]) at++;
    fail_msg("byte %zu: \"%.60s\" instead of \"%.60s\"", at, printed.text + at, wanted + at);
}

static fusion_exec *finalize(fusion_graph *g, const char *device)
{
    fusion_exec *exec;
    const fusion_finalize_options options = {.device = device, .mode = FUSION_ENABLE};
    expect_ok(fusion_graph_finalize(g, &options, &exec));
    return exec;
}

/* ---- tests ---- */

/* All that a launch prints comes when it is complete, by work-item, run after run. */
static void test_order(void **state)
{
    (void)state;
    if (absent) skip();
    char *wanted = calloc(1, ITEMS * 32);
    size_t at = 0;
    for (int i = 0; i < ITEMS; i++) at += line(wanted + at, 3 * i);
    for (int d = 0; d < n_devices; d++) {
        fusion_graph *g;
        int32_t *results;
        fusion_buffer *x = index_buffer(session, "x", ITEMS, 3, 0), *o = index_buffer(session, "o", ITEMS, 5, 0);
        expect_ok(fusion_graph_create(session, &g));
        add_node(g, load(session), "tell", ITEMS, (const fusion_arg[]){fusion_arg_read(x), fusion_arg_write(o)}, 2);
        fusion_exec *exec = finalize(g, devices[d]);
        for (int round = 0; round < 3; round++) {
            forget();
            run(exec);
            expect_printed(wanted);
        }
        expect_ok(fusion_buffer_map(o, (void **)&results));
        for (int i = 0; i < ITEMS; i++) assert_int_equal(results[i], 0);
        fusion_graph_destroy(g);
    }
    free(wanted);
}

/* Under conditions and across barriers: each work-item's messages together, in the order of its calls. */
static void test_barriers(void **state)
{
    (void)state;
    if (absent) skip();
    char *wanted = calloc(1, ITEMS * 32);
    size_t at = 0;
    for (int i = 0; i < ITEMS; i += 2) {
        at += line(wanted + at, i);
        at += line(wanted + at, i + 1);
    }
    for (int d = 0; d < n_devices; d++) {
        fusion_graph *g;
        fusion_buffer *x = index_buffer(session, "x", ITEMS, 1, 0);
        expect_ok(fusion_graph_create(session, &g));
        add_node(g, load(session), "twice", ITEMS, (const fusion_arg[]){fusion_arg_read(x)}, 1);
        forget();
        run(finalize(g, devices[d]));
        expect_printed(wanted);
        fusion_graph_destroy(g);
    }
    free(wanted);
}

/* Strings are read when they are printed. */
static void test_made_strings(void **state)
{
    (void)state;
    if (absent) skip();
    for (int d = 0; d < n_devices; d++) {
        fusion_graph *g;
        expect_ok(fusion_graph_create(session, &g));
        add_node(g, load(session), "made", 3, NULL, 0);
        forget();
        run(finalize(g, devices[d]));
        expect_printed("a!\nA\nb!\nB\nc!\nC\n");
        fusion_graph_destroy(g);
    }
}

/* Each device's text is that of the first. */
static void test_conversions(void **state)
{
    (void)state;
    if (absent) skip();
    for (int d = 0; d < n_devices; d++) {
        fusion_graph *g;
        fusion_buffer *x = index_buffer(session, "x", 3, 7, 0);
        expect_ok(fusion_graph_create(session, &g));
        add_node(g, load(session), "mix", 3, (const fusion_arg[]){fusion_arg_read(x)}, 1);
        forget();
        run(finalize(g, devices[d]));
        expect_printed("0|  0.00|0,1,2,3|A|%q%|odd  |%u\n7|  1.75|7,1,2,3|H|%q%|odd  |%u\n"
                       "14|  3.50|14,1,2,3|O|%q%|odd  |%u\n");
        fusion_graph_destroy(g);
    }
}

/* Formats that are chosen when it runs. */
static void test_formats(void **state)
{
    (void)state;
    if (absent) skip();
    for (int d = 0; d < n_devices; d++) {
        fusion_graph *g;
        fusion_buffer *x = index_buffer(session, "x", 5, 1, 0);
        expect_ok(fusion_graph_create(session, &g));
        add_node(g, load(session), "either", 4, (const fusion_arg[]){fusion_arg_read(x)}, 1);
        forget();
        run(finalize(g, devices[d]));
        expect_printed("evenoddeven%s\n");
        fusion_graph_destroy(g);
        expect_ok(fusion_graph_create(session, &g));
        add_node(g, load(session), "by_ifs", 5, (const fusion_arg[]){fusion_arg_read(x)}, 1);
        forget();
        run(finalize(g, devices[d]));
        expect_printed("%u\nodd%s\neven");
        fusion_graph_destroy(g);
        x = index_buffer(session, "rounds", 3, 1, 0);
        expect_ok(fusion_graph_create(session, &g));
        add_node(g, load(session), "by_rounds", 3, (const fusion_arg[]){fusion_arg_read(x)}, 1);
        forget();
        run(finalize(g, devices[d]));
        expect_printed("oddoddoddeveneven"
                       "oddevenoddodd");
        fusion_graph_destroy(g);
    }
}

/* Formats that are not known: GPUs say so at once. */
static void test_unknown_format(void **state)
{
    (void)state;
    if (absent) skip();
    if (n_devices > 1) return;
    fusion_graph *g;
    fusion_exec *exec;
    fusion_buffer *x = index_buffer(session, "x", 4, 1, 0);
    const fusion_finalize_options options = {.device = devices[0]};
    const fusion_arg args[] = {fusion_arg_read(x), fusion_arg_read(x)};
    expect_ok(fusion_graph_create(session, &g));
    add_node(g, load(session), "given", 4, args, 2);
    assert_int_equal(fusion_graph_finalize(g, &options, &exec), FUSION_FEATURE_NOT_SUPPORTED);
    assert_non_null(strstr(fusion_last_error()->reason, "printf cannot be written: format"));
    fusion_graph_destroy(g);
}

/* A kernel that prints fuses with one that does not, and keeps a buffer in registers; two that print do not, so that
   it looks as if nothing were fused. */
static void test_fusion(void **state)
{
    (void)state;
    if (absent) skip();
    const unsigned private = FUSION_INTERNAL_MEMORY | FUSION_NO_INIT | FUSION_ACCESS_SCOPE_WORK_ITEM;
    fusion_graph *g;
    fusion_module *m = load(session);
    fusion_buffer *x = index_buffer(session, "x", 4, 1, 0), *o = index_buffer(session, "o", 4, 0, 0), *t;
    expect_ok(fusion_buffer_create(session, "t", FUSION_I32, 4, private, &t));
    expect_ok(fusion_graph_create(session, &g));
    add_node(g, m, "plus", 4, (const fusion_arg[]){fusion_arg_read(x), fusion_arg_write(t)}, 2);
    add_node(g, m, "tell", 4, (const fusion_arg[]){fusion_arg_read(t), fusion_arg_write(o)}, 2);
    fusion_exec *exec = finalize(g, devices[0]);
    assert_int_equal(fusion_exec_report(exec)->launches, 1);
    forget();
    run(exec);
    expect_printed("item 1: odd\nitem 2: even\nitem 3: odd\nitem 4: even\n");
    fusion_graph_destroy(g);
    expect_ok(fusion_graph_create(session, &g));
    add_node(g, m, "tell", 4, (const fusion_arg[]){fusion_arg_read(x), fusion_arg_write(o)}, 2);
    add_node(g, m, "tell", 4, (const fusion_arg[]){fusion_arg_read(o), fusion_arg_write(x)}, 2);
    exec = finalize(g, devices[0]);
    const fusion_report *report = fusion_exec_report(exec);
    assert_int_equal(report->launches, 2);
    bool told = false;
    for (uint32_t i = 0; i < report->n_remarks; i++)
        told |= strcmp(report->remarks[i].code, "not_fused_hidden_memory") == 0 &&
                strstr(report->remarks[i].text, "both print") != NULL;
    assert_true(told);
    forget();
    run(exec);
    expect_printed("item 0: even\nitem 1: odd\nitem 2: even\nitem 3: odd\n"
                   "item 0: even\nitem 0: even\nitem 0: even\nitem 0: even\n");
    fusion_graph_destroy(g);
}

/* Whole messages up to the bound, then how many were dropped; the kernel sees which, but for those of a GPU that were
   text only later. The next submission has room
   again, also where the client looked at nothing for long. */
static void test_bound(void **state)
{
    (void)state;
    if (absent) skip();
    enum { MANY = 100000 };
    fusion_graph *g;
    fusion_event event;
    int32_t *results;
    fusion_buffer *x = index_buffer(session, "x", MANY, 1, 0), *o = index_buffer(session, "o", MANY, 0, 0);
    expect_ok(fusion_graph_create(session, &g));
    add_node(g, load(session), "tell", MANY, (const fusion_arg[]){fusion_arg_read(x), fusion_arg_write(o)}, 2);
    fusion_exec *exec = finalize(g, devices[0]);
    forget();
    run(exec);
    expect_ok(fusion_buffer_map(o, (void **)&results));
    unsigned dropped = 0, lines = 0;
    for (int i = 0; i < MANY; i++) dropped += results[i] == -1;
    for (size_t i = 0; i < printed.n; i++) lines += printed.text[i] == '\n';
    assert_true(printed.n <= 1 << 20 && printed.n > 1000000);
    if (n_devices > 1)
        assert_int_equal(lines, MANY - dropped + 1);
    else
        assert_true(lines <= MANY - dropped + 1);
    dropped = MANY + 1 - lines;
    char note[100];
    snprintf(note, sizeof note, "[printf: %u messages were dropped", dropped);
    assert_non_null(strstr(printed.text, note));
    fusion_graph_destroy(g);

    expect_ok(fusion_graph_create(session, &g));
    add_node(g, load(session), "tell", 40000, (const fusion_arg[]){fusion_arg_read(x), fusion_arg_write(o)}, 2);
    exec = finalize(g, devices[0]);
    forget();
    for (int k = 0; k < 3; k++) expect_ok(fusion_exec_submit(exec, NULL, 0, &event));
    expect_ok(fusion_event_wait(session, event, -1, NULL));
    assert_non_null(strstr(printed.text, "bytes of a submission were dropped: the client has not taken"));
    fusion_graph_destroy(g);
}

/* Without a function it is the process's standard output; what was not waited for comes when the session ends. */
static void test_standard_output(void **state)
{
    (void)state;
    if (absent) skip();
    char path[160], got[100] = "";
    snprintf(path, sizeof path, "%s/stdout", service.folder);
    fflush(stdout);
    int kept = dup(1), fd = 0;
    FILE *f = fopen(path, "w+");
    assert_non_null(f);
    fusion_session *other = service_connect(&service);
    fusion_buffer *x = index_buffer(other, "x", 2, 1, 0), *o = index_buffer(other, "o", 2, 0, 0);
    fusion_graph *g;
    fusion_exec *exec;
    fusion_event event;
    expect_ok(fusion_graph_create(other, &g));
    add_node(g, load(other), "tell", 2, (const fusion_arg[]){fusion_arg_read(x), fusion_arg_write(o)}, 2);
    exec = finalize(g, devices[0]);
    fd = dup2(fileno(f), 1);
    fusion_status first = fusion_exec_submit(exec, NULL, 0, &event);
    if (first == FUSION_SUCCESS) first = fusion_event_wait(other, event, -1, NULL);
    fusion_disconnect(other);
    fflush(stdout);
    dup2(kept, 1);
    close(kept);
    assert_int_equal(fd, 1);
    expect_ok(first);
    rewind(f);
    assert_int_equal(fread(got, 1, sizeof got - 1, f), 25);
    assert_string_equal(got, "item 0: even\nitem 1: odd\n");
    fclose(f);
}

/* Of the device that is named, or of those that are always there. */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),       cmocka_unit_test(test_barriers), cmocka_unit_test(test_made_strings),
        cmocka_unit_test(test_conversions), cmocka_unit_test(test_formats),  cmocka_unit_test(test_unknown_format),
        cmocka_unit_test(test_fusion),      cmocka_unit_test(test_bound),    cmocka_unit_test(test_standard_output),
    };
    if (argc > 1) {
        devices[0] = argv[1];
        n_devices = 1;
    }
    return cmocka_run_group_tests_name("printf", tests, set_up, tear_down);
}
