/* What goes past the cache: numbers that are only written. Those at places that were just read lie in it already. */
#include "tests/support/compiled_kit.h"

static const char copy[] = "kernel @k(%a: ptr.global f32 read, %o: ptr.global f32 write) {\n"
                           "  %i = global_id x\n  %ai = elem f32 %a, %i\n  %x = load f32 %ai\n"
                           "  %oi = elem f32 %o, %i\n  store f32 %oi, %x\n  return\n}\n";
static const char in_place[] = "kernel @k(%a: ptr.global f32 read, %o: ptr.global f32 read_write) {\n"
                               "  %i = global_id x\n  %ai = elem f32 %a, %i\n  %x = load f32 %ai\n"
                               "  %oi = elem f32 %o, %i\n  %y = load f32 %oi\n  %z = fadd f32 %x, %y\n"
                               "  store f32 %oi, %z\n  return\n}\n";

static bool goes_past(const char *text, enum cpu_isa isa)
{
    struct ir_module *m = kit_parse(text);
    struct cpu_options options = {.target = cpu_target_host(isa), .keep_assembly = true};
    struct cpu_object object;
    struct diag_list list = {0};
    assert_int_equal(cpu_compile(kit_kernel(m), &options, &object, &list), 0);
    bool past = strstr(object.assembly, "movnt") != NULL;
    cpu_object_clear(&object);
    ir_module_free(m);
    return past;
}

static void what_was_read_stays(void **state)
{
    (void)state;
    enum cpu_isa isas[CPU_ISA_COUNT];
    unsigned n = compiled_isas(isas);
    for (unsigned i = 0; i < n; i++) {
        if (isas[i] == CPU_ISA_GENERIC) continue;
        assert_true(goes_past(copy, isas[i]));
        assert_false(goes_past(in_place, isas[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_was_read_stays)};
    return cmocka_run_group_tests_name("cpu_stream", tests, NULL, NULL);
}
