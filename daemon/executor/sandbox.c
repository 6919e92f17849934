/*
 * What the executor gives up: it runs code made from a stranger's kernels, so it keeps its memory, its
 * descriptors and the means to load more code, and nothing else.
 */
#include "daemon/executor/sandbox.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/confine/filter.h"
#include "daemon/confine/landlock.h"
#include "daemon/executor/program/huge_pages.h"

/*
 * The system calls that remain. docs/security.md has what each is for, and what an attacker has of it. None
 * makes a process or a thread, names a file beyond those in /proc/self/fd, sends a signal to anybody else, or makes
 * memory executable that was written.
 */
static const struct filter_rule allowed[] = {
    /* running kernels */
    FILTER_FUTEX(FUTEX_WAIT),
    FILTER_FUTEX(FUTEX_WAKE),
    FILTER_FUTEX(FUTEX_WAIT_BITSET),
    FILTER_FUTEX(FUTEX_WAKE_BITSET),
    FILTER_ANY(clock_gettime),
    FILTER_ANY(clock_nanosleep),
    FILTER_ANY(sched_yield),
    FILTER_ANY(restart_syscall),
    FILTER_ANY(pause),
    /* messages of the broker; completions, which never wait */
    FILTER_IF(recvmsg, FILTER_IS(0, SANDBOX_CONNECTION_FD)),
    FILTER_IF(sendmsg, FILTER_IS(0, SANDBOX_CONNECTION_FD)),
    FILTER_IF3(sendto, FILTER_IS(0, SANDBOX_EVENT_FD),
               FILTER_HAS(3, MSG_DONTWAIT | MSG_NOSIGNAL, MSG_DONTWAIT | MSG_NOSIGNAL), FILTER_IS(4, 0)),
    FILTER_ANY(poll),
    FILTER_ANY(ppoll),
    /* memory and buffers: executable only what a file holds, and never by a change of rights */
    FILTER_MEMORY,
    FILTER_IF2(mremap, FILTER_IS(1, 0), FILTER_IS(3, MREMAP_MAYMOVE | MREMAP_FIXED)),
    FILTER_IF(madvise, FILTER_IS(2, MADV_DONTNEED)),
    FILTER_IF(madvise, FILTER_IS(2, MADV_HUGEPAGE)),
    FILTER_IF(madvise, FILTER_IS(2, MADV_COLLAPSE)),
    FILTER_IF(madvise, FILTER_IS(2, MADV_POPULATE_WRITE)),
    FILTER_IF(fcntl, FILTER_IS(1, F_GET_SEALS)),
    FILTER_ANY(fstat),
    FILTER_ANY(close),
    /* loading code: from /proc/self/fd, for reading */
    FILTER_IF(openat, FILTER_IS(2, O_RDONLY | O_CLOEXEC)),
    FILTER_IF(newfstatat, FILTER_IS(3, AT_EMPTY_PATH)),
    FILTER_ANY(read),
    FILTER_ANY(pread64),
    FILTER_ANY(lseek),
    /* faults and the end */
    FILTER_ANY(rt_sigreturn),
    FILTER_ANY(rt_sigprocmask),
    FILTER_ANY(exit),
    FILTER_ANY(exit_group),
    FILTER_ANY(getpid),
    FILTER_ANY(gettid),
    /* threads that have been made and are still on their way to their first line */
    FILTER_ANY(sigaltstack),
    FILTER_ANY(set_robust_list),
    FILTER_ANY(rseq),
    /* the C library */
    FILTER_ANY(getrandom),
    FILTER_IF(sched_getaffinity, FILTER_IS(0, 0)),
    FILTER_IF(sched_setaffinity, FILTER_IS(0, 0)),
};

/* What drivers need besides, once they are loaded: code made at run time, threads of theirs and whatever locks those
   have (the C library aborts where a lock is refused), commands for devices (which can only be those that Landlock lets
   open), and memory in files without names. */
static const struct filter_rule allowed_to_drivers[] = {
    FILTER_ANY(futex),
    FILTER_ANY(mmap),
    FILTER_ANY(mprotect),
    FILTER_ANY(mremap),
    FILTER_ANY(madvise),
    FILTER_ANY(mlock),
    FILTER_ANY(munlock),
    FILTER_ANY(ioctl),
    FILTER_IF(clone, FILTER_HAS(0, CLONE_THREAD | CLONE_VM, CLONE_THREAD | CLONE_VM)),
    FILTER_ANY(openat),
    FILTER_ANY(newfstatat),
    FILTER_ANY(statx),
    FILTER_ANY(access),
    FILTER_ANY(readlink),
    FILTER_ANY(readlinkat),
    FILTER_ANY(getdents64),
    FILTER_ANY(write),
    FILTER_IF(fcntl, FILTER_IS(1, F_DUPFD_CLOEXEC)),
    FILTER_IF(fcntl, FILTER_IS(1, F_GETFD)),
    FILTER_IF(fcntl, FILTER_IS(1, F_SETFD)),
    FILTER_IF(fcntl, FILTER_IS(1, F_GETFL)),
    FILTER_IF(fcntl, FILTER_IS(1, F_ADD_SEALS)),
    FILTER_ANY(memfd_create),
    FILTER_ANY(ftruncate),
    FILTER_ANY(fallocate),
    FILTER_ANY(eventfd2),
    FILTER_ANY(pipe2),
    FILTER_ANY(uname),
    FILTER_ANY(sysinfo),
    FILTER_ANY(getrusage),
    FILTER_ANY(gettimeofday),
    FILTER_ANY(nanosleep),
    FILTER_ANY(get_mempolicy),
    FILTER_ANY(rt_sigaction),
    FILTER_IF(prctl, FILTER_IS(0, PR_SET_NAME)),
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
    dlopen("libsleef.so.3", RTLD_NOW | RTLD_GLOBAL);
}

/* What drivers of GPUs open: libraries, their descriptions, what the system says of devices, and the devices. Nothing
   can be written but those. */
static const struct landlock_path gpu_paths[] = {
    {"/usr", LANDLOCK_RIGHT_EXECUTE},
    {"/lib", LANDLOCK_RIGHT_EXECUTE},
    {"/lib64", LANDLOCK_RIGHT_EXECUTE},
    {"/etc/ld.so.cache", LANDLOCK_RIGHT_READ},
    {"/etc/vulkan", LANDLOCK_RIGHT_READ},
    {"/etc/drirc", LANDLOCK_RIGHT_READ},
    {"/sys/devices", LANDLOCK_RIGHT_READ},
    {"/sys/bus/pci", LANDLOCK_RIGHT_READ},
    {"/sys/class/drm", LANDLOCK_RIGHT_READ},
    {"/sys/dev/char", LANDLOCK_RIGHT_READ},
    {"/sys/module/nvidia", LANDLOCK_RIGHT_READ},
    {"/proc/cpuinfo", LANDLOCK_RIGHT_READ},
    {"/proc/meminfo", LANDLOCK_RIGHT_READ},
    {"/proc/devices", LANDLOCK_RIGHT_READ},
    {"/proc/modules", LANDLOCK_RIGHT_READ},
    {"/proc/driver", LANDLOCK_RIGHT_READ},
    {"/proc/self", LANDLOCK_RIGHT_READ},
    {"/dev/dri", LANDLOCK_RIGHT_DEVICE},
    {"/dev/nvidiactl", LANDLOCK_RIGHT_DEVICE},
    {"/dev/nvidia-uvm", LANDLOCK_RIGHT_DEVICE},
    {"/dev/nvidia-uvm-tools", LANDLOCK_RIGHT_DEVICE},
    {"/dev/nvidia-modeset", LANDLOCK_RIGHT_DEVICE},
    {"/dev/nvidia0", LANDLOCK_RIGHT_DEVICE},
    {"/dev/nvidia1", LANDLOCK_RIGHT_DEVICE},
    {"/dev/nvidia2", LANDLOCK_RIGHT_DEVICE},
    {"/dev/nvidia3", LANDLOCK_RIGHT_DEVICE},
    {"/dev/nvidia4", LANDLOCK_RIGHT_DEVICE},
    {"/dev/nvidia5", LANDLOCK_RIGHT_DEVICE},
    {"/dev/nvidia6", LANDLOCK_RIGHT_DEVICE},
    {"/dev/nvidia7", LANDLOCK_RIGHT_DEVICE},
    {"/dev/null", LANDLOCK_RIGHT_DEVICE},
};

enum { GPU_PATHS = sizeof gpu_paths / sizeof *gpu_paths, NAMED_DRIVERS = 4 };

/* All of these, and the drivers of Level Zero that the service's environment names, which may lie anywhere: how many.
 */
static size_t list_gpu_paths(struct landlock_path paths[GPU_PATHS + NAMED_DRIVERS])
{
    static char names[4096]; /* files, with commas */
    const char *named = getenv("ZE_ENABLE_ALT_DRIVERS");
    size_t n = GPU_PATHS;
    char *rest = NULL;
    memcpy(paths, gpu_paths, sizeof gpu_paths);
    snprintf(names, sizeof names, "%s", named ? named : "");
    for (char *name = strtok_r(names, ",", &rest); name && n < GPU_PATHS + NAMED_DRIVERS;
         name = strtok_r(NULL, ",", &rest))
        paths[n++] = (struct landlock_path){name, LANDLOCK_RIGHT_EXECUTE};
    return n;
}

/* No file of any file system can be opened from here on, but those of drivers; memfds are no part of one. Nobody else
   can be signalled. A kernel without Landlock leaves it to the filter that files are only read: whether that is enough
   the broker decides. */
static int close_file_systems(enum sandbox_profile profile)
{
    if (!landlock_abi()) return 0;
    struct landlock_path paths[GPU_PATHS + NAMED_DRIVERS];
    int rules = landlock_make(paths, profile == SANDBOX_GPU ? list_gpu_paths(paths) : 0);
    if (rules < 0 || landlock_enter(rules) != 0) return complain("Landlock");
    close(rules);
    return 0;
}

/* Drivers keep memory in files without names, which count as such. */
static int set_limits(enum sandbox_profile profile)
{
    static const int none_of[] = {RLIMIT_CORE, RLIMIT_FSIZE, RLIMIT_MEMLOCK, RLIMIT_MSGQUEUE};
    static const struct rlimit none = {0, 0};
    for (size_t i = 0; i < sizeof none_of / sizeof *none_of; i++)
        if (profile == SANDBOX_CPU || none_of[i] != RLIMIT_FSIZE)
            if (setrlimit(none_of[i], &none) != 0) return complain("limits");
    raise_descriptor_limit();
    return 0;
}

int sandbox_enter(enum sandbox_profile profile)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return complain("PR_SET_PDEATHSIG");
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return complain("PR_SET_NO_NEW_PRIVS");
    if (set_limits(profile) != 0) return -1;
    die_first_when_memory_is_out();
    /* Nobody of the same user looks into the memory; after the files in /proc that change their owner by this. */
    if (prctl(PR_SET_DUMPABLE, 0) != 0) return complain("PR_SET_DUMPABLE");
    load_math_libraries();
    return close_file_systems(profile);
}

/* A thread of glibc is first tried with a call whose arguments a filter cannot see; where there is none, with clone. */
static int add_driver_rules(scmp_filter_ctx filter)
{
    int result = filter_add(filter, allowed_to_drivers, sizeof allowed_to_drivers / sizeof *allowed_to_drivers);
    return result != 0 ? result : seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
}

static int add_rules(scmp_filter_ctx filter, enum sandbox_profile profile)
{
    int result = filter_add(filter, allowed, sizeof allowed / sizeof *allowed);
    if (result == 0 && profile == SANDBOX_GPU) result = add_driver_rules(filter);
    if (result != 0) return result;
    /* abort() */
    return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1, FILTER_IS(0, (scmp_datum_t)getpid()));
}

static int load_rules(enum sandbox_profile profile)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    if (!filter) return -ENOMEM;
    int result = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
    if (result == 0) result = add_rules(filter, profile);
    if (result == 0) result = seccomp_load(filter);
    seccomp_release(filter);
    return result;
}

int sandbox_filter(enum sandbox_profile profile)
{
    if (!filter_wanted()) return 0;
    /* From here on nothing is said: what a kernel writes must not get into the daemon's log. */
    int log = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    if (log < 0 || dup2(STDIN_FILENO, STDERR_FILENO) < 0) return complain("/dev/null");
    int result = load_rules(profile);
    if (result != 0) {
        dup2(log, STDERR_FILENO);
        errno = -result;
        return complain("the filter of system calls");
    }
    close(log);
    return 0;
}
