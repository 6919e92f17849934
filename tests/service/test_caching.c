/* What is compiled again and what is not. */
#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/service.h"

enum { SIZE = 300 };

struct run {
    uint64_t size;
    int32_t factor;
    fusion_mode mode;
    unsigned properties; /* of the temporary */
    const char *prefix;  /* of the buffers' names */
};

static const struct run usual = {SIZE, 5, FUSION_REQUIRE,
                                 FUSION_ACCESS_SCOPE_WORK_ITEM | FUSION_INTERNAL_MEMORY | FUSION_NO_INIT, ""};

/* in * factor * factor through a temporary, in a session of its own; returns where the code came from. */
static const char *run_chain(const struct service *s, struct run r)
{
    static char cache[16];
    char tmp_name[32];
    fusion_session *session = service_connect(s);
    fusion_module *module = load_test_kernels(session);
    fusion_graph *graph;
    fusion_buffer *in = index_buffer(session, "in", r.size, 1, 0), *out = index_buffer(session, "out", r.size, 0, 0),
                  *tmp;
    snprintf(tmp_name, sizeof tmp_name, "%stmp", r.prefix);
    expect_ok(fusion_buffer_create(session, tmp_name, FUSION_I32, r.size, r.properties, &tmp));
    expect_ok(fusion_graph_create(session, &graph));
    fusion_arg first[] = {fusion_arg_read(in), fusion_arg_write(tmp), fusion_arg_i32(r.factor)};
    fusion_arg second[] = {fusion_arg_read(tmp), fusion_arg_write(out), fusion_arg_i32(r.factor)};
    add_node(graph, module, "scale", r.size, first, 3);
    add_node(graph, module, "scale", r.size, second, 3);
    fusion_exec *exec;
    fusion_event event;
    void *memory;
    expect_ok(fusion_graph_finalize(graph, &(fusion_finalize_options){.mode = r.mode}, &exec));
    expect_ok(fusion_exec_submit(exec, NULL, 0, &event));
    expect_ok(fusion_event_wait(session, event, 20000, NULL));
    expect_ok(fusion_buffer_map(out, &memory));
    for (uint64_t i = 0; i < r.size; i++) assert_int_equal(((int *)memory)[i], (int)i * r.factor * r.factor);
    snprintf(cache, sizeof cache, "%s", fusion_exec_report(exec)->cache);
    fusion_disconnect(session);
    return cache;
}

static long long compiled(const struct service *s)
{
    fusion_session *session = service_connect(s);
    long long n = service_counter(session, "compiles");
    fusion_disconnect(session);
    return n;
}

static void test_hits_and_misses(void **state)
{
    (void)state;
    struct service s;
    struct run r;
    service_start(&s, NULL);
    assert_string_equal(run_chain(&s, usual), "miss");
    assert_int_equal(compiled(&s), 1);
    /* The same again from another session, and with another scalar: nothing is compiled. */
    assert_string_equal(run_chain(&s, usual), "memory");
    r = usual;
    r.factor = 77;
    assert_string_equal(run_chain(&s, r), "memory");
    assert_int_equal(compiled(&s), 1);
    /* Another range or other names: planned anew, the same code; and the new range is what runs. */
    r = usual;
    r.size = 4 * SIZE;
    run_chain(&s, r);
    r = usual;
    r.prefix = "other_";
    run_chain(&s, r);
    assert_int_equal(compiled(&s), 1);
    /* Another mode or other properties: other code. */
    r = usual;
    r.mode = FUSION_NONE;
    assert_string_equal(run_chain(&s, r), "miss");
    assert_int_equal(compiled(&s), 2); /* both launches are one kernel */
    r = usual;
    r.properties = 0;
    assert_string_equal(run_chain(&s, r), "miss");
    assert_int_equal(compiled(&s), 3);
    service_clear(&s);
}

static void test_disk_outlives_the_daemon(void **state)
{
    (void)state;
    struct service s;
    service_start(&s, NULL);
    assert_string_equal(run_chain(&s, usual), "miss");
    service_stop(&s);
    service_restart(&s, NULL);
    assert_string_equal(run_chain(&s, usual), "disk");
    assert_int_equal(compiled(&s), 0);
    assert_string_equal(run_chain(&s, usual), "memory");
    service_clear(&s);
}

/* Calls visit for each regular file below folder. */
static int each_file(const char *folder, void (*visit)(const char *path))
{
    DIR *d = opendir(folder);
    int n = 0;
    if (!d) return 0;
    for (struct dirent *e; (e = readdir(d));) {
        char path[512];
        struct stat st;
        if (e->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (lstat(path, &st) < 0) continue;
        if (S_ISDIR(st.st_mode))
            n += each_file(path, visit);
        else if (S_ISREG(st.st_mode))
            visit(path), n++;
    }
    closedir(d);
    return n;
}

static void flip_a_byte(const char *path)
{
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    long middle = ftell(f) * 3 / 4;
    fseek(f, middle, SEEK_SET);
    int byte = fgetc(f);
    fseek(f, middle, SEEK_SET);
    fputc(byte ^ 0x10, f);
    fclose(f);
}

static void cut_in_half(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(truncate(path, st.st_size / 2), 0);
}

static void make_empty(const char *path)
{
    assert_int_equal(truncate(path, 0), 0);
}

static void test_corrupt_entries_are_misses(void **state)
{
    (void)state;
    static void (*const damages[])(const char *) = {flip_a_byte, cut_in_half, make_empty};
    struct service s;
    service_start(&s, NULL);
    run_chain(&s, usual);
    for (int i = 0; i < 3; i++) {
        service_stop(&s);
        assert_true(each_file(s.cache, damages[i]) >= 2); /* a plan and an object */
        service_restart(&s, NULL);
        assert_string_equal(run_chain(&s, usual), "miss");
        fusion_session *session = service_connect(&s);
        assert_true(service_counter(session, "corrupt_entries") >= 1);
        fusion_disconnect(session);
        assert_string_equal(run_chain(&s, usual), "memory");
    }
    service_clear(&s);
}

/* Where the cache cannot be written the service works without it. */
static void test_no_place_for_the_cache(void **state)
{
    (void)state;
    static const char *const options[] = {"--cache", "/proc/no/such/folder", NULL};
    struct service s;
    service_start(&s, options);
    assert_string_equal(run_chain(&s, usual), "miss");
    assert_string_equal(run_chain(&s, usual), "memory");
    service_clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hits_and_misses),
        cmocka_unit_test(test_disk_outlives_the_daemon),
        cmocka_unit_test(test_corrupt_entries_are_misses),
        cmocka_unit_test(test_no_place_for_the_cache),
    };
    return cmocka_run_group_tests_name("caching", tests, NULL, NULL);
}
