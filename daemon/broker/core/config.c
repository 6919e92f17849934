/* Reading the configuration file, line by line. */
#include "daemon/broker/core/config.h"

#include <ctype.h>
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/nearest.h"

enum { MB = 1 << 20, MS = 1000000 /* ns */ };

/* What a user's section may have, and what it limits. */
static const struct {
    const char *name;
    int limit;
    uint64_t unit;
} user_keys[] = {
    {"max-sessions", USER_SESSIONS, 1}, {"max-objects", USER_OBJECTS, 1},        {"memory", USER_BYTES, MB},
    {"buffer-memory", USER_SHARED, MB}, {"executor-memory", USER_EXECUTORS, MB}, {"compile-time", USER_COMPILING, MS},
    {"cache-size", USER_CACHE, MB},
};
enum { N_USER_KEYS = sizeof user_keys / sizeof *user_keys };

struct config {
    struct config_target *target;
    const char *path;
    unsigned line;
    struct user_caps *user; /* whose section it is; NULL: before the first one */
    struct error *error;
};

static int fail(const struct config *c, const char *format, const char *what)
{
    char reason[400];
    snprintf(reason, sizeof reason, format, what);
    return error_set(c->error, 1, "", "%s:%u: %s", c->path, c->line, reason);
}

/* ---- sections ---- */

static bool find_user(const char *name, uid_t *uid)
{
    char *end;
    unsigned long number = strtoul(name, &end, 10);
    const struct passwd *user = getpwnam(name);
    *uid = user ? user->pw_uid : (uid_t)number;
    return user || (isdigit((unsigned char)*name) && !*end && number < UINT32_MAX);
}

static int begin_section(struct config *c, char *line)
{
    static const char start[] = "[user ";
    struct config_target *t = c->target;
    char *end = strchr(line, ']');
    uid_t uid = 0;
    if (strncmp(line, start, sizeof start - 1) != 0 || !end || end[1])
        return fail(c, "`%s` is no section: [user NAME], or its number, or [user *]", line);
    *end = 0;
    const char *name = line + sizeof start - 1;
    bool everybody = strcmp(name, "*") == 0;
    if (!everybody && !find_user(name, &uid)) return fail(c, "there is no user `%s`", name);
    for (uint32_t i = 0; i < t->n_caps; i++)
        if (t->caps[i].uid == uid && t->caps[i].everybody == everybody)
            return fail(c, "user %s has a section already", name);
    struct user_caps *caps = reallocarray(t->caps, t->n_caps + 1, sizeof *caps);
    if (!caps) return fail(c, "%s", "there is no memory");
    t->caps = caps;
    c->user = &caps[t->n_caps++];
    *c->user = (struct user_caps){.everybody = everybody, .uid = uid};
    for (int i = 0; i < USER_LIMITS; i++) c->user->most[i] = UINT64_MAX;
    return 0;
}

/* ---- lines ---- */

static int set_cap(struct config *c, const char *name, const char *text)
{
    char *end, hint[120];
    struct nearest s = nearest_begin(name, strlen(name));
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    for (int i = 0; i < N_USER_KEYS; i++) {
        nearest_offer(&s, user_keys[i].name);
        if (strcmp(user_keys[i].name, name) != 0) continue;
        if (errno || !isdigit((unsigned char)*text) || *end || value > UINT64_MAX / 16 / user_keys[i].unit)
            return fail(c, "`%s` is no number", text);
        c->user->most[user_keys[i].limit] = value * user_keys[i].unit;
        return 0;
    }
    return error_set(c->error, 1, "", "%s:%u: a user has no limit `%s`%s", c->path, c->line, name,
                     nearest_hint(s.best, hint, sizeof hint));
}

static int set_value(struct config *c, const char *name, const char *text)
{
    struct error why;
    if (c->user) return set_cap(c, name, text);
    if (c->target->set(c->target->data, name, text, &why) == 0) return 0;
    return fail(c, "%.300s", why.reason);
}

static char *trim(char *text)
{
    while (isspace((unsigned char)*text)) text++;
    size_t n = strlen(text);
    while (n && isspace((unsigned char)text[n - 1])) text[--n] = 0;
    return text;
}

static int read_line(struct config *c, char *text)
{
    char *line = trim(text), *equals;
    if (!*line || *line == '#') return 0;
    if (*line == '[') return begin_section(c, line);
    equals = strchr(line, '=');
    if (!equals) return fail(c, "`%s` is no \"name = value\"", line);
    *equals = 0;
    return set_value(c, trim(line), trim(equals + 1));
}

int config_read(struct config_target *target, const char *path, bool needed, struct error *e)
{
    struct config c = {.target = target, .path = path, .error = e};
    FILE *in = fopen(path, "re");
    char *text = NULL;
    size_t size = 0;
    int result = 0;
    if (!in && errno == ENOENT && !needed) return 0;
    if (!in) return error_set(e, 1, "", "%s: %s", path, strerror(errno));
    while (result == 0 && getline(&text, &size, in) >= 0) {
        c.line++;
        result = read_line(&c, text);
    }
    if (result == 0 && ferror(in)) result = error_set(e, 1, "", "%s: %s", path, strerror(errno));
    free(text);
    fclose(in);
    return result;
}
