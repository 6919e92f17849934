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

struct owner {
    uint32_t uid;
    uint64_t bytes, allowed;
};

struct owners {
    struct owner of[MAX_OWNERS]; /* the last stands for all that have no place, and may have any amount */
    uint32_t n;
};

struct cache_sweep {
    int directory;
    uint64_t limit;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t bytes, added;        /* on disk; added meanwhile, as they may not have been counted */
    struct owners owners, adding; /* likewise, by whose they are */
    struct cache_allowances allowances;
    bool wanted, busy;
    atomic_bool ending;
};

struct file {
    char name[FILE_NAME]; /* from the cache's directory */
    uint32_t owner;       /* index */
    uint64_t bytes;
    struct timespec used;
};

struct files {
    struct file *files;
    size_t count, capacity;
    uint64_t bytes;
    struct owners owners;
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

/* With the lock held. */
static uint64_t allowed(const struct cache_allowances *a, uint32_t uid)
{
    for (uint32_t i = 0; i < a->n; i++)
        if (a->of[i].uid == uid) return a->of[i].bytes;
    return a->others;
}

static uint32_t find_owner(struct owners *all, uint32_t uid)
{
    for (uint32_t i = 0; i < all->n; i++)
        if (all->of[i].uid == uid) return i;
    if (all->n == MAX_OWNERS) return MAX_OWNERS - 1;
    all->of[all->n] = (struct owner){.uid = uid};
    return all->n++;
}

/* With the lock held. */
static void add_for(struct cache_sweep *sweep, struct owners *owners, uint32_t uid, int64_t bytes)
{
    uint32_t i = find_owner(owners, uid);
    struct owner *o = &owners->of[i];
    uint64_t less = bytes < 0 ? (uint64_t)-bytes : 0;
    o->allowed = i == MAX_OWNERS - 1 ? UINT64_MAX : allowed(&sweep->allowances, uid);
    o->bytes += bytes > 0 ? (uint64_t)bytes : 0;
    o->bytes -= less < o->bytes ? less : o->bytes;
}

static bool has_too_much(const struct owners *owners, uint32_t uid)
{
    for (uint32_t i = 0; i < owners->n; i++)
        if (owners->of[i].uid == uid) return owners->of[i].bytes > owners->of[i].allowed;
    return false;
}

static void find_owners(struct cache_sweep *sweep, struct files *all)
{
    for (size_t i = 0; i < all->count && !sweep->ending; i++) {
        struct file *file = &all->files[i];
        file->owner = find_owner(&all->owners, read_owner(sweep, file->name));
        all->owners.of[file->owner].bytes += file->bytes;
    }
    pthread_mutex_lock(&sweep->lock);
    for (uint32_t i = 0; i < all->owners.n; i++) add_for(sweep, &all->owners, all->owners.of[i].uid, 0);
    pthread_mutex_unlock(&sweep->lock);
}

/* The most that each may keep so that all keep `target` together: who has less keeps all, the others equally much. */
static uint64_t fair_share(const struct files *all, uint64_t target)
{
    uint64_t share = target / (all->owners.n ? all->owners.n : 1);
    for (uint32_t round = 0; round < all->owners.n; round++) {
        uint64_t small = 0;
        uint32_t n_large = 0;
        for (uint32_t i = 0; i < all->owners.n; i++) {
            if (all->owners.of[i].bytes > share)
                n_large++;
            else
                small += all->owners.of[i].bytes;
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

static bool remove_file(struct cache_sweep *sweep, struct files *all, struct file *file)
{
    if (unlinkat(sweep->directory, file->name, 0) != 0) return false;
    all->owners.of[file->owner].bytes -= file->bytes;
    all->bytes -= file->bytes;
    file->bytes = 0;
    return true;
}

/* Who has more than he is allowed loses down to four fifths of it. */
static void evict_excess(struct cache_sweep *sweep, struct files *all)
{
    bool beyond[MAX_OWNERS];
    for (uint32_t i = 0; i < all->owners.n; i++) beyond[i] = all->owners.of[i].bytes > all->owners.of[i].allowed;
    for (size_t i = 0; i < all->count && !sweep->ending; i++) {
        struct file *file = &all->files[i];
        const struct owner *owner = &all->owners.of[file->owner];
        if (beyond[file->owner] && owner->bytes > owner->allowed / 5 * 4) remove_file(sweep, all, file);
    }
}

/* All together down to four fifths of the limit. */
static void evict(struct cache_sweep *sweep, struct files *all)
{
    uint64_t target = sweep->limit / 5 * 4, share = fair_share(all, target);
    for (size_t i = 0; i < all->count && all->bytes > target && !sweep->ending; i++) {
        struct file *file = &all->files[i];
        if (file->bytes && all->owners.of[file->owner].bytes > share) remove_file(sweep, all, file);
    }
}

/* With the lock held: what was found, and what came meanwhile, which asked for no sweep, and may be counted twice.
   Where nothing came, another sweep would do nothing. */
static void settle(struct cache_sweep *sweep, const struct files *all)
{
    sweep->bytes = all->bytes + sweep->added;
    sweep->owners = all->owners;
    for (uint32_t i = 0; i < sweep->adding.n; i++) {
        const struct owner *o = &sweep->adding.of[i];
        add_for(sweep, &sweep->owners, o->uid, (int64_t)o->bytes);
        sweep->wanted |= o->bytes > 0 && has_too_much(&sweep->owners, o->uid);
    }
    sweep->wanted |= sweep->added > 0 && sweep->bytes > sweep->limit;
}

static void sweep_once(struct cache_sweep *sweep)
{
    struct files *all = calloc(1, sizeof *all);
    if (!all) return;
    look_everywhere(sweep, all);
    find_owners(sweep, all);
    if (all->count > 0) qsort(all->files, all->count, sizeof *all->files, older_first);
    evict_excess(sweep, all);
    if (all->bytes > sweep->limit) evict(sweep, all);
    pthread_mutex_lock(&sweep->lock);
    settle(sweep, all);
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
        sweep->adding.n = 0;
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
    sweep->allowances.others = UINT64_MAX;
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
    free(sweep->allowances.of);
    free(sweep);
}

/* With the lock held. */
static void want(struct cache_sweep *sweep)
{
    sweep->wanted = true;
    pthread_cond_broadcast(&sweep->changed);
}

void cache_sweep_allow(struct cache_sweep *sweep, struct cache_allowances allowances)
{
    pthread_mutex_lock(&sweep->lock);
    free(sweep->allowances.of);
    sweep->allowances = allowances;
    want(sweep);
    pthread_mutex_unlock(&sweep->lock);
}

/* With the lock held. */
static void add(struct cache_sweep *sweep, int64_t bytes)
{
    uint64_t less = bytes < 0 ? (uint64_t)-bytes : 0;
    sweep->bytes -= less < sweep->bytes ? less : sweep->bytes;
    if (bytes <= 0) return;
    sweep->bytes += (uint64_t)bytes;
    sweep->added += (uint64_t)bytes;
}

void cache_sweep_add(struct cache_sweep *sweep, uid_t owner, int64_t bytes)
{
    pthread_mutex_lock(&sweep->lock);
    add(sweep, bytes);
    add_for(sweep, &sweep->owners, owner, bytes);
    add_for(sweep, &sweep->adding, owner, bytes);
    bool too_much = sweep->bytes > sweep->limit || has_too_much(&sweep->owners, owner);
    if (too_much && !sweep->busy && !sweep->wanted) want(sweep);
    pthread_mutex_unlock(&sweep->lock);
}

void cache_sweep_remove(struct cache_sweep *sweep, uint64_t bytes)
{
    pthread_mutex_lock(&sweep->lock);
    add(sweep, -(int64_t)bytes);
    pthread_mutex_unlock(&sweep->lock);
}

uint64_t cache_sweep_bytes_of(struct cache_sweep *sweep, uid_t owner)
{
    uint64_t bytes = 0;
    pthread_mutex_lock(&sweep->lock);
    for (uint32_t i = 0; i < sweep->owners.n; i++)
        if (sweep->owners.of[i].uid == owner) bytes = sweep->owners.of[i].bytes;
    pthread_mutex_unlock(&sweep->lock);
    return bytes;
}

bool cache_sweep_is_beyond(struct cache_sweep *sweep, uid_t owner, uint64_t bytes)
{
    uint64_t has = cache_sweep_bytes_of(sweep, owner);
    pthread_mutex_lock(&sweep->lock);
    uint64_t may = allowed(&sweep->allowances, owner);
    pthread_mutex_unlock(&sweep->lock);
    return bytes > may || (has > may && has - may > may / 4);
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
