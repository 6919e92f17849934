/* Device and kernel queries of SYCL_INTEL_sub_group, and sub-group sizes that a device has or lacks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/service.h"

static const char *const devices[] = {"cpu", "reference"};

static const char kernels[] =
    "local @team: [64 x f32]\n"
    "kernel @plain(%o: ptr.global i32 write) {\n}\n"
    "kernel @free(%o: ptr.global i32 write) sub_group_size(automatic) {\n}\n"
    "kernel @main_size(%o: ptr.global i32 write) sub_group_size(primary) {\n}\n"
    "kernel @eight(%o: ptr.global i32 write) sub_group_size(8) {\n}\n"
    "kernel @squad(%o: ptr.global i32 write) work_group_size(20, 3, 1) sub_group_size(8) {\n}\n"
    "kernel @team_main(%o: ptr.global i32 write) work_group_size(20, 3, 1) sub_group_size(primary) {\n}\n"
    "kernel @team_plain(%o: ptr.global i32 write) work_group_size(20, 3, 1) {\n}\n"
    "kernel @team_free(%o: ptr.global i32 write) work_group_size(20, 3, 1) sub_group_size(automatic) {\n}\n"
    "kernel @trio(%o: ptr.global i32 write) sub_groups_per_work_group(3) sub_group_size(8) {\n"
    "  %i = global_id x\n  %n = num_sub_groups\n  store i32 %o[%i], %n\n}\n"
    "kernel @trio_main(%o: ptr.global i32 write) sub_groups_per_work_group(3) sub_group_size(primary) {\n}\n"
    "kernel @huge(%o: ptr.global i32 write) sub_group_size(1024) {\n}\n"
    "kernel @memory(%o: ptr.global f32 write) {\n"
    "  %v = var [4 x f32]\n  %i = local_id x\n  %p = global @team\n  store f32 %p[%i], 1.0\n"
    "  %k = and i64 %i, 3\n  store f32 %v[%k], 2.0\n  %x = load f32 %v[%i]\n  store f32 %o[%i], %x\n}\n"
/* What a work-item sees of its sub-group. */
#define LOOK(name, attribute)                                                                                          \
    "kernel @" name "(%o: ptr.global i32 write) " attribute " {\n"                                                     \
    "  %i = global_id x\n  %m = sub_group_max_size\n  store i32 %o[%i], %m\n}\n"
    LOOK("look", "") LOOK("look_free", "sub_group_size(automatic)") LOOK("look_main", "sub_group_size(primary)")
        LOOK("look_4", "sub_group_size(4)") LOOK("look_64", "sub_group_size(64)");

static struct service service;
static fusion_session *session;
static fusion_module *module;

static int start(void **state)
{
    (void)state;
    service_start(&service, NULL);
    session = service_connect(&service);
    expect_ok(fusion_module_load(session, "q", kernels, sizeof kernels - 1, &module));
    return 0;
}

static int stop(void **state)
{
    (void)state;
    fusion_disconnect(session);
    service_clear(&service);
    return 0;
}

static fusion_device_info device_named(const char *name)
{
    uint32_t n;
    fusion_device_info info = {FUSION_SIZED(fusion_device_info)};
    expect_ok(fusion_device_count(session, &n));
    for (uint32_t i = 0; i < n; i++) {
        expect_ok(fusion_device_get(session, i, &info));
        if (strcmp(info.name, name) == 0) return info;
    }
    fail_msg("there is no device %s", name);
    return info;
}

static void test_devices(void **state)
{
    (void)state;
    static const uint32_t cpu[] = {1, 4, 8, 16, 32, 64}, reference[] = {1, 2, 4, 8, 16, 32, 64};
    fusion_device_info c = device_named("cpu"), r = device_named("reference");
    assert_int_equal(c.n_sub_group_sizes, 6);
    assert_memory_equal(c.sub_group_sizes, cpu, sizeof cpu);
    assert_int_equal(r.n_sub_group_sizes, 7);
    assert_memory_equal(r.sub_group_sizes, reference, sizeof reference);
    const fusion_device_info *both[] = {&c, &r};
    for (int i = 0; i < 2; i++) {
        assert_string_equal(both[i]->extensions,
                            "sycl_ext_oneapi_graph_fusion SYCL_INTEL_sub_group cl_intel_subgroups "
                            "cl_intel_subgroups_char cl_intel_subgroups_short cl_intel_subgroups_long "
                            "cl_intel_required_subgroup_size");
        assert_int_equal(both[i]->primary_sub_group_size, 16);
        assert_int_equal(both[i]->max_num_sub_groups, both[i]->max_work_group_size); /* with sub-groups of 1 */
        assert_false(both[i]->sub_group_independent_forward_progress);
    }
    fusion_device_info info = {FUSION_SIZED(fusion_device_info)};
    expect_error(fusion_device_get(session, 99, &info), FUSION_NOT_FOUND);
}

struct expected {
    const char *kernel;
    uint32_t max_num, compile_num, compile_size;
    uint64_t max_work_group;
};

static void test_kernel_queries(void **state)
{
    (void)state;
    static const struct expected list[] = {
        {"plain", 256, 0, 16, 4096},  {"free", 256, 0, 0, 4096},  {"main_size", 256, 0, 16, 4096},
        {"eight", 512, 0, 8, 4096},   {"squad", 8, 8, 8, 60},     {"team_main", 4, 4, 16, 60},
        {"team_plain", 4, 4, 16, 60}, {"team_free", 4, 0, 0, 60}, {"trio", 3, 3, 8, 24},
        {"trio_main", 3, 3, 16, 48},
    };
    for (int d = 0; d < 2; d++)
        for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
            fusion_kernel_device_info info = {FUSION_SIZED(fusion_kernel_device_info)};
            expect_ok(fusion_kernel_device_get(module, list[i].kernel, devices[d], &info));
            assert_int_equal(info.max_num_sub_groups, list[i].max_num);
            assert_int_equal(info.compile_num_sub_groups, list[i].compile_num);
            assert_int_equal(info.compile_sub_group_size, list[i].compile_size);
            assert_int_equal(info.max_work_group_size, list[i].max_work_group);
            assert_int_equal(info.preferred_work_group_size_multiple, list[i].compile_size == 8 ? 8 : 16);
            assert_int_equal(info.local_memory_bytes + info.private_memory_bytes, 0);
        }
}

static void test_memory(void **state)
{
    (void)state;
    fusion_kernel_device_info info = {FUSION_SIZED(fusion_kernel_device_info)};
    expect_ok(fusion_kernel_device_get(module, "memory", NULL, &info));
    assert_int_equal(info.local_memory_bytes, 64 * 4);
    assert_int_equal(info.private_memory_bytes, 16);
    assert_int_equal(info.compile_work_group_size[0], 0);
    expect_ok(fusion_kernel_device_get(module, "squad", NULL, &info));
    assert_int_equal(info.compile_work_group_size[0], 20);
    assert_int_equal(info.compile_work_group_size[1], 3);
}

static void test_max_sub_group_size(void **state)
{
    (void)state;
    uint32_t size = 0;
    for (int d = 0; d < 2; d++) {
        expect_ok(fusion_kernel_max_sub_group_size(module, "plain", devices[d], 1, (uint64_t[]){100}, &size));
        assert_int_equal(size, 16);
        expect_ok(fusion_kernel_max_sub_group_size(module, "eight", devices[d], 3, (uint64_t[]){16, 16, 16}, &size));
        assert_int_equal(size, 8);
        expect_ok(fusion_kernel_max_sub_group_size(module, "squad", devices[d], 2, (uint64_t[]){20, 3}, &size));
        assert_int_equal(size, 8);
    }
    expect_error(fusion_kernel_max_sub_group_size(module, "squad", NULL, 1, (uint64_t[]){20}, &size), FUSION_INVALID);
    expect_in_reason("1 in dimension 1, but it requires 3");
    expect_error(fusion_kernel_max_sub_group_size(module, "plain", NULL, 2, (uint64_t[]){20, 0}, &size),
                 FUSION_INVALID);
    expect_in_reason("0 work-items");
    expect_error(fusion_kernel_max_sub_group_size(module, "plain", NULL, 1, (uint64_t[]){4097}, &size), FUSION_INVALID);
    expect_in_reason("the largest has 4096");
    expect_error(fusion_kernel_max_sub_group_size(module, "plain", NULL, 2, (uint64_t[]){UINT64_MAX, 2}, &size),
                 FUSION_INVALID);
    expect_error(fusion_kernel_max_sub_group_size(module, "plain", NULL, 4, (uint64_t[]){1, 1, 1, 1}, &size),
                 FUSION_INVALID);
    assert_int_equal(size, 8); /* untouched by failures */
}

static void test_unknown(void **state)
{
    (void)state;
    fusion_kernel_device_info info = {FUSION_SIZED(fusion_kernel_device_info)};
    expect_error(fusion_kernel_device_get(module, "nothing", NULL, &info), FUSION_NOT_FOUND);
    expect_error(fusion_kernel_device_get(module, "plain", "gpu", &info), FUSION_NOT_FOUND);
    expect_in_reason("gpu");
    expect_error(fusion_kernel_device_get(module, "huge", NULL, &info), FUSION_FEATURE_NOT_SUPPORTED);
    expect_in_reason("sub-groups of 1024, which device cpu lacks");
}

/* ---- finalize ---- */

static fusion_status finalize(const char *kernel, const char *device, fusion_buffer *out, fusion_exec **exec)
{
    fusion_graph *graph;
    expect_ok(fusion_graph_create(session, &graph));
    fusion_arg args[] = {fusion_arg_write(out)};
    fusion_kernel_node node = {
        .module = module, .kernel = kernel, .dims = 1, .global = {128}, .local = {64}, .n_args = 1, .args = args};
    expect_ok(fusion_graph_add_kernel(graph, &node, NULL));
    fusion_finalize_options options = {.mode = FUSION_ENABLE, .device = device, .keep_ir = true};
    fusion_status status = fusion_graph_finalize(graph, &options, exec);
    fusion_graph_destroy(graph);
    return status;
}

static void test_unsupported_size(void **state)
{
    (void)state;
    fusion_buffer *out = index_buffer(session, "out", 128, 0, 0);
    fusion_exec *exec = NULL;
    for (int d = 0; d < 2; d++) {
        expect_error(finalize("huge", devices[d], out, &exec), FUSION_FEATURE_NOT_SUPPORTED);
        expect_in_reason("node huge");
        expect_in_reason("kernel huge requires sub-groups of 1024");
        expect_in_reason(d ? "its sizes are 1, 2, 4, 8, 16, 32, 64" : "its sizes are 1, 4, 8, 16, 32, 64");
    }
    assert_null(exec);
    fusion_buffer_destroy(out);
}

/* The kernel that is launched has its size as a number, and sub-groups of that size. */
static void expect_size(const char *kernel, const char *device, int size, bool run)
{
    char attribute[32];
    fusion_buffer *out = index_buffer(session, "out", 128, 0, 0);
    fusion_exec *exec;
    expect_ok(finalize(kernel, device, out, &exec));
    snprintf(attribute, sizeof attribute, "sub_group_size(%d)", size);
    const char *ir = fusion_exec_report(exec)->groups[0].ir;
    if (!strstr(ir, attribute)) fail_msg("no %s in:\n%s", attribute, ir);
    if (run) {
        void *memory;
        fusion_event event;
        expect_ok(fusion_exec_submit(exec, NULL, 0, &event));
        expect_ok(fusion_event_wait(session, event, 20000, NULL));
        expect_ok(fusion_buffer_map(out, &memory));
        for (int i = 0; i < 128; i++) assert_int_equal(((int *)memory)[i], size);
    }
    fusion_exec_destroy(exec);
    fusion_buffer_destroy(out);
}

static void test_resolved_size(void **state)
{
    (void)state;
    static const struct {
        const char *kernel;
        int size;
    } looks[5] = {{"look", 16}, {"look_free", 16}, {"look_main", 16}, {"look_4", 4}, {"look_64", 64}};
    for (int i = 0; i < 5; i++) expect_size(looks[i].kernel, "reference", looks[i].size, true);
    /* A kernel that looks at sub-groups runs where the device says that it has them. */
    bool cpu = strstr(device_named("cpu").aspects, "sub_groups") != NULL;
    for (int i = 0; cpu && i < 5; i++) expect_size(looks[i].kernel, "cpu", looks[i].size, true);
    expect_size("eight", "cpu", 8, false);
    expect_size("main_size", "cpu", 16, false);
}

/* Kernels that need different sizes are launches of their own; primary and its number are the same size. */
static void test_sizes_in_groups(void **state)
{
    (void)state;
    static const struct {
        const char *first, *second;
        uint32_t launches;
    } pairs[] = {{"look_4", "look", 2},     {"look_4", "look_64", 2},  {"look_4", "look_free", 2},
                 {"look", "look_main", 1},  {"look_free", "look", 1},  {"plain", "look_4", 1},
                 {"eight", "look_free", 2}, {"eight", "main_size", 2}, {"eight", "free", 1}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        fusion_graph *graph;
        fusion_exec *exec;
        fusion_buffer *a = index_buffer(session, "a", 128, 0, 0), *b = index_buffer(session, "b", 128, 0, 0);
        expect_ok(fusion_graph_create(session, &graph));
        add_node(graph, module, pairs[i].first, 128, (fusion_arg[]){fusion_arg_write(a)}, 1);
        add_node(graph, module, pairs[i].second, 128, (fusion_arg[]){fusion_arg_write(b)}, 1);
        fusion_finalize_options options = {.mode = FUSION_ENABLE, .device = "reference"};
        expect_ok(fusion_graph_finalize(graph, &options, &exec));
        const fusion_report *r = fusion_exec_report(exec);
        if (r->launches != pairs[i].launches)
            fail_msg("%s and %s are %u launches", pairs[i].first, pairs[i].second, r->launches);
        bool said = false;
        for (uint32_t k = 0; k < r->n_remarks; k++) said |= strcmp(r->remarks[k].code, "not_fused_sub_group_size") == 0;
        assert_int_equal(said, pairs[i].launches == 2);
        fusion_exec_destroy(exec);
        fusion_graph_destroy(graph);
        fusion_buffer_destroy(a);
        fusion_buffer_destroy(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_devices),       cmocka_unit_test(test_kernel_queries),
        cmocka_unit_test(test_memory),        cmocka_unit_test(test_max_sub_group_size),
        cmocka_unit_test(test_unknown),       cmocka_unit_test(test_unsupported_size),
        cmocka_unit_test(test_resolved_size), cmocka_unit_test(test_sizes_in_groups),
    };
    return cmocka_run_group_tests_name("queries", tests, start, stop);
}
