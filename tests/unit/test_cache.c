/* The cache: hits, damage of every sort, eviction, several writers, a disk that takes no more. */
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/broker/cache/cache.h"
#include "daemon/broker/core/log.h"
#include "tests/support/fork.h"

enum { DISK = 1 << 20, MEMORY = 1 << 16 };

static int setup(void **state)
{
    char *directory = strdup("/tmp/test-cache-XXXXXX");
    assert_non_null(mkdtemp(directory));
    *state = directory;
    return 0;
}

static int teardown(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "chmod -R u+rwx %s && rm -r %s", (char *)*state, (char *)*state);
    assert_int_equal(system(command), 0);
    free(*state);
    return 0;
}

static struct hash key_of(uint64_t number)
{
    struct hasher h;
    hasher_begin(&h, "test");
    hasher_add_uint(&h, number);
    return hasher_end(&h);
}

static struct blob *contents(uint64_t number, size_t size)
{
    struct blob *blob = blob_new(NULL, size);
    for (size_t i = 0; i < size; i++) blob->data[i] = (uint8_t)(number * 31 + i * 7 + (i >> 8));
    return blob;
}

enum { SOMEBODY = 1000, SOMEBODY_ELSE = 1001 };

static void put_of(struct cache *cache, uid_t owner, uint64_t number, size_t size)
{
    struct hash key = key_of(number);
    struct blob *blob = contents(number, size);
    cache_put(cache, CACHE_OBJECT, &key, blob, owner);
    blob_unref(blob);
}

static void put(struct cache *cache, uint64_t number, size_t size)
{
    cache_settle(cache); /* what is written while it is counted may count twice, until the next time */
    put_of(cache, SOMEBODY, number, size);
    cache_settle(cache);
}

/* Where the entry is; what is found must be what was put. */
static enum cache_source get(struct cache *cache, uint64_t number, size_t size)
{
    struct hash key = key_of(number);
    struct blob *blob = NULL, *expected = contents(number, size);
    enum cache_source source = cache_get(cache, CACHE_OBJECT, &key, &blob);
    if (source != CACHE_MISS) {
        assert_int_equal(blob->size, size);
        assert_memory_equal(blob->data, expected->data, size);
    }
    blob_unref(blob);
    blob_unref(expected);
    return source;
}

static void path_of(char path[200], const char *directory, uint64_t number)
{
    struct hash key = key_of(number);
    char hex[65];
    sodium_bin2hex(hex, sizeof hex, key.bytes, 32);
    snprintf(path, 200, "%s/%.2s/%s.%d", directory, hex, hex + 2, CACHE_OBJECT);
}

static uint64_t count_files(const char *directory, const char *having)
{
    char command[256];
    snprintf(command, sizeof command, "find %s -type f -name '%s' | wc -l", directory, having);
    FILE *out = popen(command, "r");
    unsigned long n = 0;
    assert_int_equal(fscanf(out, "%lu", &n), 1);
    pclose(out);
    return n;
}

static void test_memory_only(void **state)
{
    (void)state;
    struct cache *cache = cache_open(NULL, DISK, MEMORY);
    assert_int_equal(get(cache, 1, 100), CACHE_MISS);
    put(cache, 1, 100);
    assert_int_equal(get(cache, 1, 100), CACHE_MEMORY);
    put(cache, 1, 200); /* replaced */
    assert_int_equal(get(cache, 1, 200), CACHE_MEMORY);
    put(cache, 2, MEMORY); /* larger than memory takes */
    assert_int_equal(get(cache, 2, MEMORY), CACHE_MISS);
    for (uint64_t i = 10; i < 200; i++) {
        put(cache, i, 1000);
        assert_int_equal(get(cache, 1, 200), CACHE_MEMORY); /* used all the time: stays */
        assert_true(cache_stats(cache).memory_bytes <= MEMORY);
    }
    assert_int_equal(get(cache, 10, 1000), CACHE_MISS);
    assert_int_equal(get(cache, 199, 1000), CACHE_MEMORY);
    cache_close(cache);
    cache_close(NULL);
}

static void test_kinds_differ(void **state)
{
    struct cache *cache = cache_open(*state, DISK, MEMORY);
    struct hash key = key_of(1);
    struct blob *blob = NULL;
    put(cache, 1, 10);
    assert_int_equal(cache_get(cache, CACHE_PLAN, &key, &blob), CACHE_MISS);
    assert_null(blob);
    cache_close(cache);
}

static void test_disk(void **state)
{
    char deep[200];
    snprintf(deep, sizeof deep, "%s/made/by/cache", (char *)*state);
    struct cache *cache = cache_open(deep, DISK, MEMORY);
    put(cache, 1, 5000);
    put(cache, 2, 0);
    put(cache, 3, 100000);
    uint64_t bytes = cache_stats(cache).disk_bytes;
    assert_true(bytes > 105000 && bytes < 106000);
    cache_close(cache);
    cache = cache_open(deep, DISK, MEMORY);
    cache_settle(cache);
    assert_true(cache_stats(cache).disk_bytes == bytes);
    assert_int_equal(get(cache, 1, 5000), CACHE_DISK);
    assert_int_equal(get(cache, 1, 5000), CACHE_MEMORY);
    assert_int_equal(get(cache, 2, 0), CACHE_DISK);
    assert_int_equal(get(cache, 3, 100000), CACHE_DISK);
    assert_int_equal(get(cache, 3, 100000), CACHE_DISK); /* too large for memory */
    assert_int_equal(get(cache, 4, 1), CACHE_MISS);
    put(cache, 1, 6000);
    assert_true(cache_stats(cache).disk_bytes == bytes + 1000);
    cache_close(cache);
}

/* Damages the file, expects a miss, the file gone, one more corrupt entry, and the next put to work. */
static void expect_rejected(const char *directory, const char *path, uint64_t number, size_t size)
{
    struct cache *cache = cache_open(directory, DISK, MEMORY);
    assert_int_equal(get(cache, number, size), CACHE_MISS);
    assert_int_equal(cache_stats(cache).corrupt, 1);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(get(cache, number, size), CACHE_MISS);
    assert_int_equal(cache_stats(cache).corrupt, 1);
    put(cache, number, size);
    cache_close(cache);
    cache = cache_open(directory, DISK, MEMORY);
    assert_int_equal(get(cache, number, size), CACHE_DISK);
    cache_close(cache);
}

static void test_damage(void **state)
{
    char path[200];
    path_of(path, *state, 1);
    struct cache *cache = cache_open(*state, DISK, MEMORY);
    put(cache, 1, 300);
    cache_close(cache);
    struct stat s;
    assert_int_equal(stat(path, &s), 0);
    /* A wrong byte anywhere: magic, format, kind, size, checksum, contents. */
    for (off_t at = 0; at < s.st_size; at += at < 64 ? 1 : 37) {
        int fd = open(path, O_RDWR);
        uint8_t byte;
        assert_int_equal(pread(fd, &byte, 1, at), 1);
        byte ^= 0x40;
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
        close(fd);
        expect_rejected(*state, path, 1, 300);
    }
    for (off_t size = 0; size < s.st_size; size += 41) {
        assert_int_equal(truncate(path, size), 0);
        expect_rejected(*state, path, 1, 300);
    }
    assert_int_equal(truncate(path, s.st_size + 1), 0);
    expect_rejected(*state, path, 1, 300);
}

static void test_entry_under_another_name(void **state)
{
    char from[200], to[200], directory[200];
    path_of(from, *state, 1);
    path_of(to, *state, 2);
    struct cache *cache = cache_open(*state, DISK, MEMORY);
    put(cache, 1, 300);
    put(cache, 2, 300);
    cache_close(cache);
    assert_int_equal(rename(from, to), 0);
    snprintf(directory, sizeof directory, "%s", (char *)*state);
    expect_rejected(directory, to, 2, 300);
}

static void test_not_a_file(void **state)
{
    char path[200];
    path_of(path, *state, 1);
    struct cache *cache = cache_open(*state, DISK, 0);
    put(cache, 1, 300);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("/etc/passwd", path), 0);
    assert_int_equal(get(cache, 1, 300), CACHE_MISS); /* links are not followed */
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path + strlen(path), sizeof path - strlen(path), "/file");
    close(open(path, O_CREAT | O_WRONLY, 0600));
    assert_int_equal(get(cache, 1, 300), CACHE_MISS);
    put(cache, 1, 300); /* cannot be written there; no error */
    assert_int_equal(cache_stats(cache).write_failures, 1);
    assert_int_equal(count_files(*state, "*.new*"), 0);
    cache_close(cache);
}

/* Whatever lies where an entry should be is a miss that makes nobody wait, and the next entry takes its place. */
static void expect_replaced(struct cache *cache)
{
    alarm(20);
    assert_int_equal(get(cache, 1, 300), CACHE_MISS);
    put(cache, 1, 300);
    assert_int_equal(get(cache, 1, 300), CACHE_DISK);
    alarm(0);
}

static void test_strange_files(void **state)
{
    char path[200];
    path_of(path, *state, 1);
    struct cache *cache = cache_open(*state, DISK, 0);
    put(cache, 1, 300);
    assert_int_equal(unlink(path) | mkfifo(path, 0600), 0);
    expect_replaced(cache);
    assert_int_equal(unlink(path) | mkdir(path, 0700), 0); /* an empty one is in nobody's way */
    expect_replaced(cache);
    assert_int_equal(unlink(path) | symlink("/dev/zero", path), 0);
    expect_replaced(cache);
    int fd = open(path, O_WRONLY); /* with a header that is right, and no end */
    assert_int_equal(ftruncate(fd, (off_t)1 << 40), 0);
    close(fd);
    expect_replaced(cache);
    assert_true(cache_stats(cache).disk_bytes < 1000);
    cache_close(cache);
}

/* A folder of the cache that is a link to elsewhere is not followed, neither to read nor to write or delete. */
static void test_folder_elsewhere(void **state)
{
    char path[200], folder[200], away[200];
    path_of(path, *state, 1);
    struct cache *cache = cache_open(*state, DISK, 0);
    put(cache, 1, 300);
    snprintf(folder, sizeof folder, "%s", path);
    *strrchr(folder, '/') = 0;
    snprintf(away, sizeof away, "%s/elsewhere", (char *)*state);
    assert_int_equal(rename(folder, away) | symlink(away, folder), 0);
    assert_int_equal(get(cache, 1, 300), CACHE_MISS);
    put(cache, 1, 400);
    assert_int_equal(cache_stats(cache).write_failures, 1);
    assert_int_equal(unlink(folder) | rename(away, folder), 0);
    assert_int_equal(get(cache, 1, 300), CACHE_DISK);
    cache_close(cache);
}

/* A file that is no entry, and one larger than any entry, count for nothing: no entry has to go for them. */
static void test_foreign_files(void **state)
{
    char path[300], sub[200];
    struct cache *cache = cache_open(*state, DISK, 0);
    put(cache, 1, 300);
    path_of(sub, *state, 1);
    *strrchr(sub, '/') = 0;
    snprintf(path, sizeof path, "%s/core", sub);
    assert_int_equal(close(open(path, O_CREAT | O_WRONLY, 0600)) | truncate(path, (off_t)1 << 40), 0);
    path_of(sub, *state, 2);
    *strrchr(sub, '/') = 0;
    mkdir(sub, 0700);
    path_of(path, *state, 2);
    assert_int_equal(close(open(path, O_CREAT | O_WRONLY, 0600)) | truncate(path, (off_t)1 << 40), 0);
    cache_close(cache);
    cache = cache_open(*state, DISK, 0);
    cache_settle(cache);
    assert_true(cache_stats(cache).disk_bytes < 1000);
    assert_int_equal(get(cache, 1, 300), CACHE_DISK);
    cache_close(cache);
}

/* A user who fills the cache drives out what is his own; what others use least stays. */
static void test_eviction_by_user(void **state)
{
    struct cache *cache = cache_open(*state, DISK, MEMORY);
    for (uint64_t i = 0; i < 10; i++) put_of(cache, SOMEBODY_ELSE, i, 1000);
    for (uint64_t i = 0; i < 10; i++) assert_int_equal(get(cache, i, 1000), CACHE_MEMORY);
    for (uint64_t i = 100; i < 700; i++) {
        put_of(cache, SOMEBODY, i, 4000);
        if (i % 50 == 0) cache_settle(cache);
    }
    cache_settle(cache);
    assert_true(cache_stats(cache).disk_bytes <= DISK);
    for (uint64_t i = 0; i < 10; i++) assert_int_equal(get(cache, i, 1000), CACHE_MEMORY);
    cache_close(cache);
    cache = cache_open(*state, DISK, 0);
    for (uint64_t i = 0; i < 10; i++) assert_int_equal(get(cache, i, 1000), CACHE_DISK);
    assert_int_equal(get(cache, 100, 4000), CACHE_MISS);
    assert_int_equal(get(cache, 699, 4000), CACHE_DISK);
    cache_close(cache);
}

/* Until an eviction begins: who writes the entry that is too much does not wait until a thousand others are gone. */
static void write_too_much(struct cache *cache)
{
    bool seen = false;
    cache_settle(cache);
    for (uint64_t i = 0; i < 12000 && !seen; i++) {
        put_of(cache, SOMEBODY, i, 250);
        seen = cache_stats(cache).disk_bytes > DISK; /* and yet we are here */
    }
    assert_true(seen);
}

static void test_eviction_in_background(void **state)
{
    struct cache *cache = cache_open(*state, DISK, 0);
    write_too_much(cache);
    cache_settle(cache);
    assert_true(cache_stats(cache).disk_bytes <= DISK);
    cache_close(cache);
}

/* What is written during an eviction is too much together with what that leaves: another one follows. */
static void test_eviction_follows_eviction(void **state)
{
    struct cache *cache = cache_open(*state, DISK, 0);
    write_too_much(cache);
    for (uint64_t i = 20000; i < 20060; i++) put_of(cache, SOMEBODY, i, 4000);
    cache_settle(cache);
    assert_true(cache_stats(cache).disk_bytes <= DISK);
    assert_int_equal(get(cache, 20059, 4000), CACHE_DISK);
    cache_close(cache);
}

static struct cache_allowances allowances(uint64_t of_somebody, uint64_t others)
{
    struct cache_allowances a = {.of = malloc(sizeof *a.of), .n = 1, .others = others};
    assert_non_null(a.of);
    a.of[0] = (struct cache_allowance){SOMEBODY, of_somebody};
    return a;
}

/* Where a user may have so much of it, he has no more, long before the whole is full; he loses what he has not used for
   the longest time, and others nothing. */
static void test_allowances(void **state)
{
    enum { ALLOWED = 100000, SIZE = 4000 };
    struct cache *cache = cache_open(*state, DISK, 0);
    cache_allow(cache, allowances(ALLOWED, UINT64_MAX));
    for (uint64_t i = 0; i < 50; i++) put_of(cache, SOMEBODY_ELSE, i, SIZE);
    for (uint64_t i = 100; i < 160; i++) {
        put_of(cache, SOMEBODY, i, SIZE);
        cache_settle(cache);
        assert_true(cache_bytes_of(cache, SOMEBODY) <= ALLOWED);
    }
    assert_true(cache_bytes_of(cache, SOMEBODY) > ALLOWED / 2);
    assert_int_equal(get(cache, 159, SIZE), CACHE_DISK);
    assert_int_equal(get(cache, 100, SIZE), CACHE_MISS);
    for (uint64_t i = 0; i < 50; i++) assert_int_equal(get(cache, i, SIZE), CACHE_DISK);
    put_of(cache, SOMEBODY, 200, 2 * ALLOWED); /* larger than all he may have: nothing goes for it */
    assert_int_equal(get(cache, 200, 2 * ALLOWED), CACHE_MISS);
    assert_int_equal(cache_stats(cache).write_failures, 0);
    /* Who is not named has what others have; it holds from now on for what is there already. */
    uint64_t before = cache_bytes_of(cache, SOMEBODY_ELSE);
    assert_true(before > 50 * SIZE);
    cache_allow(cache, allowances(UINT64_MAX, ALLOWED));
    cache_settle(cache);
    assert_true(cache_bytes_of(cache, SOMEBODY_ELSE) <= ALLOWED);
    assert_int_equal(get(cache, 159, SIZE), CACHE_DISK);
    for (uint64_t i = 300; i < 350; i++) put_of(cache, SOMEBODY, i, SIZE);
    cache_settle(cache);
    assert_int_equal(get(cache, 300, SIZE), CACHE_DISK);
    uint64_t kept = cache_bytes_of(cache, SOMEBODY);
    cache_close(cache);
    cache = cache_open(*state, DISK, 0); /* whose they are is in the files */
    cache_settle(cache);
    assert_int_equal(cache_bytes_of(cache, SOMEBODY), kept);
    cache_allow(cache, allowances(0, UINT64_MAX));
    cache_settle(cache);
    assert_int_equal(cache_bytes_of(cache, SOMEBODY), 0);
    put_of(cache, SOMEBODY, 1000, SIZE);
    assert_int_equal(get(cache, 1000, SIZE), CACHE_MISS);
    cache_close(cache);
}

static void test_reject(void **state)
{
    struct cache *cache = cache_open(*state, DISK, MEMORY);
    struct hash key = key_of(1);
    put(cache, 1, 300);
    cache_reject(cache, CACHE_OBJECT, &key);
    assert_int_equal(get(cache, 1, 300), CACHE_MISS);
    assert_int_equal(cache_stats(cache).corrupt, 1);
    assert_true(cache_stats(cache).disk_bytes == 0);
    cache_close(cache);
}

static void test_eviction(void **state)
{
    struct cache *cache = cache_open(*state, DISK, 0);
    struct timespec old[2] = {{1000, 0}, {1000, 0}};
    char path[200];
    for (uint64_t i = 0; i < 90; i++) {
        put(cache, i, 10000);
        path_of(path, *state, i);
        old[0].tv_sec = old[1].tv_sec = 1000 + (time_t)i;
        assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
    }
    assert_int_equal(get(cache, 0, 10000), CACHE_DISK); /* used: young again */
    for (uint64_t i = 90; i < 120; i++) {
        put(cache, i, 10000);
        assert_true(cache_stats(cache).disk_bytes <= DISK);
    }
    assert_int_equal(get(cache, 0, 10000), CACHE_DISK);
    assert_int_equal(get(cache, 1, 10000), CACHE_MISS);
    assert_int_equal(get(cache, 10, 10000), CACHE_MISS);
    assert_int_equal(get(cache, 89, 10000), CACHE_DISK);
    assert_int_equal(get(cache, 119, 10000), CACHE_DISK);
    put(cache, 200, DISK); /* larger than the whole: not kept, nothing evicted for it */
    assert_int_equal(get(cache, 200, DISK), CACHE_MISS);
    assert_int_equal(get(cache, 119, 10000), CACHE_DISK);
    cache_close(cache);
}

static void test_concurrent_writers(void **state)
{
    pid_t children[4];
    for (int c = 0; c < 4; c++) {
        children[c] = fork_or_fail();
        if (children[c] == 0) {
            struct cache *cache = cache_open(*state, DISK, 0);
            for (int round = 0; round < 40; round++)
                for (uint64_t i = 0; i < 8; i++) {
                    put(cache, i, 20000);
                    get(cache, i, 20000); /* fails the process where it is not whole */
                }
            _exit(cache_stats(cache).corrupt == 0 && cache_stats(cache).write_failures == 0 ? 0 : 1);
        }
    }
    for (int c = 0; c < 4; c++) {
        int status;
        assert_int_equal(waitpid(children[c], &status, 0), children[c]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(count_files(*state, "*"), 8);
}

static void test_full_disk(void **state)
{
    struct rlimit before, tiny;
    signal(SIGXFSZ, SIG_IGN); /* as the daemon does */
    struct cache *cache = cache_open(*state, DISK, MEMORY);
    put(cache, 1, 5000);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    tiny = before;
    tiny.rlim_cur = 4096;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tiny), 0);
    put(cache, 2, 8000);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(cache_stats(cache).write_failures, 1);
    assert_int_equal(count_files(*state, "*"), 1); /* no half file is left */
    assert_int_equal(get(cache, 2, 8000), CACHE_MEMORY);
    assert_int_equal(get(cache, 1, 5000), CACHE_MEMORY);
    cache_close(cache);
}

static void test_left_over_temporaries(void **state)
{
    char sub[200], path[300];
    struct timespec old[2] = {{1000, 0}, {1000, 0}};
    snprintf(sub, sizeof sub, "%s/ab", (char *)*state);
    assert_int_equal(mkdir(sub, 0700), 0);
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/cd.2.new77-%d", sub, i);
        close(open(path, O_CREAT | O_WRONLY, 0600));
    }
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
    struct cache *cache = cache_open(*state, DISK, MEMORY);
    cache_settle(cache);
    cache_close(cache);
    assert_int_equal(count_files(*state, "*.new*"), 1); /* the fresh one may be in the making */
}

static void test_foreign_directory(void **state)
{
    assert_int_equal(chmod(*state, 0777), 0);
    struct cache *cache = cache_open(*state, DISK, 0);
    put(cache, 1, 100);
    assert_int_equal(get(cache, 1, 100), CACHE_MISS); /* memory of 0 bytes, and no disk */
    assert_int_equal(count_files(*state, "*"), 0);
    cache_close(cache);
    cache = cache_open("/dev/null/nowhere", DISK, MEMORY);
    put(cache, 1, 100);
    assert_int_equal(get(cache, 1, 100), CACHE_MEMORY);
    cache_close(cache);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    log_open(LOG_TO_STDERR);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_only),
        TEST(test_kinds_differ),
        TEST(test_disk),
        TEST(test_damage),
        TEST(test_entry_under_another_name),
        TEST(test_not_a_file),
        TEST(test_strange_files),
        TEST(test_folder_elsewhere),
        TEST(test_foreign_files),
        TEST(test_eviction_by_user),
        TEST(test_eviction_in_background),
        TEST(test_eviction_follows_eviction),
        TEST(test_allowances),
        TEST(test_reject),
        TEST(test_eviction),
        TEST(test_concurrent_writers),
        TEST(test_full_disk),
        TEST(test_left_over_temporaries),
        TEST(test_foreign_directory),
    };
    return cmocka_run_group_tests_name("cache", tests, NULL, NULL);
}
