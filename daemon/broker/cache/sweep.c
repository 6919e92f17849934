/* Counting and evicting the cache's files. */
#include "daemon/broker/cache/sweep.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "daemon/broker/cache/entry.h"

enum { STALE_SECONDS = 600 /* a file being written is never older */, MAX_OWNERS = 256, FILE_NAME = 72 };

struct cache_sweep {
    int directory;
    uint64_t limit;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t bytes, added; /* on disk; added meanwhile, as they may not have been counted */
    bool wanted, busy;
    atomic_bool ending;
};

struct file {
    char name[FILE_NAME]; /* from the cache's directory */
    uint32_t owner;       /* index */
    uint64_t bytes;
    struct timespec used;
};

struct owner {
    uint32_t uid;
    uint64_t bytes;
};

struct files {
    struct file *files;
    size_t count, capacity;
    uint64_t bytes;
    struct owner owners[MAX_OWNERS]; /* the last stands for all that have no place */
    uint32_t n_owners;
};

/* ---- looking ---- */

/* As the cache names its entries: "cdef...01.2" in a folder "ab". What else lies there is not ours. */
static bool is_entry(const char *name)
{
    size_t digits = strspn(name, "0123456789abcdef");
    return digits == 2 * sizeof((struct hash){0}).bytes - 2 && name[digits] == '.' &&
           isdigit((uint8_t)name[digits + 1]) && !name[digits + 2];
}

static void add_file(struct files *all, const char *name, const struct stat *s)
{
    if (all->count == all->capacity) {
        size_t capacity = all->capacity ? 2 * all->capacity : 256;
        struct file *files = realloc(all->files, capacity * sizeof *files);
        if (!files) return;
        all->files = files;
        all->capacity = capacity;
    }
    struct file *file = &all->files[all->count++];
    *file = (struct file){.bytes = (uint64_t)s->st_size, .used = s->st_mtim};
    snprintf(file->name, sizeof file->name, "%s", name);
    all->bytes += file->bytes;
}

/* Collects entries; removes what a writer that was killed has left. */
static void look_at(struct cache_sweep *sweep, struct files *all, int fd, const char *sub, const char *name)
{
    struct stat s;
    char full[FILE_NAME];
    if (fstatat(fd, name, &s, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(s.st_mode)) return;
    if (strstr(name, ".new") && time(NULL) - s.st_mtime > STALE_SECONDS) unlinkat(fd, name, 0);
    if (!is_entry(name) || (size_t)snprintf(full, sizeof full, "%s/%s", sub, name) >= sizeof full) return;
    if ((uint64_t)s.st_size > sweep->limit) /* no entry of ours is */
        unlinkat(fd, name, 0);
    else
        add_file(all, full, &s);
}

static void look_into(struct cache_sweep *sweep, struct files *all, const char *sub)
{
    int fd = openat(sweep->directory, sub, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir) {
        if (fd >= 0) close(fd);
        return;
    }
    for (struct dirent *d = readdir(dir); d && !sweep->ending; d = readdir(dir))
        if (d->d_name[0] != '.') look_at(sweep, all, fd, sub, d->d_name);
    closedir(dir);
}

static void look_everywhere(struct cache_sweep *sweep, struct files *all)
{
    for (int i = 0; i < 256 && !sweep->ending; i++) {
        char sub[4];
        snprintf(sub, sizeof sub, "%02x", i);
        look_into(sweep, all, sub);
    }
}

/* ---- owners ---- */

/* Whose entry it is; what cannot be read is nobody's, and as good as root's. */
static uint32_t read_owner(const struct cache_sweep *sweep, const char *name)
{
    struct cache_header header;
    int fd = openat(sweep->directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    bool whole = fd >= 0 && read(fd, &header, sizeof header) == sizeof header;
    if (fd >= 0) close(fd);
    return whole ? header.owner : 0;
}

static uint32_t find_owner(struct files *all, uint32_t uid)
{
    for (uint32_t i = 0; i < all->n_owners; i++)
        if (all->owners[i].uid == uid) return i;
    if (all->n_owners == MAX_OWNERS) return MAX_OWNERS - 1;
    all->owners[all->n_owners] = (struct owner){.uid = uid};
    return all->n_owners++;
}

static void find_owners(struct cache_sweep *sweep, struct files *all)
{
    for (size_t i = 0; i < all->count && !sweep->ending; i++) {
        struct file *file = &all->files[i];
        file->owner = find_owner(all, read_owner(sweep, file->name));
        all->owners[file->owner].bytes += file->bytes;
    }
}

/* The most that each may keep so that all keep `target` together: who has less keeps all, the others equally much. */
static uint64_t fair_share(const struct files *all, uint64_t target)
{
    uint64_t share = target / (all->n_owners ? all->n_owners : 1);
    for (uint32_t round = 0; round < all->n_owners; round++) {
        uint64_t small = 0;
        uint32_t n_large = 0;
        for (uint32_t i = 0; i < all->n_owners; i++) {
            if (all->owners[i].bytes > share)
                n_large++;
            else
                small += all->owners[i].bytes;
        }
        if (n_large) share = (target - small) / n_large;
    }
    return share;
}

/* ---- eviction ---- */

static int older_first(const void *a, const void *b)
{
    const struct timespec *x = &((const struct file *)a)->used, *y = &((const struct file *)b)->used;
    if (x->tv_sec != y->tv_sec) return x->tv_sec < y->tv_sec ? -1 : 1;
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

/* Down to four fifths of the limit. */
static void evict(struct cache_sweep *sweep, struct files *all)
{
    uint64_t target = sweep->limit / 5 * 4;
    find_owners(sweep, all);
    uint64_t share = fair_share(all, target);
    qsort(all->files, all->count, sizeof *all->files, older_first);
    for (size_t i = 0; i < all->count && all->bytes > target && !sweep->ending; i++) {
        struct file *file = &all->files[i];
        struct owner *owner = &all->owners[file->owner];
        if (owner->bytes <= share || unlinkat(sweep->directory, file->name, 0) != 0) continue;
        owner->bytes -= file->bytes;
        all->bytes -= file->bytes;
    }
}

static void sweep_once(struct cache_sweep *sweep)
{
    struct files *all = calloc(1, sizeof *all);
    if (!all) return;
    look_everywhere(sweep, all);
    if (all->bytes > sweep->limit) evict(sweep, all);
    pthread_mutex_lock(&sweep->lock);
    sweep->bytes = all->bytes + sweep->added;
    /* What came meanwhile asked for no sweep, and may be counted twice. Where nothing came, more would do nothing. */
    if (sweep->added > 0 && sweep->bytes > sweep->limit) sweep->wanted = true;
    pthread_mutex_unlock(&sweep->lock);
    free(all->files);
    free(all);
}

/* ---- the thread ---- */

static void *run(void *data)
{
    struct cache_sweep *sweep = data;
    pthread_mutex_lock(&sweep->lock);
    while (!sweep->ending) {
        sweep->busy = sweep->wanted;
        if (!sweep->wanted) {
            pthread_cond_broadcast(&sweep->changed);
            pthread_cond_wait(&sweep->changed, &sweep->lock);
            continue;
        }
        sweep->wanted = false;
        sweep->added = 0;
        pthread_mutex_unlock(&sweep->lock);
        sweep_once(sweep);
        pthread_mutex_lock(&sweep->lock);
    }
    sweep->busy = false;
    pthread_cond_broadcast(&sweep->changed);
    pthread_mutex_unlock(&sweep->lock);
    return NULL;
}

/* Signals are for the thread that waits for them. */
static bool start_thread(struct cache_sweep *sweep)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&sweep->thread, NULL, run, sweep) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

struct cache_sweep *cache_sweep_new(int directory, uint64_t limit)
{
    struct cache_sweep *sweep = calloc(1, sizeof *sweep);
    if (!sweep) return NULL;
    sweep->directory = directory;
    sweep->limit = limit;
    sweep->wanted = true;
    pthread_mutex_init(&sweep->lock, NULL);
    pthread_cond_init(&sweep->changed, NULL);
    if (start_thread(sweep)) return sweep;
    free(sweep);
    return NULL;
}

void cache_sweep_free(struct cache_sweep *sweep)
{
    if (!sweep) return;
    pthread_mutex_lock(&sweep->lock);
    sweep->ending = true;
    pthread_cond_broadcast(&sweep->changed);
    pthread_mutex_unlock(&sweep->lock);
    pthread_join(sweep->thread, NULL);
    pthread_cond_destroy(&sweep->changed);
    pthread_mutex_destroy(&sweep->lock);
    free(sweep);
}

void cache_sweep_add(struct cache_sweep *sweep, int64_t bytes)
{
    pthread_mutex_lock(&sweep->lock);
    uint64_t less = bytes < 0 ? (uint64_t)-bytes : 0;
    sweep->bytes -= less < sweep->bytes ? less : sweep->bytes;
    if (bytes > 0) {
        sweep->bytes += (uint64_t)bytes;
        sweep->added += (uint64_t)bytes;
    }
    if (sweep->bytes > sweep->limit && !sweep->busy && !sweep->wanted) {
        sweep->wanted = true;
        pthread_cond_broadcast(&sweep->changed);
    }
    pthread_mutex_unlock(&sweep->lock);
}

uint64_t cache_sweep_bytes(struct cache_sweep *sweep)
{
    pthread_mutex_lock(&sweep->lock);
    uint64_t bytes = sweep->bytes;
    pthread_mutex_unlock(&sweep->lock);
    return bytes;
}

bool cache_sweep_is_full(struct cache_sweep *sweep)
{
    return cache_sweep_bytes(sweep) > sweep->limit / 4 * 5;
}

void cache_sweep_settle(struct cache_sweep *sweep)
{
    pthread_mutex_lock(&sweep->lock);
    while (sweep->wanted || sweep->busy) pthread_cond_wait(&sweep->changed, &sweep->lock);
    pthread_mutex_unlock(&sweep->lock);
}
