/* The confinement of jobs: Landlock for files, a filter for system calls. Assembler and linker inherit both. */
#include "daemon/compiler/process/confine.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "daemon/confine/filter.h"
#include "daemon/confine/landlock.h"

enum { CPU_SECONDS = 600, FILE_BYTES = 512 << 20 }; /* the last resort against what outlives its job, and its disk */

enum { NEW_NAMESPACES = 0x7e020000 }; /* CLONE_NEW... of clone() */

/* docs/security.md has the reasons. */
static const struct filter_rule allowed[] = {
    /* the job's connection */
    FILTER_IF(recvmsg, FILTER_IS(0, JOB_FD)),
    FILTER_IF(sendmsg, FILTER_IS(0, JOB_FD)),
    FILTER_ANY(poll),
    FILTER_ANY(ppoll),
    /* files: which, Landlock says */
    FILTER_ANY(open),
    FILTER_ANY(openat),
    FILTER_ANY(close),
    FILTER_ANY(close_range),
    FILTER_ANY(read),
    FILTER_ANY(readv),
    FILTER_ANY(pread64),
    FILTER_ANY(write),
    FILTER_ANY(writev),
    FILTER_ANY(pwrite64),
    FILTER_ANY(lseek),
    FILTER_ANY(ftruncate),
    FILTER_ANY(fallocate),
    FILTER_ANY(fadvise64),
    FILTER_ANY(stat),
    FILTER_ANY(lstat),
    FILTER_ANY(fstat),
    FILTER_ANY(newfstatat),
    FILTER_ANY(statx),
    FILTER_ANY(access),
    FILTER_ANY(faccessat),
    FILTER_ANY(faccessat2),
    FILTER_ANY(getcwd),
    FILTER_ANY(getdents64),
    FILTER_ANY(mkdir),
    FILTER_ANY(mkdirat),
    FILTER_ANY(rmdir),
    FILTER_ANY(unlink),
    FILTER_ANY(unlinkat),
    FILTER_ANY(rename),
    FILTER_ANY(renameat),
    FILTER_ANY(renameat2),
    FILTER_ANY(umask),
    FILTER_ANY(dup),
    FILTER_ANY(dup2),
    FILTER_ANY(dup3),
    FILTER_ANY(pipe2),
    FILTER_IF(fcntl, FILTER_IS(1, F_DUPFD)),
    FILTER_IF(fcntl, FILTER_IS(1, F_DUPFD_CLOEXEC)),
    FILTER_IF(fcntl, FILTER_IS(1, F_GETFD)),
    FILTER_IF(fcntl, FILTER_IS(1, F_SETFD)),
    FILTER_IF(fcntl, FILTER_IS(1, F_GETFL)),
    FILTER_IF(ioctl, FILTER_IS(1, TCGETS)), /* is it a terminal? */
    /* assembler and linker */
    FILTER_IF(clone, FILTER_HAS(0, NEW_NAMESPACES, 0)),
    FILTER_ANY(vfork),
    FILTER_ANY(execve),
    FILTER_ANY(wait4),
    FILTER_ANY(waitid),
    FILTER_ANY(exit),
    FILTER_ANY(exit_group),
    FILTER_ANY(arch_prctl),
    FILTER_ANY(set_tid_address),
    FILTER_ANY(set_robust_list),
    FILTER_ANY(rseq),
    /* memory */
    FILTER_MEMORY,
    FILTER_ANY(madvise),
    /* the C library */
    FILTER_FUTEX(FUTEX_WAIT),
    FILTER_FUTEX(FUTEX_WAKE),
    FILTER_FUTEX(FUTEX_WAIT_BITSET),
    FILTER_FUTEX(FUTEX_WAKE_BITSET),
    FILTER_ANY(clock_gettime),
    FILTER_ANY(gettimeofday),
    FILTER_ANY(times),
    FILTER_ANY(getrusage),
    FILTER_ANY(sysinfo),
    FILTER_ANY(uname),
    FILTER_ANY(getrandom),
    FILTER_ANY(getpid),
    FILTER_ANY(gettid),
    FILTER_ANY(getrlimit),
    FILTER_IF(prlimit64, FILTER_IS(0, 0)),
    FILTER_IF(sched_getaffinity, FILTER_IS(0, 0)),
    FILTER_ANY(sched_yield),
    FILTER_ANY(restart_syscall),
    FILTER_ANY(rt_sigaction),
    FILTER_ANY(rt_sigprocmask),
    FILTER_ANY(rt_sigreturn),
    FILTER_ANY(sigaltstack),
};

static int landlock_rules = -1;
static struct sock_fprog program;

static int complain(const char *what)
{
    fprintf(stderr, "fusiond-compiler: %s: %s\n", what, strerror(errno));
    return -1;
}

/* ---- files ---- */

/* The file that a name means in PATH, without symbolic links; "" where there is none. */
static void find_tool(const char *name, char real[PATH_MAX])
{
    const char *at = getenv("PATH");
    char path[PATH_MAX];
    real[0] = 0;
    if (!at) at = "/usr/bin:/bin";
    for (size_t n; *at; at += n + (at[n] == ':')) {
        n = strcspn(at, ":");
        if ((size_t)snprintf(path, sizeof path, "%.*s/%s", (int)n, at, name) >= sizeof path) continue;
        if (access(path, X_OK) == 0 && realpath(path, real)) return;
        real[0] = 0;
    }
}

/* The dynamic loader of this program, which is that of the tools too. */
static int find_loader(struct dl_phdr_info *info, size_t size, void *data)
{
    const char **loader = data;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_INTERP)
            *loader = (const char *)(uintptr_t)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    return 1; /* the program itself comes first */
}

static int prepare_files(const char *folder)
{
    char as[PATH_MAX], ld[PATH_MAX];
    const char *loader = "";
    if (!landlock_abi()) return 0; /* the broker has decided that it can do without */
    find_tool("as", as);
    find_tool("ld", ld);
    dl_iterate_phdr(find_loader, &loader);
    const struct landlock_path paths[] = {
        {folder, LANDLOCK_RIGHT_WRITE},
        {"/dev/null", LANDLOCK_RIGHT_WRITE},
        {as, LANDLOCK_RIGHT_EXECUTE},
        {ld, LANDLOCK_RIGHT_EXECUTE},
        {loader, LANDLOCK_RIGHT_EXECUTE},
        {"/lib", LANDLOCK_RIGHT_READ},
        {"/lib64", LANDLOCK_RIGHT_READ},
        {"/usr/lib", LANDLOCK_RIGHT_READ},
        {"/usr/lib64", LANDLOCK_RIGHT_READ},
        {"/usr/local/lib", LANDLOCK_RIGHT_READ},
        {"/etc/ld.so.cache", LANDLOCK_RIGHT_READ},
    };
    landlock_rules = landlock_make(paths, sizeof paths / sizeof *paths);
    return landlock_rules >= 0 ? 0 : complain("Landlock");
}

/* ---- system calls ---- */

static int add_rules(scmp_filter_ctx filter)
{
    /* Landlock does not guard the mode of files: it seems to change, and does not. The linker wants its output
       executable, which nobody needs. */
    static const int pretended[] = {SCMP_SYS(chmod), SCMP_SYS(fchmod), SCMP_SYS(fchmodat)};
    int result = filter_add(filter, allowed, sizeof allowed / sizeof *allowed);
    for (size_t i = 0; i < sizeof pretended / sizeof *pretended && result == 0; i++)
        result = seccomp_rule_add(filter, SCMP_ACT_ERRNO(0), pretended[i], 0);
    /* Its flags lie in memory, where a filter cannot look: the C library falls back on clone(). */
    if (result == 0) result = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    return result;
}

/* The filter as the kernel takes it, so that a job only has to load it. */
static int export_filter(scmp_filter_ctx filter)
{
    int fd = memfd_create("filter", MFD_CLOEXEC);
    if (fd < 0 || seccomp_export_bpf(filter, fd) != 0) return -1;
    off_t bytes = lseek(fd, 0, SEEK_END);
    program.len = (unsigned short)((size_t)bytes / sizeof *program.filter);
    program.filter = malloc((size_t)bytes);
    ssize_t got = program.filter ? pread(fd, program.filter, (size_t)bytes, 0) : -1;
    close(fd);
    return got == bytes ? 0 : -1;
}

static int prepare_calls(void)
{
    if (!filter_wanted()) return 0;
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    /* Assembler and linker make many system calls: a tree of comparisons, not a list. Older libraries have no such
     * thing. */
    if (filter) seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    int result = filter ? add_rules(filter) : -ENOMEM;
    if (result == 0) result = export_filter(filter);
    seccomp_release(filter);
    return result == 0 ? 0 : complain("the filter of system calls");
}

int confine_prepare(const char *folder)
{
    return prepare_files(folder) == 0 && prepare_calls() == 0 ? 0 : -1;
}

int confine_enter(void)
{
    struct rlimit time = {CPU_SECONDS, CPU_SECONDS}, file = {FILE_BYTES, FILE_BYTES};
    if (setrlimit(RLIMIT_CPU, &time) != 0 || setrlimit(RLIMIT_FSIZE, &file) != 0) return complain("limits");
    if (landlock_rules >= 0 && landlock_enter(landlock_rules) != 0) return complain("Landlock");
    if (landlock_rules >= 0) close(landlock_rules);
    if (program.len && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        return complain("the filter of system calls");
    return 0;
}
