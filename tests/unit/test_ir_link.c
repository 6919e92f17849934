/* Linking: what becomes of names, types and attributes; each error with its names and lines; modules taken apart and
 * linked again are what they were. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/base/strbuf.h"
#include "ir/core/equal.h"
#include "ir/link/link.h"
#include "ir/link/sub_group_size.h"
#include "ir/link/unresolved.h"
#include "ir/msgpack/codec.h"
#include "ir/text/parse/parse.h"
#include "ir/text/print/print.h"
#include "ir/text/print/print_type.h"
#include "ir/verify/verify.h"
#include "tests/support/cases.h"
#include "tests/support/random_args.h"
#include "tests/support/random_module.h"
#include "tests/support/split_module.h"

enum { MAX_PARTS = 5 };

/* ---- help ---- */

static struct ir_module *parse(const char *name, const char *text)
{
    struct diag_list list = {0};
    char file[32];
    snprintf(file, sizeof file, "%s.fk", name);
    struct ir_module *m = ir_parse(text, strlen(text), file, &list);
    if (!m) fail_msg("%s%s", text, diag_format(&list));
    m->name = ir_strdup(m, name);
    return m;
}

/* Modules a, b, c ... of the texts, linked. */
static struct ir_module *link_texts(const char *const *texts, struct diag_list *list)
{
    struct ir_module *parts[MAX_PARTS] = {NULL};
    size_t n = 0;
    for (; texts[n]; n++) parts[n] = parse((const char[]){'a' + (char)n, 0}, texts[n]);
    struct ir_module *m = ir_link((const struct ir_module *const *)parts, n, "linked", list);
    for (size_t i = 0; i < n; i++) ir_module_free(parts[i]);
    return m;
}

/* A function without locations and without the return that each body may leave out. */
static void add_function(struct strbuf *text, const struct ir_function *f)
{
    char *printed = ir_print_function(f), *end = strstr(printed, "    return\n}");
    if (end) strcpy(end, "}\n");
    strbuf_add(text, printed);
    free(printed);
}

static char *text_of(const struct ir_module *m)
{
    struct strbuf text = {0};
    char type[256];
    for (uint32_t i = 0; i < m->n_structs; i++)
        strbuf_printf(&text, "struct %s of %u bytes\n", m->structs[i]->name, m->structs[i]->size);
    for (uint32_t i = 0; i < m->n_globals; i++)
        strbuf_printf(&text, "%s: %s, linkage %d, align %u%s\n", m->globals[i]->name,
                      ir_print_type(m, m->globals[i]->type, type, sizeof type), m->globals[i]->linkage,
                      m->globals[i]->align, m->globals[i]->init ? ", with bytes" : "");
    for (uint32_t i = 0; i < m->n_functions; i++) add_function(&text, m->functions[i]);
    return strbuf_take(&text);
}

static void check_round_trip(const struct ir_module *m)
{
    size_t size, again;
    uint8_t *bytes = ir_encode(m, &size);
    struct ir_module *back = ir_decode(bytes, size, NULL);
    assert_non_null(back);
    assert_true(ir_module_equal(m, back));
    char *text = ir_print(m);
    struct ir_module *parsed = ir_parse(text, strlen(text), "again.fk", NULL);
    assert_non_null(parsed);
    uint8_t *bytes_again = ir_encode(back, &again);
    assert_int_equal(size, again);
    assert_memory_equal(bytes, bytes_again, size);
    assert_true(ir_module_equal(m, parsed));
    ir_module_free(parsed);
    ir_module_free(back);
    free(text);
    free(bytes_again);
    free(bytes);
}

#define TEXTS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void assert_links(const char *const *texts, const char *expected)
{
    struct diag_list list = {0};
    struct ir_module *m = link_texts(texts, &list);
    if (!m) fail_msg("%s", diag_format(&list));
    assert_string_equal(m->name, "linked");
    char *text = text_of(m);
    assert_string_equal(text, expected);
    free(text);
    check_round_trip(m);
    ir_module_free(m);
}

/* ---- what becomes of what ---- */

static void test_functions(void **state)
{
    (void)state;
    assert_links(TEXTS("import func @twice(%x: i32) -> i32\n"
                       "import func @unused(%x: f64)\n"
                       "func @own(%x: i32) -> i32 { %y = call @twice(%x); return %y }\n"
                       "kernel @k(%o: ptr.global i32) { %v = call @own(3); store i32 %o, %v }\n",
                       "func @own(%x: i32) -> i32 { return %x }\n"
                       "export func @twice(%a: i32) -> i32 { %y = call @own(%a); %z = add i32 %y, %y; return %z }\n"
                       "func @own.1() {}\n"),
                 "func @own(%x: i32) -> i32 {\n    %y = call @twice(%x)\n    return %y\n}\n"
                 "kernel @k(%o: ptr.global i32) {\n    %v = call @own(3)\n    store i32 %o, %v\n}\n"
                 "func @own.1(%x: i32) -> i32 {\n    return %x\n}\n"
                 "export func @twice(%a: i32) -> i32 {\n    %y = call @own.1(%a)\n    %z = add i32 %y, %y\n"
                 "    return %z\n}\n"
                 "func @own.1.1() {\n}\n");
}

/* Exported names are taken before those of earlier modules' own functions. */
static void test_exports_keep_their_names(void **state)
{
    (void)state;
    assert_links(TEXTS("func @f() {}\nkernel @a() { call @f() }\n", "export func @f() {}\n", "kernel @f.1() {}\n"),
                 "func @f.2() {\n}\nkernel @a() {\n    call @f.2()\n}\nexport func @f() {\n}\nkernel @f.1() {\n}\n");
}

static void test_variables(void **state)
{
    (void)state;
    assert_links(TEXTS("import constant @table: [2 x i32] align 16\nimport global @sum: i32\nlocal @tile: i32\n"
                       "kernel @k(%o: ptr.global i32) {\n%t = global @table\n%v = load i32 %t\nstore i32 %o, %v\n"
                       "%s = global @sum\nstore i32 %s, %v\n%l = global @tile\nstore i32 %l, 1\n}\n",
                       "export constant @table: [2 x i32] = { 7, 8 }\nexport global @sum: i32\nlocal @tile: f32\n"
                       "global @other: i64 = 5\nimport global @nobody_needs_it: i8\n"
                       "kernel @l() {\n%l = global @tile\nstore f32 %l, 1\n}\n"),
                 "tile: i32, linkage 0, align 4\n"
                 "table: [2 x i32], linkage 1, align 16, with bytes\n"
                 "sum: i32, linkage 1, align 4\n"
                 "tile.1: f32, linkage 0, align 4\n"
                 "other: i64, linkage 0, align 8, with bytes\n"
                 "kernel @k(%o: ptr.global i32) {\n    %t = global @table\n    %v = load i32 %t\n    store i32 %o, %v\n"
                 "    %s = global @sum\n    store i32 %s, %v\n    %l = global @tile\n    store i32 %l, 1\n}\n"
                 "kernel @l() {\n    %l = global @tile.1\n    store f32 %l, 1.0\n}\n");
}

static void test_pipes(void **state)
{
    (void)state;
    assert_links(TEXTS("import pipe @p: packet i32 capacity 4\nkernel @k() { %p = global @p }\n",
                       "export pipe @p: packet i32 capacity 4 host_access \"out\"\n"),
                 "p: pipe.read_write, linkage 1, align 8\nkernel @k() {\n    %p = global @p\n}\n");
    assert_links(TEXTS("import pipe @p: packet i32 capacity 4 uses_valid true uses_ready false\n"
                       "kernel @k() { %p = global @p }\n",
                       "export pipe @p: packet i32 capacity 4 uses_ready false ready_latency 2\n"),
                 "p: pipe.read_write, linkage 1, align 8\nkernel @k() {\n    %p = global @p\n}\n");
}

/* Structs of one name and layout are one; of one name and two layouts two; a by-value struct goes by its layout. */
static void test_structs(void **state)
{
    (void)state;
    assert_links(
        TEXTS("struct P { x: f32, y: f32 }\nstruct Q { a: i8 }\nstruct R { x: i32 }\n"
              "import func @f(%p: ptr.private struct P by_value, %q: ptr.global struct Q, %r: ptr.private struct R "
              "by_value)\n"
              "kernel @k(%q: ptr.global struct Q) {\n%p = var struct P\n%r = var struct R\n"
              "call @f(%p, %q, %r)\n}\n",
              "struct P { x: f32, y: f32 }\nstruct Q { a: i64 }\nstruct Other { a: i32 }\n"
              "export func @f(%p: ptr.private struct P by_value, %q: ptr.global, %r: ptr.private struct Other "
              "by_value) {\n%x = var struct Q\n}\n"),
        "struct P of 8 bytes\nstruct Q of 1 bytes\nstruct R of 4 bytes\nstruct Q.1 of 8 bytes\n"
        "struct Other of 4 bytes\n"
        "kernel @k(%q: ptr.global struct Q) {\n    %p = var struct P\n    %r = var struct R\n"
        "    call @f(%p, %q, %r)\n}\n"
        "export func @f(%p: ptr.private struct P by_value, %q: ptr.global, %r: ptr.private struct Other by_value) {\n"
        "    %x = var struct Q.1\n}\n");
}

/* `export once`: the first definition stays, or the one without `once`. */
static void test_once(void **state)
{
    (void)state;
    assert_links(TEXTS("export once func @f() -> i32 { return 1 }\nexport once constant @c: i8 = 1\n"
                       "kernel @k() { %x = call @f(); %c = global @c }\n",
                       "export once func @f() -> i32 { return 1 }\nexport once constant @c: i8 = 1\n"
                       "kernel @l() { %x = call @f(); %c = global @c }\n"),
                 "c: i8, linkage 4, align 1, with bytes\n"
                 "export once func @f() -> i32 {\n    return 1\n}\n"
                 "kernel @k() {\n    %x = call @f()\n    %c = global @c\n}\n"
                 "kernel @l() {\n    %x = call @f()\n    %c = global @c\n}\n");
    assert_links(TEXTS("export once func @f() -> i32 { return 1 }\nkernel @k() { %x = call @f() }\n",
                       "export func @f() -> i32 { return 2 }\n", "export once func @f() -> i32 { return 3 }\n"),
                 "kernel @k() {\n    %x = call @f()\n}\nexport func @f() -> i32 {\n    return 2\n}\n");
}

/* What only one side says is no disagreement. */
static void test_parameters_said_once(void **state)
{
    (void)state;
    assert_links(TEXTS("import func @f(%a: ptr.global f32 read, %b: ptr.global, %c: ptr.global i8)\n"
                       "kernel @k(%a: ptr.global, %b: ptr.global, %c: ptr.global) { call @f(%a, %b, %c) }\n",
                       "export func @f(%x: ptr.global f32, %y: ptr.global i32 write, %z: ptr.global f64) {}\n"),
                 "kernel @k(%a: ptr.global, %b: ptr.global, %c: ptr.global) {\n    call @f(%a, %b, %c)\n}\n"
                 "export func @f(%x: ptr.global f32, %y: ptr.global i32 write, %z: ptr.global f64) {\n}\n");
}

static bool has_imports(const struct ir_module *m)
{
    bool found = false;
    for (uint32_t i = 0; i < m->n_functions; i++) found |= m->functions[i]->linkage == IR_LINKAGE_IMPORT;
    for (uint32_t i = 0; i < m->n_globals; i++) found |= m->globals[i]->linkage == IR_LINKAGE_IMPORT;
    return found;
}

/* Linking a module alone changes nothing. */
static void test_one_module(void **state)
{
    (void)state;
    unsigned linked = 0;
    for (unsigned seed = 0; seed < test_cases(200); seed++) {
        struct ir_module *m = random_module(seed, NULL);
        struct ir_module *same = has_imports(m) ? NULL : ir_link((const struct ir_module *const *)&m, 1, m->name, NULL);
        if (same) assert_true(ir_module_equal(m, same));
        linked += same != NULL;
        if (!same) assert_true(has_imports(m));
        ir_module_free(same);
        ir_module_free(m);
    }
    assert_true(linked > 0);
}

static void test_default_sub_group_size(void **state)
{
    (void)state;
    struct ir_module *m = parse("m", "import func @i()\nexport func @e() sub_group_size(8) {}\nfunc @f() {}\n"
                                     "export once func @o() {}\nkernel @k() {}\nkernel @l() sub_group_size(primary) "
                                     "{}\n");
    ir_default_sub_group_size(m, 16);
    const uint32_t expected[] = {16, 8, 0, 16, 16, IR_SUB_GROUP_PRIMARY};
    for (uint32_t i = 0; i < m->n_functions; i++) assert_int_equal(m->functions[i]->sub_group_size, expected[i]);
    assert_true(ir_verify(m, NULL));
    ir_module_free(m);

    uint32_t size;
    const char *const good[] = {"1", "16", "2147483648", "automatic", "primary"};
    const uint32_t sizes[] = {1, 16, 1u << 31, IR_SUB_GROUP_AUTOMATIC, IR_SUB_GROUP_PRIMARY};
    for (unsigned i = 0; i < 5; i++) {
        assert_true(ir_sub_group_size_parse(good[i], &size));
        assert_int_equal(size, sizes[i]);
    }
    const char *const bad[] = {"", "0", "3", "-8", " 8", "8 ", "0x10", "4294967296", "Primary", "auto"};
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(ir_sub_group_size_parse(bad[i], &size));
}

/* ---- errors ---- */

/* The module's findings, one per line. */
static void assert_refused(const char *const *texts, const char *expected)
{
    struct diag_list list = {0};
    assert_null(link_texts(texts, &list));
    char *found = diag_format(&list);
    assert_string_equal(found, expected);
    free(found);
    diag_clear(&list);
}

static void test_undefined(void **state)
{
    (void)state;
    assert_refused(TEXTS("import func @f()\nkernel @k() {\n    call @f()\n}\n", "kernel @l() {}\n"),
                   "function f, line 3: is imported by module a (a.fk:1) and called in k (a.fk:3), but no module "
                   "exports it\n");
    assert_refused(TEXTS("import func @f()\nimport func @g()\nkernel @k() {\n    call @f(); call @g()\n}\n",
                         "func @f() {}\nkernel @g() {}\n"),
                   "function f, line 4: is imported by module a (a.fk:1) and called in k (a.fk:4), but no module "
                   "exports it: the one of that name is its module's own\n"
                   "function g, line 4: is imported by module a (a.fk:2) and called in k (a.fk:4), but no module "
                   "exports it: a kernel of that name cannot be called\n");
    assert_refused(TEXTS("import constant @c: i8\nkernel @k() {\n    %c = global @c\n}\n"),
                   "function k, line 3: variable c is imported by module a and used here (a.fk:3), but no module "
                   "exports it\n");
}

static void test_twice(void **state)
{
    (void)state;
    assert_refused(TEXTS("export func @f() {}\n", "\nexport func @f() {}\n"),
                   "function f, line 2: is exported by module a (a.fk:1) and exported by module b (b.fk:2)\n");
    assert_refused(TEXTS("kernel @k() {}\n", "\n\nkernel @k() {}\n"),
                   "function k, line 3: is a kernel of module a (a.fk:1) and a kernel of module b (b.fk:3)\n");
    assert_refused(TEXTS("kernel @k() {}\n", "export func @k() {}\n", "export once func @k() {}\n"),
                   "function k, line 1: is a kernel of module a (a.fk:1) and exported by module b (b.fk:1)\n"
                   "function k, line 1: is a kernel of module a (a.fk:1) and exported by module c (c.fk:1)\n");
    assert_refused(TEXTS("export global @g: i8\n", "export global @g: i8\n"),
                   "variable g is exported by module a and exported by module b\n");
}

static void assert_mismatch(const char *declared, const char *defined, const char *words)
{
    char import[256], export[256];
    snprintf(import, sizeof import, "import func @f%s\n", declared);
    snprintf(export, sizeof export, "export func @f%s { unreachable }\n", defined);
    assert_refused(TEXTS(import, export), words);
    assert_non_null(words);
}

#define MISMATCH(declared, defined)                                                                                    \
    "function f, line 1: module a (a.fk:1) has it as " declared ", but module b (b.fk:1), which exports it, as "       \
    "" defined "\n"

static void test_signatures(void **state)
{
    (void)state;
    assert_mismatch("(%x: i32) -> f32", "(%x: i32) -> f64", MISMATCH("(i32) -> f32", "(i32) -> f64"));
    assert_mismatch("(%x: i32)", "(%x: i32, %y: i8)", MISMATCH("(i32)", "(i32, i8)"));
    assert_mismatch("(%x: ptr.global)", "(%x: ptr.generic)", MISMATCH("(ptr.global)", "(ptr.generic)"));
    assert_mismatch("(%x: ptr.global f32)", "(%x: ptr.global f64)", MISMATCH("(ptr.global f32)", "(ptr.global f64)"));
    assert_mismatch("(%x: ptr.global f32 read)", "(%x: ptr.global f32 write)",
                    MISMATCH("(ptr.global f32 read)", "(ptr.global f32 write)"));
    assert_mismatch("(%x: ptr.private [2 x i32] by_value)", "(%x: ptr.private [2 x i32])",
                    MISMATCH("(ptr.private [2 x i32] by_value)", "(ptr.private [2 x i32])"));
    assert_mismatch("(%x: ptr.private [2 x i32] by_value)", "(%x: ptr.private [2 x i8] by_value)",
                    MISMATCH("(ptr.private [2 x i32] by_value)", "(ptr.private [2 x i8] by_value)"));
    assert_mismatch("(%x: image2d.read)", "(%x: image2d.write)", MISMATCH("(image2d.read)", "(image2d.write)"));
    assert_refused(TEXTS("struct S { a: i32 }\nimport func @f(%s: ptr.private struct S by_value)\n",
                         "struct S { a: f32 }\nexport func @f(%s: ptr.private struct S by_value) {}\n"),
                   "function f, line 2: module a (a.fk:2) has it as (ptr.private struct S by_value), but module b "
                   "(b.fk:2), which exports it, as (ptr.private struct S by_value)\n");
    assert_refused(TEXTS("export once func @f(%x: i32) {}\n", "export once func @f() {}\n"),
                   "function f, line 1: module b (b.fk:1) has it as (), but module a (a.fk:1), which exports it, as "
                   "(i32)\n");
}

static void test_variable_mismatches(void **state)
{
    (void)state;
    assert_refused(TEXTS("import constant @c: [2 x i32]\n", "export constant @c: [3 x i32]\n"),
                   "variable c: module a has it as constant [2 x i32], but module b, which exports it, as constant "
                   "[3 x i32]\n");
    assert_refused(TEXTS("import global @c: i32\n", "export constant @c: i32\n"),
                   "variable c: module a has it as global i32, but module b, which exports it, as constant i32\n");
    assert_refused(TEXTS("import pipe @p: packet i32 capacity 4\n", "export pipe @p: packet i32 capacity 5\n"),
                   "variable p: module a has it as pipe.read_write packet i32 capacity 4, but module b, which exports "
                   "it, as pipe.read_write packet i32 capacity 5\n");
    assert_refused(TEXTS("import pipe @p: packet i32 capacity 4 host_access \"x\"\n",
                         "export pipe @p: packet i32 capacity 4 host_access \"y\"\n"),
                   "variable p: module a has it as pipe.read_write packet i32 capacity 4 host_access \"x\", but module "
                   "b, which exports it, as pipe.read_write packet i32 capacity 4 host_access \"y\"\n");
    assert_refused(
        TEXTS("import pipe @p: packet i32 capacity 4 uses_valid false\n",
              "export pipe @p: packet i32 capacity 4 bits_per_symbol 16\n"),
        "variable p: module a has it as pipe.read_write packet i32 capacity 4 uses_valid false, but module b, "
        "which exports it, as pipe.read_write packet i32 capacity 4 bits_per_symbol 16\n");
    assert_refused(TEXTS("pipe @p: packet i32 capacity 4 host_access \"x\"\n",
                         "pipe @q: packet i32 capacity 4 host_access \"x\"\n"),
                   "two host accesses of pipes have the name x\n");
}

static void test_recursion(void **state)
{
    (void)state;
    assert_refused(TEXTS("import func @b()\nexport func @a() {\n    call @b()\n}\nkernel @k() { call @a() }\n",
                         "import func @a()\nfunc @c() { call @a() }\nexport func @b() {\n    call @c()\n}\n"),
                   "function c, line 2: functions call each other in a circle: a of module a (a.fk:2) calls b of "
                   "module b (b.fk:3) calls c of module b (b.fk:2) calls a\n");
}

/* Aspects of declarations bind nobody: seed 004 warns. Numbers of aspects have to agree. */
static void test_aspects(void **state)
{
    (void)state;
    struct ir_module *m = link_texts(TEXTS("aspects { ext_amx = 9, fp16 = 5 }\n"
                                           "import func @f(%p: ptr.global) aspects(cpu)\n"
                                           "kernel @k(%p: ptr.global) aspects(ext_amx) {\n    call @f(%p)\n}\n",
                                           "aspects { ext_other = 10, ext_amx = 9 }\n"
                                           "export func @f(%p: ptr.global) uses(ext_other, ext_amx) {\n"
                                           "    %x = load f64 %p\n}\n"),
                                     NULL);
    const struct ir_function *k = ir_module_find(m, "k"), *f = ir_module_find(m, "f");
    assert_int_equal(m->n_aspect_numbers, 3);
    assert_int_equal(k->aspects_declared | (uint64_t)1 << ir_module_aspect(m, "ext_other"), f->aspects_used);
    ir_module_free(m);
    assert_refused(TEXTS("aspects { ext_amx = 9 }\n", "aspects { ext_amx = 8 }\n"),
                   "the aspect ext_amx has number 8 in module b, but 9 in one before it\n");
}

/* What a function needs of other modules, itself or through what it calls. */
static void test_find_import(void **state)
{
    (void)state;
    struct ir_module *m = parse("m", "import func @f()\nimport constant @c: i8\nimport func @unused()\n"
                                     "func @calls() { call @f() }\nfunc @reads() { %c = global @c }\n"
                                     "kernel @one() { call @calls() }\nkernel @two() { if true { call @reads() } }\n"
                                     "kernel @none() { %x = global_id x }\n");
    const struct ir_inst *use = ir_find_import(ir_module_find(m, "one"));
    assert_string_equal(use->attrs.callee->name, "f");
    assert_string_equal(use->parent->function->name, "calls");
    use = ir_find_import(ir_module_find(m, "two"));
    assert_string_equal(use->attrs.global->name, "c");
    assert_null(ir_find_import(ir_module_find(m, "none")));
    assert_null(ir_find_import(ir_module_find(m, "unused")));
    ir_module_free(m);
}

/* ---- sub-group sizes ---- */

/* A kernel, the declaration that it calls through a function of its own, and the definition. */
static const char *const *sized(const char *kernel, const char *declared, const char *defined)
{
    static char a[512], b[512];
    static const char *texts[3] = {a, b, NULL};
    snprintf(a, sizeof a,
             "kernel @k() %s {\n    call @own()\n}\nimport func @f() %s\nfunc @own() {\n    call @f()\n}\n", kernel,
             declared);
    snprintf(b, sizeof b, "\n\nexport func @f() %s {}\n", defined);
    return texts;
}

static void assert_sizes_agree(const char *kernel, const char *declared, const char *defined)
{
    struct diag_list list = {0};
    struct ir_module *m = link_texts(sized(kernel, declared, defined), &list);
    if (!m) fail_msg("%s", diag_format(&list));
    ir_module_free(m);
}

#define SIZE(s) "sub_group_size(" s ")"
#define KERNEL_AND_DECLARATION(kernel, declared)                                                                       \
    "function k, line 1: has sub-group size " kernel " in module a (a.fk:1); it calls f in own (a.fk:6), whose "       \
    "sub-group size is " declared " there (declared at a.fk:4)\n"
#define DECLARATION_AND_DEFINITION(declared, defined)                                                                  \
    "function f, line 4: is declared with sub-group size " declared " in module a (a.fk:4) and defined with " defined  \
    " in module b (b.fk:3); kernel k calls it\n"

static void test_sub_group_sizes(void **state)
{
    (void)state;
    assert_sizes_agree("", "", "");
    assert_sizes_agree("", SIZE("primary"), "");
    assert_sizes_agree(SIZE("primary"), "", SIZE("primary"));
    assert_sizes_agree(SIZE("16"), SIZE("16"), SIZE("16"));
    assert_sizes_agree(SIZE("automatic"), SIZE("automatic"), SIZE("automatic"));

    assert_refused(sized(SIZE("16"), SIZE("8"), SIZE("8")), KERNEL_AND_DECLARATION("16", "8"));
    assert_refused(sized(SIZE("16"), "", ""), KERNEL_AND_DECLARATION("16", "none, which means primary"));
    assert_refused(sized("", SIZE("8"), SIZE("8")), KERNEL_AND_DECLARATION("none, which means primary", "8"));
    assert_refused(sized(SIZE("primary"), SIZE("automatic"), SIZE("automatic")),
                   KERNEL_AND_DECLARATION("primary", "automatic"));
    assert_refused(sized(SIZE("automatic"), SIZE("primary"), SIZE("primary")),
                   KERNEL_AND_DECLARATION("automatic", "primary"));
    assert_refused(sized(SIZE("16"), SIZE("16"), SIZE("32")), DECLARATION_AND_DEFINITION("16", "32"));
    assert_refused(sized(SIZE("16"), SIZE("16"), ""), DECLARATION_AND_DEFINITION("16", "none, which means primary"));
    assert_refused(sized("", "", SIZE("4")), DECLARATION_AND_DEFINITION("none, which means primary", "4"));
    assert_refused(sized(SIZE("16"), SIZE("8"), SIZE("16")),
                   KERNEL_AND_DECLARATION("16", "8") DECLARATION_AND_DEFINITION("8", "16"));
}

/* Behind the first import, in the third module; and only what a kernel reaches is checked. */
static void test_sub_group_sizes_further_on(void **state)
{
    (void)state;
    assert_refused(TEXTS("import func @f() sub_group_size(8)\nkernel @k() sub_group_size(8) { call @f() }\n",
                         "import func @g()\nexport func @f() sub_group_size(8) { call @g() }\n",
                         "export func @g() {}\n"),
                   "function k, line 2: has sub-group size 8 in module a (a.fk:2); it calls g in f (b.fk:2), whose "
                   "sub-group size is none, which means primary there (declared at b.fk:1)\n");
    struct ir_module *m = link_texts(TEXTS("import func @f() sub_group_size(8)\nkernel @k() {}\n",
                                           "export func @f() sub_group_size(16) {}\nexport func @own() {}\n"
                                           "kernel @l() sub_group_size(4) { call @own() }\n"),
                                     NULL);
    assert_non_null(m);
    ir_module_free(m);
}

/* The module's default, given to both, makes modules without attributes agree with a kernel that has one. */
static void test_sub_group_defaults(void **state)
{
    (void)state;
    const char *const *texts = sized(SIZE("16"), "", "");
    struct ir_module *parts[2] = {parse("a", texts[0]), parse("b", texts[1])};
    struct diag_list list = {0};
    ir_default_sub_group_size(parts[0], 16);
    assert_null(ir_link((const struct ir_module *const *)parts, 2, "m", &list));
    char *text = diag_format(&list);
    assert_string_equal(text, DECLARATION_AND_DEFINITION("16", "none, which means primary"));
    free(text);
    diag_clear(&list);
    ir_default_sub_group_size(parts[1], 16);
    struct ir_module *m = ir_link((const struct ir_module *const *)parts, 2, "m", NULL);
    assert_non_null(m);
    ir_module_free(m);
    for (int i = 0; i < 2; i++) ir_module_free(parts[i]);
}

/* ---- taken apart and linked again ---- */

/* Through msgpack, as modules come to be linked. */
static struct ir_module *split_and_link(const struct ir_module *m, unsigned seed, uint32_t n)
{
    struct ir_module *parts[MAX_PARTS];
    struct diag_list list = {0};
    split_module(m, seed, parts, n);
    for (uint32_t i = 0; i < n; i++) {
        size_t size;
        uint8_t *bytes = ir_encode(parts[i], &size);
        ir_module_free(parts[i]);
        parts[i] = ir_decode(bytes, size, &list);
        if (!parts[i]) fail_msg("seed %u, part %u: %s", seed, i, diag_format(&list));
        free(bytes);
    }
    struct ir_module *linked = ir_link((const struct ir_module *const *)parts, n, m->name, &list);
    if (!linked) fail_msg("seed %u: %s", seed, diag_format(&list));
    for (uint32_t i = 0; i < n; i++) ir_module_free(parts[i]);
    return linked;
}

static void expect_same_function(const struct ir_function *f, const struct ir_module *linked, unsigned seed)
{
    struct ir_function *g = ir_module_find(linked, f->name);
    if (!g) fail_msg("seed %u: %s is gone", seed, f->name);
    g->linkage = f->linkage;
    char *was = ir_print_function(f), *is = ir_print_function(g);
    if (strcmp(was, is) != 0) fail_msg("seed %u:\n%s%s", seed, was, is);
    free(was);
    free(is);
}

/* Random modules with everything that modules can have: each function is what it was. */
static void test_split_text(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < test_cases(300); seed++) {
        struct ir_module *m = random_module(seed, &(struct random_module_options){.functions = 6});
        for (uint32_t i = 0; i < m->n_functions; i++) m->functions[i]->sub_group_size = 0;
        struct ir_module *linked = split_and_link(m, seed, 2 + seed % (MAX_PARTS - 1));
        assert_int_equal(linked->n_functions, m->n_functions);
        assert_int_equal(linked->n_globals, m->n_globals);
        for (uint32_t i = 0; i < m->n_functions; i++)
            if (m->functions[i]->body) expect_same_function(m->functions[i], linked, seed);
        check_round_trip(linked);
        ir_module_free(linked);
        ir_module_free(m);
    }
}

/* Random kernels that run: the interpreter leaves the same bytes behind. */
static void test_split_run(void **state)
{
    (void)state;
    unsigned with_functions = 0;
    for (unsigned seed = 0; seed < test_cases(300); seed++) {
        struct random_kernel k = random_kernel(
            seed, &(struct random_kernel_options){.items = 16, .local_size = seed % 3 ? 0 : 8, .instructions = 60});
        struct ir_module *linked = split_and_link(k.module, seed, 2);
        struct nd_range range = {1, {k.items, 1, 1}, {0, 0, 0}, {8, 1, 1}};
        struct interp_arg *want = random_args(&k, seed), *got = random_args(&k, seed);
        struct interp_result result;
        with_functions += linked->n_functions > 1;
        assert_int_equal(interp_run(k.function, &range, want, NULL, &result), 0);
        interp_result_clear(&result);
        assert_int_equal(interp_run(ir_module_find(linked, k.function->name), &range, got, NULL, &result), 0);
        interp_result_clear(&result);
        if (!random_args_equal(&k, want, got, "linked again", seed)) fail();
        random_args_free(&k, want);
        random_args_free(&k, got);
        ir_module_free(linked);
        random_kernel_clear(&k);
    }
    assert_true(with_functions > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_exports_keep_their_names),
        cmocka_unit_test(test_variables),
        cmocka_unit_test(test_pipes),
        cmocka_unit_test(test_structs),
        cmocka_unit_test(test_once),
        cmocka_unit_test(test_parameters_said_once),
        cmocka_unit_test(test_one_module),
        cmocka_unit_test(test_default_sub_group_size),
        cmocka_unit_test(test_undefined),
        cmocka_unit_test(test_twice),
        cmocka_unit_test(test_signatures),
        cmocka_unit_test(test_variable_mismatches),
        cmocka_unit_test(test_recursion),
        cmocka_unit_test(test_aspects),
        cmocka_unit_test(test_find_import),
        cmocka_unit_test(test_sub_group_sizes),
        cmocka_unit_test(test_sub_group_sizes_further_on),
        cmocka_unit_test(test_sub_group_defaults),
        cmocka_unit_test(test_split_text),
        cmocka_unit_test(test_split_run),
    };
    return cmocka_run_group_tests_name("ir_link", tests, NULL, NULL);
}
