/* Process hygiene: a compiler that goes wrong costs one job, and leaves nothing behind. */
#include "daemon/compiler/process/process.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CONNECTION_FD = 3 };

static char temporary[256];

static int complain(const char *what)
{
    fprintf(stderr, "fusiond-compiler: %s: %s\n", what, strerror(errno));
    return -1;
}

static int keep_descriptors(void)
{
    int null = open("/dev/null", O_RDWR); /* NOLINT(android-cloexec-open): for as and ld, too */
    if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0) return complain("/dev/null");
    close_range(CONNECTION_FD + 1, ~0u, 0);
    /* Assembler and linker, should they be started, have no business with the broker. */
    return fcntl(CONNECTION_FD, F_SETFD, FD_CLOEXEC) == 0 ? 0 : complain("the connection");
}

static int set_limits(void)
{
    struct rlimit none = {0, 0};
    if (setrlimit(RLIMIT_CORE, &none) != 0) return complain("RLIMIT_CORE");
#if !defined(__SANITIZE_ADDRESS__)
    struct rlimit memory = {(rlim_t)2 << 30, (rlim_t)2 << 30};
    if (setrlimit(RLIMIT_AS, &memory) != 0) return complain("RLIMIT_AS");
#endif
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return complain("PR_SET_PDEATHSIG");
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return complain("PR_SET_NO_NEW_PRIVS");
    return 0;
}

static void die_first_when_memory_is_out(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;
    ssize_t ignored = write(fd, "500", 3);
    (void)ignored;
    close(fd);
}

/* libgccjit works in TMPDIR, and leaves its files there when it is killed. The broker gives each compiler a TMPDIR
   that it removes after it; a folder of our own in it keeps a compiler that runs without a broker apart as well. */
static int make_temporary(void)
{
    const char *base = getenv("TMPDIR");
    snprintf(temporary, sizeof temporary, "%s/compiler-%d", base && base[0] ? base : "/tmp", (int)getpid());
    process_leave(); /* of a former process with our number */
    if (mkdir(temporary, 0700) != 0) return complain(temporary);
    return setenv("TMPDIR", temporary, 1) == 0 ? 0 : complain("TMPDIR");
}

static int remove_entry(const char *path, const struct stat *s, int type, struct FTW *where)
{
    (void)s;
    (void)type;
    (void)where;
    remove(path);
    return 0;
}

void process_leave(void)
{
    nftw(temporary, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

const char *process_folder(void)
{
    return temporary;
}

int process_open_file(const char *name)
{
    char path[sizeof temporary + 64];
    snprintf(path, sizeof path, "%s/%s", temporary, name);
    return open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

static int remove_below(const char *path, const struct stat *s, int type, struct FTW *where)
{
    (void)s;
    (void)type;
    return where->level == 0 || remove(path) == 0 ? 0 : -1;
}

bool process_clean(void)
{
    return nftw(temporary, remove_below, 8, FTW_DEPTH | FTW_PHYS) == 0;
}

int process_enter(void)
{
    umask(077);
    die_first_when_memory_is_out();
    if (keep_descriptors() != 0 || set_limits() != 0) return -1;
    return make_temporary();
}
