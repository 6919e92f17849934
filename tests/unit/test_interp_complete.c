/* Completeness: every row of the table of operations, over the types that the verifier allows it, runs in
   the interpreter. */
#include "test_interp_kit.h"

static const enum ir_kind kinds[] = {IR_KIND_BOOL, IR_KIND_I8,  IR_KIND_I16, IR_KIND_I32, IR_KIND_I64,
                                     IR_KIND_F16,  IR_KIND_F32, IR_KIND_F64, IR_KIND_PTR};
static const unsigned widths[] = {1, 2, 3, 4, 16};

enum { PARAM_BUFFER, PARAM_IMAGE, PARAM_SAMPLER, PARAM_PIPE, PARAMS };

/* One try: a kernel around one instruction. */
struct attempt {
    struct ir_module *module;
    struct ir_function *kernel;
    struct ir_builder builder;
    ir_type type, from; /* T; the type of N and X */
};

/* An image that the operation is there for. */
static enum ir_image_form form_for(enum ir_op op)
{
    return op == IR_OP_IMAGE_DEPTH ? IR_IMAGE_3D : op == IR_OP_IMAGE_ARRAY_SIZE ? IR_IMAGE_1D_ARRAY : IR_IMAGE_2D;
}

static void attempt_init(struct attempt *a, enum ir_op op, ir_type type, ir_type from)
{
    a->module = ir_module_new("try");
    a->kernel = ir_function_new(a->module, "k", IR_LINKAGE_KERNEL, IR_VOID, PARAMS);
    ir_function_set_param(a->kernel, PARAM_BUFFER, "b", IR_PTR(IR_SPACE_GLOBAL));
    ir_function_set_param(a->kernel, PARAM_IMAGE, "m", IR_IMAGE(form_for(op), IR_HANDLE_READ_WRITE));
    ir_function_set_param(a->kernel, PARAM_SAMPLER, "s", IR_TYPE(IR_KIND_SAMPLER, 1, 0));
    ir_function_set_param(a->kernel, PARAM_PIPE, "q", IR_TYPE(IR_KIND_PIPE, 1, 2));
    a->builder = ir_builder_at_end(a->kernel->body);
    a->type = type;
    a->from = from;
}

static struct ir_value *param(const struct attempt *a, unsigned i)
{
    return a->kernel->params[i].value;
}

static struct ir_value *of_type(const struct attempt *a, ir_type t)
{
    if (ir_type_is_ptr(t)) return param(a, PARAM_BUFFER);
    if (ir_type_is_float(t)) return ir_const_float(a->module, t, 1);
    return ir_type_is_number(t) ? ir_const_int(a->module, t, 1) : ir_undef(a->module, t);
}

static struct ir_value *operand_for(struct attempt *a, enum ir_op op, char letter)
{
    unsigned lanes = ir_type_lanes(a->type);
    unsigned bits = ir_type_bits(a->type);
    switch (letter) {
    case 'E': return of_type(a, ir_type_element(a->type));
    case 'B': return of_type(a, ir_type_with_lanes(IR_BOOL, lanes));
    case 'b': return of_type(a, IR_BOOL);
    case 'J': return of_type(a, ir_type_with_lanes(IR_I32, lanes));
    case 'i':
    case 'u': return of_type(a, IR_I32);
    case 'z': return of_type(a, IR_I64);
    case 'N': return of_type(a, ir_type_with_lanes(a->from, lanes));
    case 'X': return of_type(a, a->from);
    case 'K':
        return of_type(a, ir_type_with_lanes(bits == 8    ? IR_I8
                                             : bits == 16 ? IR_I16
                                             : bits == 32 ? IR_I32
                                                          : IR_I64,
                                             lanes));
    case 'P':
        if (op != IR_OP_SPACECAST) return param(a, PARAM_BUFFER);
        return ir_build_ptr(&a->builder, IR_OP_INTTOPTR, IR_VOID, IR_SPACE_GENERIC,
                            (struct ir_value *[]){of_type(a, IR_I64)}, 1)
            ->results[0];
    case '2': return of_type(a, ir_type_with_lanes(IR_I32, 2));
    case 'D': return of_type(a, ir_type_with_lanes(IR_I32, 2));
    case 'F': return of_type(a, ir_type_with_lanes(IR_F32, 2));
    case 'M': return param(a, PARAM_IMAGE);
    case 'S': return param(a, PARAM_SAMPLER);
    case 'Q': return param(a, PARAM_PIPE);
    default: return of_type(a, a->type);
    }
}

static uint32_t operands_for(struct attempt *a, enum ir_op op, struct ir_value *operands[])
{
    uint32_t n = 0;
    if (op == IR_OP_VEC) {
        while (n < ir_type_lanes(a->type)) operands[n++] = of_type(a, ir_type_element(a->type));
        return n;
    }
    for (const char *letter = ir_op_info(op)->operands; *letter; letter++)
        if (*letter != '?') operands[n++] = operand_for(a, op, *letter);
    return n;
}

static void set_attributes(struct attempt *a, struct ir_inst *inst)
{
    const char *letters = ir_op_info(inst->op)->attrs;
    bool collective = ir_op_info(inst->op)->flags & IR_FLAG_CONVERGENT;
    if (strchr(letters, 's')) inst->attrs.scope = collective ? IR_SCOPE_WORK_GROUP : IR_SCOPE_DEVICE;
    if (strchr(letters, 'k')) inst->attrs.fence = IR_FENCE_LOCAL;
    if (inst->op == IR_OP_FENCE) inst->attrs.order = IR_ORDER_SEQ_CST;
    if (strchr(letters, 'y')) inst->attrs.global = a->module->globals[0];
}

static struct ir_inst *build(struct attempt *a, enum ir_op op)
{
    struct ir_value *operands[IR_MAX_LANES];
    enum ir_space space = op == IR_OP_VAR ? IR_SPACE_PRIVATE : IR_SPACE_GLOBAL;
    if (op == IR_OP_GLOBAL) ir_global_new(a->module, "g", space, IR_I32);
    uint32_t n = operands_for(a, op, operands);
    struct ir_inst *inst = ir_build_ptr(&a->builder, op, a->type, space, operands, n);
    set_attributes(a, inst);
    if (!(ir_op_info(op)->flags & IR_FLAG_TERMINATOR)) ir_build(&a->builder, IR_OP_RETURN, IR_VOID, NULL, 0);
    return inst;
}

static void run_attempt(const struct attempt *a, enum ir_op op)
{
    static _Alignas(16) uint8_t buffer[4096];
    uint8_t texels[64 * 4] = {0}, packets[3 * 64] = {0};
    bool ints = ir_type_is_int(a->type);
    struct ir_image image = {texels, 4, 4, 64, 0x10b5, ints ? 0x10d9 : 0x10de, .slices = form_for(op) != IR_IMAGE_2D};
    /* a packet for each work-item that waits for one, else room for theirs */
    struct interp_pipe pipe = {packets, (uint32_t)ir_type_size(a->module, a->type), 3, 0, 0};
    if (!pipe.packet_size || pipe.packet_size > sizeof packets / 3) pipe.packet_size = 1;
    if (op == IR_OP_PIPE_READ_WAIT) pipe.written = 3;
    uint32_t sampler = IR_SAMPLER_CLAMP_TO_EDGE;
    memset(buffer, 0, sizeof buffer);
    struct interp_arg args[] = {BUFFER(buffer),
                                {.kind = INTERP_ARG_IMAGE, .data = &image},
                                BYTES(sampler),
                                {.kind = INTERP_ARG_PIPE, .data = &pipe}};
    struct nd_range range = {1, {3, 1, 1}, {0}, {3, 1, 1}};
    struct interp_result result;
    assert_int_equal(interp_run(a->kernel, &range, args, NULL, &result), 0);
    bool ends = op == IR_OP_UNREACHABLE;
    if (result.completed == ends)
        fail_msg("%s: %s", ir_op_info(op)->text, result.n_findings ? result.findings[0].text : "not completed");
    for (uint32_t i = 0; i < result.n_findings; i++)
        if (strstr(result.findings[i].text, "does not know")) fail_msg("%s", result.findings[i].text);
    interp_result_clear(&result);
}

/* False: not a valid program. */
static bool attempt_op(enum ir_op op, ir_type type, ir_type from)
{
    struct attempt a;
    attempt_init(&a, op, type, from);
    if (ir_op_info(op)->type_class == 's') {
        struct ir_struct *s = ir_struct_new(a.module, "s", 1);
        s->fields[0].type = IR_I32;
        ir_struct_natural_layout(a.module, s);
        a.type = ir_struct_type(a.module, s);
    }
    build(&a, op);
    bool valid = ir_verify(a.module, NULL);
    if (valid) run_attempt(&a, op);
    ir_module_free(a.module);
    return valid;
}

static unsigned attempts_from(enum ir_op op, ir_type type)
{
    if (!strpbrk(ir_op_info(op)->operands, "NX")) return attempt_op(op, type, IR_VOID);
    unsigned valid = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        ir_type from = IR_TYPE(kinds[i], 1, 0);
        if (ir_type_is_ptr(from)) continue;
        if (strchr(ir_op_info(op)->operands, 'X')) from = ir_type_with_lanes(from, ir_type_lanes(type));
        valid += attempt_op(op, type, from);
    }
    return valid;
}

static unsigned attempts(enum ir_op op)
{
    char class = ir_op_info(op)->type_class;
    if (class == '-' || class == 's') return attempt_op(op, IR_VOID, IR_VOID);
    unsigned valid = 0;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
            if (kinds[k] == IR_KIND_PTR && widths[w] > 1) continue;
            valid += attempts_from(op, IR_TYPE(kinds[k], widths[w], kinds[k] == IR_KIND_PTR ? IR_SPACE_GLOBAL : 0));
        }
    return valid;
}

/* Those that need blocks or a callee, in one program. */
static const char *const structured = "func @f(%x: i32) -> i32 {\n"
                                      "    %y = add i32 %x, 1\n"
                                      "    return %y\n"
                                      "}\n"
                                      "kernel @k(%o: ptr.global i32) {\n"
                                      "    %r = loop (%i: i32 = 0) -> i32 {\n"
                                      "        %c = sge i32 %i, 5\n"
                                      "        %n = if %c -> i32 {\n"
                                      "            break %i\n"
                                      "        } else {\n"
                                      "            %j = call @f(%i)\n"
                                      "            yield %j\n"
                                      "        }\n"
                                      "        continue %n\n"
                                      "    }\n"
                                      "    store i32 %o, %r\n"
                                      "    return\n"
                                      "}\n";

static void note_op(struct ir_inst *inst, void *seen)
{
    ((bool *)seen)[inst->op] = true;
}

static void every_operation_runs(void **state)
{
    (void)state;
    bool seen[IR_OP_COUNT] = {false};
    int32_t out[1];
    struct interp_arg args[] = {BUFFER(out)};
    struct kit k;
    kit_load(&k, structured);
    kit_run(&k, 1, 1, args);
    kit_expect_clean(&k);
    assert_int_equal(out[0], 5);
    ir_walk(ir_module_find(k.module, "k")->body, note_op, seen);
    kit_free(&k);

    for (enum ir_op op = 0; op < IR_OP_COUNT; op++) {
        bool by_itself = op != IR_OP_CALL && op != IR_OP_IF && op != IR_OP_LOOP && op != IR_OP_YIELD &&
                         op != IR_OP_BREAK && op != IR_OP_CONTINUE && op != IR_OP_RETURN;
        if (by_itself ? attempts(op) == 0 : !seen[op]) fail_msg("no valid program with %s", ir_op_info(op)->text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_operation_runs)};
    return cmocka_run_group_tests_name("interp_complete", tests, NULL, NULL);
}
