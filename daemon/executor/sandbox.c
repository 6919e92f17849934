/*
 * What the executor gives up: it runs code made from a stranger's kernels, so it keeps its memory, its
 * descriptors and the means to load more code, and nothing else.
 */
#include "daemon/executor/sandbox.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The system calls that remain without conditions. */
static const int allowed[] = {
    /* running kernels */
    SCMP_SYS(futex),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(sched_yield),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(pause),
    /* messages */
    SCMP_SYS(recvmsg),
    SCMP_SYS(sendmsg),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(read),
    SCMP_SYS(write),
    SCMP_SYS(writev),
    SCMP_SYS(close),
    /* memory, buffers, code */
    SCMP_SYS(mmap),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(mprotect),
    SCMP_SYS(madvise),
    SCMP_SYS(brk),
    SCMP_SYS(fstat),
    SCMP_SYS(newfstatat),
    SCMP_SYS(pread64),
    SCMP_SYS(lseek),
    SCMP_SYS(fcntl),
    /* faults and the end */
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(getpid),
    SCMP_SYS(gettid),
    /* the C library */
    SCMP_SYS(getrandom),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(rseq),
};

static int complain(const char *what)
{
    fprintf(stderr, "fusiond-executor: %s: %s\n", what, strerror(errno));
    return -1;
}

static void raise_descriptor_limit(void)
{
    /* One stays open for each loaded kernel. */
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max < 1 << 20 ? limit.rlim_max : 1 << 20;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static void die_first_when_memory_is_out(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;
    ssize_t ignored = write(fd, "500", 3);
    (void)ignored;
    close(fd);
}

/* Later no file can be opened; what kernels call is there then. */
static void load_math_libraries(void)
{
    dlopen("libm.so.6", RTLD_NOW | RTLD_GLOBAL);
    dlopen("libmvec.so.1", RTLD_NOW | RTLD_GLOBAL); /* x86 only */
}

/* No file of any file system can be opened from here on; memfds are no part of one. Kernels without
   Landlock leave it to the filter that files are only read. */
static void close_file_systems(void)
{
    struct landlock_ruleset_attr rules = {
        .handled_access_fs = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1, /* all of the first version */
    };
    int fd = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
    if (fd < 0) return;
    syscall(SYS_landlock_restrict_self, fd, 0);
    close(fd);
}

int sandbox_enter(void)
{
    struct rlimit none = {0, 0};
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return complain("PR_SET_PDEATHSIG");
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return complain("PR_SET_NO_NEW_PRIVS");
    if (setrlimit(RLIMIT_CORE, &none) != 0) return complain("RLIMIT_CORE");
    raise_descriptor_limit();
    die_first_when_memory_is_out();
    load_math_libraries();
    close_file_systems();
    return 0;
}

static bool wants_filter(void)
{
#if defined(__SANITIZE_ADDRESS__)
    return false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
    return false;
#endif
#endif
    const char *off = getenv("FUSIOND_NO_SECCOMP");
    return !off || strcmp(off, "1") != 0;
}

static int add_rules(scmp_filter_ctx filter)
{
    int result = 0;
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed && result == 0; i++)
        result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
    /* Loading code opens /proc/self/fd/N: reading only. */
    if (result == 0)
        result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(openat), 1,
                                  SCMP_A2(SCMP_CMP_MASKED_EQ, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY));
    /* abort() */
    if (result == 0)
        result =
            seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1, SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid()));
    return result;
}

int sandbox_filter(void)
{
    if (!wants_filter()) return 0;
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    if (!filter) return complain("seccomp_init");
    int result = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
    if (result == 0) result = add_rules(filter);
    if (result == 0) result = seccomp_load(filter);
    seccomp_release(filter);
    if (result == 0) return 0;
    errno = -result;
    return complain("the filter of system calls");
}
