/* Modules of OpenCL C: compiled by the user's clang, their errors and warnings, options, includes, the cache. Programs
 * in the place of clang and its translator count how often they are run, or fail. */
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
#include "tools/clc/toolchain.h"

enum { ITEMS = 100 };

static struct service service;
static struct toolchain tools;
static char runs[128]; /* a file with a line for each run of clang */

static const char scale[] = "#ifndef FACTOR\n#define FACTOR 3\n#endif\n"
                            "kernel void scale(global const int *a, global int *o) {\n"
                            "    int i = get_global_id(0);\n"
                            "    o[i] = a[i] * FACTOR;\n"
                            "}\n";

/* ---- files ---- */

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

/* A file of the test's folder; the name stays until the next but seven. */
static const char *in_folder(const char *name)
{
    static char paths[8][128];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", service.folder, name);
    return path;
}

static const char *write_file(const char *name, const char *text)
{
    const char *path = in_folder(name);
    write_text(path, text);
    return path;
}

/* A program that does what the script says; $1 ... are its arguments. */
static const char *write_program(const char *name, const char *script)
{
    char text[8192];
    snprintf(text, sizeof text, "#!/bin/sh\n%s\n", script);
    const char *path = write_file(name, text);
    assert_int_equal(chmod(path, 0700), 0);
    return path;
}

static int clang_runs(void)
{
    int n = 0, c;
    FILE *f = fopen(runs, "r");
    while (f && (c = getc(f)) != EOF) n += c == '\n';
    if (f) fclose(f);
    return n;
}

/* ---- the programs ---- */

static void use_programs(const char *clang, const char *translator)
{
    setenv("FUSIOND_CLANG", clang, 1);
    setenv("FUSIOND_LLVM_SPIRV", translator, 1);
}

static void use_counted_clang(void)
{
    char script[PATH_MAX + 200];
    snprintf(script, sizeof script, "echo run >> %s; exec %s \"$@\"", runs, tools.clang);
    use_programs(write_program("clang", script), tools.translator);
}

static int set_up(void **state)
{
    const char *missing;
    assert_true(toolchain_find(&tools, &missing));
    service_start(&service, NULL);
    setenv("XDG_CACHE_HOME", in_folder("clc-cache"), 1);
    snprintf(runs, sizeof runs, "%s", in_folder("runs"));
    use_counted_clang();
    *state = service_connect(&service);
    return 0;
}

static int tear_down(void **state)
{
    fusion_disconnect(*state);
    service_clear(&service);
    return 0;
}

/* ---- running ---- */

/* What kernel scale makes of 0, 1, 2 ...: the factor. */
static int factor_of(fusion_session *s, fusion_module *m)
{
    fusion_graph *graph;
    fusion_exec *exec;
    fusion_event event;
    void *memory;
    fusion_buffer *a = index_buffer(s, "a", ITEMS, 1, 0), *o = index_buffer(s, "o", ITEMS, 0, 0);
    const fusion_arg args[] = {fusion_arg_read(a), fusion_arg_write(o)};
    expect_ok(fusion_graph_create(s, &graph));
    add_node(graph, m, "scale", ITEMS, args, 2);
    expect_ok(fusion_graph_finalize(graph, NULL, &exec));
    expect_ok(fusion_exec_submit(exec, NULL, 0, &event));
    expect_ok(fusion_event_wait(s, event, -1, NULL));
    expect_ok(fusion_buffer_map(o, &memory));
    const int *out = memory;
    int factor = out[1];
    for (int i = 0; i < ITEMS; i++) assert_int_equal(out[i], i * factor);
    fusion_exec_destroy(exec);
    fusion_graph_destroy(graph);
    fusion_buffer_destroy(a);
    fusion_buffer_destroy(o);
    return factor;
}

static int factor_of_file(fusion_session *s, const char *path, const char *options)
{
    fusion_module *m;
    expect_ok(fusion_module_load_file_with(s, path, &(fusion_module_options){.build_options = options}, &m));
    int factor = factor_of(s, m);
    fusion_module_destroy(m);
    return factor;
}

/* ---- the tests ---- */

static void test_load(void **state)
{
    fusion_module *m;
    const char *path = write_file("scale.cl", scale);
    assert_int_equal(factor_of_file(*state, path, NULL), 3);
    assert_int_equal(factor_of_file(*state, path, "-D FACTOR=5"), 5);
    assert_int_equal(factor_of_file(*state, path, " -w  '-DFACTOR=(3 + 4)' \"-O0\""), 7);
    expect_ok(fusion_module_load(*state, "text.cl", scale, strlen(scale), &m));
    assert_int_equal(factor_of(*state, m), 3);
    assert_string_equal(fusion_module_kernel(m, 0)->args[1].name, "o");
    fusion_module_destroy(m);
}

/* Programs of before 2.0: a pointer without an address space is a private one. */
static const char older[] = "kernel void scale(global const int *a, global int *o) {\n"
                            "    int number = a[get_global_id(0)] * 3;\n"
                            "    private uchar *bytes = (uchar *)&number;\n"
                            "    o[get_global_id(0)] = bytes[0] | bytes[1] << 8 | bytes[2] << 16 | bytes[3] << 24;\n"
                            "}\n";

static void test_older_language(void **state)
{
    fusion_module *m;
    const char *path = write_file("older.cl", older);
    assert_int_equal(factor_of_file(*state, path, NULL), 3);
    assert_int_equal(factor_of_file(*state, path, "-cl-std=CL1.1"), 3);
    expect_error(
        fusion_module_load_file_with(*state, path, &(fusion_module_options){.build_options = "-cl-std=CL2.0"}, &m),
        FUSION_INVALID);
}

/* The version that the device has, which clang does not know. */
static void test_version_of_device(void **state)
{
    char text[512];
    snprintf(text, sizeof text, "#if __OPENCL_VERSION__ >= 120\n#define FACTOR (__OPENCL_VERSION__ / 10)\n#endif\n%s",
             scale);
    const char *path = write_file("version.cl", text);
    assert_int_equal(factor_of_file(*state, path, NULL), 20);
    assert_int_equal(factor_of_file(*state, path, "-cl-std=CL3.0"), 30);
    assert_int_equal(factor_of_file(*state, path, "-D __OPENCL_VERSION__=120 -Werror"), 12);
    assert_int_equal(factor_of_file(*state, path, "-D__OPENCL_VERSION__=110 -Werror"), 3);
}

/* There are three dimensions; beyond them is one work-item of one group, the first. */
static void test_dimensions_beyond(void **state)
{
    static const char *const forms[] = {"(a[i] + 3)", "(3 + 0 * a[i])", "(3)", "(4000000000u)"};
    const char *path = write_file("beyond.cl", scale);
    for (int i = 0; i < 8; i++) {
        char text[600];
        snprintf(text, sizeof text,
                 "'-DFACTOR=((int)(get_global_size%s * 3 + get_local_size%s * 5 + get_num_groups%s * 7 + "
                 "get_enqueued_local_size%s * 9 + get_global_id%s + get_local_id%s + get_group_id%s + "
                 "get_global_offset%s + get_global_size(a[i] %% 1 + 1)))' %s",
                 forms[i / 2], forms[i / 2], forms[i / 2], forms[i / 2], forms[i / 2], forms[i / 2], forms[i / 2],
                 forms[i / 2], i % 2 ? "-O0" : "");
        assert_int_equal(factor_of_file(*state, path, text), 25);
    }
}

/* Translators put shuffles into SPIR-V 1.3 and later. What it shuffles are the numbers from 0, in pairs. */
static const char shuffled[] = "kernel void scale(global const int *a, global int *o) {\n"
                               "    int i = get_global_id(0), other = sub_group_shuffle_xor(a[i], 1);\n"
                               "    o[i] = other == (i ^ 1) ? a[i] * 3 : -1;\n"
                               "}\n";

static void test_later_version(void **state)
{
    assert_int_equal(factor_of_file(*state, write_file("shuffled.cl", shuffled), NULL), 3);
}

static void test_errors(void **state)
{
    static const char wrong[] = "kernel void k(global int *a) {\n    a[0] = b;\n}\n";
    fusion_module *m;
    expect_error(fusion_module_load_file(*state, write_file("wrong.cl", wrong), &m), FUSION_INVALID);
    expect_in_reason("wrong.cl:2:12: error: use of undeclared identifier 'b'\n");
    expect_in_reason("    a[0] = b;\n"); /* later compilers write the line's number before it */
    expect_in_reason("           ^\n");
    expect_error(fusion_module_load(*state, "memory.cl", wrong, strlen(wrong), &m), FUSION_INVALID);
    expect_in_reason("memory.cl:2:12: error: use of undeclared identifier 'b'\n");
    expect_error(fusion_module_load_file(*state, in_folder("absent.cl"), &m), FUSION_IO);
    expect_in_reason("opening: No such file or directory");
    expect_error(fusion_module_load_with(*state, "o.cl", scale, strlen(scale),
                                         &(fusion_module_options){.build_options = "-D 'A"}, &m),
                 FUSION_INVALID);
    expect_in_reason("the text of the options ends between quotes");
    expect_error(fusion_module_load_with(*state, "o.cl", scale, strlen(scale),
                                         &(fusion_module_options){.build_options = "-DA=1 -D"}, &m),
                 FUSION_INVALID);
    expect_in_reason("option -D of clang needs a value behind it");
    expect_error(fusion_module_load_with(*state, "o.cl", scale, strlen(scale),
                                         &(fusion_module_options){.build_options = "-no-such-option"}, &m),
                 FUSION_INVALID);
    expect_in_reason("unknown argument: '-no-such-option'");
}

/* They come from the cache as well. */
static void test_warnings(void **state)
{
    static const char text[] = "#warning \"old\"\nkernel void scale(global int *a) { a[get_global_id(0)] = 1; }\n";
    for (int i = 0; i < 2; i++) {
        fusion_module *m;
        expect_ok(fusion_module_load(*state, "warns.cl", text, strlen(text), &m));
        assert_non_null(strstr(fusion_module_warning(m, 0), "warns.cl:1:2: warning: \"old\""));
        assert_null(fusion_module_warning(m, 1));
        fusion_module_destroy(m);
    }
}

static void test_cache(void **state)
{
    int before = clang_runs();
    mkdir(in_folder("inc"), 0700);
    write_file("inc/factor.h", "#define FACTOR 4\n");
    char text[512], options[256];
    snprintf(text, sizeof text, "#include \"factor.h\"\n%s", scale);
    snprintf(options, sizeof options, "-I %s", in_folder("inc"));
    const char *path = write_file("cached.cl", text);
    assert_int_equal(factor_of_file(*state, path, options), 4);
    assert_int_equal(factor_of_file(*state, path, options), 4);
    assert_int_equal(clang_runs(), before + 1);
    write_file("inc/factor.h", "#define FACTOR 6\n");
    assert_int_equal(factor_of_file(*state, path, options), 6);
    assert_int_equal(clang_runs(), before + 2);
    write_file("cached.cl", scale);
    assert_int_equal(factor_of_file(*state, path, options), 3);
    assert_int_equal(clang_runs(), before + 3);
    use_counted_clang(); /* a compiler that was changed */
    assert_int_equal(factor_of_file(*state, path, options), 3);
    assert_int_equal(clang_runs(), before + 4);
}

/* An entry that was damaged is none. */
static void test_damaged_cache(void **state)
{
    char command[256];
    const char *path = write_file("damaged.cl", scale);
    assert_int_equal(factor_of_file(*state, path, NULL), 3);
    int before = clang_runs();
    snprintf(command, sizeof command, "for f in %s/fusiond/clc/*; do truncate -s -5 $f; done", in_folder("clc-cache"));
    assert_int_equal(system(command), 0);
    assert_int_equal(factor_of_file(*state, path, NULL), 3);
    assert_int_equal(clang_runs(), before + 1);
}

/* The translator refuses what the optimizer made, then what has lines, each in two versions. */
static void test_translator_fails(void **state)
{
    char script[PATH_MAX + 400];
    const char *path = write_file("ways.cl", scale), *tries = in_folder("tries");
    snprintf(script, sizeof script,
             "echo try >> %s; [ $(wc -l < %s) -ge 5 ] || { echo 'cannot select' >&2; exit 1; }; exec %s \"$@\"", tries,
             tries, tools.translator);
    use_programs(tools.clang, write_program("translator", script));
    assert_int_equal(factor_of_file(*state, path, "-DFACTOR=9"), 9);
    fusion_module *m;
    use_programs(tools.clang, write_program("never", "echo 'cannot select' >&2; exit 1"));
    expect_error(fusion_module_load_file(*state, path, &m), FUSION_INVALID);
    expect_in_reason("cannot select");
    use_programs(tools.clang, write_program("crash", "kill -SEGV $$"));
    expect_error(fusion_module_load_file(*state, path, &m), FUSION_INVALID);
    expect_in_reason("without a word");
    use_counted_clang();
}

/* What SPIR-V 1.2 has not; the optimizer's form is taken each time. */
static void test_later_spirv(void **state)
{
    static const char *const bodies[] = {
        "o[i] = sub_group_shuffle(a[i] * 3, get_sub_group_local_id());",
        "o[i] = sub_group_clustered_reduce_max(a[i], 1u) + sub_group_non_uniform_reduce_add(0) + 2 * a[i];",
        "o[i] = sub_group_rotate(a[i], 0) * 3;",
        "o[i] = dot_4x8packed_uu_uint((uint)a[i], 3u);",
        "o[i] = 0; volatile global float *f = (volatile global float *)(o + i);"
        "atomic_fetch_add_explicit((volatile global atomic_float *)f, a[i] * 3.0f, memory_order_relaxed); o[i] = *f;",
        "o[i] = 0; volatile global float *f = (volatile global float *)(o + i);"
        "atomic_fetch_max_explicit((volatile global atomic_float *)f, a[i] * 3.0f, memory_order_relaxed); o[i] = *f;",
    };
    for (size_t k = 0; k < sizeof bodies / sizeof *bodies; k++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "kernel void scale(global const int *a, global int *o) { size_t i = get_global_id(0); %s }",
                 bodies[k]);
        int before = clang_runs();
        assert_int_equal(factor_of_file(*state, write_file("later.cl", text), NULL), 3);
        assert_int_equal(clang_runs(), before + 1);
    }
}

static void test_no_compiler(void **state)
{
    fusion_module *m;
    char *path = strdup(getenv("PATH"));
    unsetenv("FUSIOND_CLANG");
    setenv("PATH", "/nowhere", 1);
    expect_error(fusion_module_load(*state, "k.cl", scale, strlen(scale), &m), FUSION_INVALID);
    expect_in_reason("clang and llvm-spirv of one version");
    setenv("PATH", path, 1);
    free(path);
    char *clc = strdup(getenv("FUSIOND_CLC"));
    setenv("FUSIOND_CLC", "/nowhere/clc", 1);
    expect_error(fusion_module_load(*state, "k.cl", scale, strlen(scale), &m), FUSION_FEATURE_NOT_SUPPORTED);
    expect_in_reason("/nowhere/clc could not be started");
    setenv("FUSIOND_CLC", clc, 1);
    free(clc);
    use_counted_clang();
}

/* A program that does not want to hear of its children, or has no standard descriptors. */
static void test_guest(void **state)
{
    fusion_module *m;
    void (*before)(int) = signal(SIGCHLD, SIG_IGN);
    fusion_status status = fusion_module_load(*state, "guest.cl", scale, strlen(scale), &m);
    signal(SIGCHLD, before);
    expect_ok(status);
    fusion_module_destroy(m);
    int input = dup(STDIN_FILENO);
    close(STDIN_FILENO);
    status = fusion_module_load(*state, "guest2.cl", scale, strlen(scale), &m);
    dup2(input, STDIN_FILENO);
    close(input);
    expect_ok(status);
    fusion_module_destroy(m);
}

static void test_without_session(void **state)
{
    void *spirv;
    size_t size;
    char *log;
    (void)state;
    expect_ok(fusion_compile_opencl_c("alone.cl", scale, strlen(scale), NULL, &spirv, &size, &log));
    assert_true(size > 20 && *(uint32_t *)spirv == 0x07230203);
    assert_string_equal(log, "");
    free(spirv);
    free(log);
    expect_error(fusion_compile_opencl_c("alone.cl", "x", 1, NULL, &spirv, &size, &log), FUSION_INVALID);
    assert_non_null(strstr(log, "alone.cl:1:1: error:"));
    free(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_load),
        cmocka_unit_test(test_older_language),
        cmocka_unit_test(test_version_of_device),
        cmocka_unit_test(test_dimensions_beyond),
        cmocka_unit_test(test_later_version),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_warnings),
        cmocka_unit_test(test_cache),
        cmocka_unit_test(test_damaged_cache),
        cmocka_unit_test(test_translator_fails),
        cmocka_unit_test(test_later_spirv),
        cmocka_unit_test(test_no_compiler),
        cmocka_unit_test(test_guest),
        cmocka_unit_test(test_without_session),
    };
    return cmocka_run_group_tests_name("opencl_c", tests, set_up, tear_down);
}
