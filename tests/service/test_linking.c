/* Modules of several parts in the service: linking, options of the parts, errors, and what the cache takes for the
 * same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "client/session/request.h"
#include "proto/writer.h"
#include "tests/support/service.h"
#include "tests/support/spirv_make.h"

enum { ITEMS = 32 };

static const char main_text[] = "import func @scale(%x: i32) -> i32\n"
                                "import constant @bias: i32\n"
                                "kernel @k(%a: ptr.global i32, %o: ptr.global i32) {\n"
                                "    %i = global_id x\n"
                                "    %x = load i32 %a[%i]\n"
                                "    %y = call @scale(%x)\n"
                                "    %b = global @bias\n"
                                "    %v = load i32 %b\n"
                                "    %s = add i32 %y, %v\n"
                                "    store i32 %o[%i], %s\n"
                                "}\n";
static const char times_3[] = "export constant @bias: i32 = 100\n"
                              "export func @scale(%x: i32) -> i32 { %y = mul i32 %x, 3; return %y }\n";
static const char times_5[] = "export constant @bias: i32 = 100\n"
                              "export func @scale(%x: i32) -> i32 { %y = mul i32 %x, 5; return %y }\n";
static const char bias_7[] = "export constant @bias: i32 = 7\n"
                             "export func @scale(%x: i32) -> i32 { %y = mul i32 %x, 3; return %y }\n";

static struct service service;

static int set_up(void **state)
{
    service_start(&service, NULL);
    *state = service_connect(&service);
    return 0;
}

static int tear_down(void **state)
{
    fusion_disconnect(*state);
    service_clear(&service);
    return 0;
}

static fusion_module *load(fusion_session *s, const char *name, const char *text, const char *sub_group_size)
{
    fusion_module *m;
    fusion_module_options options = {.sub_group_size = sub_group_size};
    expect_ok(fusion_module_load_with(s, name, text, strlen(text), &options, &m));
    return m;
}

static fusion_status try_link(fusion_session *s, const char *a, const char *b, fusion_module **linked)
{
    fusion_module *parts[] = {load(s, "a", a, NULL), load(s, "b", b, NULL)};
    fusion_status status = fusion_module_link(s, "both", parts, 2, linked);
    for (int i = 0; i < 2; i++) fusion_module_destroy(parts[i]); /* they are not needed any more */
    return status;
}

/* Kernel k on 0, 1, 2 ...; gives the second element of the result. *cache: where the code came from. */
static int run(fusion_session *s, fusion_module *m, const char *device, const char **cache)
{
    static char from[16];
    fusion_graph *graph;
    fusion_exec *exec;
    fusion_event event;
    void *memory;
    fusion_buffer *a = index_buffer(s, "a", ITEMS, 1, 0), *o = index_buffer(s, "o", ITEMS, 0, 0);
    const fusion_arg args[] = {fusion_arg_read(a), fusion_arg_write(o)};
    expect_ok(fusion_graph_create(s, &graph));
    add_node(graph, m, "k", ITEMS, args, 2);
    expect_ok(fusion_graph_finalize(graph, &(fusion_finalize_options){.device = device}, &exec));
    expect_ok(fusion_exec_submit(exec, NULL, 0, &event));
    expect_ok(fusion_event_wait(s, event, 20000, NULL));
    expect_ok(fusion_buffer_map(o, &memory));
    snprintf(from, sizeof from, "%s", fusion_exec_report(exec)->cache);
    if (cache) *cache = from;
    int second = ((int *)memory)[1];
    fusion_graph_destroy(graph);
    fusion_buffer_destroy(a);
    fusion_buffer_destroy(o);
    return second;
}

static void test_linked_runs(void **state)
{
    fusion_module *m;
    expect_ok(try_link(*state, main_text, times_3, &m));
    assert_int_equal(fusion_module_kernel_count(m), 1);
    assert_string_equal(fusion_module_kernel(m, 0)->args[0].access, "read");
    assert_string_equal(fusion_module_kernel(m, 0)->args[1].access, "write");
    assert_int_equal(run(*state, m, "cpu", NULL), 103);
    assert_int_equal(run(*state, m, "reference", NULL), 103);
}

/* Each part counts: another function, another constant is another module, and the same parts are the same. */
static void test_cache(void **state)
{
    const char *cache;
    fusion_module *m;
    expect_ok(try_link(*state, main_text, times_3, &m));
    assert_int_equal(run(*state, m, "cpu", &cache), 103);
    expect_ok(try_link(*state, main_text, times_5, &m));
    assert_int_equal(run(*state, m, "cpu", &cache), 105);
    assert_string_equal(cache, "miss");
    expect_ok(try_link(*state, main_text, bias_7, &m));
    assert_int_equal(run(*state, m, "cpu", &cache), 10);
    assert_string_equal(cache, "miss");
    fusion_session *other = service_connect(&service);
    expect_ok(try_link(other, main_text, times_3, &m));
    assert_int_equal(run(other, m, "cpu", &cache), 103);
    assert_string_equal(cache, "memory");
    fusion_disconnect(other);
}

static void test_errors(void **state)
{
    static const struct {
        const char *a, *b, *words;
    } cases[] = {
        {main_text, "kernel @l() {}\n",
         "function scale: is imported by module a (a:1) and called in k (a:6), but no module exports it"},
        {main_text,
         "export constant @bias: i64 = 1\n"
         "export func @scale(%x: i32) -> i32 { return %x }\n",
         "variable bias: module a has it as constant i32, but module b, which exports it, as constant i64"},
        {main_text, "export constant @bias: i32 = 1\nexport func @scale(%x: i64) -> i32 { return 1 }\n",
         "function scale: module a (a:1) has it as (i32) -> i32, but module b (b:2), which exports it, as (i64) -> "
         "i32"},
        {times_3, times_5, "function scale: is exported by module a (a:2) and exported by module b (b:2)"},
        {"kernel @k() {}\n", "\nkernel @k() {}\n",
         "function k: is a kernel of module a (a:1) and a kernel of module b (b:2)"},
    };
    fusion_module *m = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect_error(try_link(*state, cases[i].a, cases[i].b, &m), FUSION_INVALID);
        expect_in_reason(cases[i].words);
        assert_string_equal(fusion_last_error()->object, "module both");
    }
    expect_error(fusion_module_link(*state, "none", NULL, 0, &m), FUSION_INVALID);
    expect_error(fusion_module_link(*state, "null", &m, 1, &m), FUSION_INVALID);
    assert_null(m);
    fusion_session *other = service_connect(&service);
    fusion_module *foreign = load(other, "foreign", times_3, NULL);
    expect_error(fusion_module_link(*state, "foreign", &foreign, 1, &m), FUSION_INVALID);
    expect_in_reason("another session");
    fusion_disconnect(other);
}

static const char *const devices[] = {"cpu", "reference"};

/* Loading takes modules with imports; a graph that needs one does not get far. */
static void test_unlinked(void **state)
{
    static const char with_bias[] =
        "import constant @bias: i32\n"
        "func @f() -> i32 {\n    %b = global @bias\n    %v = load i32 %b\n    return %v\n}\n"
        "kernel @k(%a: ptr.global i32, %o: ptr.global i32) {\n"
        "    %v = call @f()\n    store i32 %o, %v\n}\n";
    for (int d = 0; d < 2; d++) {
        const fusion_finalize_options options = {.device = devices[d]};
        fusion_buffer *a = index_buffer(*state, "a", ITEMS, 1, 0), *o = index_buffer(*state, "o", ITEMS, 0, 0);
        const fusion_arg args[] = {fusion_arg_read(a), fusion_arg_write(o)};
        fusion_graph *graph;
        fusion_exec *exec;
        expect_ok(fusion_graph_create(*state, &graph));
        add_node(graph, load(*state, "a.fk", main_text, NULL), "k", ITEMS, args, 2);
        expect_error(fusion_graph_finalize(graph, &options, &exec), FUSION_INVALID);
        expect_in_reason("kernel k needs the function scale (used in k, a.fk:6), which its module a.fk imports");
        fusion_graph_destroy(graph);
        expect_ok(fusion_graph_create(*state, &graph));
        add_node(graph, load(*state, "b.fk", with_bias, NULL), "k", 1, args, 2);
        expect_error(fusion_graph_finalize(graph, &options, &exec), FUSION_INVALID);
        expect_in_reason("kernel k needs the variable bias (used in f, b.fk:3), which its module b.fk imports");
        fusion_graph_destroy(graph);
    }
}

/* What is refused in a module takes nothing from its other kernels, and is told to who uses it. */
static void test_refused_functions(void **state)
{
    static const char text[] =
        "kernel @none() refused(\"n.cl:7: OpGetDefaultQueue: uses OpTypeQueue\")\n"
        "func @f() -> i32 refused(\"n.cl:2: functions call each other in a circle\")\n"
        "kernel @caller(%o: ptr.global i32) { %v = call @f()\n store i32 %o, %v\n }\n"
        "kernel @k(%o: ptr.global i32) { %i = global_id x\n %v = trunc i32 %i\n store i32 %o[%i], %v\n }\n";
    for (int d = 0; d < 2; d++) {
        const fusion_finalize_options options = {.device = devices[d]};
        fusion_module *m = load(*state, "n.fk", text, NULL);
        fusion_buffer *o = index_buffer(*state, "o", ITEMS, 0, 0);
        const fusion_arg args[] = {fusion_arg_write(o)};
        fusion_graph *graph;
        fusion_exec *exec;
        fusion_event event;
        int32_t *values;
        expect_ok(fusion_graph_create(*state, &graph));
        add_node(graph, m, "none", 1, NULL, 0);
        expect_error(fusion_graph_finalize(graph, &options, &exec), FUSION_KERNEL_NOT_SUPPORTED);
        expect_in_reason("kernel none cannot be used: n.cl:7: OpGetDefaultQueue: uses OpTypeQueue");
        fusion_graph_destroy(graph);
        expect_ok(fusion_graph_create(*state, &graph));
        add_node(graph, m, "caller", 1, args, 1);
        expect_error(fusion_graph_finalize(graph, &options, &exec), FUSION_KERNEL_NOT_SUPPORTED);
        expect_in_reason("kernel caller cannot be used: it calls function f, which cannot be used: n.cl:2: functions");
        fusion_graph_destroy(graph);
        expect_ok(fusion_graph_create(*state, &graph));
        add_node(graph, m, "k", ITEMS, args, 1);
        expect_ok(fusion_graph_finalize(graph, &options, &exec));
        expect_ok(fusion_exec_submit(exec, NULL, 0, &event));
        expect_ok(fusion_event_wait(*state, event, -1, NULL));
        expect_ok(fusion_buffer_map(o, (void **)&values));
        assert_int_equal(values[ITEMS - 1], ITEMS - 1);
        fusion_graph_destroy(graph);
    }
}

static void test_sub_group_sizes(void **state)
{
    static const char kernel[] = "import func @f()\nkernel @k() sub_group_size(16) { call @f() }\nkernel @l() {}\n";
    static const char definition[] = "export func @f() {}\n";
    fusion_module *m = load(*state, "a", kernel, "8");
    assert_string_equal(fusion_module_kernel(m, 0)->sub_group_size, "16");
    assert_string_equal(fusion_module_kernel(m, 1)->sub_group_size, "8");
    m = load(*state, "a", kernel, NULL); /* the same bytes again, read in another way */
    assert_string_equal(fusion_module_kernel(m, 1)->sub_group_size, "");
    m = load(*state, "a", kernel, "automatic");
    assert_string_equal(fusion_module_kernel(m, 1)->sub_group_size, "automatic");

    fusion_module *parts[] = {load(*state, "a", kernel, "16"), load(*state, "b", definition, "16")}, *linked;
    expect_ok(fusion_module_link(*state, "both", parts, 2, &linked));
    parts[1] = load(*state, "b", definition, NULL);
    expect_error(fusion_module_link(*state, "both", parts, 2, &linked), FUSION_INVALID);
    expect_in_reason("function f: is declared with sub-group size 16 in module a (a:1) and defined with none, which "
                     "means primary in module b (b:1); kernel k calls it");
    parts[0] = load(*state, "a", kernel, NULL);
    expect_error(fusion_module_link(*state, "both", parts, 2, &linked), FUSION_INVALID);
    expect_in_reason("function k: has sub-group size 16 in module a (a:2); it calls f in k (a:2), whose sub-group size "
                     "is none, which means primary there (declared at a:1)");

    const fusion_module_options options = {.sub_group_size = "12"};
    expect_error(fusion_module_load_with(*state, "a", kernel, strlen(kernel), &options, &m), FUSION_INVALID);
    expect_in_reason("`12` is neither a power of two, nor automatic, nor primary");
}

/* ---- specialization constants ---- */

static const char spirv_text[] =
    "OpCapability Addresses\nOpCapability Kernel\nOpCapability Int64\nOpMemoryModel Physical64 OpenCL\n"
    "OpEntryPoint Kernel %k \"k\" %gid\nOpDecorate %gid BuiltIn GlobalInvocationId\nOpDecorate %gid Constant\n"
    "OpDecorate %s SpecId 3\nOpDecorate %t SpecId 4\n"
    "%void = OpTypeVoid\n%bool = OpTypeBool\n%u32 = OpTypeInt 32 0\n%u64 = OpTypeInt 64 0\n%v3 = OpTypeVector %u64 3\n"
    "%p = OpTypePointer CrossWorkgroup %u32\n%vp = OpTypePointer Input %v3\n%fn = OpTypeFunction %void %p %p\n"
    "%one = OpConstant %u32 1\n%s = OpSpecConstant %u32 6\n%t = OpSpecConstantTrue %bool\n"
    "%gid = OpVariable %vp Input\n"
    "%k = OpFunction %void None %fn\n%a = OpFunctionParameter %p\n%o = OpFunctionParameter %p\n%entry = OpLabel\n"
    "%ids = OpLoad %v3 %gid Aligned 32\n%i = OpCompositeExtract %u64 %ids 0\n"
    "%from = OpInBoundsPtrAccessChain %p %a %i\n%x = OpLoad %u32 %from Aligned 4\n%y = OpIMul %u32 %x %s\n"
    "%z = OpIAdd %u32 %y %one\n%w = OpSelect %u32 %t %z %y\n"
    "%to = OpInBoundsPtrAccessChain %p %o %i\nOpStore %to %w Aligned 4\nOpReturn\nOpFunctionEnd\n";

static fusion_status load_spirv(fusion_session *s, const fusion_constant *constants, uint32_t n, fusion_module **m)
{
    size_t size;
    uint8_t *bytes = spirv_make_assembled(spirv_text, &size);
    const fusion_module_options options = {.n_constants = n, .constants = constants};
    fusion_status status = fusion_module_load_with(s, "k.spv", bytes, size, &options, m);
    free(bytes);
    return status;
}

static void test_constants(void **state)
{
    const uint32_t nine = 9;
    const uint8_t no = 0;
    const char *cache;
    fusion_module *m;
    expect_ok(load_spirv(*state, NULL, 0, &m));
    assert_int_equal(run(*state, m, "cpu", NULL), 7);
    expect_ok(load_spirv(*state, (const fusion_constant[]){{3, 4, &nine}}, 1, &m));
    assert_int_equal(run(*state, m, "cpu", &cache), 10);
    assert_string_equal(cache, "miss");
    expect_ok(load_spirv(*state, (const fusion_constant[]){{3, 4, &nine}, {4, 1, &no}}, 2, &m));
    assert_int_equal(run(*state, m, "cpu", &cache), 9);
    assert_string_equal(cache, "miss");
    assert_int_equal(run(*state, m, "reference", NULL), 9);
    expect_ok(load_spirv(*state, (const fusion_constant[]){{3, 4, &nine}}, 1, &m));
    assert_int_equal(run(*state, m, "cpu", &cache), 10);
    assert_string_equal(cache, "memory");
}

static void test_wrong_constants(void **state)
{
    const uint64_t value = 1;
    fusion_module *m;
    expect_error(load_spirv(*state, (const fusion_constant[]){{5, 4, &value}}, 1, &m), FUSION_INVALID);
    expect_in_reason("there is no specialization constant 5; the module has 3, 4");
    expect_error(load_spirv(*state, (const fusion_constant[]){{3, 8, &value}}, 1, &m), FUSION_INVALID);
    expect_in_reason("specialization constant 3 is of type i32, 4 bytes, but its value has 8");
    expect_error(load_spirv(*state, (const fusion_constant[]){{3, 4, &value}, {3, 4, &value}}, 2, &m), FUSION_INVALID);
    expect_in_reason("specialization constant 3 is given two values");
    expect_error(load_spirv(*state, (const fusion_constant[]){{3, 4, NULL}}, 1, &m), FUSION_INVALID);
    expect_error(load_spirv(*state, (const fusion_constant[]){{3, 9, &value}}, 1, &m), FUSION_INVALID);
    const fusion_constant constant = {3, 4, &value};
    const fusion_module_options options = {.n_constants = 1, .constants = &constant};
    expect_error(fusion_module_load_with(*state, "t", times_3, strlen(times_3), &options, &m), FUSION_INVALID);
    expect_in_reason("it is no SPIR-V module, so it has no specialization constants");
}

/* ---- below the library ---- */

static const uint8_t *raw_bytes;
static size_t raw_size;

static void pack_raw(struct proto_writer *w, const void *data)
{
    (void)data;
    proto_pack_raw(w, raw_bytes, raw_size);
}

/* A request whose parameters are the bytes of msgpack; the session lives on. */
static void expect_raw(fusion_session *s, const char *method, const char *params, size_t size, fusion_status status,
                       const char *words)
{
    raw_bytes = (const uint8_t *)params;
    raw_size = size;
    expect_error(client_request(s, method, pack_raw, NULL, NULL, 0, NULL), status);
    expect_in_reason(words);
}

#define RAW(params) params, sizeof(params) - 1

static void test_raw_requests(void **state)
{
    expect_raw(*state, "module.link", RAW("\x81\xa4name\xa1x"), FUSION_INVALID, "parameter modules");
    expect_raw(*state, "module.link", RAW("\x82\xa4name\xa1x\xa7modules\x90"), FUSION_INVALID, "0 modules to link");
    expect_raw(*state, "module.link", RAW("\x82\xa4name\xa1x\xa7modules\x91\xa1y"), FUSION_INVALID,
               "no list of modules");
    expect_raw(*state, "module.link", RAW("\x82\xa4name\xa1x\xa7modules\x91\x63"), FUSION_NOT_FOUND, "no module 99");
    expect_raw(*state, "module.load",
               RAW("\x83\xa4name\xa1x\xa4"
                   "data\xc4\x00\xa9"
                   "constants\x05"),
               FUSION_PROTOCOL, "parameter constants");
    expect_raw(*state, "module.load",
               RAW("\x83\xa4name\xa1x\xa4"
                   "data\xc4\x00\xa9"
                   "constants\x91\x05"),
               FUSION_INVALID, "value 0 of the specialization constants");
    expect_raw(*state, "module.load",
               RAW("\x83\xa4name\xa1x\xa4"
                   "data\xc4\x00\xae"
                   "sub_group_size\x05"),
               FUSION_PROTOCOL, "parameter sub_group_size");
    fusion_module *m;
    expect_ok(try_link(*state, main_text, times_3, &m));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linked_runs),     cmocka_unit_test(test_cache),
        cmocka_unit_test(test_errors),          cmocka_unit_test(test_unlinked),
        cmocka_unit_test(test_sub_group_sizes), cmocka_unit_test(test_refused_functions),
        cmocka_unit_test(test_constants),       cmocka_unit_test(test_wrong_constants),
        cmocka_unit_test(test_raw_requests),
    };
    return cmocka_run_group_tests_name("linking", tests, set_up, tear_down);
}
