/* fusiond-executor when things go wrong: kernels that fault, hang or try to get out, and rings full of garbage. */
#include <fcntl.h>
#include <linux/futex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/confine/landlock.h"
#include "daemon/executor/run/exit_codes.h"
#include "proto/frame.h"
#include "proto/writer.h"
#include "tests/support/executor.h"
#include "tests/support/rng.h"

enum { BYTES = 1 << 16, BUFFER = 1 };

/* One kernel on one buffer and one i64. */
#define KERNEL(body)                                                                                                   \
    "#include <errno.h>\n#include <fcntl.h>\n#include <signal.h>\n#include <sys/mman.h>\n#include <sys/resource.h>\n"  \
    "#include <sys/socket.h>\n#include <sys/stat.h>\n#include <sys/syscall.h>\n#include <sys/uio.h>\n#include "        \
    "<unistd.h>\n"                                                                                                     \
    "struct args { unsigned char *t; int64_t n; };\n"                                                                  \
    "const struct kernel_object_info fusion_kernel_info = {KERNEL_ABI_VERSION, 1, 16, 0, 0, 1};\n"                     \
    "void fusion_kernel(const struct kernel_launch *l, const void *p, uint64_t first, uint64_t end, void *local)\n"    \
    "{\n    const struct args *a = p;\n" body "\n}\n"

struct fixture {
    struct executor x;
    struct memory t;
    uint64_t id;
};

static struct test_program program(uint64_t groups)
{
    return (struct test_program){
        .n_launches = 1,
        .n_slots = 1,
        .n_values = 1,
        .value_sizes = {8},
        .slots = {{"t", BYTES}},
        .launches = {{"scale", groups * 64, 64, 16, 2, {{0, 0, 0, 0, 8, true}, {1, 0, 0, 8, 8, false}}}}};
}

static void start(struct fixture *f, const char *source, uint64_t groups)
{
    struct test_program p = program(groups);
    int64_t zero = 0;
    int object = object_compile(source);
    executor_start(&f->x, "3");
    f->t = memory_new(BYTES);
    assert_int_equal(executor_attach(&f->x, BUFFER, &f->t, 0), FUSION_SUCCESS);
    assert_int_equal(executor_load(&f->x, &p, &object, (uint64_t[]){BUFFER}, (const void *[]){&zero}, &f->id),
                     FUSION_SUCCESS);
    close(object);
}

static fusion_status submit(struct fixture *f, int64_t n)
{
    return executor_submit(&f->x, f->id, NULL, 0, &(struct test_value){0, 8, (uint64_t)n}, 1);
}

static void assert_reason(const struct fixture *f, const char *part)
{
    const struct ring_failure *why = executor_failure(&f->x);
    assert_string_equal(why->object, "kernel scale");
    if (!strstr(why->reason, part)) fail_msg("\"%s\" is not in \"%s\"", part, why->reason);
}

static void assert_died(struct fixture *f, int code)
{
    assert_int_equal(executor_exit_code(&f->x), code);
    memory_free(&f->t);
}

/* ---- kernels that do harm ---- */

static void check_fault(const char *body, uint64_t groups, int64_t n, const char *reason)
{
    struct fixture f;
    start(&f, body, groups);
    assert_int_equal(submit(&f, n), FUSION_KERNEL_FAULT);
    assert_reason(&f, reason);
    assert_died(&f, EXECUTOR_EXIT_FAULT);
}

static void test_out_of_bounds(void **state)
{
    (void)state;
    static const char store[] = KERNEL("a->t[a->n] = 1;");
    check_fault(store, 1, BYTES + 64, "64 bytes beyond the end of buffer t (65536 bytes); the option bounds");
    check_fault(store, 1, -64, "64 bytes before the start of buffer t");
    check_fault(store, 1, (int64_t)1 << 46, "near no buffer of the graph; the option bounds");
    check_fault(KERNEL("*(volatile int *)0 = 1;"), 1, 0, "address 0x0");
}

/* ... in a worker as well as in the thread that runs the ring. */
static void test_out_of_bounds_in_parallel(void **state)
{
    (void)state;
    check_fault(KERNEL("for (uint64_t g = first; g < end; g++) a->t[g] = 1;"), BYTES + 4096, 0,
                "beyond the end of buffer t");
    /* All threads at once: one of them tells, the others wait for the end. */
    for (int i = 0; i < 10; i++) check_fault(KERNEL("a->t[a->n] = 1;"), 1000000, BYTES, "beyond the end of buffer t");
}

static void test_arithmetic_fault(void **state)
{
    (void)state;
    check_fault(KERNEL("a->t[0] = (unsigned char)(7 / a->n);"), 1, 0, "SIGFPE");
    check_fault(KERNEL("__builtin_trap();"), 1, 0, "came to where it never should (SIGILL)");
    check_fault(KERNEL("__asm__ volatile(\".byte 0x0f, 0xff, 0xc0\");"), 1, 0,
                "an instruction this processor does not have (SIGILL)");
}

/* The contents written before are there. */
static void test_contents_survive(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, KERNEL("a->t[5] = 42; a->t[a->n] = 1;"), 1);
    assert_int_equal(submit(&f, BYTES), FUSION_KERNEL_FAULT);
    assert_int_equal(((unsigned char *)f.t.data)[5], 42);
    assert_died(&f, EXECUTOR_EXIT_FAULT);
}

/* What names the functions that kernels call is no kernel's to change. */
static void test_tables_are_read_only(void **state)
{
    (void)state;
    check_fault(KERNEL("((struct kernel_launch *)l)->functions = 0;"), 1, 0, "near no buffer");
    check_fault(KERNEL("*(void *volatile *)l->functions = 0;"), 1, 0, "near no buffer");
}

static void set_limit(struct fixture *f, uint64_t ms)
{
    struct proto_writer w;
    child_begin(&f->x.child, &w, "options");
    proto_pack_map(&w, 1);
    proto_pack_uint(&w, "time_limit_ms", ms);
    assert_int_equal(child_do(&f->x.child, &w), FUSION_SUCCESS);
}

static void check_endless(uint64_t groups)
{
    struct fixture f;
    start(&f, KERNEL("while (*(volatile unsigned char *)a->t == 0) {}"), groups);
    set_limit(&f, 1000);
    ((unsigned char *)f.t.data)[0] = 1;
    assert_int_equal(submit(&f, 0), FUSION_SUCCESS);
    ((unsigned char *)f.t.data)[0] = 0;
    assert_int_equal(submit(&f, 0), FUSION_TIMEOUT);
    assert_reason(&f, "time limit of 1000 ms");
    assert_true(executor_completion(&f.x)->run_ns >= 1000000000);
    assert_died(&f, EXECUTOR_EXIT_TIMEOUT);
}

static void test_time_limit(void **state)
{
    (void)state;
    check_endless(1);
    check_endless(1000000);
}

/* Many short submissions take longer together than one may: no time-out. */
static void test_time_limit_is_of_each(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, KERNEL("usleep(100000);"), 1);
    set_limit(&f, 1000);
    for (int i = 0; i < 20; i++) assert_int_equal(submit(&f, 0), FUSION_SUCCESS);
    executor_stop(&f.x);
    memory_free(&f.t);
}

/* The executor comes from the same build, and sanitizers need more than the filter allows: a test of plain builds. */
#if !defined(__SANITIZE_ADDRESS__)
/* What native code in place of a kernel gets: each attempt is a line of C that must give -1. */
static const char *const attempts[] = {
    /* signals to the broker, or to any process of the user: by kill() or by the kernel on behalf of a descriptor */
    "kill(getppid(), 0)",
    "fcntl(3, F_SETOWN, getppid())",
    "fcntl(5, F_SETOWN, getppid())",
    "fcntl(5, 10 /* F_SETSIG */, SIGKILL)",
    "fcntl(5, F_SETFL, O_ASYNC)",
    "fcntl(3, F_SETFL, O_NONBLOCK)",
    "(int)syscall(SYS_tgkill, getppid(), getppid(), 0)",
    "(int)syscall(SYS_rt_sigqueueinfo, getppid(), SIGTERM, 0)",
    "(int)syscall(SYS_pidfd_open, getppid(), 0)",
    /* files */
    "open(\"/etc/passwd\", O_RDONLY | O_CLOEXEC)",
    "open(\"/proc/self/mem\", O_RDWR | O_CLOEXEC)",
    "open(\"/\", O_PATH | O_CLOEXEC)",
    "open(\"/tmp\", O_TMPFILE | O_RDWR, 0600)",
    "open(\"/tmp/fusiond-test-escape\", O_CREAT | O_WRONLY, 0600)",
    "unlink(\"/tmp/fusiond-test-escape\")",
    "(int)syscall(SYS_memfd_create, \"x\", 0)",
    "(int)syscall(SYS_newfstatat, AT_FDCWD, \"/etc/passwd\", &(struct stat){0}, 0)",
    /* other processes */
    "socket(AF_UNIX, SOCK_STREAM, 0)",
    "socketpair(AF_UNIX, SOCK_STREAM, 0, (int[2]){0})",
    "fork()",
    "execl(\"/bin/true\", \"true\", (char *)0)",
    "(int)process_vm_readv(getppid(), &(struct iovec){0}, 1, &(struct iovec){0}, 1, 0)",
    "(int)syscall(SYS_ptrace, 16 /* PTRACE_ATTACH */, getppid(), 0, 0)",
    "(int)syscall(SYS_prlimit64, getppid(), RLIMIT_NOFILE, &(struct rlimit){0}, 0)",
    "(int)syscall(SYS_sched_getaffinity, getppid(), 8, &(long){0})",
    /* code: what was written does not become executable */
    "mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0",
    "mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0",
    "mprotect((void *)((uintptr_t)a->t & -4096), 4096, PROT_READ | PROT_EXEC)",
    /* the daemon's log */
    "(int)write(2, \"x\", 1)",
    /* the rules themselves */
    "(int)syscall(SYS_dup, 3)",
    "(int)syscall(SYS_prctl, 4 /* PR_SET_DUMPABLE */, 1, 0, 0, 0)",
    "(int)syscall(SYS_io_uring_setup, 1, (char[256]){0})",
    "(int)syscall(SYS_userfaultfd, 0)",
    "(int)syscall(SYS_futex, a->t, 6 /* FUTEX_LOCK_PI */, 0, 0, 0, 0)",
};
enum { ATTEMPTS = sizeof attempts / sizeof *attempts };

static void test_sandbox(void **state)
{
    (void)state;
    struct fixture f;
    char *source;
    size_t size;
    FILE *text = open_memstream(&source, &size);
    fputs(KERNEL("int *r = (int *)a->t;"), text);
    fseek(text, -3, SEEK_CUR); /* before the closing brace */
    for (int i = 0; i < ATTEMPTS; i++) fprintf(text, "    r[%d] = %s;\n", i, attempts[i]);
    fputs("}\n", text);
    fclose(text);
    start(&f, source, 1);
    free(source);
    memset(f.t.data, 0x77, ATTEMPTS * sizeof(int));
    assert_int_equal(submit(&f, 0), FUSION_SUCCESS);
    const int *r = f.t.data;
    int lost = 0;
    for (int i = 0; i < ATTEMPTS; i++) {
        if (r[i] == -1) continue;
        if (landlock_abi() == 0 && strncmp(attempts[i], "open(\"/etc/passwd", 17) == 0)
            continue; /* it may be read then */
        print_error("%s: %d\n", attempts[i], r[i]);
        lost++;
    }
    assert_int_equal(lost, 0);
    executor_stop(&f.x);
    memory_free(&f.t);
}
#endif

/* ---- garbage ---- */

/* Without reaping it. */
static bool is_alive(struct executor *x)
{
    siginfo_t info = {0};
    waitid(P_PID, (id_t)x->child.pid, &info, WEXITED | WNOHANG | WNOWAIT);
    return info.si_pid == 0;
}

static size_t make_entry(uint8_t *bytes, uint64_t sequence, uint64_t executable)
{
    struct ring_binding b = {.slot = 0, .buffer = BUFFER};
    struct ring_value v = {0, 8};
    struct ring_entry e = {.size = sizeof e + sizeof b + sizeof v + 8,
                           .sequence = sequence,
                           .executable = executable,
                           .n_bindings = 1,
                           .n_values = 1};
    memcpy(bytes, &e, sizeof e);
    memcpy(bytes + sizeof e, &b, sizeof b);
    memcpy(bytes + sizeof e + sizeof b, &v, sizeof v);
    memset(bytes + e.size - 8, 0, 8);
    return e.size;
}

/* Puts bytes into the ring as they are. */
static void push_raw(struct ring *r, const uint8_t *bytes, size_t size)
{
    uint64_t head = atomic_load(&r->head);
    for (size_t i = 0; i < size; i++) r->data[(head + i) % RING_DATA_BYTES] = bytes[i];
    atomic_store(&r->head, head + size);
}

/* Sends the notice and ends, or completes the entry: both within seconds. */
static bool lives_through(struct executor *x, uint64_t sequence)
{
    struct ring_entry nothing = {.sequence = sequence + 1, .executable = 999999};
    if (!ring_push(x->ring, &nothing, NULL, 0)) return true; /* a sequence far ahead was completed */
    for (int i = 0; i < 1000; i++) {
        if (ring_wait(x->ring, sequence + 1, 10)) return true;
        if (!is_alive(x)) return false;
    }
    fail_msg("neither completed nor ended");
    return false;
}

static void test_garbage_entries(void **state)
{
    (void)state;
    struct rng rng = {7};
    unsigned deaths = 0;
    for (int round = 0; round < 12; round++) {
        struct fixture f;
        start(&f, KERNEL("a->t[0]++;"), 1);
        bool alive = true;
        for (int i = 0; i < 200 && alive; i++) {
            uint8_t entry[128];
            uint64_t sequence = atomic_load(&f.x.ring->completed) + 1;
            size_t size = make_entry(entry, sequence, f.id);
            for (uint32_t k = rng_below(&rng, 3); k < 3; k++)
                entry[rng_below(&rng, (uint32_t)size)] = (uint8_t)rng_next(&rng);
            push_raw(f.x.ring, entry, size);
            alive = lives_through(&f.x, sequence);
        }
        if (alive) {
            executor_stop(&f.x);
        } else {
            deaths++;
            struct proto_message m;
            assert_true(child_receive(&f.x.child, &m));
            assert_string_equal(m.method, "ring.corrupt");
            proto_message_clear(&m);
            assert_int_equal(executor_exit_code(&f.x), EXECUTOR_EXIT_CORRUPT);
        }
        memory_free(&f.t);
    }
    print_message("# %u of 12 rings were found corrupt\n", deaths);
}

static void ring_doorbell(struct ring *r)
{
    atomic_fetch_add(&r->doorbell, 1);
    syscall(SYS_futex, &r->doorbell, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void test_corrupt_positions(void **state)
{
    (void)state;
    static const uint64_t heads[] = {UINT64_MAX / 2 + 3, 8, 2 * RING_DATA_BYTES};
    for (int i = 0; i < 3; i++) {
        struct fixture f;
        struct proto_message m;
        start(&f, KERNEL("a->t[0]++;"), 1);
        atomic_store(&f.x.ring->head, heads[i]);
        ring_doorbell(f.x.ring);
        assert_true(child_receive(&f.x.child, &m));
        assert_string_equal(m.method, "ring.corrupt");
        proto_message_clear(&m);
        assert_died(&f, EXECUTOR_EXIT_CORRUPT);
    }
}

/* A damaged program is refused or runs; the executor lives or, where the program was damaged into one that
   faults, says so. */
static void test_damaged_programs(void **state)
{
    (void)state;
    struct rng rng = {3};
    struct fixture f;
    struct test_program p = program(1);
    msgpack_sbuffer bytes;
    int object = object_compile(KERNEL("a->t[0]++;"));
    start(&f, KERNEL("a->t[0]++;"), 1);
    program_pack(&p, &bytes);
    unsigned accepted = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        char *damaged = memcpy(malloc(bytes.size), bytes.data, bytes.size);
        struct proto_writer w;
        damaged[rng_below(&rng, (uint32_t)bytes.size)] = (char)rng_next(&rng);
        child_begin(&f.x.child, &w, "executable.load");
        proto_pack_map(&w, 4);
        proto_pack_uint(&w, "executable", 1000 + i);
        proto_pack_bytes(&w, "program", damaged, bytes.size);
        proto_pack_key(&w, "bindings");
        msgpack_pack_array(&w.packer, 1);
        msgpack_pack_uint64(&w.packer, BUFFER);
        proto_pack_key(&w, "values");
        msgpack_pack_array(&w.packer, 1);
        msgpack_pack_bin_with_body(&w.packer, "\0\0\0\0\0\0\0\0", 8);
        w.fds[w.n_fds++] = object;
        fusion_status status = child_do(&f.x.child, &w);
        assert_int_not_equal(status, FUSION_CONNECTION);
        accepted += status == FUSION_SUCCESS;
        free(damaged);
    }
    assert_true(accepted > 0 && accepted < 500);
    assert_int_equal(submit(&f, 0), FUSION_SUCCESS);
    msgpack_sbuffer_destroy(&bytes);
    close(object);
    executor_stop(&f.x);
    memory_free(&f.t);
}

/* The broker is gone before it has asked for anything: that is an end as any other, no crash. */
static void test_nobody_asks(void **state)
{
    static const char *const options[][3] = {{NULL}, {"--threads", "2"}, {"--gpu"}};
    (void)state;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        struct child c;
        child_start(&c, "executor", NULL, 0, options[i]);
        assert_int_equal(child_stop(&c), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nobody_asks),
        cmocka_unit_test(test_out_of_bounds),
        cmocka_unit_test(test_out_of_bounds_in_parallel),
        cmocka_unit_test(test_arithmetic_fault),
        cmocka_unit_test(test_contents_survive),
        cmocka_unit_test(test_tables_are_read_only),
        cmocka_unit_test(test_time_limit),
        cmocka_unit_test(test_time_limit_is_of_each),
#if !defined(__SANITIZE_ADDRESS__)
        cmocka_unit_test(test_sandbox),
#endif
        cmocka_unit_test(test_garbage_entries),
        cmocka_unit_test(test_corrupt_positions),
        cmocka_unit_test(test_damaged_programs),
    };
    return cmocka_run_group_tests_name("executor_faults", tests, NULL, NULL);
}
