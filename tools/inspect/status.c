/* fusion-inspect status: the service's counters, for people or as JSON; fusion-inspect metrics: for monitoring. */
#include <inttypes.h>
#include <json.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/inspect/commands.h"
#include "tools/inspect/terminal/complain.h"
#include "tools/inspect/terminal/json.h"
#include "tools/inspect/terminal/numbers.h"
#include "tools/inspect/terminal/style.h"
#include "tools/inspect/terminal/usage.h"

enum { NOT_RUNNING = 3 }; /* the exit status, as systemctl's */

static void heading(const char *name)
{
    printf("%s%-11s%s", style(stdout, STYLE_BOLD), name, style(stdout, STYLE_NONE));
}

/* ---- the service as a whole ---- */

static void print_service(json_object *o)
{
    char up[NUMBER_TEXT], memory[NUMBER_TEXT];
    printf("%sfusiond %s%s, process %" PRIu64 ", running for %s, %s of memory\n", style(stdout, STYLE_GOOD),
           json_text_of(o, "version"), style(stdout, STYLE_NONE), json_number(o, "pid"),
           duration_text(json_number(o, "uptime_ms"), up), size_text(json_number(o, "rss_bytes"), memory));
    heading("sessions");
    printf("%" PRIu64 " of %" PRIu64 ", %" PRIu64 " since it started\n", json_number(o, "sessions"),
           json_number(json_member(o, "limits"), "sessions"), json_number(o, "sessions_ever"));
    heading("objects");
    printf("%" PRIu64 " modules, %" PRIu64 " executables, %" PRIu64 " buffers\n", json_number(o, "modules"),
           json_number(o, "executables"), json_number(o, "buffers"));
}

static void print_code(json_object *o)
{
    uint64_t hits = json_number(o, "object_hits_memory") + json_number(o, "object_hits_disk") +
                    json_number(o, "object_hits_bundle");
    uint64_t all = hits + json_number(o, "object_misses");
    heading("graphs");
    printf("%" PRIu64 " finalized, %" PRIu64 " of them as planned before\n", json_number(o, "finalizes"),
           json_number(o, "plan_hits"));
    heading("code");
    printf("%" PRIu64 " launches, %.0f %% found: %" PRIu64 " in memory, %" PRIu64 " on disk, %" PRIu64
           " in bundles; %" PRIu64 " compiled\n",
           all, all ? 100.0 * (double)hits / (double)all : 0, json_number(o, "object_hits_memory"),
           json_number(o, "object_hits_disk"), json_number(o, "object_hits_bundle"), json_number(o, "compiles"));
    heading("quick tier");
    printf("%" PRIu64 " launches interpreted at first, %" PRIu64 " have code now, %" PRIu64 " stay\n",
           json_number(o, "quick_launches"), json_number(o, "launches_replaced"), json_number(o, "launches_kept"));
}

static void print_cache(json_object *o)
{
    char memory[NUMBER_TEXT], disk[NUMBER_TEXT];
    heading("cache");
    printf("%s in memory, %s on disk", size_text(json_number(o, "cache_bytes_memory"), memory),
           size_text(json_number(o, "cache_bytes_disk"), disk));
    if (json_number(o, "corrupt_entries"))
        printf(", %" PRIu64 " corrupt entries left out", json_number(o, "corrupt_entries"));
    if (json_number(o, "cache_write_failures"))
        printf(", %" PRIu64 " writes failed", json_number(o, "cache_write_failures"));
    putchar('\n');
}

static void print_processes(json_object *o)
{
    json_object *w = json_member(o, "windows");
    heading("compilers");
    printf("%" PRIu64 ", %" PRIu64 " busy, %" PRIu64 " jobs wait; %" PRIu64 " replaced in turn, %" PRIu64
           " died, %" PRIu64 " jobs done again\n",
           json_number(o, "compilers"), json_number(o, "compilers_busy"), json_number(o, "jobs_queued"),
           json_number(o, "compilers_recycled"), json_number(o, "compilers_lost"), json_number(o, "jobs_repeated"));
    heading("executors");
    printf("%" PRIu64 " died\n", json_number(o, "executors_lost"));
    if (!w || !json_number(w, "windows")) return;
    heading("windows");
    printf("%" PRIu64 " of %" PRIu64 " commands, %" PRIu64 " ran fused, %" PRIu64 " shapes (this session)\n",
           json_number(w, "windows"), json_number(w, "commands"), json_number(w, "fused"), json_number(w, "shapes"));
}

/* ---- who uses it ---- */

static void print_user(json_object *u)
{
    char memory[NUMBER_TEXT], shared[NUMBER_TEXT], compile[NUMBER_TEXT], hour[NUMBER_TEXT], cache[NUMBER_TEXT];
    json_object *h = json_member(u, "holds"), *allowed = json_member(u, "allowed");
    const struct passwd *user = getpwuid((uid_t)json_number(u, "uid"));
    printf("  %-12s %3" PRIu64 " sessions  %9s in the service  %9s shared  %5" PRIu64 " descriptors  %5" PRIu64
           " objects  %9s of compiling",
           user ? user->pw_name : json_text_of(u, "uid"), json_number(h, "sessions"),
           size_text(json_number(h, "bytes"), memory), size_text(json_number(h, "shared_bytes"), shared),
           json_number(h, "descriptors"), json_number(h, "objects"), time_text(json_number(u, "compile_ns"), compile));
    printf(", %s of it within an hour", time_text(json_number(u, "compile_hour_ns"), hour));
    if (allowed && json_member(allowed, "compile_hour_ns"))
        printf(" (%s allowed)", time_text(json_number(allowed, "compile_hour_ns"), hour));
    printf("  %9s in the cache", size_text(json_number(u, "cache_bytes"), cache));
    if (allowed && json_member(allowed, "cache_bytes"))
        printf(" (%s allowed)", size_text(json_number(allowed, "cache_bytes"), cache));
    putchar('\n');
}

static void print_client(json_object *c)
{
    printf("  session %-4" PRIu64 " %-20s process %-8" PRIu64 " user %-6" PRIu64 " %5" PRIu64 " buffers %5" PRIu64
           " executables %9" PRIu64 " submissions\n",
           json_number(c, "session"), json_text_of(c, "name"), json_number(c, "pid"), json_number(c, "uid"),
           json_number(c, "buffers"), json_number(c, "executables"), json_number(c, "submissions"));
}

static void print_each(const char *name, json_object *list, void (*print)(json_object *))
{
    size_t n = list ? json_object_array_length(list) : 0;
    heading(name);
    printf("%zu\n", n);
    for (size_t i = 0; i < n; i++) print(json_object_array_get_idx(list, i));
}

static void print_status(json_object *o)
{
    print_service(o);
    print_code(o);
    print_cache(o);
    print_processes(o);
    print_each("users", json_member(o, "users"), print_user);
    print_each("clients", json_member(o, "clients"), print_client);
}

static int show(fusion_session *s, bool as_json)
{
    char *status = NULL;
    if (fusion_session_status(s, &status) != FUSION_SUCCESS) {
        print_error("status");
        return 1;
    }
    json_object *json = json_tokener_parse(status);
    if (json && as_json) print_json(json);
    if (json && !as_json) print_status(json);
    json_object_put(json);
    free(status);
    return 0;
}

int command_status(const struct context *c, int argc, char **argv)
{
    bool json = argc == 2 && strcmp(argv[1], "--json") == 0;
    if (argc != 1 && !json) return usage_of(argc, argv, "[--json]", (const char *const[]){"--json", NULL});
    if (json) complain_as_json();
    fusion_session *s = connect_to_running(c);
    if (!s) return NOT_RUNNING;
    int result = show(s, json);
    fusion_disconnect(s);
    return result;
}

int command_metrics(const struct context *c, int argc, char **argv)
{
    if (argc != 1) return usage_of(argc, argv, "", (const char *const[]){NULL});
    fusion_session *s = connect_to_running(c);
    if (!s) return NOT_RUNNING;
    char *text = NULL;
    fusion_status status = fusion_session_metrics(s, &text);
    if (status == FUSION_SUCCESS)
        fputs(text, stdout);
    else
        print_error("metrics");
    free(text);
    fusion_disconnect(s);
    return status != FUSION_SUCCESS;
}
