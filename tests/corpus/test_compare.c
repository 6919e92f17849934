/* The corpus' own tools: what counts as the same result, and what a wrong directive is told. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/corpus/corpus.h"

/* Reads directives from a file made of the text. */
static bool read_text(const char *text, struct corpus *c)
{
    char path[] = "/tmp/fusion-corpus-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    bool good = corpus_read(path, "6.0", c);
    unlink(path);
    return good;
}

static uint64_t differing(const char *directives, const float *want, const float *got)
{
    struct corpus c;
    char text[200];
    assert_true(read_text(directives, &c));
    uint64_t n = corpus_compare(&c.kernels[0]->args[0], want, got, c.kernels[0], text, sizeof text);
    corpus_clear(&c);
    return n;
}

static void exact_values(void **state)
{
    (void)state;
    const char *four = "//: kernel k 4 1\n//: buffer f32 4 zero\n";
    float want[4] = {1, 0.0f, NAN, INFINITY};
    assert_int_equal(differing(four, want, (float[]){1, 0.0f, -NAN, INFINITY}), 0);
    assert_int_equal(differing(four, want, (float[]){1, -0.0f, NAN, INFINITY}), 1);
    assert_int_equal(differing(four, want, (float[]){nextafterf(1, 2), 0.0f, 1, -INFINITY}), 3);
}

static void bounds_of_functions(void **state)
{
    (void)state;
    const char *two = "//: kernel k 2 1\n//: buffer f32 2 zero -> sin exact:floor\n";
    float want[2] = {1, 1}, near_one = 1 + 4 * 0x1p-23f, far_from_one = 1 + 6 * 0x1p-23f;
    assert_int_equal(differing(two, want, (float[]){near_one, 1}), 0);
    assert_int_equal(differing(two, want, (float[]){far_from_one, 1}), 1);
    assert_int_equal(differing(two, want, (float[]){1, near_one}), 1);
    assert_int_equal(differing(two, (float[]){0x1p-149f, 1}, (float[]){-0x1p-149f, 1}), 0);
    assert_int_equal(differing(two, (float[]){INFINITY, 1}, (float[]){-INFINITY, 1}), 1);
    const char *near_rule = "//: kernel k 2 1\n//: buffer f32 2 zero -> near:0.01\n";
    assert_int_equal(differing(near_rule, (float[]){100, 0}, (float[]){100.9f, 0.009f}), 0);
    assert_int_equal(differing(near_rule, (float[]){100, 0}, (float[]){101.1f, 0.011f}), 2);
}

static void known_differences(void **state)
{
    (void)state;
    const char *zeros = "//: kernel k 2 1\n//: buffer f32 2 zero -> exact:a exact:b\n//: pocl-zeros exact:a why\n";
    const char *all = "//: kernel k 2 1\n//: buffer f32 2 zero -> exact:a exact:b\n//: pocl-differs exact:a why\n";
    float want[2] = {0, 0};
    assert_int_equal(differing(zeros, want, (float[]){-0.0f, -0.0f}), 1);
    assert_int_equal(differing(zeros, want, (float[]){1, 0}), 1);
    assert_int_equal(differing(all, want, (float[]){1, 0}), 0);
    assert_int_equal(differing(all, want, (float[]){1, 1}), 1);
}

/* What is said of a version does not hold for others. */
static void versions_of_pocl(void **state)
{
    (void)state;
    const char *other = "//: pocl@3.1 why\n//: kernel k 2 1\n//: buffer f32 2 zero\n//: pocl@3.1 why\n"
                        "//: pocl-differs@3.1 exact why\n";
    const char *this = "//: pocl@6.0 all\n//: kernel k 2 1\n//: kernel l 2 1\n//: buffer f32 2 zero\n"
                       "//: pocl@6.0 one\n//: pocl-zeros@6.0 exact why\n";
    struct corpus c;
    assert_true(read_text(other, &c));
    assert_null(c.no_pocl);
    assert_null(c.kernels[0]->no_pocl);
    assert_int_equal(c.kernels[0]->n_differs, 0);
    corpus_clear(&c);
    assert_true(read_text(this, &c));
    assert_string_equal(c.no_pocl, "all");
    assert_string_equal(c.kernels[0]->no_pocl, "all");
    assert_string_equal(c.kernels[1]->no_pocl, "one");
    assert_int_equal(c.kernels[1]->n_differs, 1);
    assert_true(c.kernels[1]->differs[0].only_zeros);
    corpus_clear(&c);
}

static void wrong_directives(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "//: buffer f32 2 zero\n",
        "//: kernel\n",
        "//: kernel k 4x4 2\n",
        "//: kernel k 4 1\n//: buffer f31 2 zero\n",
        "//: kernel k 4 1\n//: buffer f32 2 noise\n",
        "//: kernel k 4 1\n//: buffer f32 2 zero -> sine\n",
        "//: kernel k 4 1\n//: buffer f32 3 zero -> sin cos\n",
        "//: kernel k 4 1\n//: value 3\n",
        "//: kernel k 4 1\n//: pocl\n",
        "//: kernel k 4 1\n//: pocl@3.1\n",
        "//: kernel k 4 1\n//: pocls why\n",
        "//: pocl-zeros exact why\n",
        "//: kernel k 4 1\n//: pocl-differs sin\n",
        "//: kernel k 4 1\n//: offset 1x1\n",
        "//: kernel k 4 1\n//: cpu no\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct corpus c;
        assert_false(read_text(texts[i], &c));
    }
}

static void values_as_structs(void **state)
{
    (void)state;
    struct corpus c;
    assert_true(read_text("//: kernel k 4x2 2x1\n//: value i8 -1 f64 2.5 u16 7\n", &c));
    struct {
        int8_t a;
        double b;
        uint16_t c;
    } want = {-1, 2.5, 7};
    const struct corpus_arg *a = &c.kernels[0]->args[0];
    assert_int_equal(a->size, offsetof(__typeof__(want), c) + 2);
    assert_memory_equal(a->value, &want.a, 1);
    assert_memory_equal(a->value + 8, &want.b, 8);
    assert_memory_equal(a->value + 16, &want.c, 2);
    corpus_clear(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_values),     cmocka_unit_test(bounds_of_functions), cmocka_unit_test(known_differences),
        cmocka_unit_test(versions_of_pocl), cmocka_unit_test(wrong_directives),    cmocka_unit_test(values_as_structs),
    };
    return cmocka_run_group_tests_name("corpus_compare", tests, NULL, NULL);
}
