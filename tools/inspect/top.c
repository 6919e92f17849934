/* fusion-inspect top: what the service does now, as often as asked. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/inspect/commands.h"
#include "tools/inspect/terminal/complain.h"
#include "tools/inspect/terminal/json.h"
#include "tools/inspect/terminal/numbers.h"
#include "tools/inspect/terminal/style.h"
#include "tools/inspect/terminal/usage.h"

enum { NOT_RUNNING = 3, MAX_SHOWN = 30 };

struct top {
    double interval; /* seconds */
    uint32_t count;  /* 0: until the program is ended */
    json_object *before, *now;
};

/* ---- what changed between two looks ---- */

static uint64_t grown(const struct top *t, const char *key)
{
    uint64_t now = json_number(t->now, key), before = json_number(t->before, key);
    return now > before ? now - before : 0;
}

static double rate(const struct top *t, uint64_t n)
{
    return (double)n / t->interval;
}

/* The same session as it was before, or NULL. */
static json_object *session_before(const struct top *t, uint64_t session)
{
    json_object *list = json_member(t->before, "clients");
    for (size_t i = 0; list && i < json_object_array_length(list); i++) {
        json_object *c = json_object_array_get_idx(list, i);
        if (json_number(c, "session") == session) return c;
    }
    return NULL;
}

struct row {
    json_object *client;
    uint64_t submissions; /* since the look before */
};

static int busiest_first(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->submissions != y->submissions) return x->submissions > y->submissions ? -1 : 1;
    uint64_t i = json_number(x->client, "session"), k = json_number(y->client, "session");
    return i < k ? -1 : i > k;
}

/* ---- the screen ---- */

static void print_head(const struct top *t)
{
    char up[NUMBER_TEXT], memory[NUMBER_TEXT];
    uint64_t hits = grown(t, "object_hits_memory") + grown(t, "object_hits_disk") + grown(t, "object_hits_bundle");
    uint64_t lookups = hits + grown(t, "object_misses");
    printf("%sfusiond %s%s, running for %s, %s of memory\n", style(stdout, STYLE_GOOD), json_text_of(t->now, "version"),
           style(stdout, STYLE_NONE), duration_text(json_number(t->now, "uptime_ms"), up),
           size_text(json_number(t->now, "rss_bytes"), memory));
    printf("sessions %" PRIu64 "  executables %" PRIu64 "  compilers %" PRIu64 " of %" PRIu64 " busy, %" PRIu64
           " jobs wait\n",
           json_number(t->now, "sessions"), json_number(t->now, "executables"), json_number(t->now, "compilers_busy"),
           json_number(t->now, "compilers"), json_number(t->now, "jobs_queued"));
    printf("a second: %.1f finalized, %.1f compiled", rate(t, grown(t, "finalizes")), rate(t, grown(t, "compiles")));
    if (lookups) printf(", %.0f %% of code found", 100.0 * (double)hits / (double)lookups);
    if (grown(t, "executors_lost")) printf(", %" PRIu64 " executors died", grown(t, "executors_lost"));
    if (grown(t, "compilers_lost")) printf(", %" PRIu64 " compilers died", grown(t, "compilers_lost"));
    putchar('\n');
}

static void print_rows(const struct top *t, const struct row *rows, size_t n)
{
    printf("%s%8s %-24s %8s %6s %8s %12s %14s%s\n", style(stdout, STYLE_BOLD), "session", "name", "process", "user",
           "buffers", "executables", "submissions/s", style(stdout, STYLE_NONE));
    for (size_t i = 0; i < n && i < MAX_SHOWN; i++) {
        json_object *c = rows[i].client;
        printf("%8" PRIu64 " %-24.24s %8" PRIu64 " %6" PRIu64 " %8" PRIu64 " %12" PRIu64 " %14.1f\n",
               json_number(c, "session"), json_text_of(c, "name"), json_number(c, "pid"), json_number(c, "uid"),
               json_number(c, "buffers"), json_number(c, "executables"), rate(t, rows[i].submissions));
    }
    if (n > MAX_SHOWN) printf("... and %zu more\n", n - MAX_SHOWN);
}

static void print_sessions(const struct top *t)
{
    json_object *list = json_member(t->now, "clients");
    size_t n = list ? json_object_array_length(list) : 0;
    struct row *rows = calloc(n + 1, sizeof *rows);
    for (size_t i = 0; rows && i < n; i++) {
        json_object *c = json_object_array_get_idx(list, i);
        json_object *before = session_before(t, json_number(c, "session"));
        uint64_t submissions = json_number(c, "submissions");
        rows[i] = (struct row){c, submissions - (before ? json_number(before, "submissions") : 0)};
    }
    if (rows) {
        qsort(rows, n, sizeof *rows, busiest_first);
        print_rows(t, rows, n);
    }
    free(rows);
}

static void print_screen(const struct top *t)
{
    if (isatty(STDOUT_FILENO)) fputs("\033[H\033[J", stdout);
    print_head(t);
    print_sessions(t);
    fflush(stdout);
}

/* ---- the command ---- */

static json_object *look(fusion_session *s)
{
    char *status = NULL;
    if (fusion_session_status(s, &status) != FUSION_SUCCESS) {
        print_error("top");
        return NULL;
    }
    json_object *json = json_tokener_parse(status);
    free(status);
    return json;
}

static bool run(struct top *t, fusion_session *s)
{
    t->before = look(s);
    for (uint32_t i = 0; t->before && (!t->count || i < t->count); i++) {
        usleep((useconds_t)(t->interval * 1e6));
        if (!(t->now = look(s))) return false;
        print_screen(t);
        json_object_put(t->before);
        t->before = t->now;
        t->now = NULL;
    }
    return t->before;
}

enum { GO_ON = -1 };

static int usage(int argc, char **argv)
{
    return usage_of(argc, argv, "[--interval SECONDS] [--count N]",
                    (const char *const[]){"--interval", "--count", NULL});
}

static bool number_of(const char *option, const char *text, double least, double most, double *value)
{
    char *end = NULL;
    *value = strtod(text, &end);
    if (end != text && !*end && *value >= least && *value <= most) return true;
    complain(option, "invalid", "it takes a number from %.10g to %.10g, not `%s`", least, most, text);
    return false;
}

/* GO_ON, or the exit status. */
static int parse(int argc, char **argv, struct top *t)
{
    double count;
    *t = (struct top){.interval = 1};
    for (int i = 1; i < argc; i += 2) {
        bool is_interval = strcmp(argv[i], "--interval") == 0;
        if ((!is_interval && strcmp(argv[i], "--count") != 0) || i + 1 == argc) return usage(argc, argv);
        if (is_interval && !number_of(argv[i], argv[i + 1], 0.01, 3600, &t->interval)) return 2;
        if (is_interval) continue;
        if (!number_of(argv[i], argv[i + 1], 1, 1e9, &count)) return 2;
        t->count = (uint32_t)count;
    }
    return GO_ON;
}

int command_top(const struct context *c, int argc, char **argv)
{
    struct top t;
    int status = parse(argc, argv, &t);
    if (status != GO_ON) return status;
    fusion_session *s = connect_to_running(c);
    if (!s) return NOT_RUNNING;
    bool ok = run(&t, s);
    json_object_put(t.before);
    fusion_disconnect(s);
    return ok ? 0 : 1;
}
