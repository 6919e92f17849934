/*
 * The cache on disk. DIRECTORY/ab/cdef...01.2 is the entry of kind 2 whose key begins with ab. A file is written under
 * another name and renamed, so that readers, of this daemon and of others that share the directory, see whole files or
 * none. The checksum covers kind, key and contents: a file under a wrong name is as damaged as one with a wrong byte.
 */
#include "daemon/broker/cache_disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "daemon/broker/log.h"
#include "proto/limits.h"

enum {
    FORMAT = 1,
    STALE_SECONDS = 600, /* a file being written is never older */
    NAME_SIZE = 128,
    TOUCH_SECONDS = 3600 /* how exact "least recently used" is */
};

struct header {
    char magic[8];
    uint32_t format, kind;
    uint64_t size;
    uint8_t checksum[32];
};

static const char magic[8] = {'F', 'U', 'S', 'I', 'O', 'N', 'D', 'C'};

struct cache_disk {
    int directory;
    uint64_t limit, bytes, corrupt, write_failures, written;
};

static struct hash checksum(enum cache_kind kind, const struct hash *key, const void *bytes, size_t size)
{
    struct hasher h;
    hasher_begin(&h, "cache entry");
    hasher_add_uint(&h, kind);
    hasher_add_hash(&h, key);
    hasher_add(&h, bytes, size);
    return hasher_end(&h);
}

static void entry_name(char name[NAME_SIZE], enum cache_kind kind, const struct hash *key)
{
    char hex[2 * sizeof key->bytes + 1];
    sodium_bin2hex(hex, sizeof hex, key->bytes, sizeof key->bytes);
    snprintf(name, NAME_SIZE, "%.2s/%s.%d", hex, hex + 2, (int)kind);
}

/* ---- opening ---- */

static bool make_directories(const char *path)
{
    char part[4096];
    if (strlen(path) >= sizeof part) return false;
    for (const char *slash = path; slash; slash = strchr(slash + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
        if (slash != path && mkdir(part, 0700) != 0 && errno != EEXIST) return false;
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

/* Code from the cache is executed: nobody else may be able to put some there. */
static bool only_ours(int fd)
{
    struct stat s;
    return fstat(fd, &s) == 0 && s.st_uid == geteuid() && (s.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

typedef void visitor(struct cache_disk *disk, void *data, const char *name, const struct stat *s);

/* Calls visit for each file of a subdirectory, with its name from the directory. */
static void visit_subdirectory(struct cache_disk *disk, const char *sub, visitor *visit, void *data)
{
    int fd = openat(disk->directory, sub, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir) {
        if (fd >= 0) close(fd);
        return;
    }
    for (struct dirent *d = readdir(dir); d; d = readdir(dir)) {
        struct stat s;
        char name[NAME_SIZE];
        if (d->d_name[0] == '.' || fstatat(fd, d->d_name, &s, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(s.st_mode) ||
            (size_t)snprintf(name, sizeof name, "%s/%s", sub, d->d_name) >= sizeof name)
            continue;
        visit(disk, data, name, &s);
    }
    closedir(dir);
}

static void visit_all(struct cache_disk *disk, visitor *visit, void *data)
{
    for (int i = 0; i < 256; i++) {
        char sub[4];
        snprintf(sub, sizeof sub, "%02x", i);
        visit_subdirectory(disk, sub, visit, data);
    }
}

static bool is_temporary(const char *name)
{
    return strstr(name, ".new") != NULL;
}

/* Adds up the sizes; removes what a writer that was killed has left. */
static void count_file(struct cache_disk *disk, void *data, const char *name, const struct stat *s)
{
    time_t now = *(time_t *)data;
    if (is_temporary(name) && now - s->st_mtime > STALE_SECONDS)
        unlinkat(disk->directory, name, 0);
    else
        disk->bytes += (uint64_t)s->st_size;
}

static void count_all(struct cache_disk *disk)
{
    time_t now = time(NULL);
    disk->bytes = 0;
    visit_all(disk, count_file, &now);
}

struct cache_disk *cache_disk_open(const char *directory, uint64_t limit)
{
    int fd = make_directories(directory) ? open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd < 0) {
        log_warning("the cache directory %s cannot be used: %s", directory, strerror(errno));
        return NULL;
    }
    if (!only_ours(fd)) {
        log_warning("the cache directory %s is not used: others can write to it, or own it", directory);
        close(fd);
        return NULL;
    }
    struct cache_disk *disk = calloc(1, sizeof *disk);
    if (!disk) {
        close(fd);
        return NULL;
    }
    disk->directory = fd;
    disk->limit = limit;
    count_all(disk);
    return disk;
}

void cache_disk_close(struct cache_disk *disk)
{
    if (!disk) return;
    close(disk->directory);
    free(disk);
}

/* ---- reading ---- */

static bool read_exactly(int fd, void *to, size_t size)
{
    for (uint8_t *at = to; size > 0;) {
        ssize_t got = read(fd, at, size);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        at += got;
        size -= (size_t)got;
    }
    return true;
}

/* The contents, or NULL where anything is not as it was written. */
static struct blob *read_entry(int fd, enum cache_kind kind, const struct hash *key)
{
    struct header header;
    struct stat s;
    if (fstat(fd, &s) != 0 || !S_ISREG(s.st_mode) || !read_exactly(fd, &header, sizeof header) ||
        memcmp(header.magic, magic, sizeof magic) != 0 || header.format != FORMAT || header.kind != (uint32_t)kind ||
        header.size > PROTO_MAX_MESSAGE || header.size + sizeof header != (uint64_t)s.st_size)
        return NULL;
    struct blob *blob = blob_new(NULL, header.size);
    if (!blob || !read_exactly(fd, blob->data, blob->size)) {
        blob_unref(blob);
        return NULL;
    }
    struct hash sum = checksum(kind, key, blob->data, blob->size);
    if (memcmp(sum.bytes, header.checksum, sizeof header.checksum) != 0) {
        blob_unref(blob);
        return NULL;
    }
    return blob;
}

/* A used entry becomes young again, so that the unused ones are evicted first. */
static void touch(int fd)
{
    struct stat s;
    if (fstat(fd, &s) == 0 && time(NULL) - s.st_mtime > TOUCH_SECONDS) futimens(fd, NULL);
}

struct blob *cache_disk_read(struct cache_disk *disk, enum cache_kind kind, const struct hash *key)
{
    char name[NAME_SIZE];
    entry_name(name, kind, key);
    int fd = openat(disk->directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return NULL;
    struct blob *blob = read_entry(fd, kind, key);
    if (blob) touch(fd);
    close(fd);
    if (!blob) cache_disk_reject(disk, kind, key);
    return blob;
}

static void forget_bytes(struct cache_disk *disk, uint64_t bytes)
{
    disk->bytes -= bytes < disk->bytes ? bytes : disk->bytes;
}

void cache_disk_reject(struct cache_disk *disk, enum cache_kind kind, const struct hash *key)
{
    char name[NAME_SIZE];
    struct stat s;
    entry_name(name, kind, key);
    disk->corrupt++;
    if (fstatat(disk->directory, name, &s, AT_SYMLINK_NOFOLLOW) == 0 && unlinkat(disk->directory, name, 0) == 0)
        forget_bytes(disk, (uint64_t)s.st_size);
}

/* ---- eviction ---- */

struct old_file {
    char name[NAME_SIZE];
    uint64_t bytes;
    struct timespec used;
};

struct old_files {
    struct old_file *files;
    size_t count, capacity;
};

static void collect(struct cache_disk *disk, void *data, const char *name, const struct stat *s)
{
    struct old_files *all = data;
    (void)disk;
    if (all->count == all->capacity) {
        size_t capacity = all->capacity ? 2 * all->capacity : 256;
        struct old_file *files = realloc(all->files, capacity * sizeof *files);
        if (!files) return;
        all->files = files;
        all->capacity = capacity;
    }
    struct old_file *file = &all->files[all->count++];
    snprintf(file->name, sizeof file->name, "%s", name);
    file->bytes = (uint64_t)s->st_size;
    file->used = s->st_mtim;
}

static int older_first(const void *a, const void *b)
{
    const struct timespec *x = &((const struct old_file *)a)->used, *y = &((const struct old_file *)b)->used;
    if (x->tv_sec != y->tv_sec) return x->tv_sec < y->tv_sec ? -1 : 1;
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

/* Deletes the oldest down to four fifths of the limit. Counts anew: other daemons may share the directory. */
static void evict(struct cache_disk *disk)
{
    struct old_files all = {0};
    count_all(disk);
    visit_all(disk, collect, &all);
    if (all.count > 0) qsort(all.files, all.count, sizeof *all.files, older_first);
    for (size_t i = 0; i < all.count && disk->bytes > disk->limit / 5 * 4; i++)
        if (!is_temporary(all.files[i].name) && unlinkat(disk->directory, all.files[i].name, 0) == 0)
            forget_bytes(disk, all.files[i].bytes);
    free(all.files);
}

/* ---- writing ---- */

static bool write_exactly(int fd, const void *from, size_t size)
{
    for (const uint8_t *at = from; size > 0;) {
        ssize_t put = write(fd, at, size);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        at += put;
        size -= (size_t)put;
    }
    return true;
}

static int create(struct cache_disk *disk, const char *name)
{
    int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(disk->directory, name, flags, 0600);
    if (fd >= 0 || errno != ENOENT) return fd;
    char sub[3] = {name[0], name[1], 0};
    if (mkdirat(disk->directory, sub, 0700) != 0 && errno != EEXIST) return -1;
    return openat(disk->directory, name, flags, 0600);
}

static bool write_entry(struct cache_disk *disk, const char *temporary, const struct header *header,
                        const struct blob *blob)
{
    int fd = create(disk, temporary);
    if (fd < 0) return false;
    bool written = write_exactly(fd, header, sizeof *header) && write_exactly(fd, blob->data, blob->size);
    return close(fd) == 0 && written;
}

void cache_disk_write(struct cache_disk *disk, enum cache_kind kind, const struct hash *key, const struct blob *blob)
{
    uint64_t size = sizeof(struct header) + blob->size;
    if (size > disk->limit / 4) return;
    struct header header = {.format = FORMAT, .kind = (uint32_t)kind, .size = blob->size};
    struct hash sum = checksum(kind, key, blob->data, blob->size);
    memcpy(header.magic, magic, sizeof magic);
    memcpy(header.checksum, sum.bytes, sizeof header.checksum);

    char name[NAME_SIZE], temporary[NAME_SIZE + 48];
    struct stat old = {0};
    entry_name(name, kind, key);
    snprintf(temporary, sizeof temporary, "%s.new%ld-%llu", name, (long)getpid(), (unsigned long long)disk->written++);
    if (fstatat(disk->directory, name, &old, AT_SYMLINK_NOFOLLOW) != 0) old.st_size = 0;
    if (!write_entry(disk, temporary, &header, blob) ||
        renameat(disk->directory, temporary, disk->directory, name) != 0) {
        disk->write_failures++;
        unlinkat(disk->directory, temporary, 0);
        return;
    }
    forget_bytes(disk, (uint64_t)old.st_size);
    disk->bytes += size;
    if (disk->bytes > disk->limit) evict(disk);
}

void cache_disk_stats(const struct cache_disk *disk, struct cache_stats *stats)
{
    stats->disk_bytes = disk->bytes;
    stats->corrupt = disk->corrupt;
    stats->write_failures = disk->write_failures;
}
