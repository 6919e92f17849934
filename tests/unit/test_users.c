/* What users may hold, and what is written about them in the log. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/broker/core/log.h"
#include "daemon/broker/core/user.h"
#include "proto/include/fusiond/status.h"

enum { LIMIT = 1024, FIRST = 4000 };

static void init(struct users *users)
{
    users_init(users);
    users_limit(users, (const uint64_t[USER_RESOURCES]){LIMIT, LIMIT << 20, LIMIT, LIMIT, LIMIT, LIMIT}, NULL, 0);
    users->owner = FIRST - 1;
}

/* Takes one at a time until it is refused. */
static uint64_t take_all(struct user *user)
{
    uint64_t n = 0;
    while (user_charge(user, USER_OBJECTS, 1, NULL)) n++;
    return n;
}

/* Each newcomer still gets half of what is left. */
static void test_shares(void **state)
{
    (void)state;
    struct users users;
    struct user *user[4];
    init(&users);
    for (unsigned i = 0; i < 4; i++) {
        user[i] = user_get(&users, FIRST + i);
        assert_int_equal(take_all(user[i]), LIMIT >> (i + 1));
    }
    user_refund(user[0], USER_OBJECTS, LIMIT / 2);
    assert_int_equal(take_all(user[1]), (LIMIT - LIMIT / 8 - LIMIT / 16) / 2 - LIMIT / 4);
    assert_false(user_charge(user[0], USER_OBJECTS, UINT64_MAX, NULL)); /* nothing overflows */
    assert_true(user_charge(user[1], USER_OBJECTS, 0, NULL));
    users_clear(&users);
}

static void test_whole(void **state)
{
    (void)state;
    struct users users;
    init(&users);
    struct user *other = user_get(&users, FIRST), *root = user_get(&users, 0), *owner = user_get(&users, users.owner);
    assert_true(user_charge(other, USER_OBJECTS, 100, NULL));
    assert_int_equal(take_all(root), LIMIT - 100);
    user_refund(root, USER_OBJECTS, LIMIT - 100);
    assert_int_equal(take_all(owner), LIMIT - 100);
    assert_true(user_sees_all(root) && user_sees_all(owner) && !user_sees_all(other));
    users_clear(&users);
}

static void test_costs(void **state)
{
    (void)state;
    struct users users;
    struct error error;
    init(&users);
    struct user *user = user_get(&users, FIRST);
    struct user_cost cost = {.of = {[USER_SESSIONS] = 1, [USER_OBJECTS] = LIMIT}};
    assert_false(user_charge_all(user, &cost, &error));
    assert_int_equal(error.code, FUSION_OUT_OF_MEMORY);
    assert_non_null(strstr(error.reason, "executables: 1024 more"));
    for (int i = 0; i < USER_RESOURCES; i++) assert_int_equal(user->used[i] + users.used[i], 0); /* all or nothing */
    assert_false(user_charge(user, USER_BYTES, 1ull << 30, &error));
    assert_non_null(strstr(error.reason, "1024 MB more"));
    assert_non_null(strstr(error.reason, "user 4000"));
    assert_non_null(strstr(error.reason, "of 1024 MB"));
    users_clear(&users);
}

/* Users who are gone are remembered, but not without end. */
static void test_absent(void **state)
{
    (void)state;
    struct users users;
    uint32_t n = 0;
    struct user *user;
    init(&users);
    struct user *there = user_get(&users, FIRST);
    user_put(user_get(&users, FIRST + 1));
    assert_ptr_equal(user_get(&users, FIRST), there);
    user_put(there);
    for (unsigned i = 0; i < 10000; i++) user_put(user_get(&users, FIRST + 2 + i));
    TAILQ_FOREACH(user, &users.list, link)
    n++;
    assert_true(n < 200);
    assert_ptr_equal(user_get(&users, FIRST), there);
    assert_int_equal(users.n_present, 1);
    users_clear(&users);
}

/* ---- the log ---- */

static void expect_escaped(const char *text, const char *escaped)
{
    char to[200];
    log_escape(to, sizeof to, text);
    assert_string_equal(to, escaped);
}

static void test_escape(void **state)
{
    (void)state;
    char to[20];
    expect_escaped("plain, h\xc3\xa9llo \xe2\x80\x93 \xf0\x9f\x99\x82",
                   "plain, h\xc3\xa9llo \xe2\x80\x93 \xf0\x9f\x99\x82");
    expect_escaped("a\nfusiond: b\r\x1b[31m\x7f", "a\\x0afusiond: b\\x0d\\x1b[31m\\x7f");
    expect_escaped("\xc2\x9b"
                   "2J",
                   "\\xc2\\x9b2J"); /* a C1 control */
    expect_escaped("\xe2\x80\xae"
                   "x",
                   "\\xe2\\x80\\xaex");       /* right to left */
    expect_escaped("\xff\xc3", "\\xff\\xc3"); /* no UTF-8 */
    log_escape(to, sizeof to, "0123456789012345678901234567890");
    assert_string_equal(to, "0123456789012345...");
    log_escape(to, sizeof to, "01234567890123\n\n\n");
    assert_true(strlen(to) < sizeof to);
}

/* Many lines of one client, one of them very long: a few are written, none longer than a line may be. */
static void test_rate(void **state)
{
    (void)state;
    struct log_limit loud = {0}, quiet = {0};
    char path[] = "/tmp/test-users-XXXXXX", line[4 * LOG_LINE];
    static char very_long[1 << 16];
    int file = mkstemp(path), before = dup(STDERR_FILENO), lines = 0, others = 0;
    memset(very_long, 'x', sizeof very_long - 1);
    dup2(file, STDERR_FILENO);
    for (int i = 0; i < 5000; i++) log_about(LOG_INFO, &loud, NULL, "line %d %s", i, very_long);
    log_about(LOG_INFO, &quiet, NULL, "of another");
    fflush(stderr);
    dup2(before, STDERR_FILENO);
    FILE *f = fopen(path, "r");
    while (fgets(line, sizeof line, f)) {
        assert_true(strlen(line) < LOG_LINE + 20);
        lines++;
        others += strstr(line, "of another") != NULL;
    }
    fclose(f);
    close(file);
    close(before);
    unlink(path);
    assert_in_range(lines, 2, 50);
    assert_int_equal(others, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares), cmocka_unit_test(test_whole),  cmocka_unit_test(test_costs),
        cmocka_unit_test(test_absent), cmocka_unit_test(test_escape), cmocka_unit_test(test_rate),
    };
    return cmocka_run_group_tests_name("users", tests, NULL, NULL);
}
