/* Kernels of OpenCL C that a pipe connects are one launch, and compute what they compute apart, whatever a submission
   says of their numbers of packets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <fusiond/finalize.h>

#include "tests/support/service.h"
#include "tests/support/spirv_make.h"

enum { PACKETS = 1000 };

/* OpenCL C has pipes as arguments only: what makes kernels of these functions, with a pipe of the program, is IR. */
#define PIPE "%opencl.pipe_"
#define HANDLE " addrspace(1)*"
#define STORAGE "%spirv.PipeStorage addrspace(1)*"
#define MAKE(end, mangled) "@_Z" mangled "__spirv_CreatePipeFromPipeStorage_" end "PU3AS119__spirv_PipeStorage"
#define KERNEL(name, pipe, end, mangled)                                                                               \
    "//ir define spir_kernel void @k_" name "(i32 addrspace(1)* %x, i32 %n) {\n"                                       \
    "//ir   %s = load " STORAGE ", " STORAGE " addrspace(1)* @p\n"                                                     \
    "//ir   %q = call spir_func " PIPE pipe HANDLE " " MAKE(end, mangled) "(" STORAGE " %s)\n"                         \
                                                                          "//ir   call spir_func void @" name          \
                                                                          "(i32 addrspace(1)* %x, " PIPE pipe HANDLE   \
                                                                          " %q, i32 %n)\n"                             \
                                                                          "//ir   ret void\n//ir }\n"
#define PUTS(name) KERNEL(name, "wo_t", "write", "39")
#define TAKES(name) KERNEL(name, "ro_t", "read", "38")

static const char source[] =
    "//: language CL2.0\n//: translator --spirv-ext=+SPV_INTEL_blocking_pipes\n"
    "void __read_pipe_2_bl(read_only pipe int p, int *x, uint size, uint align);\n"
    "void __write_pipe_2_bl(write_only pipe int p, int *x, uint size, uint align);\n"
    "void decode(global int *x, write_only pipe int to, int n)\n{\n"
    "    int last = 0;\n"
    "    for (int i = 0; i < n; i++) {\n"
    "        last += x[i];\n        __write_pipe_2_bl(to, &last, 4, 4);\n    }\n}\n"
    "void encode(global int *x, read_only pipe int from, int n)\n{\n"
    "    int last = 0, v;\n"
    "    for (int i = 0; i < n; i++) {\n"
    "        __read_pipe_2_bl(from, &v, 4, 4);\n        x[i] = v - 3 * last;\n        last = v;\n    }\n}\n"
    "void put(global int *x, write_only pipe int to, int n)\n{\n"
    "    int i = get_global_id(0), v;\n    if (i >= n) return;\n"
    "    v = x[i] * 3;\n    write_pipe(to, &v);\n}\n"
    "void take(global int *x, read_only pipe int from, int n)\n{\n"
    "    int i = get_global_id(0), v;\n"
    "    if (i < n && read_pipe(from, &v) == 0) x[i] = v + 1;\n}\n"
    "//ir %spirv.ConstantPipeStorage = type { i32, i32, i32 }\n//ir %spirv.PipeStorage = type opaque\n"
    "//ir @s = linkonce_odr addrspace(1) global %spirv.ConstantPipeStorage { i32 4, i32 4, i32 50 }, align 4\n"
    "//ir @p = addrspace(1) global " STORAGE " bitcast (%spirv.ConstantPipeStorage addrspace(1)* @s to " STORAGE ")\n"
    "//ir declare spir_func " PIPE "wo_t" HANDLE
    " " MAKE("write", "39") "(" STORAGE ")\n"
                            "//ir declare spir_func " PIPE "ro_t" HANDLE
                            " " MAKE("read", "38") "(" STORAGE ")\n" PUTS("decode") TAKES("encode") PUTS("put")
                                TAKES("take");

static struct service service;
static fusion_session *session;
static fusion_module *module; /* NULL: nothing here makes it */

static int start(void **state)
{
    (void)state;
    service_start(&service, NULL);
    session = service_connect(&service);
    if (!spirv_make_can_compile()) return 0;
    size_t size;
    uint8_t *spv = spirv_make_compiled(source, "O2", &size);
    expect_ok(fusion_module_load(session, "pipes.spv", spv, size, &module));
    free(spv);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    fusion_disconnect(session);
    service_clear(&service);
    return 0;
}

struct pair {
    fusion_buffer *x, *o;
    fusion_exec *exec;
};

static struct pair make(const char *first, const char *second, uint64_t items, int n, fusion_mode mode)
{
    const fusion_finalize_options options = {.mode = mode};
    struct pair p = {.x = index_buffer(session, "x", PACKETS, 7, 0), .o = index_buffer(session, "o", PACKETS, 0, 0)};
    fusion_graph *g;
    expect_ok(fusion_graph_create(session, &g));
    add_node(g, module, first, items, (fusion_arg[]){fusion_arg_read(p.x), fusion_arg_i32(n)}, 2);
    add_node(g, module, second, items, (fusion_arg[]){fusion_arg_write(p.o), fusion_arg_i32(n)}, 2);
    expect_ok(fusion_graph_finalize(g, &options, &p.exec));
    fusion_graph_destroy(g);
    return p;
}

/* With so many packets put and taken. */
static const int *run(const struct pair *p, int puts, int takes)
{
    fusion_event event;
    void *memory;
    const fusion_rebind rebind[] = {{.node = 0, .arg = 1, .value = &puts, .value_bytes = sizeof puts},
                                    {.node = 1, .arg = 1, .value = &takes, .value_bytes = sizeof takes}};
    expect_ok(fusion_buffer_map(p->o, &memory));
    memset(memory, 0, PACKETS * sizeof(int));
    expect_ok(fusion_exec_submit(p->exec, rebind, 2, &event));
    expect_ok(fusion_event_wait(session, event, 20000, NULL));
    expect_ok(fusion_buffer_map(p->o, &memory));
    return memory;
}

/* Each submission by one of the two, as they share the pipe: what is to come out is computed here. */
static void streams(void **state)
{
    (void)state;
    if (!module) skip();
    struct pair apart = make("k_decode", "k_encode", 1, PACKETS, FUSION_NONE);
    struct pair one = make("k_decode", "k_encode", 1, PACKETS, FUSION_ENABLE);
    assert_int_equal(fusion_exec_report(one.exec)->launches, 1);
    int counts[][2] = {{PACKETS, PACKETS}, {300, 300}, {500, 480},     {200, 220},
                       {70, 70},           {0, 0},     {PACKETS, 990}, {90, 100}};
    int left[64], n = 0; /* in the pipe */
    for (unsigned i = 0; i < 2 * sizeof counts / sizeof *counts; i++) {
        const int *count = counts[i / 2];
        if (count[0] != count[1] && i % 2) continue;
        const int *o = run(i % 3 ? &one : &apart, count[0], count[1]);
        static int packets[PACKETS + 64];
        int sum = 0, last = 0;
        for (int k = 0; k < n; k++) packets[k] = left[k];
        for (int k = 0; k < count[0]; k++) packets[n + k] = sum += 7 * k;
        for (int k = 0; k < count[1]; k++) {
            assert_int_equal(o[k], packets[k] - 3 * last);
            last = packets[k];
        }
        n += count[0] - count[1];
        for (int k = 0; k < n; k++) left[k] = packets[count[1] + k];
    }
    assert_int_equal(n, 0);
}

static void items(void **state)
{
    (void)state;
    if (!module) skip();
    struct pair one = make("k_put", "k_take", 50, 50, FUSION_ENABLE);
    assert_int_equal(fusion_exec_report(one.exec)->launches, 1);
    static const int counts[][2] = {{50, 50}, {20, 20}, {50, 50}, {30, 29}, {1, 2}, {50, 50}};
    for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++) {
        const int *o = run(&one, counts[i][0], counts[i][1]);
        if (counts[i][0] != counts[i][1]) continue;
        for (int k = 0; k < PACKETS; k++) assert_int_equal(o[k], k < counts[i][0] ? 21 * k + 1 : 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(streams), cmocka_unit_test(items)};
    return cmocka_run_group_tests(tests, start, stop);
}
