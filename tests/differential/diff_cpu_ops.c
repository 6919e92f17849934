/* Every pure operation of the table, on every element type it takes: compiled code against the interpreter's
   arithmetic, bit for bit; of floats also on uniform values, with sub-groups of other widths than the register's, and
   folded. */
#include "tests/support/compiled_kit.h"

#include <math.h>

#include "fuser/passes/manager/pipelines.h"
#include "ir/core/float.h"
#include "ir/text/print/print_type.h"
#include "ir/verify/verify.h"

enum { ITEMS = 96, MAX_OPS = 128, OPERANDS = 4 };

/* Operands: different in each work-item; the same for a work-group, which is of one; constants (of item 0). */
enum form { VARYING, UNIFORM, CONSTANT };

/* One kernel computes many operations of one type: operation k's results lie from element k * ITEMS on. */
struct suite {
    struct ir_module *module;
    struct ir_function *kernel;
    struct ir_builder b;
    struct ir_value *in[OPERANDS], *index[OPERANDS]; /* operands; and as i32 */
    ir_type type;
    unsigned n;
    enum ir_op op[MAX_OPS];
    ir_type result[MAX_OPS];
    enum form form;
    uint32_t sub_group; /* the size of a kernel that has sub-groups; 0: it has none */
};

static unsigned words_in(ir_type t)
{
    return ir_type_lanes(t) == 3 ? 4 : ir_type_lanes(t);
}

static void suite_begin_as(struct suite *s, ir_type type, enum form form, uint32_t sub_group)
{
    *s = (struct suite){.module = ir_module_new("ops"), .type = type, .form = form, .sub_group = sub_group};
    s->kernel = ir_function_new(s->module, "k", IR_LINKAGE_KERNEL, IR_VOID, OPERANDS + 1);
    s->kernel->sub_group_size = sub_group;
    s->b = ir_builder_at_end(s->kernel->body);
    struct ir_value *id = ir_build_id(&s->b, form == UNIFORM ? IR_OP_GROUP_ID : IR_OP_GLOBAL_ID, 0);
    for (uint32_t i = 0; i <= OPERANDS; i++) {
        ir_function_set_param(s->kernel, i, NULL, IR_PTR(IR_SPACE_GLOBAL));
        s->kernel->params[i].elem = i < OPERANDS ? type : IR_I64;
    }
    for (uint32_t i = 0; i < OPERANDS; i++) s->in[i] = ir_build_load(&s->b, type, s->kernel->params[i].value, id);
    /* Small integers for exponents and bit fields, from -16 to 47, different for each work-item. */
    struct ir_value *small = ir_build1(&s->b, IR_OP_ITRUNC, IR_I32, id);
    for (uint32_t i = 0; i < OPERANDS; i++) {
        struct ir_value *m = ir_build2(&s->b, IR_OP_MUL, IR_I32, small, ir_const_int(s->module, IR_I32, 7 * i + 5));
        m = ir_build2(&s->b, IR_OP_AND, IR_I32, m, ir_const_int(s->module, IR_I32, 63));
        m = ir_build2(&s->b, IR_OP_SUB, IR_I32, m, ir_const_int(s->module, IR_I32, 16));
        unsigned lanes = ir_type_lanes(type);
        s->index[i] = m;
        if (lanes > 1) s->index[i] = ir_build1(&s->b, IR_OP_SPLAT, ir_type_with_lanes(IR_I32, lanes), m);
    }
}

static void suite_begin(struct suite *s, ir_type type)
{
    suite_begin_as(s, type, VARYING, 0);
}

/* Bits of any result, spread over one i64 per component. */
static void store_result(struct suite *s, struct ir_value *v)
{
    ir_type t = v->type;
    unsigned lanes = ir_type_lanes(t);
    struct ir_value *out = s->kernel->params[OPERANDS].value;
    struct ir_value *id = ir_build_id(&s->b, IR_OP_GLOBAL_ID, 0);
    for (unsigned c = 0; c < lanes; c++) {
        struct ir_value *e = v;
        if (lanes > 1) e = ir_build2(&s->b, IR_OP_EXTRACT, t, v, ir_const_int(s->module, IR_I32, c));
        if (ir_type_is_float(t))
            e = ir_build1(&s->b, IR_OP_BITCAST,
                          ir_type_bits(t) == 16   ? IR_I16
                          : ir_type_bits(t) == 32 ? IR_I32
                                                  : IR_I64,
                          e);
        if (ir_type_bits(t) != 64) e = ir_build1(&s->b, IR_OP_ZEXT, IR_I64, e);
        struct ir_value *at =
            ir_build2(&s->b, IR_OP_ADD, IR_I64, id, ir_const_int(s->module, IR_I64, (s->n * 16 + c) * ITEMS));
        ir_build_store(&s->b, IR_I64, out, at, e);
    }
}

/* Adds an operation whose operands all have known letters; anything else is left to other tests. */
static bool suite_add(struct suite *s, enum ir_op op, ir_type type, struct ir_value *source)
{
    const struct ir_op_info *info = ir_op_info(op);
    struct ir_value *operands[OPERANDS];
    uint32_t n = 0;
    for (const char *letter = info->operands; *letter; letter++) {
        if (n == OPERANDS || s->n == MAX_OPS) return false;
        switch (*letter) {
        case 'T': operands[n] = s->in[n]; break;
        case 'J': operands[n] = s->index[n]; break;
        case 'u': operands[n] = ir_type_lanes(type) > 1 ? ir_const_int(s->module, IR_I32, 3 * n) : s->index[n]; break;
        case 'N': operands[n] = source; break;
        default: return false;
        }
        n++;
    }
    struct ir_inst *inst = ir_build(&s->b, op, type, operands, n);
    inst->attrs.saturate = op == IR_OP_FTOS || op == IR_OP_FTOU;
    s->op[s->n] = op;
    s->result[s->n] = inst->results[0]->type;
    store_result(s, inst->results[0]);
    s->n++;
    return true;
}

static void suite_end(struct suite *s)
{
    if (s->sub_group) { /* what makes it a kernel with sub-groups */
        s->op[s->n] = IR_OP_SUB_GROUP_MAX_SIZE;
        s->result[s->n] = IR_I32;
        store_result(s, ir_build(&s->b, IR_OP_SUB_GROUP_MAX_SIZE, IR_VOID, NULL, 0)->results[0]);
        s->n++;
    }
    ir_build(&s->b, IR_OP_RETURN, IR_VOID, NULL, 0);
    struct diag_list list = {0};
    bool valid = ir_verify(s->module, &list);
    char *text = diag_format(&list);
    if (!valid) fprintf(stderr, "# %s", text);
    free(text);
    diag_clear(&list);
    assert_true(valid);
}

/* ---- data ---- */

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static uint64_t interesting(ir_type t, unsigned i, uint64_t *state)
{
    static const double floats[] = {0.0,       -0.0, 1,     -1,     0.5,   -0.5,         1.5,           2.5,
                                    -2.5,      3,    100,   -100,   1e-3,  65504,        1e-7,          INFINITY,
                                    -INFINITY, NAN,  127.5, -128.5, 255.5, 2147483648.0, -2147483649.0, 4294967296.0};
    static const uint64_t ints[] = {0,
                                    1,
                                    2,
                                    3,
                                    7,
                                    8,
                                    31,
                                    32,
                                    63,
                                    ~0ull,
                                    ~1ull,
                                    0x7f,
                                    0x80,
                                    0x7fff,
                                    0x8000,
                                    0x7fffffff,
                                    0x80000000,
                                    INT64_MAX,
                                    1ull << 63,
                                    0xff,
                                    0xffff,
                                    0xffffffff,
                                    0x123456789abcdef};
    unsigned bits = ir_type_bits(t);
    uint64_t r = next_random(state), mask = bits == 64 ? ~0ull : (1ull << bits) - 1;
    if (!ir_type_is_float(t)) return (i % 3 ? r : ints[r % (sizeof ints / sizeof *ints)]) & mask;
    if (i % 7 == 5) return r & mask; /* of any exponent */
    if (i % 3 == 0) return ir_float_bits(ir_type_kind(t), floats[r % (sizeof floats / sizeof *floats)]);
    if (i % 3 == 1) return ir_float_bits(ir_type_kind(t), (double)(int64_t)r / 0x1p58); /* within 32 */
    return ir_float_bits(ir_type_kind(t), (double)(int64_t)r / 0x1p63);
}

static void fill(void *memory, ir_type t, uint64_t seed)
{
    unsigned bytes = ir_type_bits(t) / 8, words = words_in(t);
    for (unsigned i = 0; i < ITEMS * words; i++) {
        uint64_t v = interesting(t, i, &seed);
        memcpy((uint8_t *)memory + i * bytes, &v, bytes);
    }
}

/* ---- comparison ---- */

/* All bits, but for NaNs: any is as good as another. */
static bool agree(ir_type t, uint64_t want, uint64_t got)
{
    if (want == got || !ir_type_is_float(t)) return want == got;
    return isnan(ir_float_value(ir_type_kind(t), want)) && isnan(ir_float_value(ir_type_kind(t), got));
}

static void compare(const struct suite *s, const uint64_t *want, const uint64_t *got, const char *how)
{
    for (unsigned k = 0; k < s->n; k++)
        for (unsigned c = 0; c < ir_type_lanes(s->result[k]); c++)
            for (unsigned i = 0; i < ITEMS; i++) {
                unsigned at = (k * 16 + c) * ITEMS + i;
                if (agree(s->result[k], want[at], got[at])) continue;
                char type[32];
                fail_msg("%s: %s %s, component %u, item %u: %llx instead of %llx", how, ir_op_info(s->op[k])->text,
                         ir_print_type(s->module, s->type, type, sizeof type), c, i, (unsigned long long)got[at],
                         (unsigned long long)want[at]);
            }
}

static uint64_t out[2][MAX_OPS * 16 * ITEMS];

static void make_args(const struct suite *s, struct interp_arg args[OPERANDS + 1])
{
    uint64_t bytes = ITEMS * ir_type_size(s->module, s->type);
    for (unsigned i = 0; i < OPERANDS; i++) {
        args[i] = (struct interp_arg){.kind = INTERP_ARG_BUFFER, .data = malloc(bytes), .size = bytes};
        fill(args[i].data, s->type, 77 + i);
    }
    args[OPERANDS] = (struct interp_arg){.kind = INTERP_ARG_BUFFER, .data = out[0], .size = sizeof out[0]};
    memset(out, 0, sizeof out);
}

static void suite_free(struct suite *s, struct interp_arg args[OPERANDS + 1])
{
    for (unsigned i = 0; i < OPERANDS; i++) free(args[i].data);
    ir_module_free(s->module);
}

/* By each way; uniform values and other widths only by the widest. */
static void suite_run(struct suite *s)
{
    struct interp_arg args[OPERANDS + 1];
    struct nd_range range = {1, {ITEMS - 3, 1, 1}, {0, 0, 0}, {s->form == UNIFORM ? 1 : ITEMS, 1, 1}};
    make_args(s, args);
    kit_interpret(s->kernel, &range, args);
    struct kit_way ways[KIT_MAX_WAYS];
    unsigned n = kit_ways(ways), few = 2 + BATCH_GENERIC + 1;
    unsigned first = (s->form == UNIFORM || s->sub_group) && n > few ? n - few : 0;
    for (unsigned w = first; w < (first ? n - 1 : n); w++) {
        struct compiled c;
        assert_true(kit_make(&c, s->kernel, &ways[w]));
        memset(out[1], 0, sizeof out[1]);
        args[OPERANDS].data = out[1];
        compiled_run(&c, s->kernel, &range, args, 1, 0);
        char how[96];
        snprintf(how, sizeof how, "%s%s%s, sub-group %u", cpu_isa_name(ways[w].isa), ways[w].scalar ? " scalar" : "",
                 s->form == UNIFORM ? " uniform" : "", s->sub_group);
        compare(s, out[0], out[1], how);
        compiled_clear(&c);
    }
    suite_free(s, args);
}

static void see_float_op(struct ir_inst *inst, void *data)
{
    unsigned *left = data;
    *left += inst->op >= IR_OP_FADD && inst->op <= IR_OP_SIGN;
}

/* With the operands of one item as constants: what folding makes of them is what the interpreter makes of the loaded
   ones, and nothing is left to compute. */
static void suite_fold(struct suite *s, unsigned item)
{
    struct interp_arg args[OPERANDS + 1];
    struct nd_range range = {1, {1, 1, 1}, {item, 0, 0}, {1, 1, 1}};
    make_args(s, args);
    kit_interpret(s->kernel, &range, args);
    for (unsigned i = 0; i < OPERANDS; i++) {
        unsigned bytes = ir_type_bits(s->type) / 8;
        uint64_t bits = 0;
        memcpy(&bits, (uint8_t *)args[i].data + item * bytes, bytes);
        ir_replace_uses(s->kernel->body, s->in[i], ir_const(s->module, s->type, &bits));
        ir_replace_uses(s->kernel->body, s->index[i],
                        ir_const_int(s->module, IR_I32, (uint64_t)(((int64_t)item * (7 * i + 5) & 63) - 16)));
    }
    pipeline_run(&pipeline_cleanup, s->kernel);
    unsigned left = 0;
    ir_walk(s->kernel->body, see_float_op, &left);
    assert_int_equal(left, 0);
    args[OPERANDS].data = out[1];
    kit_interpret(s->kernel, &range, args);
    compare(s, out[0], out[1], "folded");
    suite_free(s, args);
}

/* ---- the tests ---- */

static void run_ops(ir_type type, enum ir_op first, enum ir_op last)
{
    struct suite s;
    suite_begin(&s, type);
    for (enum ir_op op = first; op <= last; op++) suite_add(&s, op, type, NULL);
    suite_end(&s);
    suite_run(&s);
}

static void run_ints(ir_type type)
{
    run_ops(type, IR_OP_ADD, IR_OP_UBITFIELD_EXTRACT);
    struct suite s;
    suite_begin(&s, type);
    for (enum ir_op op = IR_OP_IEQ; op <= IR_OP_UGE; op++) suite_add(&s, op, type, NULL);
    suite_end(&s);
    suite_run(&s);
}

static void run_as(ir_type type, enum ir_op first, enum ir_op last, enum form form, uint32_t sub_group, unsigned item)
{
    struct suite s;
    suite_begin_as(&s, type, form, sub_group);
    for (enum ir_op op = first; op <= last; op++) suite_add(&s, op, type, NULL);
    suite_end(&s);
    if (form == CONSTANT)
        suite_fold(&s, item);
    else
        suite_run(&s);
}

/* Where fusion may put a function: on uniform values, in kernels with sub-groups of any size, on constants. */
static void run_elsewhere(ir_type type)
{
    run_as(type, IR_OP_FADD, IR_OP_SIGN, UNIFORM, 0, 0);
    for (uint32_t sub_group = 4; sub_group <= 8; sub_group *= 2) { /* in halves: all are too much code for one kernel */
        run_as(type, IR_OP_ACOS, IR_OP_LGAMMA, VARYING, sub_group, 0);
        run_as(type, IR_OP_LGAMMA + 1, IR_OP_SIGN, VARYING, sub_group, 0);
    }
    for (unsigned item = 0; item < 24; item++) run_as(type, IR_OP_FADD, IR_OP_SIGN, CONSTANT, 0, item);
}

static void run_floats(ir_type type)
{
    run_ops(type, IR_OP_FADD, IR_OP_COPYSIGN);
    run_ops(type, IR_OP_ACOS, IR_OP_SIGN);
    run_ops(type, IR_OP_FOEQ, IR_OP_SIGNBIT);
}

/* From one type to all others. */
static void run_conversions(ir_type from)
{
    static const ir_type types[] = {IR_I8, IR_I16, IR_I32, IR_I64, IR_F16, IR_F32, IR_F64};
    struct suite s;
    suite_begin(&s, from);
    for (unsigned i = 0; i < sizeof types / sizeof *types; i++) {
        ir_type to = types[i];
        unsigned have = ir_type_bits(from), want = ir_type_bits(to);
        bool float_from = ir_type_is_float(from), float_to = ir_type_is_float(to);
        if (float_from && float_to && from != to) suite_add(&s, IR_OP_FPCONV, to, s.in[0]);
        if (float_from && !float_to) {
            suite_add(&s, IR_OP_FTOS, to, s.in[0]);
            suite_add(&s, IR_OP_FTOU, to, s.in[0]);
        }
        if (!float_from && float_to) {
            suite_add(&s, IR_OP_STOF, to, s.in[0]);
            suite_add(&s, IR_OP_UTOF, to, s.in[0]);
        }
        if (float_from || float_to) continue;
        if (want < have) suite_add(&s, IR_OP_ITRUNC, to, s.in[0]);
        if (want > have) suite_add(&s, IR_OP_ZEXT, to, s.in[0]);
        if (want > have) suite_add(&s, IR_OP_SEXT, to, s.in[0]);
        for (enum ir_op op = IR_OP_SSAT; op <= IR_OP_U2S_SAT; op++) suite_add(&s, op, to, s.in[0]);
    }
    suite_end(&s);
    suite_run(&s);
}

#define INTS(bits)                                                                                                     \
    static void ints_##bits(void **state)                                                                              \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        run_ints(IR_I##bits);                                                                                          \
    }                                                                                                                  \
    static void from_i##bits(void **state)                                                                             \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        run_conversions(IR_I##bits);                                                                                   \
    }
#define FLOATS(bits)                                                                                                   \
    static void floats_##bits(void **state)                                                                            \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        run_floats(IR_F##bits);                                                                                        \
    }                                                                                                                  \
    static void elsewhere_##bits(void **state)                                                                         \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        run_elsewhere(IR_F##bits);                                                                                     \
    }                                                                                                                  \
    static void from_f##bits(void **state)                                                                             \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        run_conversions(IR_F##bits);                                                                                   \
    }
INTS(8)
INTS(16)
INTS(32)
INTS(64)
FLOATS(16)
FLOATS(32)
FLOATS(64)

static void geometry(void **state)
{
    (void)state;
    for (unsigned lanes = 3; lanes <= 4; lanes++) {
        ir_type t = ir_type_with_lanes(IR_F32, lanes);
        struct suite s;
        suite_begin(&s, t);
        suite_add(&s, IR_OP_DOT, t, NULL);
        suite_add(&s, IR_OP_CROSS, t, NULL);
        suite_end(&s);
        suite_run(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ints_8),       cmocka_unit_test(ints_16),      cmocka_unit_test(ints_32),
        cmocka_unit_test(ints_64),      cmocka_unit_test(floats_16),    cmocka_unit_test(floats_32),
        cmocka_unit_test(floats_64),    cmocka_unit_test(from_i8),      cmocka_unit_test(from_i16),
        cmocka_unit_test(from_i32),     cmocka_unit_test(from_i64),     cmocka_unit_test(from_f16),
        cmocka_unit_test(from_f32),     cmocka_unit_test(from_f64),     cmocka_unit_test(geometry),
        cmocka_unit_test(elsewhere_16), cmocka_unit_test(elsewhere_32), cmocka_unit_test(elsewhere_64),
    };
    return cmocka_run_group_tests_name("diff_cpu_ops", tests, NULL, NULL);
}
