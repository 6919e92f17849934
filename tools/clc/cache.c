/*
 * What was compiled before. An entry is one file: the hash of each file that was included, what the compiler said, the
 * module; lines with sizes before each part. Entries come by renaming, so that none is seen half written, and go by
 * age where all of them are too large.
 */
#include "tools/clc/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/broker/core/hash.h"
#include "ir/base/arena.h"
#include "ir/base/strbuf.h"
#include "tools/clc/file.h"

static const char magic[] = "fusiond-clc 3\n";
enum { HEX = 2 * sizeof(struct hash) + 1, MAX_BYTES = 128 << 20 };

static void to_hex(const struct hash *hash, char hex[HEX])
{
    for (size_t i = 0; i < sizeof hash->bytes; i++) snprintf(hex + 2 * i, 3, "%02x", hash->bytes[i]);
}

/* ---- where ---- */

/* All folders of the path. */
static bool make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        bool there = mkdir(path, 0700) == 0 || errno == EEXIST;
        *slash = '/';
        if (!there) return false;
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

static bool find_folder(char path[PATH_MAX])
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int n = -1;
    if (cache && cache[0] == '/')
        n = snprintf(path, PATH_MAX, "%s/fusiond/clc", cache);
    else if (home && home[0] == '/')
        n = snprintf(path, PATH_MAX, "%s/.cache/fusiond/clc", home);
    return n > 0 && n < PATH_MAX - HEX - 16 && make_folders(path);
}

/* A program is known by where it is and when it was changed: reading it would take longer than to run it. */
static void add_program(struct hasher *h, const char *path)
{
    struct stat st = {0};
    char real[PATH_MAX] = "";
    if (realpath(path, real)) stat(real, &st);
    hasher_add_text(h, real);
    hasher_add_uint(h, (uint64_t)st.st_size);
    hasher_add(h, &st.st_mtim, sizeof st.st_mtim);
}

static void add_environment(struct hasher *h)
{
    static const char *const names[] = {"CPATH", "C_INCLUDE_PATH"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        hasher_add_text(h, getenv(names[i]) ? getenv(names[i]) : "");
}

void cache_locate(struct cache_entry *e, const struct source *s, const struct toolchain *t)
{
    char folder[PATH_MAX], hex[HEX], place[PATH_MAX];
    struct hasher h;
    e->path[0] = 0;
    if (!getcwd(place, sizeof place) || !find_folder(folder)) return;
    hasher_begin(&h, magic);
    hasher_add_text(&h, place);
    hasher_add_text(&h, s->path ? s->path : "");
    hasher_add_text(&h, s->name);
    hasher_add(&h, s->text, s->size);
    for (size_t i = 0; i < s->n_options; i++) hasher_add_text(&h, s->options[i]);
    add_program(&h, t->clang);
    add_program(&h, t->translator);
    add_environment(&h);
    struct hash hash = hasher_end(&h);
    to_hex(&hash, hex);
    if (snprintf(e->path, sizeof e->path, "%s/%s", folder, hex) >= PATH_MAX) e->path[0] = 0;
}

/* ---- reading ---- */

struct parser {
    const char *at, *end;
};

/* "word 17\n" and as many bytes, copied with a 0 behind them. */
static char *parse_part(struct parser *p, const char *word, size_t *size)
{
    size_t length = strlen(word), left = (size_t)(p->end - p->at);
    char *number_end;
    if (left <= length || memcmp(p->at, word, length) != 0 || p->at[length] != ' ') return NULL;
    unsigned long long n = strtoull(p->at + length + 1, &number_end, 10);
    if (*number_end != '\n' || n > (size_t)(p->end - number_end - 1)) return NULL;
    char *bytes = arena_realloc(NULL, n + 1);
    memcpy(bytes, number_end + 1, n);
    bytes[n] = 0;
    p->at = number_end + 1 + n;
    *size = n;
    return bytes;
}

/* "HASH PATH": is the file as it was? */
static bool is_same(const char *line)
{
    char hex[HEX];
    struct hash now;
    if (strlen(line) <= HEX || line[HEX - 1] != ' ' || !hash_file(line + HEX, &now)) return false;
    to_hex(&now, hex);
    return memcmp(hex, line, HEX - 1) == 0;
}

static bool parse_includes(struct parser *p)
{
    size_t size;
    char *line;
    for (bool same = true; (line = parse_part(p, "include", &size)); free(line))
        if (!(same &= is_same(line))) return free(line), false;
    return true;
}

static bool parse(struct parser *p, struct compiled *c)
{
    size_t size;
    if (p->end - p->at < (ptrdiff_t)sizeof magic - 1 || memcmp(p->at, magic, sizeof magic - 1) != 0) return false;
    p->at += sizeof magic - 1;
    if (!parse_includes(p)) return false;
    c->log = parse_part(p, "log", &size);
    c->spirv = c->log ? parse_part(p, "spirv", &c->size) : NULL;
    return c->spirv && p->at == p->end;
}

bool cache_find(const struct cache_entry *e, struct compiled *c)
{
    size_t size;
    char *text = e->path[0] ? file_read(e->path, &size) : NULL;
    *c = (struct compiled){0};
    if (!text) return false;
    bool found = parse(&(struct parser){text, text + size}, c);
    free(text);
    if (found)
        utimensat(AT_FDCWD, e->path, NULL, 0); /* used lately */
    else
        compiled_clear(c);
    return found;
}

/* ---- writing ---- */

static void add_part(struct strbuf *b, const char *word, const char *bytes, size_t size)
{
    strbuf_printf(b, "%s %zu\n", word, size);
    strbuf_add_bytes(b, bytes, size);
}

static bool add_include(struct strbuf *b, const char *path)
{
    char hex[HEX];
    struct hash hash;
    struct strbuf line = {0};
    if (!hash_file(path, &hash)) return false;
    to_hex(&hash, hex);
    strbuf_printf(&line, "%s %s", hex, path);
    add_part(b, "include", line.text, line.size);
    free(strbuf_take(&line));
    return true;
}

struct aged {
    char name[HEX];
    off_t size;
    struct timespec used;
};

static int by_age(const void *a, const void *b)
{
    const struct timespec *x = &((const struct aged *)a)->used, *y = &((const struct aged *)b)->used;
    if (x->tv_sec != y->tv_sec) return x->tv_sec < y->tv_sec ? -1 : 1;
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

static size_t list_entries(DIR *dir, struct aged **entries, off_t *total)
{
    size_t n = 0, capacity = 0;
    struct stat st;
    for (struct dirent *d = readdir(dir); d; d = readdir(dir)) {
        if (strlen(d->d_name) != HEX - 1 || fstatat(dirfd(dir), d->d_name, &st, 0) != 0) continue;
        if (n == capacity) *entries = arena_realloc(*entries, (capacity = 2 * capacity + 64) * sizeof **entries);
        struct aged *a = &(*entries)[n++];
        memcpy(a->name, d->d_name, HEX);
        a->size = st.st_size;
        a->used = st.st_mtim;
        *total += st.st_size;
    }
    return n;
}

/* Down to half of what may be there, the oldest first. */
static void sweep(const char *folder)
{
    struct aged *entries = NULL;
    off_t total = 0;
    DIR *dir = opendir(folder);
    if (!dir) return;
    size_t n = list_entries(dir, &entries, &total);
    if (total > MAX_BYTES) {
        qsort(entries, n, sizeof *entries, by_age);
        for (size_t i = 0; i < n && total > MAX_BYTES / 2; i++)
            if (unlinkat(dirfd(dir), entries[i].name, 0) == 0) total -= entries[i].size;
    }
    closedir(dir);
    free(entries);
}

void cache_keep(const struct cache_entry *e, const struct compiled *c)
{
    struct strbuf b = {0};
    char folder[PATH_MAX], temporary[PATH_MAX + 16];
    bool good = e->path[0] != 0;
    strbuf_add(&b, magic);
    for (size_t i = 0; i < c->n_includes && good; i++) good = add_include(&b, c->includes[i]);
    add_part(&b, "log", c->log, strlen(c->log));
    add_part(&b, "spirv", c->spirv, c->size);
    snprintf(temporary, sizeof temporary, "%s.%d", e->path, (int)getpid());
    if (good && (!file_write_new(temporary, b.text, b.size) || rename(temporary, e->path) != 0)) unlink(temporary);
    free(strbuf_take(&b));
    if (!good) return;
    snprintf(folder, sizeof folder, "%s", e->path);
    *strrchr(folder, '/') = 0;
    sweep(folder);
}
