/* ir/base: the map, and errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#include "ir/base/error.h"
#include "ir/base/map.h"

enum { KEYS = 512 };

/* Against an array: what is put, replaced and removed at random. Keys with few differing bits, 0 among them. */
static void test_map(void **state)
{
    (void)state;
    struct map m = {0};
    uint8_t present[KEYS] = {0};
    srand(3);
    assert_null(map_get(&m, 1));
    assert_null(map_remove(&m, 1));
    for (int i = 0; i < 20000; i++) {
        uint64_t key = (uint64_t)rand() % KEYS;
        assert_int_equal(map_get(&m, key * 8) != NULL, present[key]);
        if (rand() % 2) {
            assert_true(map_put(&m, key * 8, &present[key]));
            present[key] = 1;
        } else {
            assert_ptr_equal(map_remove(&m, key * 8), present[key] ? &present[key] : NULL);
            present[key] = 0;
        }
    }
    uint32_t count = 0, seen = 0, position = 0;
    for (int i = 0; i < KEYS; i++) count += present[i];
    for (struct map_entry *e; (e = map_next(&m, &position)); seen++) assert_ptr_equal(e->pointer, &present[e->key / 8]);
    assert_int_equal(seen, count);
    assert_int_equal(m.count, count);
    map_clear(&m);
}

static void test_map_of_numbers(void **state)
{
    (void)state;
    struct map m = {0};
    assert_null(map_find(&m, 0));
    for (uint64_t key = 0; key < 100; key++) {
        struct map_entry *entry = map_make(&m, key << 40);
        assert_int_equal(entry->number, 0);
        entry->number = key * key; /* the first one is 0, and there all the same */
    }
    for (uint64_t key = 0; key < 100; key++) assert_int_equal(map_find(&m, key << 40)->number, key * key);
    assert_int_equal(map_make(&m, UINT64_C(7) << 40)->number, 49);
    assert_int_equal(m.count, 100);
    assert_null(map_find(&m, 1));
    map_clear(&m);
}

static void test_error(void **state)
{
    (void)state;
    struct error e;
    error_clear(&e);
    assert_int_equal(e.code, 0);
    assert_int_equal(error_set(&e, 3, "slot t", "%d bytes, at most %d", 12, 8), -1);
    assert_int_equal(e.code, 3);
    assert_string_equal(e.object, "slot t");
    assert_string_equal(e.reason, "12 bytes, at most 8");
    assert_int_equal(error_about(&e, "buffer %d, %s", 17, e.object), -1);
    assert_string_equal(e.object, "buffer 17, slot t");
    assert_int_equal(error_set_id(&e, 6, "buffer", 9, "%s", "gone"), -1);
    assert_string_equal(e.object, "buffer 9");
    error_set(&e, 3, "buffer 17, slot t", "12 bytes, at most 8");
    error_set(&e, 4, e.reason, "%s: %s", e.object, e.reason); /* out of itself */
    assert_string_equal(e.object, "12 bytes, at most 8");
    assert_string_equal(e.reason, "buffer 17, slot t: 12 bytes, at most 8");
    errno = ENOENT;
    error_set(&e, 5, NULL, "open: %m");
    assert_string_equal(e.object, "");
    assert_string_equal(e.reason, "open: No such file or directory");
    assert_int_equal(error_set(NULL, 1, "nobody", "wants to know"), -1);
}

static void test_long_error(void **state)
{
    (void)state;
    static char text[2 * ERROR_REASON];
    struct error e;
    memset(text, 'x', sizeof text - 1);
    error_set(&e, 1, text, "%s", text);
    assert_int_equal(strlen(e.object), ERROR_OBJECT - 1);
    assert_int_equal(strlen(e.reason), ERROR_REASON - 1);
    error_about(&e, "%s", text + 1);
    assert_int_equal(strlen(e.object), ERROR_OBJECT - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_map),
        cmocka_unit_test(test_map_of_numbers),
        cmocka_unit_test(test_error),
        cmocka_unit_test(test_long_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
