/*
 * The cache on disk. DIRECTORY/ab/cdef...01.2 is the entry of kind 2 whose key begins with ab. A file is written under
 * another name and renamed, so that readers, of this daemon and of others that share the directory, see whole files or
 * none. The checksum covers kind, key and contents: a file under a wrong name is as damaged as one with a wrong byte.
 */
#include "daemon/broker/cache/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "daemon/broker/cache/sweep.h"
#include "daemon/broker/core/log.h"
#include "proto/limits.h"

enum { TOUCH_SECONDS = 3600 /* how exact "least recently used" is */ };

static const char magic[8] = {'F', 'U', 'S', 'I', 'O', 'N', 'D', 'C'};

struct cache_disk {
    int directory;
    uint64_t limit, corrupt, write_failures, written;
    struct cache_sweep *sweep;
};

static struct hash checksum(enum cache_kind kind, uint32_t owner, const struct hash *key, const void *bytes,
                            size_t size)
{
    struct hasher h;
    hasher_begin(&h, "cache entry");
    hasher_add_uint(&h, kind);
    hasher_add_uint(&h, owner);
    hasher_add_hash(&h, key);
    hasher_add(&h, bytes, size);
    return hasher_end(&h);
}

static void entry_name(char name[CACHE_NAME_SIZE], enum cache_kind kind, const struct hash *key)
{
    char hex[2 * sizeof key->bytes + 1];
    sodium_bin2hex(hex, sizeof hex, key->bytes, sizeof key->bytes);
    snprintf(name, CACHE_NAME_SIZE, "%.2s/%s.%d", hex, hex + 2, (int)kind);
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
    if (disk) disk->sweep = cache_sweep_new(fd, limit);
    if (!disk || !disk->sweep) {
        free(disk);
        close(fd);
        return NULL;
    }
    disk->directory = fd;
    disk->limit = limit;
    return disk;
}

void cache_disk_close(struct cache_disk *disk)
{
    if (!disk) return;
    cache_sweep_free(disk->sweep);
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
static struct blob *read_entry(int fd, enum cache_kind kind, const struct hash *key, uid_t *owner)
{
    struct cache_header header;
    struct stat s;
    if (fstat(fd, &s) != 0 || !S_ISREG(s.st_mode) || !read_exactly(fd, &header, sizeof header) ||
        memcmp(header.magic, magic, sizeof magic) != 0 || header.format != CACHE_FORMAT ||
        header.kind != (uint32_t)kind || header.reserved != 0 || header.size > PROTO_MAX_MESSAGE ||
        header.size + sizeof header != (uint64_t)s.st_size)
        return NULL;
    struct blob *blob = blob_new(NULL, header.size);
    if (!blob || !read_exactly(fd, blob->data, blob->size)) {
        blob_unref(blob);
        return NULL;
    }
    struct hash sum = checksum(kind, header.owner, key, blob->data, blob->size);
    *owner = header.owner;
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

/* The folder of an entry, which is none but our own: no link leads out of it. -1: there is none. */
static int open_folder(const struct cache_disk *disk, const char *name)
{
    char sub[3] = {name[0], name[1], 0};
    return openat(disk->directory, sub, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static const char *in_folder(const char *name)
{
    return name + 3;
}

struct blob *cache_disk_read(struct cache_disk *disk, enum cache_kind kind, const struct hash *key, uid_t *owner)
{
    char name[CACHE_NAME_SIZE];
    entry_name(name, kind, key);
    int folder = open_folder(disk, name);
    if (folder < 0) return NULL;
    /* Whatever lies there, a pipe or a device: nothing waits. */
    int fd = openat(folder, in_folder(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    close(folder);
    if (fd < 0) return NULL;
    struct blob *blob = read_entry(fd, kind, key, owner);
    if (blob) touch(fd);
    close(fd);
    if (!blob) cache_disk_reject(disk, kind, key);
    return blob;
}

void cache_disk_reject(struct cache_disk *disk, enum cache_kind kind, const struct hash *key)
{
    char name[CACHE_NAME_SIZE];
    struct stat s;
    entry_name(name, kind, key);
    disk->corrupt++;
    int folder = open_folder(disk, name);
    if (folder < 0) return;
    bool there = fstatat(folder, in_folder(name), &s, AT_SYMLINK_NOFOLLOW) == 0;
    bool gone = there && unlinkat(folder, in_folder(name), S_ISDIR(s.st_mode) ? AT_REMOVEDIR : 0) == 0;
    close(folder);
    if (gone && S_ISREG(s.st_mode)) cache_sweep_remove(disk->sweep, (uint64_t)s.st_size);
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

/* Makes the folder where it is missing. */
static int make_folder(const struct cache_disk *disk, const char *name)
{
    char sub[3] = {name[0], name[1], 0};
    int folder = open_folder(disk, name);
    if (folder >= 0 || errno != ENOENT) return folder;
    return mkdirat(disk->directory, sub, 0700) == 0 || errno == EEXIST ? open_folder(disk, name) : -1;
}

static bool write_file(int folder, const char *name, const struct cache_header *header, const struct blob *blob)
{
    int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) return false;
    bool written = write_exactly(fd, header, sizeof *header) && write_exactly(fd, blob->data, blob->size);
    return close(fd) == 0 && written;
}

/* Writes aside and renames; bytes: what the directory has more afterwards. */
static bool write_entry(struct cache_disk *disk, const char *name, const struct cache_header *header,
                        const struct blob *blob, int64_t *bytes)
{
    char temporary[CACHE_NAME_SIZE + 48];
    struct stat old = {0};
    int folder = make_folder(disk, name);
    if (folder < 0) return false;
    name = in_folder(name);
    snprintf(temporary, sizeof temporary, "%s.new%ld-%llu", name, (long)getpid(), (unsigned long long)disk->written++);
    if (fstatat(folder, name, &old, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(old.st_mode)) old.st_size = 0;
    bool written = write_file(folder, temporary, header, blob) && renameat(folder, temporary, folder, name) == 0;
    if (!written) unlinkat(folder, temporary, 0);
    close(folder);
    *bytes = (int64_t)(sizeof *header + blob->size) - (int64_t)old.st_size;
    return written;
}

void cache_disk_write(struct cache_disk *disk, enum cache_kind kind, const struct hash *key, const struct blob *blob,
                      uid_t owner)
{
    char name[CACHE_NAME_SIZE];
    int64_t bytes;
    uint64_t size = sizeof(struct cache_header) + blob->size;
    if (size > disk->limit / 4 || cache_sweep_is_beyond(disk->sweep, owner, size)) return;
    struct cache_header header = {.format = CACHE_FORMAT, .kind = (uint32_t)kind, .size = blob->size, .owner = owner};
    struct hash sum = checksum(kind, owner, key, blob->data, blob->size);
    memcpy(header.magic, magic, sizeof magic);
    memcpy(header.checksum, sum.bytes, sizeof header.checksum);
    entry_name(name, kind, key);
    if (!cache_sweep_is_full(disk->sweep) && write_entry(disk, name, &header, blob, &bytes))
        cache_sweep_add(disk->sweep, owner, bytes);
    else
        disk->write_failures++;
}

void cache_disk_allow(struct cache_disk *disk, struct cache_allowances allowances)
{
    cache_sweep_allow(disk->sweep, allowances);
}

uint64_t cache_disk_bytes_of(const struct cache_disk *disk, uid_t owner)
{
    return cache_sweep_bytes_of(disk->sweep, owner);
}

void cache_disk_settle(struct cache_disk *disk)
{
    cache_sweep_settle(disk->sweep);
}

void cache_disk_stats(const struct cache_disk *disk, struct cache_counts *stats)
{
    stats->disk_bytes = cache_sweep_bytes(disk->sweep);
    stats->corrupt = disk->corrupt;
    stats->write_failures = disk->write_failures;
}
