/* fusiond-executor: launches in bands, and lists of bands that cannot be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/executor.h"

enum { N = 4096, GROUP = 16, GROUPS = N / GROUP, BANDS = 8, PAGE = 4096 };

/* out[i] = in[max(i - 1, 0)] + 1 */
static const char source[] =
    "struct args { float *in, *out; float one; };\n"
    "const struct kernel_object_info fusion_kernel_info = {KERNEL_ABI_VERSION, 1, 24, 0, 0, 1};\n"
    "void fusion_kernel(const struct kernel_launch *l, const void *p, uint64_t first, uint64_t end, void *local)\n"
    "{\n"
    "    const struct args *a = p;\n"
    "    for (uint64_t i = first * l->local_size[0]; i < end * l->local_size[0]; i++)\n"
    "        a->out[i] = a->in[i ? i - 1 : 0] + a->one;\n"
    "}\n";

#define SHIFT(from, to)                                                                                                \
    {                                                                                                                  \
        "shift", N, GROUP, 24, 3, {{0, from, 0, 0, 8, false}, {0, to, 0, 8, 8, true}, {1, 0, 0, 16, 4, false}},        \
    }

/* in -> t -> u -> out, the last two launches in bands of 32 work-groups. */
static struct test_program program_in_bands(void)
{
    struct test_program p = {.n_launches = 3,
                             .n_slots = 4,
                             .n_values = 1,
                             .value_sizes = {4},
                             .slots = {{"in", N * 4}, {"t", N * 4}, {"u", N * 4, true, true, 2 * PAGE}, {"out", N * 4}},
                             .launches = {SHIFT(0, 1), SHIFT(1, 2), SHIFT(2, 3)},
                             .n_bands = 1,
                             .bands = {{1, 2, 2, 2 * BANDS, {0}, 0, {0}}}};
    for (unsigned i = 0; i < 2 * BANDS; i++) p.bands[0].ends[i] = (i / 2 + 1) * GROUPS / BANDS;
    return p;
}

struct fixture {
    struct executor x;
    struct memory memory[4];
    int objects[3];
};

static void begin(struct fixture *f, const char *threads)
{
    executor_start(&f->x, threads);
    for (unsigned i = 0; i < 4; i++) {
        f->memory[i] = memory_new(N * 4);
        assert_int_equal(executor_attach(&f->x, i + 1, &f->memory[i], 0), FUSION_SUCCESS);
    }
    f->objects[0] = object_compile(source);
    for (unsigned i = 1; i < 3; i++) f->objects[i] = dup(f->objects[0]);
    for (unsigned i = 0; i < N; i++) ((float *)f->memory[0].data)[i] = (float)(7 * i);
}

static void end(struct fixture *f)
{
    executor_stop(&f->x);
    for (unsigned i = 0; i < 4; i++) memory_free(&f->memory[i]);
    for (unsigned i = 0; i < 3; i++) close(f->objects[i]);
}

static fusion_status load(struct fixture *f, const struct test_program *p, uint64_t *id)
{
    float one = 1;
    static const uint64_t bindings[8] = {1, 2, 3, 4}; /* of bad programs that say so, more slots */
    const void *values[8] = {&one};
    return executor_load(&f->x, p, f->objects, bindings, values, id);
}

static void expect_shifted(const struct fixture *f, float one)
{
    const float *out = f->memory[3].data;
    for (unsigned i = 0; i < N; i++) {
        float expected = (float)(i < 3 ? 0 : 7 * (i - 3)) + 3 * one;
        if (out[i] != expected) fail_msg("[%u] is %g, not %g", i, out[i], expected);
    }
}

/* Two bands in work at a time, by one thread and by several: the slot with ring memory stays what it was. */
static void good_bands_run(void **state)
{
    static const char *const threads[] = {"1", "2", "5"};
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct fixture f;
        struct test_program p = program_in_bands();
        uint64_t id;
        begin(&f, threads[i]);
        assert_int_equal(load(&f, &p, &id), FUSION_SUCCESS);
        for (unsigned k = 0; k < 20; k++) {
            memset(f.memory[3].data, 0, N * 4);
            assert_int_equal(executor_submit(&f.x, id, NULL, 0, NULL, 0), FUSION_SUCCESS);
            expect_shifted(&f, 1);
        }
        for (unsigned k = 0; k < N; k++) assert_true(((float *)f.memory[2].data)[k] == 0);
        end(&f);
    }
}

/* Then the launches run one after the other, over the slot's own memory. */
static void a_condition_that_does_not_hold(void **state)
{
    struct fixture f;
    struct test_program p = program_in_bands();
    struct test_value two = {0, 4, 0};
    uint64_t id;
    (void)state;
    memcpy(&two.data, &(float){2}, 4);
    p.bands[0].n_condition = 3;
    memcpy(&p.bands[0].condition[2], &(float){1}, 4); /* value 0 is that number */
    begin(&f, "2");
    assert_int_equal(load(&f, &p, &id), FUSION_SUCCESS);
    assert_int_equal(executor_submit(&f.x, id, NULL, 0, NULL, 0), FUSION_SUCCESS);
    expect_shifted(&f, 1);
    assert_true(((float *)f.memory[2].data)[N - 1] == 0);
    assert_int_equal(executor_submit(&f.x, id, NULL, 0, &two, 1), FUSION_SUCCESS);
    expect_shifted(&f, 2);
    assert_true(((float *)f.memory[2].data)[N - 1] != 0);
    assert_int_equal(executor_submit(&f.x, id, NULL, 0, NULL, 0), FUSION_SUCCESS);
    expect_shifted(&f, 1);
    end(&f);
}

/* ---- lists that cannot be ---- */

static void goes_back(struct test_program *p)
{
    p->bands[0].ends[4] = p->bands[0].ends[2] - 1;
}

static void goes_beyond(struct test_program *p)
{
    p->bands[0].ends[4] = GROUPS + 1;
    for (unsigned i = 6; i < 2 * BANDS; i += 2) p->bands[0].ends[i] = GROUPS + 1;
}

static void ends_early(struct test_program *p)
{
    p->bands[0].ends[2 * BANDS - 1]--;
}

static void is_no_whole_band(struct test_program *p)
{
    p->bands[0].n_ends--;
}

static void has_no_bands(struct test_program *p)
{
    p->bands[0].n_ends = 0;
}

static void has_no_steps(struct test_program *p)
{
    p->bands[0].steps = 0;
}

static void has_too_many_steps(struct test_program *p)
{
    p->bands[0].first = 2;
}

static void begins_nowhere(struct test_program *p)
{
    p->bands[0].first = 0xffffffff;
}

static void has_a_copy(struct test_program *p)
{
    p->n_steps = 3;
    p->steps[0] = (struct test_step){0, 0, 0, 0, 0, 0, 0};
    p->steps[1] = (struct test_step){0, 1, 0, 0, 0, 0, 0};
    p->steps[2] = (struct test_step){1, 2, 3, 0, 0, N * 4, 0};
}

static void is_there_twice(struct test_program *p)
{
    p->bands[p->n_bands++] = p->bands[0];
}

static void has_none_at_once(struct test_program *p)
{
    p->bands[0].at_once = 0;
}

static void has_more_at_once_than_bands(struct test_program *p)
{
    p->bands[0].at_once = 0xffffffff;
}

static void asks_for_no_value(struct test_program *p)
{
    p->bands[0].n_condition = 3;
    p->bands[0].condition[0] = 1;
}

static void asks_for_half_a_condition(struct test_program *p)
{
    p->bands[0].n_condition = 2;
}

static void has_a_ring_and_no_bands(struct test_program *p)
{
    p->n_bands = 0;
}

static void has_a_ring_of_no_bytes(struct test_program *p)
{
    p->slots[2].ring = 0;
}

static void has_a_ring_of_half_a_page(struct test_program *p)
{
    p->slots[2].ring = PAGE / 2;
}

static void has_a_ring_that_is_longer(struct test_program *p)
{
    p->slots[2].ring = N * 4 + PAGE;
}

static void has_a_ring_of_a_slot_with_memory(struct test_program *p)
{
    p->slots[2].absent = false;
}

static void copies_a_ring(struct test_program *p)
{
    p->n_steps = 4;
    for (unsigned i = 0; i < 3; i++) p->steps[i] = (struct test_step){.kind = 0, .a = i};
    p->steps[3] = (struct test_step){.kind = 1, .a = 2, .b = 3, .bytes = 4};
}

static void is_of_another_device(struct test_program *p)
{
    p->device = "reference";
}

static void bad_bands_are_refused(void **state)
{
    static void (*const ways[])(struct test_program *) = {
        goes_back,
        goes_beyond,
        ends_early,
        is_no_whole_band,
        has_no_bands,
        has_no_steps,
        has_too_many_steps,
        begins_nowhere,
        has_a_copy,
        is_there_twice,
        has_none_at_once,
        has_more_at_once_than_bands,
        asks_for_no_value,
        asks_for_half_a_condition,
        has_a_ring_and_no_bands,
        has_a_ring_of_no_bytes,
        has_a_ring_of_half_a_page,
        has_a_ring_that_is_longer,
        has_a_ring_of_a_slot_with_memory,
        copies_a_ring,
        is_of_another_device,
    };
    struct fixture f;
    (void)state;
    begin(&f, "2");
    for (unsigned i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct test_program p = program_in_bands();
        ways[i](&p);
        if (load(&f, &p, NULL) == FUSION_SUCCESS) fail_msg("list %u was taken", i);
    }
    struct test_program good = program_in_bands();
    assert_int_equal(load(&f, &good, NULL), FUSION_SUCCESS);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_bands_run),
        cmocka_unit_test(a_condition_that_does_not_hold),
        cmocka_unit_test(bad_bands_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
