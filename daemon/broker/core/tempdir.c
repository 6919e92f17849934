/* The daemon's directory for temporary files of compilers. */
#include "daemon/broker/core/tempdir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "daemon/broker/core/log.h"

static const char prefix[] = "fusiond-tmp-";
enum { YOUNG_SECONDS = 60 }; /* a directory may be without its lock file for a moment */

static const char *base(void)
{
    const char *path = getenv("TMPDIR");
    return path && path[0] == '/' && strlen(path) < 200 ? path : "/tmp";
}

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *walk)
{
    (void)s, (void)type, (void)walk;
    return remove(path) == 0 || errno == ENOENT ? 0 : -1;
}

void tempdir_remove_tree(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* The lock is the process's: what is forked and killed before it becomes a compiler does not keep it. */
static bool lock_whole(int fd)
{
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(fd, F_SETLK, &all) == 0;
}

/* Has the daemon that made it gone? Its lock went with it. */
static bool is_stale(int dir, const char *name)
{
    struct stat s;
    char lock[320];
    if (fstatat(dir, name, &s, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(s.st_mode) || s.st_uid != geteuid()) return false;
    snprintf(lock, sizeof lock, "%s/lock", name);
    int fd = openat(dir, lock, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return errno == ENOENT && time(NULL) - s.st_mtime > YOUNG_SECONDS;
    bool stale = lock_whole(fd);
    close(fd);
    return stale;
}

static void remove_stale(void)
{
    DIR *dir = opendir(base());
    if (!dir) return;
    for (struct dirent *d = readdir(dir); d; d = readdir(dir)) {
        char path[512];
        if (strncmp(d->d_name, prefix, sizeof prefix - 1) != 0 || !is_stale(dirfd(dir), d->d_name)) continue;
        snprintf(path, sizeof path, "%s/%s", base(), d->d_name);
        tempdir_remove_tree(path);
    }
    closedir(dir);
}

bool tempdir_make(struct tempdir *t)
{
    char lock[sizeof t->path + 8];
    remove_stale();
    t->lock = -1;
    snprintf(t->path, sizeof t->path, "%s/%sXXXXXX", base(), prefix);
    if (!mkdtemp(t->path)) {
        log_warning("no temporary directory in %s: %s", base(), strerror(errno));
        t->path[0] = 0;
        return false;
    }
    snprintf(lock, sizeof lock, "%s/lock", t->path);
    t->lock = open(lock, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (t->lock < 0 || !lock_whole(t->lock)) {
        log_warning("%s: %s", lock, strerror(errno));
        tempdir_remove(t);
        return false;
    }
    return true;
}

void tempdir_remove(struct tempdir *t)
{
    if (!t->path[0]) return;
    tempdir_remove_tree(t->path);
    if (t->lock >= 0) close(t->lock);
    t->path[0] = 0;
}

bool tempdir_make_child(const struct tempdir *t, unsigned number, char *path, unsigned size)
{
    return (unsigned)snprintf(path, size, "%s/%u", t->path, number) < size && mkdir(path, 0700) == 0;
}
