/*
 * Where registers are AVX's, no instruction is written as SSE had it: such a one waits for a hundred cycles and more
 * while the upper halves of registers hold something. That goes for the short vectors at the end of a tree, which are
 * SSE's, and for whoever runs after the kernel: it leaves no upper half in use.
 */
#include <unistd.h>

#include "tests/support/compiled_kit.h"

/* The largest and smallest of 64, their sums as other types, and a number of neighbours exchanged: by halves. */
static const char text[] =
    "local @t: [64 x f32]\nlocal @u: [64 x i32]\n"
    "kernel @k(%a: ptr.global f32 read, %o: ptr.global f32 write, %p: ptr.global i32 write) work_group_size(64, 1, 1)\n"
    "        assumes(small_ids, small_memory, whole_groups) {\n"
    "  %i = global_id x\n  %l = local_id x\n  %t = global @t\n  %u = global @u\n"
    "  %ai = elem f32 %a, %i\n  %x = load f32 %ai\n  %mine = elem f32 %t, %l\n  store f32 %mine, %x\n"
    "  %n = ftos i32 %x\n  %own = elem i32 %u, %l\n  store i32 %own, %n\n  barrier work_group, local\n"
    "  loop (%s: i64 = 32) {\n"
    "    %c = ult i64 %l, %s\n"
    "    if %c {\n"
    "      %j = add i64 %l, %s\n      %q = elem f32 %t, %j\n      %y = load f32 %q\n      %z = load f32 %mine\n"
    "      %big = fmax f32 %y, %z\n      %r = floor f32 %big\n      store f32 %mine, %r\n"
    "      %v = elem i32 %u, %j\n      %m = load i32 %v\n      %w = load i32 %own\n"
    "      %least = smin i32 %m, %w\n      %f = stof f32 %least\n      %root = sqrt f32 %f\n"
    "      %back = ftos i32 %root\n      store i32 %own, %back\n"
    "    }\n"
    "    barrier work_group, local\n"
    "    %next = lshr i64 %s, 1\n    %more = ugt i64 %next, 0\n"
    "    if %more { continue %next }\n    break\n  }\n"
    "  %e = load f32 %mine\n  %oi = elem f32 %o, %i\n  store f32 %oi, %e\n"
    "  %g = load i32 %own\n  %pi = elem i32 %p, %i\n  store i32 %pi, %g\n}\n";

/* What the disassembler says of an object's code. */
static FILE *disassembled(const struct cpu_object *object)
{
    char path[] = "/tmp/fusion-encodings-XXXXXX", command[128];
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, object->elf, object->elf_size) == (ssize_t)object->elf_size);
    close(fd);
    snprintf(command, sizeof command, "objdump -d --no-show-raw-insn %s; rm %s", path, path);
    FILE *out = popen(command, "r");
    assert_non_null(out);
    return out;
}

static void check_code(enum cpu_isa isa, enum cpu_effort effort)
{
    struct ir_module *m = kit_parse(text);
    struct cpu_options options = {.target = cpu_target_host(isa), .effort = effort};
    struct cpu_object object;
    struct diag_list list = {0};
    assert_int_equal(cpu_compile(kit_kernel(m), &options, &object, &list), 0);
    FILE *in = disassembled(&object);
    char line[256], mnemonic[32];
    unsigned vectors = 0, returns = 0, clears = 0;
    while (fgets(line, sizeof line, in)) {
        if (sscanf(line, " %*x: %31s", mnemonic) != 1) continue;
        bool is_vector = strstr(line, "mm") && strchr(line, '%');
        if (is_vector && mnemonic[0] != 'v' && mnemonic[0] != 'k') fail_msg("%s: %s", cpu_isa_name(isa), line);
        vectors += is_vector;
        returns += strncmp(mnemonic, "ret", 3) == 0;
        clears += strcmp(mnemonic, "vzeroupper") == 0;
    }
    assert_int_equal(pclose(in), 0);
    print_message("# %s: %u of vectors, %u returns, halves cleared %u times\n", cpu_isa_name(isa), vectors, returns,
                  clears);
    assert_true(vectors > 20 && returns > 0 && clears > 0);
    cpu_object_clear(&object);
    ir_module_free(m);
}

static void as_avx_has_them(void **state)
{
    (void)state;
    enum cpu_isa isas[CPU_ISA_COUNT];
    unsigned n = compiled_isas(isas);
    for (unsigned i = 0; i < n; i++)
        for (enum cpu_effort effort = CPU_EFFORT_FULL; isas[i] >= CPU_ISA_AVX2 && effort < CPU_EFFORT_NONE; effort++)
            check_code(isas[i], effort);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_avx_has_them)};
    return cmocka_run_group_tests_name("cpu_encodings", tests, NULL, NULL);
}
