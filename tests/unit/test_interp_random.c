/* Random valid modules, full of undefined values and wild pointers: the interpreter neither crashes nor
   depends on anything but its input. */
#include "test_interp_kit.h"

#include "tests/support/random_module.h"

enum { SEEDS = 400, BYTES_EACH = 512, MAX_PARAMS = 32, STEPS = 20000 };

struct arguments {
    struct interp_arg args[MAX_PARAMS];
    _Alignas(16) uint8_t data[MAX_PARAMS][BYTES_EACH];
    struct ir_image images[MAX_PARAMS];
    struct interp_pipe pipes[MAX_PARAMS];
};

static bool make_argument(struct arguments *a, const struct ir_module *m, const struct ir_param *p, uint32_t i)
{
    ir_type t = p->value->type;
    struct interp_arg *arg = &a->args[i];
    for (unsigned k = 0; k < BYTES_EACH; k++) a->data[i][k] = (uint8_t)(i + k);
    *arg = (struct interp_arg){
        .kind = INTERP_ARG_BYTES, .data = a->data[i], .size = ir_type_size(m, p->by_value ? p->elem : t)};
    if (ir_type_kind(t) == IR_KIND_IMAGE) {
        enum ir_image_form form = ir_type_image_form(t);
        bool slices = form == IR_IMAGE_3D || ir_image_is_array(form);
        a->images[i] = (struct ir_image){a->data[i], 4, 4, 64, 0x10b5, i % 2 ? 0x10d9 : 0x10de, slices ? 2 : 0, 256};
        *arg = (struct interp_arg){.kind = INTERP_ARG_IMAGE, .data = &a->images[i]};
    } else if (ir_type_kind(t) == IR_KIND_PIPE) {
        a->pipes[i] = (struct interp_pipe){a->data[i], 4, 8, 0, 2};
        *arg = (struct interp_arg){.kind = INTERP_ARG_PIPE, .data = &a->pipes[i]};
    } else if (ir_type_is_ptr(t) && !p->by_value) {
        bool local = ir_type_space(t) == IR_SPACE_LOCAL;
        *arg = (struct interp_arg){
            .kind = local ? INTERP_ARG_LOCAL : INTERP_ARG_BUFFER, .data = a->data[i], .size = BYTES_EACH};
    }
    return arg->size <= BYTES_EACH;
}

static bool make_arguments(struct arguments *a, const struct ir_function *f)
{
    if (f->n_params > MAX_PARAMS) return false;
    for (uint32_t i = 0; i < f->n_params; i++)
        if (!make_argument(a, f->module, &f->params[i], i)) return false;
    return true;
}

static struct nd_range range_for(const struct ir_function *f)
{
    struct nd_range r = {3, {3, 2, 1}, {0, 5, 0}, {2, 2, 1}};
    for (int d = 0; d < 3; d++)
        if (f->work_group_size[d]) r.local[d] = f->work_group_size[d];
    return r;
}

static void see_address(struct ir_inst *inst, void *data)
{
    if (inst->op == IR_OP_PTRTOINT && inst->operands[0]->kind == IR_VALUE_RESULT) *(bool *)data = true;
}

/* Where the interpreter puts variables is no input, and another place in each run. */
static bool computes_with_addresses(const struct ir_module *m)
{
    bool found = false;
    for (uint32_t i = 0; i < m->n_functions; i++)
        if (m->functions[i]->body) ir_walk(m->functions[i]->body, see_address, &found);
    return found;
}

/* On the same memory, since the addresses of buffers are an input too. */
static void run_twice(const struct ir_function *f, unsigned *completed)
{
    static struct arguments arguments;
    static uint8_t after_first[MAX_PARAMS][BYTES_EACH];
    memset(arguments.data, 0, sizeof arguments.data);
    if (!make_arguments(&arguments, f)) return;
    struct nd_range range = range_for(f);
    struct interp_options options = {.max_steps = STEPS, .check_races = true, .check_unwritten = true};
    struct interp_result first, second;
    int rc = interp_run(f, &range, arguments.args, &options, &first);
    memcpy(after_first, arguments.data, sizeof after_first);
    memset(arguments.data, 0, sizeof arguments.data);
    make_arguments(&arguments, f);
    assert_int_equal(interp_run(f, &range, arguments.args, &options, &second), rc);
    if (computes_with_addresses(f->module)) goto done;
    assert_int_equal(first.steps, second.steps);
    assert_int_equal(first.n_findings, second.n_findings);
    for (uint32_t i = 0; i < first.n_findings; i++) {
        assert_string_equal(first.findings[i].text, second.findings[i].text);
        assert_null(strstr(first.findings[i].text, "does not know"));
    }
    assert_memory_equal(after_first, arguments.data, sizeof after_first);
done:
    *completed += first.completed;
    interp_result_clear(&first);
    interp_result_clear(&second);
}

static void random_modules_run(void **state)
{
    (void)state;
    unsigned completed = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct ir_module *m = random_module(seed, NULL);
        for (uint32_t i = 0; i < m->n_functions; i++)
            if (m->functions[i]->linkage == IR_LINKAGE_KERNEL) run_twice(m->functions[i], &completed);
        ir_module_free(m);
    }
    assert_true(completed > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_modules_run)};
    return cmocka_run_group_tests_name("interp_random", tests, NULL, NULL);
}
