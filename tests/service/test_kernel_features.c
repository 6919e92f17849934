/* Optional kernel features in the service (seed 004): warnings when a module is loaded, and what is refused when a
   graph is finalized, before anything else of the kernel is looked at. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/service.h"

static const char *const devices[] = {"cpu", "reference"};

static const char kernels[] =
    "source \"hw.cpp\"\n"
    "kernel @plain(%o: ptr.global i32) {\n  %i = global_id x\n  store i32 %o[%i], 7\n}\n"
    "kernel @targets(%o: ptr.global i32) targets(\"intel_gpu_12_0_0\", \"ptx64\") aspects(gpu)\n"
    "  sub_group_size(1024) work_group_size(5000) {}\n"
    "kernel @aspects(%o: ptr.global i32) aspects(gpu, custom) sub_group_size(1024) work_group_size(5000) {}\n"
    "kernel @sub_groups(%o: ptr.global i32) work_group_size(5000) { call @wide() }\n"
    "kernel @work_group(%o: ptr.global i32) work_group_size(50, 10, 10) {}\n"
    "kernel @calls(%o: ptr.global i32) targets(\"x86_64\", \"spir64\", \"ptx64\") { call @declares() }\n"
    "kernel @here(%o: ptr.global i32) targets(\"spir64\") {\n  %i = global_id x\n  store i32 %o[%i], 8\n}\n"
    "kernel @unfixed(%o: ptr.global i32) targets() {}\n"
    "kernel @kept_promise(%o: ptr.global i32) aspects(fp64) { %v = var f64 }\n"
    "kernel @broken_promise(%o: ptr.global i32) aspects(fp16) { call @middle() !15:3 }\n"
    "func @middle() { call @deep() !25:5 }\n"
    "func @deep() { %v = var f64 !27:4 }\n"
    "func @wide() sub_group_size(2048) {}\n"
    "func @declares() aspects(accelerator) {}\n";

static struct service service;
static fusion_session *session;
static fusion_module *module;

static int start(void **state)
{
    (void)state;
    service_start(&service, NULL);
    session = service_connect(&service);
    expect_ok(fusion_module_load(session, "features", kernels, sizeof kernels - 1, &module));
    return 0;
}

static int stop(void **state)
{
    (void)state;
    fusion_disconnect(session);
    service_clear(&service);
    return 0;
}

/* A node for each name, the last one is NULL. */
static fusion_status finalize(fusion_module *m, const char *const *names, const char *device, fusion_buffer *out,
                              uint32_t n_args, fusion_exec **exec)
{
    fusion_graph *graph;
    fusion_arg args[] = {fusion_arg_read_write(out)};
    expect_ok(fusion_graph_create(session, &graph));
    for (; *names; names++) {
        fusion_kernel_node node = {
            .module = m, .kernel = *names, .dims = 1, .global = {128}, .n_args = n_args, .args = args};
        expect_ok(fusion_graph_add_kernel(graph, &node, NULL));
    }
    fusion_status status =
        fusion_graph_finalize(graph, &(fusion_finalize_options){.mode = FUSION_ENABLE, .device = device}, exec);
    fusion_graph_destroy(graph);
    return status;
}

/* ---- loading ---- */

static void warnings(void **state)
{
    (void)state;
    assert_string_equal(fusion_module_warning(module, 0),
                        "hw.cpp:27:4: warning: function 'broken_promise' uses aspect 'fp64' not listed in "
                        "'sycl::device_has'\n"
                        "use is from this call chain:\n"
                        "  broken_promise()\n"
                        "  middle() hw.cpp:15:3\n"
                        "  deep() hw.cpp:25:5");
    static const char *const targets[] = {
        "warning: function 'targets' has required sub-group size '1024' not supported by fixed target "
        "'intel_gpu_12_0_0'",
        "warning: function 'targets' has required work-group size '5000, 1, 1' not supported by fixed target "
        "'intel_gpu_12_0_0'",
        "warning: function 'targets' has required sub-group size '1024' not supported by fixed target 'ptx64'",
        "warning: function 'targets' has required work-group size '5000, 1, 1' not supported by fixed target 'ptx64'",
        "warning: function 'calls' uses aspect 'accelerator' not supported by fixed target 'x86_64'",
    };
    for (uint32_t i = 0; i < sizeof targets / sizeof *targets; i++)
        assert_non_null(strstr(fusion_module_warning(module, i + 1), targets[i]));
}

static void queries(void **state)
{
    (void)state;
    static const char *const expected[][2] = {{"", ""},           {"gpu", "intel_gpu_12_0_0 ptx64"},
                                              {"gpu custom", ""}, {"", ""},
                                              {"", ""},           {"accelerator", "x86_64 spir64 ptx64"},
                                              {"", "spir64"},     {"", ""},
                                              {"fp64", ""},       {"fp16 fp64", ""}};
    static const uint32_t images[] = {0, 1, 2, 3, 4, 5, 6, 0, 7, 8};
    for (uint32_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const fusion_kernel_info *k = fusion_module_kernel(module, i);
        assert_string_equal(k->aspects, expected[i][0]);
        assert_string_equal(k->targets, expected[i][1]);
        assert_int_equal(k->image, images[i]);
    }
}

/* A kernel that reaches functions for other targets can run nowhere. */
static void no_target_left(void **state)
{
    (void)state;
    static const char text[] = "kernel @k() targets(\"a\", \"b\") { call @f() }\nfunc @f() targets(\"c\") {}\n";
    fusion_module *m;
    expect_error(fusion_module_load(session, "none", text, sizeof text - 1, &m), FUSION_INVALID);
    expect_in_reason("kernel k is for the targets a, b, but reaches function f, which is for c: no target is left");
}

/* ---- finalizing ---- */

static void refused_in_order(void **state)
{
    (void)state;
    static const struct {
        const char *kernel, *reason;
    } cases[] = {
        {"targets", "Kernel was compiled with '-fsycl-fixed-targets=intel_gpu_12_0_0,ptx64' but was submitted to a "
                    "different device."},
        {"aspects", "Kernel uses optional feature corresponding to 'aspect::gpu' but device does not support this "
                    "aspect."},
        {"sub_groups", "Kernel has a required sub-group size of '2048' but device does not support this sub-group "
                       "size."},
        {"work_group", "Kernel has a required work-group size of '50, 10, 10' but device does not support this "
                       "work-group size."},
        {"calls", "Kernel uses optional feature corresponding to 'aspect::accelerator' but device does not support "
                  "this aspect."},
    };
    fusion_buffer *out = index_buffer(session, "out", 128, 0, 0);
    for (int d = 0; d < 2; d++) {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            fusion_exec *exec = NULL;
            const char *names[] = {i == 4 ? "unfixed" : "plain", cases[i].kernel, NULL};
            if (i == 4 && d == 1) continue; /* fixed to what the reference is not */
            expect_error(finalize(module, names + 1, devices[d], out, 1, &exec), FUSION_KERNEL_NOT_SUPPORTED);
            assert_string_equal(fusion_last_error()->reason, cases[i].reason);
            expect_error(finalize(module, names, devices[d], out, 1, &exec), FUSION_KERNEL_NOT_SUPPORTED);
            assert_string_equal(fusion_last_error()->reason, cases[i].reason);
            expect_in_reason(cases[i].kernel);
            assert_null(exec);
        }
    }
}

/* What is only in the same module does not matter, nor does a promise that is not kept where the device has it all. */
static void others_run(void **state)
{
    (void)state;
    for (int d = 0; d < 2; d++) {
        fusion_buffer *out = index_buffer(session, "out", 128, 0, 0);
        fusion_exec *exec;
        fusion_event done;
        int32_t *values;
        const char *names[] = {"plain", "here", "unfixed", "kept_promise", "broken_promise", NULL};
        expect_ok(finalize(module, names, devices[d], out, 1, &exec));
        expect_ok(fusion_exec_submit(exec, NULL, 0, &done));
        expect_ok(fusion_event_wait(session, done, -1, NULL));
        expect_ok(fusion_buffer_map(out, (void **)&values));
        for (int i = 0; i < 128; i++) assert_int_equal(values[i], 8);
        fusion_exec_destroy(exec);
    }
}

/* Uses of linked modules count. */
static void across_modules(void **state)
{
    (void)state;
    static const char caller[] = "import func @f()\nkernel @k(%o: ptr.global i32) aspects(fp16) { call @f() }\n";
    static const char callee[] = "aspects { ext_intel_amx = 9 }\nexport func @f() uses(ext_intel_amx) {}\n";
    fusion_module *parts[2], *linked;
    fusion_buffer *out = index_buffer(session, "out", 128, 0, 0);
    fusion_exec *exec = NULL;
    expect_ok(fusion_module_load(session, "caller", caller, sizeof caller - 1, &parts[0]));
    expect_ok(fusion_module_load(session, "callee", callee, sizeof callee - 1, &parts[1]));
    expect_ok(fusion_module_link(session, "linked", parts, 2, &linked));
    assert_non_null(strstr(fusion_module_warning(linked, 0),
                           "warning: function 'k' uses aspect 'ext_intel_amx' not listed in 'sycl::device_has'"));
    assert_string_equal(fusion_module_warning(linked, 1),
                        "warning: function 'f' uses aspect 'ext_intel_amx' not expected by its calling kernel. Missing "
                        "[[sycl::device_has()]] on SYCL_EXTERNAL function?");
    assert_string_equal(fusion_module_kernel(linked, 0)->aspects, "fp16 ext_intel_amx");
    expect_error(finalize(linked, (const char *[]){"k", NULL}, "cpu", out, 1, &exec), FUSION_KERNEL_NOT_SUPPORTED);
    expect_in_reason("'aspect::ext_intel_amx'");
}

/* ---- devices of a configuration file ---- */

static const char devices_file[] =
    "small:\n"
    "  aspects: [cpu, fp16, online_compiler, usm_device_allocations, sub_groups, ext_oneapi_graph_fusion, 9]\n"
    "  sub-group-sizes: [4, 8]\n"
    "  max-work-group-size: 64\n"
    "large:\n"
    "  aspects: [cpu, fp64, fp16, atomic64, sub_groups]\n"
    "  sub-group-sizes: [16]\n";

static const char variety[] =
    "aspects { ext_intel_amx = 9 }\n"
    "kernel @plain(%o: ptr.global i32) {\n  %i = global_id x\n  %s = sub_group_max_size\n  store i32 %o[%i], %s\n}\n"
    "kernel @doubles(%o: ptr.global i32) {\n  %i = global_id x\n  %f = stof f64 %i\n  %n = ftos i32 %f\n"
    "  store i32 %o[%i], %n\n}\n"
    "kernel @amx(%o: ptr.global i32) aspects(ext_intel_amx) {}\n"
    "kernel @sixteen(%o: ptr.global i32) sub_group_size(16) {}\n"
    "kernel @hundred(%o: ptr.global i32) work_group_size(100) {}\n"
    "kernel @only_small(%o: ptr.global i32) targets(\"small\") {}\n";

/* What a kernel gives on a device: NULL where it runs, else the reason. */
static const char *outcome(fusion_session *s, fusion_module *m, const char *kernel, const char *device, int32_t *last)
{
    fusion_buffer *out = index_buffer(s, "out", 128, 0, 0);
    fusion_graph *graph;
    fusion_exec *exec;
    fusion_event done;
    int32_t *values;
    fusion_arg args[] = {fusion_arg_write(out)};
    fusion_kernel_node node = {.module = m, .kernel = kernel, .dims = 1, .global = {128}, .n_args = 1, .args = args};
    expect_ok(fusion_graph_create(s, &graph));
    expect_ok(fusion_graph_add_kernel(graph, &node, NULL));
    fusion_status status =
        fusion_graph_finalize(graph, &(fusion_finalize_options){.mode = FUSION_ENABLE, .device = device}, &exec);
    if (status != FUSION_SUCCESS) return fusion_last_error()->reason;
    expect_ok(fusion_exec_submit(exec, NULL, 0, &done));
    expect_ok(fusion_event_wait(s, done, -1, NULL));
    expect_ok(fusion_buffer_map(out, (void **)&values));
    *last = values[127];
    return NULL;
}

static void configured_devices(void **state)
{
    (void)state;
    static const struct {
        const char *kernel, *device, *reason; /* NULL: it runs */
        int32_t last;
    } cases[] = {
        {"plain", "small", NULL, 8},
        {"plain", "large", NULL, 16},
        {"doubles", "small", "'aspect::fp64' but device does not support this aspect.", 0},
        {"doubles", "large", NULL, 127},
        {"amx", "small", NULL, 0},
        {"amx", "large", "'aspect::ext_intel_amx' but device", 0},
        {"sixteen", "small", "requires sub-groups of 16, which device small lacks; its sizes are 4, 8", 0},
        {"sixteen", "large", NULL, 0},
        {"hundred", "small", "required work-group size of '100, 1, 1' but device", 0},
        {"hundred", "large", NULL, 0},
        {"only_small", "small", NULL, 0},
        {"only_small", "large", "'-fsycl-fixed-targets=small' but was submitted to a different device.", 0},
        {"only_small", "cpu", "'-fsycl-fixed-targets=small' but was submitted to a different device.", 0},
    };
    struct service own;
    char path[] = "/tmp/devices-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, devices_file, sizeof devices_file - 1) == sizeof devices_file - 1);
    close(fd);
    setenv("FUSIOND_DEVICES", path, 1);
    service_start(&own, NULL);
    unsetenv("FUSIOND_DEVICES");
    fusion_session *s = service_connect(&own);
    uint32_t n;
    fusion_module *m;
    expect_ok(fusion_device_count(s, &n));
    assert_true(n >= 4); /* and a GPU, where there is one */
    expect_ok(fusion_module_load(s, "variety", variety, sizeof variety - 1, &m));
    assert_null(fusion_module_warning(m, 0));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int32_t last = -1;
        const char *reason = outcome(s, m, cases[i].kernel, cases[i].device, &last);
        if (!reason != !cases[i].reason || (reason && !strstr(reason, cases[i].reason)))
            fail_msg("%s on %s: %s", cases[i].kernel, cases[i].device, reason ? reason : "it runs");
        if (!reason) assert_int_equal(last, cases[i].last);
    }
    fusion_disconnect(s);
    service_clear(&own);
    unlink(path);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(warnings),           cmocka_unit_test(queries),    cmocka_unit_test(no_target_left),
        cmocka_unit_test(refused_in_order),   cmocka_unit_test(others_run), cmocka_unit_test(across_modules),
        cmocka_unit_test(configured_devices),
    };
    return cmocka_run_group_tests_name("kernel_features", tests, start, stop);
}
