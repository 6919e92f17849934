/* Pipes of SPIR-V modules: storage in variables and by itself, host access in both forms, waiting reads and writes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <spirv/unified1/spirv.h>

#include "ir/spirv/spirv.h"
#include "ir/text/print/print.h"

enum { READ_BLOCKING = 5946, WRITE_BLOCKING = 5947, MOST_WORDS = 512 };

struct words {
    uint32_t w[MOST_WORDS];
    uint32_t n;
};

static void add(struct words *m, unsigned op, unsigned n, const uint32_t *operands)
{
    assert_true(m->n + n + 1 < MOST_WORDS);
    m->w[m->n++] = (n + 1) << 16 | op;
    if (n) memcpy(m->w + m->n, operands, n * sizeof *operands);
    m->n += n;
}
#define ADD(m, op, ...) add(m, op, sizeof((uint32_t[]){__VA_ARGS__}) / 4, (uint32_t[]){__VA_ARGS__})

/* Operands, then a text. */
static void add_text(struct words *m, unsigned op, const uint32_t *operands, unsigned n, const char *text)
{
    uint32_t all[64] = {0};
    if (n) memcpy(all, operands, n * sizeof *operands);
    memcpy(all + n, text, strlen(text));
    add(m, op, n + (unsigned)strlen(text) / 4 + 1, all);
}

struct form {
    uint32_t decoration, capability, access; /* 0: no host access */
    const char *id;
    bool variable; /* the storage lies in one */
    uint32_t capacity, size;
    const char *decorated, *processed; /* a string of the pipe, and one of the module */
};

enum {
    KERNEL = 1,
    IN,
    OUT,
    VOID,
    U32,
    FOUR,
    FUNCTION,
    STORAGE,
    P_STORAGE,
    P_U32,
    PIPE_IN,
    PIPE_OUT,
    IN_STORAGE,
    LABEL,
    WORD,
    LOADED,
    P_IN,
    P_OUT,
    BOUND
};

static void declare(struct words *m, const struct form *f)
{
    ADD(m, SpvOpTypeVoid, VOID);
    ADD(m, SpvOpTypeInt, U32, 32, 0);
    ADD(m, SpvOpConstant, U32, FOUR, 4);
    ADD(m, SpvOpTypeFunction, FUNCTION, VOID);
    ADD(m, SpvOpTypePipeStorage, STORAGE);
    ADD(m, SpvOpTypePointer, P_STORAGE, SpvStorageClassCrossWorkgroup, STORAGE);
    ADD(m, SpvOpTypePointer, P_U32, SpvStorageClassFunction, U32);
    ADD(m, SpvOpTypePipe, PIPE_IN, SpvAccessQualifierReadOnly);
    ADD(m, SpvOpTypePipe, PIPE_OUT, SpvAccessQualifierWriteOnly);
    if (f->variable) {
        ADD(m, SpvOpConstantPipeStorage, STORAGE, IN_STORAGE, f->size, f->size, f->capacity);
        ADD(m, SpvOpVariable, P_STORAGE, IN, SpvStorageClassCrossWorkgroup, IN_STORAGE);
    } else {
        ADD(m, SpvOpConstantPipeStorage, STORAGE, IN, f->size, f->size, f->capacity);
    }
    ADD(m, SpvOpConstantPipeStorage, STORAGE, OUT, 4, 4, 9);
}

static void define(struct words *m, const struct form *f)
{
    ADD(m, SpvOpFunction, VOID, KERNEL, 0, FUNCTION);
    ADD(m, SpvOpLabel, LABEL);
    ADD(m, SpvOpVariable, P_U32, WORD, SpvStorageClassFunction);
    if (f->variable) ADD(m, SpvOpLoad, STORAGE, LOADED, IN);
    ADD(m, SpvOpCreatePipeFromPipeStorage, PIPE_IN, P_IN, f->variable ? LOADED : IN);
    ADD(m, SpvOpCreatePipeFromPipeStorage, PIPE_OUT, P_OUT, OUT);
    ADD(m, READ_BLOCKING, P_IN, WORD, FOUR, FOUR);
    ADD(m, WRITE_BLOCKING, P_OUT, WORD, FOUR, FOUR);
    add(m, SpvOpReturn, 0, NULL);
    add(m, SpvOpFunctionEnd, 0, NULL);
}

static struct words make(const struct form *f)
{
    static const uint32_t capabilities[] = {SpvCapabilityAddresses, SpvCapabilityKernel, SpvCapabilityPipes,
                                            SpvCapabilityPipeStorage, SpvCapabilityBlockingPipesINTEL};
    struct words m = {.w = {SpvMagicNumber, 0x10100, 0, BOUND, 0}, .n = 5};
    for (unsigned i = 0; i < sizeof capabilities / sizeof *capabilities; i++) ADD(&m, SpvOpCapability, capabilities[i]);
    if (f->decoration) ADD(&m, SpvOpCapability, f->capability);
    add_text(&m, SpvOpExtension, NULL, 0, "SPV_INTEL_blocking_pipes");
    add_text(&m, SpvOpExtension, NULL, 0, "SPV_INTEL_global_variable_host_access");
    if (f->decorated) add_text(&m, SpvOpExtension, NULL, 0, "SPV_GOOGLE_hlsl_functionality1");
    ADD(&m, SpvOpMemoryModel, SpvAddressingModelPhysical64, SpvMemoryModelOpenCL);
    add_text(&m, SpvOpEntryPoint, (uint32_t[]){SpvExecutionModelKernel, KERNEL}, 2, "move");
    add_text(&m, SpvOpName, (uint32_t[]){IN}, 1, "in");
    add_text(&m, SpvOpName, (uint32_t[]){OUT}, 1, "out");
    if (f->processed) add_text(&m, SpvOpModuleProcessed, NULL, 0, f->processed);
    if (f->decorated) add_text(&m, SpvOpDecorateString, (uint32_t[]){IN, SpvDecorationUserSemantic}, 2, f->decorated);
    if (f->decoration) add_text(&m, SpvOpDecorate, (uint32_t[]){IN, f->decoration, f->access}, 3, f->id);
    declare(&m, f);
    define(&m, f);
    return m;
}

/* The module, or NULL with what is wrong in `why`. */
static struct ir_module *read(const struct form *f, char **why)
{
    struct words m = make(f);
    struct diag_list list = {0};
    struct ir_module *module = ir_read_spirv(m.w, m.n * 4, "pipes", &list);
    *why = diag_format(&list);
    diag_clear(&list);
    return module;
}

static void expect_in(const struct form *f, const char *line)
{
    char *why;
    struct ir_module *m = read(f, &why);
    if (!m) fail_msg("%s", why);
    char *text = ir_print(m);
    if (!strstr(text, line)) fail_msg("no %s in\n%s", line, text);
    assert_non_null(strstr(text, "pipe.write @out: packet i32 capacity 9\n"));
    assert_non_null(strstr(text, "pipe_read_wait i32 "));
    assert_non_null(strstr(text, "pipe_write_wait i32 "));
    free(text);
    free(why);
    ir_module_free(m);
}

static void test_forms(void **state)
{
    (void)state;
    for (int variable = 0; variable < 2; variable++) {
        expect_in(&(struct form){.variable = variable, .capacity = 8, .size = 4},
                  "pipe.read @in: packet i32 capacity 8\n");
        expect_in(&(struct form){6188, 6187, 3, "the id", variable, 8, 4},
                  "pipe.read @in: packet i32 capacity 8 host_access \"the id\"\n");
        expect_in(&(struct form){6147, 6146, 1, "_ZTS4pipe", variable, 5, 4},
                  "pipe.read @in: packet i32 capacity 5 host_access \"_ZTS4pipe\"\n");
    }
}

/* Access 0 is none; a pipe has room for one packet at least. */
static void test_none(void **state)
{
    (void)state;
    expect_in(&(struct form){6188, 6187, 0, "the id", true, 8, 4}, "pipe.read @in: packet i32 capacity 8\n");
    expect_in(&(struct form){.variable = true, .capacity = 0, .size = 4}, "pipe.read @in: packet i32 capacity 1\n");
    expect_in(&(struct form){.capacity = 2, .size = 1}, "pipe.read @in: packet i8 capacity 2\n");
    expect_in(&(struct form){.capacity = 2, .size = 12}, "pipe.read @in: packet [12 x i8] capacity 2\n");
}

/* Properties, as producers may spell them; those of other things, and strings that are none, are passed over. */
static void test_properties(void **state)
{
    static const struct {
        const char *decorated, *processed, *line;
    } forms[] = {
        {"sycl-uses-valid=false", NULL, " uses_valid false\n"},
        {"[[sycl::ext::intel::experimental::ready_latency(3)]]", "bits_per_symbol(16) of in",
         " ready_latency 3 bits_per_symbol 16\n"},
        {"first_symbol_in_high_order_bits(1)", "first_symbol_in_high_order_bits(true) of in",
         " first_symbol_in_high_order_bits true\n"},
        {"sycl-protocol=avalon_mm_uses_ready", "ready_latency(3) of elsewhere", " protocol avalon_mm_uses_ready\n"},
        {"an annotation", "protocol(2) of in", " protocol avalon_mm\n"},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof forms / sizeof *forms; i++) {
        char line[128];
        snprintf(line, sizeof line, "pipe.read @in: packet i32 capacity 8%s", forms[i].line);
        for (int variable = 0; variable < 2; variable++)
            expect_in(&(struct form){.variable = variable,
                                     .capacity = 8,
                                     .size = 4,
                                     .decorated = forms[i].decorated,
                                     .processed = forms[i].processed},
                      line);
    }
}

static void expect_refused(const struct form *f, const char *finding)
{
    char *why;
    assert_null(read(f, &why));
    if (!strstr(why, finding)) fail_msg("no %s in %s", finding, why);
    free(why);
}

static void test_refused(void **state)
{
    (void)state;
    expect_refused(&(struct form){.variable = true, .capacity = 4, .size = 0}, "packets of 0 bytes");
    expect_refused(&(struct form){.capacity = 4, .size = 4, .decorated = "uses_valid(maybe)"},
                   "gives pipe in no value of uses_valid");
    expect_refused(
        &(struct form){.capacity = 4, .size = 4, .decorated = "protocol(0)", .processed = "protocol(2) of in"},
        "gives pipe in two values of protocol");
    expect_refused(&(struct form){.capacity = 4, .size = 4, .decorated = "bits_per_symbol(5)"},
                   "pipe in has bits_per_symbol 5, which does not divide the 32 bits of its packets");
}

/* Words cut off anywhere, and each word another: nothing but a finding. */
static void test_damaged(void **state)
{
    (void)state;
    struct words good = make(&(struct form){6188, 6187, 3, "the id", true, 8, 4, "uses_valid(0)", "protocol(0) of in"});
    for (uint32_t i = 5; i < good.n; i++) {
        for (int change = 0; change < 4; change++) {
            struct words m = good;
            struct diag_list list = {0};
            uint32_t n = change == 0 ? i : m.n;
            m.w[i] = change == 1 ? 0 : change == 2 ? m.w[i] + 1 : change == 3 ? m.w[i] ^ 0x10000 : m.w[i];
            ir_module_free(ir_read_spirv(m.w, n * 4, "pipes", &list));
            diag_clear(&list);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forms), cmocka_unit_test(test_none),
                                       cmocka_unit_test(test_properties), cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_damaged)};
    return cmocka_run_group_tests_name("spirv_pipes", tests, NULL, NULL);
}
