/* What is compiled again and what is not: a scalar, a buffer, a range are not part of the code; properties are. */
#include "tests/conformance/kit.h"

struct chain {
    uint64_t size, local;
    int factor;
    unsigned properties;
    bool barriers;
    fusion_mode mode;
    const char *device;
    bool in_place; /* the last kernel writes what the first one reads */
};

static const struct chain usual = {.size = SIZE,
                                   .factor = 3,
                                   .properties =
                                       FUSION_ACCESS_SCOPE_WORK_ITEM | FUSION_INTERNAL_MEMORY | FUSION_NO_INIT,
                                   .mode = FUSION_REQUIRE,
                                   .device = "cpu"};

/* in * factor * 2 through a temporary; gives how many pieces of code were compiled for it. */
static long long compiled_at(const struct service *s, const struct chain *c)
{
    struct kit k = {.session = service_connect(s), .device = c->device, .barriers = c->barriers};
    kit_open(&k);
    long long before = service_counter(k.session, "compiles");
    fusion_buffer *in = kit_ramp(&k, "in", c->size, 1, 0), *tmp = kit_buffer(&k, "tmp", c->size, c->properties),
                  *out = c->in_place ? in : kit_buffer(&k, "out", c->size, 0);
    kit_add(&k, "scale", c->size, c->local, fusion_arg_read(in), fusion_arg_write(tmp), fusion_arg_i32(c->factor));
    kit_add(&k, "scale", c->size, c->local, fusion_arg_read(tmp), fusion_arg_write(out), fusion_arg_i32(2));
    kit_run(&k, c->mode);
    for (uint64_t i = 0; i < c->size; i++)
        if (kit_map(out)[i] != 2 * c->factor * (int)i)
            fail_msg("element %d: %d instead of %d", (int)i, kit_map(out)[i], 2 * c->factor * (int)i);
    long long made = service_counter(k.session, "compiles") - before;
    if (strcmp(fusion_exec_report(k.exec)->cache, "memory") == 0) assert_int_equal(made, 0);
    fusion_disconnect(k.session);
    return made;
}

static long long compiled_for(const struct chain *c)
{
    return compiled_at(kit_service(), c);
}

static void test_jit_caching(void **state)
{
    (void)state;
    struct chain c = usual;
    assert_int_equal(compiled_for(&c), 1);
    assert_int_equal(compiled_for(&c), 0); /* another session, other buffers */
    c.factor = 17;
    assert_int_equal(compiled_for(&c), 0);
    c = usual, c.barriers = true, c.local = 16;
    assert_int_equal(compiled_for(&c), 1);
    c = usual, c.properties = 0;
    assert_int_equal(compiled_for(&c), 1);
    assert_int_equal(compiled_for(&c), 0);
    c.in_place = true;
    assert_int_equal(compiled_for(&c), 1); /* the same memory twice */
    c = usual, c.mode = FUSION_NONE;
    assert_int_equal(compiled_for(&c), 1); /* both launches are one kernel */
    c = usual;
    assert_int_equal(compiled_for(&c), 0);
}

/* Theirs ran a hit over the old range. A launch of one work-item has code of its own. */
static void test_cached_ndrange(void **state)
{
    (void)state;
    struct chain c = usual;
    compiled_for(&c);
    static const uint64_t sizes[] = {SIZE * 2, SIZE / 2, 7, 10007, 1, 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        c.size = sizes[i]; /* the values of all elements are checked */
        assert_int_equal(compiled_for(&c), i == 4);
    }
}

/* Another device makes its own; going back finds the old code. */
static void test_jit_caching_multitarget(void **state)
{
    (void)state;
    struct chain c = usual;
    compiled_for(&c);
    c.device = "reference";
    compiled_for(&c);
    c.device = "cpu";
    assert_int_equal(compiled_for(&c), 0);
    /* Another instruction set, over the same cache on disk. */
    struct service s;
    service_start(&s, NULL);
    assert_int_equal(compiled_at(&s, &c), 1);
    service_stop(&s);
    setenv("FUSIOND_ISA", "generic", 1);
    service_restart(&s, NULL);
    unsetenv("FUSIOND_ISA");
    assert_int_equal(compiled_at(&s, &c), 1);
    service_stop(&s);
    service_restart(&s, NULL);
    assert_int_equal(compiled_at(&s, &c), 0);
    service_clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jit_caching),
        cmocka_unit_test(test_cached_ndrange),
        cmocka_unit_test(test_jit_caching_multitarget),
    };
    return cmocka_run_group_tests_name("conformance_caching", tests, kit_start, kit_stop);
}
