/* Fusing kernels: the fused one does what the parts do one after another, and no more than it must. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuser/merge/merge.h"
#include "ir/text/parse/parse.h"
#include "ir/text/print/print.h"
#include "tests/support/kernel_run.h"

enum { MAX_PARTS = 6, MAX_PARAMS = 10 };

/* One call of a kernel: for each of its parameters the name of a parameter of the fused kernel. */
struct call {
    const char *kernel;
    const char *params[MAX_PARAMS];
    uint64_t global; /* 0: that of the fused kernel */
};

struct fusion {
    const char *text;
    struct call calls[MAX_PARTS];
    const char *private[MAX_PARAMS]; /* names of parameters that become private */
    uint64_t global, local;          /* 0: 16 and 4 */
    bool barriers;
};

struct fused {
    struct ir_module *parts, *module;
    const struct ir_function *kernel;
    struct fuse_request request;
    struct fuse_part part[MAX_PARTS];
    struct fuse_param param[MAX_PARAMS];
    uint32_t maps[MAX_PARTS][MAX_PARAMS];
    const struct ir_param *like[MAX_PARAMS]; /* a part's parameter that becomes this one */
    bool kept[MAX_PARAMS];
    char why[300];
};

/* ---- making the request ---- */

static uint32_t param_index(struct fused *f, const struct fusion *fusion, const char *name, const struct ir_param *p)
{
    for (uint32_t i = 0; i < f->request.n_params; i++) {
        if (strcmp(f->param[i].name, name) != 0) continue;
        if (f->param[i].access != p->access) f->param[i].access = IR_ACCESS_READ_WRITE;
        return i;
    }
    uint32_t i = f->request.n_params++;
    f->param[i] = (struct fuse_param){.name = name, .type = p->value->type, .access = p->access, .elem = p->elem};
    f->like[i] = p;
    for (int k = 0; fusion->private[k]; k++)
        if (strcmp(fusion->private[k], name) == 0) f->param[i].storage = FUSER_STORAGE_PRIVATE;
    return i;
}

static struct ir_module *parsed(const char *text)
{
    struct diag_list list = {0};
    struct ir_module *m = ir_parse(text, strlen(text), "test.fk", &list);
    if (!m) fail_msg("%s%s", diag_format(&list), text);
    return m;
}

static struct nd_range range_of(uint64_t global, uint64_t local)
{
    return (struct nd_range){.dims = 1, .global = {global, 1, 1}, .local = {local, 1, 1}};
}

static void fuse(struct fused *f, const struct fusion *fusion)
{
    uint64_t global = fusion->global ? fusion->global : 16, local = fusion->local ? fusion->local : 4;
    memset(f, 0, sizeof *f);
    f->parts = parsed(fusion->text);
    for (uint32_t k = 0; k < MAX_PARTS && fusion->calls[k].kernel; k++) {
        const struct call *call = &fusion->calls[k];
        struct fuse_part *part = &f->part[f->request.n_parts++];
        part->kernel = ir_module_find(f->parts, call->kernel);
        assert_non_null(part->kernel);
        part->range = range_of(call->global ? call->global : global, local);
        part->params = f->maps[k];
        part->barrier = fusion->barriers;
        for (uint32_t i = 0; i < part->kernel->n_params; i++)
            f->maps[k][i] = param_index(f, fusion, call->params[i], &part->kernel->params[i]);
    }
    f->request.name = "fused";
    f->request.range = range_of(global, local);
    f->request.parts = f->part;
    f->request.params = f->param;
    f->module = fuse_kernels(&f->request, f->kept, f->why, sizeof f->why);
    f->kernel = f->module ? ir_module_find(f->module, "fused") : NULL;
}

static void fused_clear(struct fused *f)
{
    ir_module_free(f->module);
    ir_module_free(f->parts);
}

/* ---- comparing ---- */

static void make_slots(const struct fused *f, struct slot *slots)
{
    for (uint32_t i = 0; i < f->request.n_params; i++)
        slots[i] = slot_new(f->parts, f->like[i], f->request.range.global[0], i + 1);
}

static void run_parts(const struct fused *f, struct slot *slots)
{
    struct slot *args[MAX_PARAMS];
    for (uint32_t k = 0; k < f->request.n_parts; k++) {
        struct nd_range range = f->part[k].range;
        for (uint32_t i = 0; i < f->part[k].kernel->n_params; i++) args[i] = &slots[f->maps[k][i]];
        assert_true(slots_run(f->part[k].kernel, &range, args));
    }
}

static void run_fused(const struct fused *f, struct slot *slots)
{
    struct slot *args[MAX_PARAMS];
    struct nd_range range = f->request.range;
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->request.n_params; i++)
        if (f->kept[i]) args[n++] = &slots[i];
    assert_int_equal(n, f->kernel->n_params);
    if (!slots_run(f->kernel, &range, args)) fail_msg("%s", ir_print_function(f->kernel));
}

/* The fused kernel leaves the same in memory as its parts. */
static void expect_same(const struct fused *f)
{
    struct slot apart[MAX_PARAMS], together[MAX_PARAMS];
    if (!f->module) fail_msg("%s", f->why);
    make_slots(f, apart);
    make_slots(f, together);
    run_parts(f, apart);
    run_fused(f, together);
    for (uint32_t i = 0; i < f->request.n_params; i++) {
        bool compare = f->param[i].storage == FUSER_STORAGE_MEMORY && apart[i].data;
        if (compare && memcmp(apart[i].data, together[i].data, apart[i].bytes) != 0)
            fail_msg("%s differs:\n%s", f->param[i].name, ir_print_function(f->kernel));
        slot_clear(&apart[i]);
        slot_clear(&together[i]);
    }
}

struct count {
    enum ir_op op;
    unsigned n;
};

static void count_op(struct ir_inst *inst, void *data)
{
    struct count *c = data;
    c->n += inst->op == c->op;
}

static unsigned count_of(const struct fused *f, enum ir_op op)
{
    struct count c = {op, 0};
    ir_walk(f->kernel->body, count_op, &c);
    return c.n;
}

static void expect_text(const struct fused *f, const char *text)
{
    if (!f->module) fail_msg("%s", f->why);
    char *printed = ir_print_function(f->kernel);
    assert_string_equal(printed, text);
    free(printed);
}

static void check_same(const struct fusion *fusion)
{
    struct fused f;
    fuse(&f, fusion);
    expect_same(&f);
    fused_clear(&f);
}

static void expect_refused(const struct fusion *fusion, const char *part)
{
    struct fused f;
    fuse(&f, fusion);
    assert_null(f.module);
    if (!strstr(f.why, part)) fail_msg("the reason is: %s", f.why);
    fused_clear(&f);
}

/* ---- the tests ---- */

#define POINTWISE                                                                                                      \
    "kernel @add(%a: ptr.global f32 read, %b: ptr.global f32 read, %o: ptr.global f32 write) {\n"                      \
    "    %i = global_id x\n"                                                                                           \
    "    %x = load f32 %a[%i]\n"                                                                                       \
    "    %y = load f32 %b[%i]\n"                                                                                       \
    "    %s = fadd f32 %x, %y\n"                                                                                       \
    "    store f32 %o[%i], %s\n"                                                                                       \
    "}\n"                                                                                                              \
    "kernel @mul(%a: ptr.global f32 read, %b: ptr.global f32 read, %o: ptr.global f32 write) {\n"                      \
    "    %i = global_id x\n"                                                                                           \
    "    %x = load f32 %a[%i]\n"                                                                                       \
    "    %y = load f32 %b[%i]\n"                                                                                       \
    "    %s = fmul f32 %x, %y\n"                                                                                       \
    "    store f32 %o[%i], %s\n"                                                                                       \
    "}\n"                                                                                                              \
    "kernel @scale(%a: ptr.global f32 read, %k: f32, %o: ptr.global f32 write) {\n"                                    \
    "    %i = global_id x\n"                                                                                           \
    "    %x = load f32 %a[%i]\n"                                                                                       \
    "    %s = fmul f32 %x, %k\n"                                                                                       \
    "    store f32 %o[%i], %s\n"                                                                                       \
    "}\n"                                                                                                              \
    "kernel @times5(%a: ptr.global f32 read, %o: ptr.global f32 write) {\n"                                            \
    "    %i = global_id x\n"                                                                                           \
    "    %x = load f32 %a[%i]\n"                                                                                       \
    "    %s = fmul f32 %x, 5.0\n"                                                                                      \
    "    store f32 %o[%i], %s\n"                                                                                       \
    "}\n"

/* in1 + in2 = t1; t1 * in3 = t2; t1 * 5 = t3; t2 + t3 = out */
static const struct fusion diamond = {
    .text = POINTWISE,
    .calls = {{"add", {"in1", "in2", "t1"}},
              {"mul", {"t1", "in3", "t2"}},
              {"times5", {"t1", "t3"}},
              {"add", {"t2", "t3", "out"}}},
    .private = {"t1", "t2", "t3"},
};

static void private_buffers_become_values(void **state)
{
    (void)state;
    struct fused f;
    fuse(&f, &diamond);
    expect_text(&f, "kernel @fused(%in1: ptr.global f32 read, %in2: ptr.global f32 read, %in3: ptr.global f32 read, "
                    "%out: ptr.global f32 write) {\n"
                    "    %i = global_id x\n"
                    "    %0 = elem f32 %in1, %i\n"
                    "    %x = load f32 %0\n"
                    "    %1 = elem f32 %in2, %i\n"
                    "    %y = load f32 %1\n"
                    "    %s = fadd f32 %x, %y\n"
                    "    %2 = elem f32 %in3, %i\n"
                    "    %y.1 = load f32 %2\n"
                    "    %s.1 = fmul f32 %s, %y.1\n"
                    "    %s.2 = fmul f32 %s, 5.0\n"
                    "    %s.3 = fadd f32 %s.1, %s.2\n"
                    "    %3 = elem f32 %out, %i\n"
                    "    store f32 %3, %s.3\n"
                    "    return\n"
                    "}\n");
    assert_int_equal(count_of(&f, IR_OP_LOAD), 3);
    assert_int_equal(count_of(&f, IR_OP_STORE), 1);
    assert_int_equal(count_of(&f, IR_OP_VAR), 0);
    static const bool kept[] = {true, true, false, true, false, false, true};
    assert_memory_equal(f.kept, kept, sizeof kept);
    expect_same(&f);
    fused_clear(&f);
}

static void lines_and_files_survive(void **state)
{
    (void)state;
    struct fused f;
    fuse(&f, &diamond);
    const struct ir_inst *inst = f.kernel->body->first;
    while (inst->op != IR_OP_FMUL) inst = inst->next;
    assert_int_equal(inst->loc.line, 12);
    assert_string_equal(f.module->files[inst->loc.file - 1], "test.fk");
    assert_string_equal(inst->results[0]->name, "s.1");
    fused_clear(&f);
}

/* What stays in memory is written still, but read from the register. */
static void memory_is_forwarded(void **state)
{
    (void)state;
    struct fusion fusion = diamond;
    struct fused f;
    fusion.private[0] = NULL;
    fuse(&f, &fusion);
    expect_same(&f);
    assert_int_equal(count_of(&f, IR_OP_LOAD), 3);
    assert_int_equal(count_of(&f, IR_OP_STORE), 4);
    fused_clear(&f);
}

static void a_buffer_used_in_place(void **state)
{
    (void)state;
    struct fused f;
    fuse(&f, &(struct fusion){.text = POINTWISE,
                              .calls = {{"times5", {"t", "t"}}, {"add", {"t", "a", "t"}}, {"mul", {"t", "t", "t"}}}});
    expect_same(&f);
    assert_int_equal(count_of(&f, IR_OP_LOAD), 2);
    assert_int_equal(count_of(&f, IR_OP_STORE), 1); /* the last one hides the others */
    fused_clear(&f);
}

#define GUARDED                                                                                                        \
    "kernel @inc(%a: ptr.global i32, %o: ptr.global i32, %n: i64) {\n"                                                 \
    "    %i = global_id x\n"                                                                                           \
    "    %out = uge i64 %i, %n\n"                                                                                      \
    "    if %out {\n"                                                                                                  \
    "        return\n"                                                                                                 \
    "    }\n"                                                                                                          \
    "    %x = load i32 %a[%i]\n"                                                                                       \
    "    %y = add i32 %x, 1\n"                                                                                         \
    "    store i32 %o[%i], %y\n"                                                                                       \
    "}\n"                                                                                                              \
    "kernel @dbl(%a: ptr.global i32, %o: ptr.global i32, %n: i64) {\n"                                                 \
    "    %i = global_id x\n"                                                                                           \
    "    %in = ult i64 %i, %n\n"                                                                                       \
    "    if %in {\n"                                                                                                   \
    "        %x = load i32 %a[%i]\n"                                                                                   \
    "        %y = add i32 %x, %x\n"                                                                                    \
    "        store i32 %o[%i], %y\n"                                                                                   \
    "    }\n"                                                                                                          \
    "}\n"

static void an_early_return_ends_its_part_only(void **state)
{
    (void)state;
    struct fused f;
    fuse(&f, &(struct fusion){.text = GUARDED,
                              .calls = {{"inc", {"a", "t", "n"}}, {"inc", {"t", "u", "m"}}, {"dbl", {"u", "o", "n"}}}});
    expect_same(&f);
    fused_clear(&f);
}

static void guards_of_one_condition_become_one(void **state)
{
    (void)state;
    struct fused f;
    fuse(&f, &(struct fusion){.text = GUARDED,
                              .calls = {{"inc", {"a", "t", "n"}}, {"inc", {"t", "u", "n"}}, {"inc", {"u", "o", "n"}}},
                              .private = {"t", "u"}});
    expect_text(&f, "kernel @fused(%a: ptr.global i32, %n: i64, %o: ptr.global i32) {\n"
                    "    %i = global_id x\n"
                    "    %out = uge i64 %i, %n\n"
                    "    if %out {\n"
                    "        yield\n"
                    "    } else {\n"
                    "        %0 = elem i32 %a, %i\n"
                    "        %x = load i32 %0\n"
                    "        %y.2 = add i32 %x, 3\n"
                    "        %1 = elem i32 %o, %i\n"
                    "        store i32 %1, %y.2\n"
                    "        yield\n"
                    "    }\n"
                    "    return\n"
                    "}\n");
    expect_same(&f);
    fused_clear(&f);
}

static void returns_from_loops(void **state)
{
    (void)state;
    check_same(&(struct fusion){
        .text = "func @find(%a: ptr.global i32, %what: i32) -> i64 {\n"
                "    %r = loop (%i: i64 = 0) -> i64 {\n"
                "        %end = uge i64 %i, 16\n"
                "        if %end {\n"
                "            break -1\n"
                "        }\n"
                "        %x = load i32 %a[%i]\n"
                "        %hit = ieq i32 %x, %what\n"
                "        if %hit {\n"
                "            return %i\n"
                "        }\n"
                "        %k = loop (%j: i64 = 0) -> i64 {\n"
                "            %big = ugt i64 %j, 3\n"
                "            if %big {\n"
                "                break %j\n"
                "            }\n"
                "            %odd = ieq i64 %j, %i\n"
                "            %w = ieq i32 %what, 7\n"
                "            %both = and bool %odd, %w\n"
                "            if %both {\n"
                "                return 100\n"
                "            }\n"
                "            %j2 = add i64 %j, 1\n"
                "            continue %j2\n"
                "        }\n"
                "        %i1 = add i64 %i, %k\n"
                "        %i2 = sub i64 %i1, 3\n"
                "        continue %i2\n"
                "    }\n"
                "    return %r\n"
                "}\n"
                "kernel @first(%a: ptr.global i32, %t: ptr.global i32) {\n"
                "    %i = global_id x\n"
                "    %n = trunc i32 %i\n"
                "    %w = call @find(%a, %n)\n"
                "    %w32 = trunc i32 %w\n"
                "    store i32 %t[%i], %w32\n"
                "    loop (%k: i32 = 0) {\n"
                "        %neg = slt i32 %w32, 0\n"
                "        if %neg {\n"
                "            return\n"
                "        }\n"
                "        %done = sge i32 %k, %n\n"
                "        if %done {\n"
                "            break\n"
                "        }\n"
                "        %k2 = add i32 %k, 2\n"
                "        continue %k2\n"
                "    }\n"
                "    store i32 %t[%i], 1000\n"
                "}\n" GUARDED,
        .calls = {{"first", {"a", "t"}}, {"inc", {"t", "o", "n"}}, {"first", {"a", "u"}}},
    });
}

#define REVERSE                                                                                                        \
    "local @tile: [4 x i32]\n"                                                                                         \
    "kernel @reverse(%a: ptr.global i32, %o: ptr.global i32) {\n"                                                      \
    "    %g = global_id x\n"                                                                                           \
    "    %l = local_id x\n"                                                                                            \
    "    %t = global @tile\n"                                                                                          \
    "    %x = load i32 %a[%g]\n"                                                                                       \
    "    store i32 %t[%l], %x\n"                                                                                       \
    "    barrier work_group, local\n"                                                                                  \
    "    %m = sub i64 3, %l\n"                                                                                         \
    "    %y = load i32 %t[%m]\n"                                                                                       \
    "    store i32 %o[%g], %y\n"                                                                                       \
    "}\n"                                                                                                              \
    "kernel @mirror(%a: ptr.global i32, %o: ptr.global i32) {\n"                                                       \
    "    %g = global_id x\n"                                                                                           \
    "    %base = group_id x\n"                                                                                         \
    "    %first = mul i64 %base, 4\n"                                                                                  \
    "    %l = local_id x\n"                                                                                            \
    "    %m = sub i64 3, %l\n"                                                                                         \
    "    %from = add i64 %first, %m\n"                                                                                 \
    "    %x = load i32 %a[%from]\n"                                                                                    \
    "    %y = mul i32 %x, 3\n"                                                                                         \
    "    store i32 %o[%g], %y\n"                                                                                       \
    "}\n"

static void parts_do_not_share_local_memory(void **state)
{
    (void)state;
    struct fused f;
    fuse(&f, &(struct fusion){.text = REVERSE, .calls = {{"reverse", {"a", "t"}}, {"reverse", {"t", "o"}}}});
    expect_same(&f);
    assert_int_equal(f.module->n_globals, 2);
    fused_clear(&f);
}

static void barriers_between_parts(void **state)
{
    (void)state;
    struct fused f;
    fuse(&f, &(struct fusion){.text = REVERSE GUARDED,
                              .calls = {{"inc", {"a", "t", "n"}}, {"mirror", {"t", "u"}}, {"mirror", {"u", "o"}}},
                              .barriers = true});
    expect_same(&f);
    assert_int_equal(count_of(&f, IR_OP_BARRIER), 2);
    for (const struct ir_inst *i = f.kernel->body->first; i; i = i->next)
        if (i->op == IR_OP_BARRIER) assert_int_equal(i->attrs.fence, IR_FENCE_LOCAL | IR_FENCE_GLOBAL);
    fused_clear(&f);
}

#define SIZES                                                                                                          \
    "kernel @sizes(%a: ptr.global i64, %o: ptr.global i64) {\n"                                                        \
    "    %i = global_id x\n"                                                                                           \
    "    %l = global_linear_id\n"                                                                                      \
    "    %n = global_size x\n"                                                                                         \
    "    %g = num_groups x\n"                                                                                          \
    "    %s = mul i64 %n, %g\n"                                                                                        \
    "    %x = load i64 %a[%l]\n"                                                                                       \
    "    %y = add i64 %x, %s\n"                                                                                        \
    "    store i64 %o[%i], %y\n"                                                                                       \
    "}\n"

static void a_smaller_part_is_guarded(void **state)
{
    (void)state;
    struct fused f;
    fuse(&f, &(struct fusion){.text = SIZES,
                              .calls = {{"sizes", {"a", "t"}}, {"sizes", {"t", "u"}, 10}, {"sizes", {"u", "o"}}}});
    expect_same(&f);
    assert_int_equal(count_of(&f, IR_OP_IF), 1);
    assert_int_equal(count_of(&f, IR_OP_GLOBAL_SIZE), 1); /* where it is the fused kernel's it stays a question */
    fused_clear(&f);
    fuse(&f, &(struct fusion){
                 .text = SIZES, .calls = {{"sizes", {"a", "t"}, 5}, {"sizes", {"t", "o"}, 13}}, .barriers = true});
    expect_same(&f);
    assert_int_equal(count_of(&f, IR_OP_BARRIER), 1);
    fused_clear(&f);
}

static void ranges_that_do_not_fit(void **state)
{
    (void)state;
    expect_refused(&(struct fusion){.text = SIZES, .calls = {{"sizes", {"a", "t"}}, {"sizes", {"t", "u"}, 17}}},
                   "kernel sizes has 17 work-items, the fused kernel only 16");
    expect_refused(&(struct fusion){.text = REVERSE, .calls = {{"mirror", {"a", "t"}}, {"reverse", {"t", "u"}, 6}}},
                   "kernel reverse has 6 work-items in dimension 0, the fused kernel 16, and uses ");
    struct fused f;
    fuse(&f, &(struct fusion){.text = SIZES, .calls = {{"sizes", {"a", "t"}}}});
    assert_non_null(f.module);
    static const struct {
        struct nd_range range;
        const char *why;
    } cases[] = {
        {{2, {16, 4, 1}, {0, 0, 0}, {4, 1, 1}}, "kernel sizes has 64 work-items, the fused kernel only 16"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        f.part[0].range = cases[i].range;
        assert_null(fuse_kernels(&f.request, f.kept, f.why, sizeof f.why));
        assert_string_equal(f.why, cases[i].why);
    }
    fused_clear(&f);
}

static void linear_ids_in_two_dimensions(void **state)
{
    (void)state;
    struct fused f;
    struct nd_range range = {2, {4, 6, 1}, {0}, {2, 2, 1}}, part_range = {2, {3, 5, 1}, {0}, {2, 2, 1}};
    fuse(&f, &(struct fusion){.text = "kernel @id(%o: ptr.global i64) {\n"
                                      "    %l = global_linear_id\n"
                                      "    %h = global_size y\n"
                                      "    %v = mul i64 %l, %h\n"
                                      "    store i64 %o[%l], %v\n"
                                      "}\n",
                              .calls = {{"id", {"o"}}},
                              .global = 24});
    ir_module_free(f.module);
    f.request.range = (struct nd_range){2, {4, 6, 1}, {0}, {2, 2, 1}};
    f.part[0].range = (struct nd_range){2, {3, 5, 1}, {0}, {0}};
    f.module = fuse_kernels(&f.request, f.kept, f.why, sizeof f.why);
    if (!f.module) fail_msg("%s", f.why);
    f.kernel = ir_module_find(f.module, "fused");
    struct slot one = slot_new(f.parts, f.like[0], 24, 1), other = slot_new(f.parts, f.like[0], 24, 1);
    assert_true(slots_run(f.part[0].kernel, &part_range, (struct slot *[]){&one}));
    assert_true(slots_run(f.kernel, &range, (struct slot *[]){&other}));
    assert_memory_equal(one.data, other.data, one.bytes);
    slot_clear(&one);
    slot_clear(&other);
    fused_clear(&f);
}

static void a_private_buffer_in_guards(void **state)
{
    (void)state;
    struct fused f;
    fuse(&f,
         &(struct fusion){.text = GUARDED SIZES,
                          .calls = {{"inc", {"a", "t", "n"}}, {"dbl", {"t", "u", "n"}, 9}, {"inc", {"u", "o", "n"}, 9}},
                          .private = {"t", "u"}});
    expect_same(&f);
    assert_int_equal(count_of(&f, IR_OP_LOAD), 1);
    assert_int_equal(count_of(&f, IR_OP_STORE), 1);
    assert_int_equal(count_of(&f, IR_OP_VAR), 0);
    fused_clear(&f);
}

static void private_uses_that_are_refused(void **state)
{
    (void)state;
    expect_refused(&(struct fusion){.text = "kernel @k(%t: ptr.global i32, %o: ptr.global) {\n"
                                            "    store ptr.global %o, %t\n"
                                            "}\n",
                                    .calls = {{"k", {"t", "o"}}},
                                    .private = {"t"}},
                   "kernel k, line 2: store keeps the address of t, which is to become private");
    expect_refused(&(struct fusion){.text = "kernel @k(%t: ptr.global i32) {\n"
                                            "    %i = global_id x\n"
                                            "    %x = atomic_add i32 %t[%i], 1\n"
                                            "}\n",
                                    .calls = {{"k", {"t"}}},
                                    .private = {"t"}},
                   "line 3: atomic_add is neither a load nor a store of t");
    expect_refused(&(struct fusion){.text = "kernel @k(%t: ptr.global i32) {\n"
                                            "    %i = global_id x\n"
                                            "    store i64 %t[%i], 1\n"
                                            "}\n",
                                    .calls = {{"k", {"t"}}},
                                    .private = {"t"}},
                   "line 3: elem has another element type than t");
    expect_refused(&(struct fusion){.text = "struct s { a: i32, b: i32 }\n"
                                            "kernel @k(%t: ptr.global struct s) {\n"
                                            "    store i32 %t, 1\n"
                                            "}\n",
                                    .calls = {{"k", {"t"}}},
                                    .private = {"t"}},
                   "elements of t are no numbers or vectors");
}

/* The same bits through another type, and through no index at all. */
static void private_accesses_of_other_types(void **state)
{
    (void)state;
    struct fused f;
    fuse(&f, &(struct fusion){.text = "kernel @w(%a: ptr.global f32, %t: ptr.global f32) {\n"
                                      "    %i = global_id x\n"
                                      "    %x = load f32 %a[%i]\n"
                                      "    store f32 %t[%i], %x\n"
                                      "}\n"
                                      "kernel @r(%t: ptr.global f32, %o: ptr.global i32) {\n"
                                      "    %i = global_id x\n"
                                      "    %j = add i64 %i, 1\n"
                                      "    %p = elem f32 %t, %j\n"
                                      "    %q = elem f32 %p, -1\n"
                                      "    %x = load i32 %q\n"
                                      "    store i32 %o[%i], %x\n"
                                      "}\n",
                              .calls = {{"w", {"a", "t"}}, {"r", {"t", "o"}}},
                              .private = {"t"}});
    expect_same(&f);
    assert_int_equal(count_of(&f, IR_OP_BITCAST), 1);
    assert_int_equal(f.kernel->n_params, 2);
    fused_clear(&f);
}

static void an_unwritten_private_buffer_is_undef(void **state)
{
    (void)state;
    struct fused f;
    fuse(&f, &(struct fusion){.text = POINTWISE, .calls = {{"times5", {"t", "o"}}}, .private = {"t"}});
    expect_text(&f, "kernel @fused(%o: ptr.global f32 write) {\n"
                    "    %i = global_id x\n"
                    "    %s = fmul f32 undef, 5.0\n"
                    "    %0 = elem f32 %o, %i\n"
                    "    store f32 %0, %s\n"
                    "    return\n"
                    "}\n");
    fused_clear(&f);
}

/* Each part has a copy of its own. */
static void by_value_structs(void **state)
{
    (void)state;
    check_same(&(struct fusion){.text = "struct pair { a: i32, b: i32 }\n"
                                        "kernel @k(%s: ptr.private struct pair by_value, %o: ptr.global i32) {\n"
                                        "    %i = global_id x\n"
                                        "    %b = field struct pair %s, b\n"
                                        "    %x = load i32 %b\n"
                                        "    %y = load i32 %s\n"
                                        "    %z = add i32 %x, %y\n"
                                        "    store i32 %b, %z\n"
                                        "    %w = load i32 %b\n"
                                        "    store i32 %o[%i], %w\n"
                                        "}\n",
                                .calls = {{"k", {"s", "o"}}, {"k", {"s", "u"}}}});
}

static void imports_are_refused(void **state)
{
    (void)state;
    expect_refused(&(struct fusion){.text = "import func @ext(%x: i32) -> i32\n"
                                            "kernel @k(%o: ptr.global i32) {\n"
                                            "    %x = call @ext(1)\n"
                                            "    store i32 %o, %x\n"
                                            "}\n",
                                    .calls = {{"k", {"o"}}}},
                   "kernel k calls ext, which has no body");
}

#define EMPTY(name, attributes) "kernel @" name "(%o: ptr.global i32) " attributes " {\n}\n"

static void requirements_are_merged(void **state)
{
    (void)state;
    struct fused f;
    fuse(&f,
         &(struct fusion){.text = EMPTY("a", "work_group_size(4) sub_group_size(automatic) targets(\"cpu\", \"gpu\")")
                              EMPTY("b", "sub_group_size(16) aspects(fp64)") EMPTY("c", "targets(\"gpu\")"),
                          .calls = {{"a", {"o"}}, {"b", {"o"}}, {"c", {"o"}}}});
    if (!f.module) fail_msg("%s", f.why);
    assert_int_equal(f.kernel->work_group_size[0], 4);
    assert_int_equal(f.kernel->work_group_size[1], 1);
    assert_int_equal(f.kernel->sub_group_size, 16);
    assert_int_equal(f.kernel->n_targets, 1);
    assert_string_equal(f.kernel->targets[0], "gpu");
    assert_true(f.kernel->has_declared);
    assert_int_equal(f.kernel->aspects_declared, IR_ASPECT_FP64);
    assert_int_equal(f.kernel->n_params, 0);
    fused_clear(&f);
}

static void requirements_that_contradict(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
    } cases[] = {
        {EMPTY("a", "work_group_size(4)") EMPTY("b", "work_group_size(2, 2)"),
         "kernel b requires work-groups of 2 x 2 x 1, kernels before it 4 x 1 x 1"},
        {EMPTY("a", "") EMPTY("b", "work_group_size(8)"),
         "kernel b requires work-groups of 8 x 1 x 1, the launch has 4 x 1 x 1"},
        {EMPTY("a", "sub_group_size(8)") EMPTY("b", "sub_group_size(16)"),
         "kernel b requires the sub-group size 16, kernels before it 8"},
        {EMPTY("a", "sub_group_size(8)") EMPTY("b", "sub_group_size(primary)"),
         "kernel b requires the sub-group size primary, kernels before it 8"},
        {EMPTY("a", "targets(\"x\")") EMPTY("b", "targets(\"y\")"),
         "kernel b is for y only, kernels before it are for x only"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_refused(&(struct fusion){.text = cases[i].text, .calls = {{"a", {"o"}}, {"b", {"o"}}}}, cases[i].why);
}

/* Kernels of different modules whose functions, variables and structs have the same names. */
static void names_of_different_modules(void **state)
{
    (void)state;
    struct ir_module *m[2];
    static const char *const text[] = {"constant @c: i32 = 3\n"
                                       "func @f(%x: i32) -> i32 {\n"
                                       "    %p = global @c\n"
                                       "    %c = load i32 %p\n"
                                       "    %y = add i32 %x, %c\n"
                                       "    return %y\n"
                                       "}\n",
                                       "constant @c: i32 = 5\n"
                                       "func @f(%x: i32) -> i32 {\n"
                                       "    %p = global @c\n"
                                       "    %c = load i32 %p\n"
                                       "    %y = mul i32 %x, %c\n"
                                       "    return %y\n"
                                       "}\n"};
    static const char *const kernel = "kernel @k(%a: ptr.global i32) {\n"
                                      "    %i = global_id x\n"
                                      "    %x = load i32 %a[%i]\n"
                                      "    %y = call @f(%x)\n"
                                      "    store i32 %a[%i], %y\n"
                                      "}\n";
    for (int i = 0; i < 2; i++) {
        char both[1000];
        snprintf(both, sizeof both, "%s%s", text[i], kernel);
        m[i] = parsed(both);
    }
    uint32_t map[] = {0};
    struct fuse_part parts[2];
    for (int i = 0; i < 2; i++) parts[i] = (struct fuse_part){ir_module_find(m[i], "k"), range_of(4, 4), map};
    struct fuse_param param = {.name = "a", .type = IR_PTR(IR_SPACE_GLOBAL), .elem = IR_I32};
    struct fuse_request request = {"both of them", range_of(4, 4), 2, 1, parts, &param, 0};
    bool kept[1];
    char why[200];
    struct ir_module *fused = fuse_kernels(&request, kept, why, sizeof why);
    if (!fused) fail_msg("%s", why);
    const struct ir_function *k = fused->functions[0];
    assert_string_equal(k->name, "both_of_them");
    int32_t data[] = {0, 1, 2, 3}, wanted[] = {15, 20, 25, 30};
    struct slot slot = {INTERP_ARG_BUFFER, IR_I32, sizeof data, (uint8_t *)data};
    struct nd_range range = {1, {4, 1, 1}, {0}, {4, 1, 1}};
    assert_true(slots_run(k, &range, (struct slot *[]){&slot}));
    assert_memory_equal(data, wanted, sizeof data);
    ir_module_free(fused);
    for (int i = 0; i < 2; i++) ir_module_free(m[i]);
}

/* A home that does not hold all accesses is refused, whoever asked for it. */
static void homes_that_do_not_hold(void **state)
{
    (void)state;
    static const struct fuse_slice one = {0, IR_I32, 4, 1}, four = {0, IR_I32, 4, 4};
    static const struct {
        struct fuse_param storage;
        uint32_t n_parts;
        const char *why;
    } cases[] = {
        {{.storage = FUSER_STORAGE_PRIVATE, .n_slices = 1, .slices = &four}, 1, NULL},
        {{.storage = FUSER_STORAGE_PRIVATE, .n_slices = 1, .slices = &one},
         1,
         "kernel ends, line 7: store of t is outside of what belongs to its work-item"},
        {{.storage = FUSER_STORAGE_PRIVATE, .n_slices = 1, .slices = &four},
         2,
         "kernel each, line 11: load of t has another base than the other accesses"},
        {{.storage = FUSER_STORAGE_LOCAL, .local_bytes = 64}, 1, NULL},
        {{.storage = FUSER_STORAGE_LOCAL, .local_bytes = 56},
         1,
         "kernel ends, line 7: store of t is outside of what belongs to its work-group"},
        {{.storage = FUSER_STORAGE_LOCAL, .local_bytes = 64, .local_first = 4},
         1,
         "kernel ends, line 4: store of t is outside of what belongs to its work-group"},
    };
    struct fused f;
    fuse(&f, &(struct fusion){.text = "kernel @ends(%a: ptr.global i32) {\n"
                                      "    %i = global_id x\n"
                                      "    %r = shl i64 %i, 2\n"
                                      "    store i32 %a[%r], 1\n"
                                      "    %j = add i64 %r, 3\n"
                                      "\n"
                                      "    store i32 %a[%j], 2\n"
                                      "}\n"
                                      "kernel @each(%a: ptr.global i32, %o: ptr.global i32) {\n"
                                      "    %i = global_id x\n"
                                      "    %x = load i32 %a[%i]\n"
                                      "    store i32 %o[%i], %x\n"
                                      "}\n",
                              .calls = {{"ends", {"t"}}, {"each", {"t", "o"}}}});
    assert_non_null(f.module);
    const struct fuse_param memory = f.param[0];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        f.param[0] = cases[i].storage;
        f.param[0].name = memory.name;
        f.param[0].type = memory.type;
        f.param[0].access = memory.access;
        f.param[0].elem = IR_I32;
        f.request.n_parts = cases[i].n_parts;
        struct ir_module *m = fuse_kernels(&f.request, f.kept, f.why, sizeof f.why);
        assert_true(!m == (cases[i].why != NULL));
        if (!m) assert_string_equal(f.why, cases[i].why);
        if (m) assert_false(f.kept[0]);
        ir_module_free(m);
    }
    fused_clear(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(private_buffers_become_values),
        cmocka_unit_test(lines_and_files_survive),
        cmocka_unit_test(memory_is_forwarded),
        cmocka_unit_test(a_buffer_used_in_place),
        cmocka_unit_test(an_early_return_ends_its_part_only),
        cmocka_unit_test(guards_of_one_condition_become_one),
        cmocka_unit_test(returns_from_loops),
        cmocka_unit_test(parts_do_not_share_local_memory),
        cmocka_unit_test(barriers_between_parts),
        cmocka_unit_test(a_smaller_part_is_guarded),
        cmocka_unit_test(ranges_that_do_not_fit),
        cmocka_unit_test(linear_ids_in_two_dimensions),
        cmocka_unit_test(a_private_buffer_in_guards),
        cmocka_unit_test(private_uses_that_are_refused),
        cmocka_unit_test(homes_that_do_not_hold),
        cmocka_unit_test(private_accesses_of_other_types),
        cmocka_unit_test(an_unwritten_private_buffer_is_undef),
        cmocka_unit_test(by_value_structs),
        cmocka_unit_test(imports_are_refused),
        cmocka_unit_test(requirements_are_merged),
        cmocka_unit_test(requirements_that_contradict),
        cmocka_unit_test(names_of_different_modules),
    };
    return cmocka_run_group_tests_name("fuse", tests, NULL, NULL);
}
