/* The daemon's counters as OpenMetrics text: families with their type and meaning, samples, an end. */
#include "daemon/broker/requests/metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/broker/cache/cache.h"
#include "daemon/broker/compile/pool.h"
#include "daemon/broker/compile/quota.h"
#include "daemon/broker/core/log.h"
#include "daemon/broker/core/procstat.h"
#include "ir/base/strbuf.h"
#include "proto/writer.h"

enum { PERIOD_MS = 15000 };

/* ---- families ---- */

static void family(struct strbuf *out, const char *name, const char *type, const char *unit, const char *help)
{
    strbuf_printf(out, "# TYPE fusiond_%s %s\n", name, type);
    if (unit) strbuf_printf(out, "# UNIT fusiond_%s %s\n", name, unit);
    strbuf_printf(out, "# HELP fusiond_%s %s\n", name, help);
}

static void gauge(struct strbuf *out, const char *name, uint64_t value, const char *help)
{
    family(out, name, "gauge", NULL, help);
    strbuf_printf(out, "fusiond_%s %" PRIu64 "\n", name, value);
}

static void counter(struct strbuf *out, const char *name, uint64_t value, const char *help)
{
    family(out, name, "counter", NULL, help);
    strbuf_printf(out, "fusiond_%s_total %" PRIu64 "\n", name, value);
}

static void bytes(struct strbuf *out, const char *name, uint64_t value, const char *help)
{
    family(out, name, "gauge", "bytes", help);
    strbuf_printf(out, "fusiond_%s %" PRIu64 "\n", name, value);
}

/* ---- what there is to tell ---- */

static void tell_daemon(struct strbuf *out, const struct broker *broker)
{
    uint64_t up_ms = uv_hrtime() / 1000000 - broker->started_ms;
    family(out, "build", "info", NULL, "The daemon.");
    strbuf_printf(out, "fusiond_build_info{version=\"%s\"} 1\n", FUSIOND_VERSION);
    family(out, "uptime_seconds", "gauge", "seconds", "Since the daemon started.");
    strbuf_printf(out, "fusiond_uptime_seconds %" PRIu64 ".%03u\n", up_ms / 1000, (unsigned)(up_ms % 1000));
    bytes(out, "resident_bytes", procstat_resident(getpid()), "Memory of the daemon itself.");
}

static void tell_objects(struct strbuf *out, const struct broker *broker)
{
    uint64_t sessions = 0, modules = 0, executables = 0, buffers = 0;
    const struct session *s;
    LIST_FOREACH(s, &broker->sessions, link)
    {
        sessions += s->greeted;
        modules += s->modules.count;
        executables += s->executables.count;
        buffers += s->buffers.count;
    }
    gauge(out, "sessions", sessions, "Clients that are connected.");
    counter(out, "sessions_begun", broker->counters.sessions_ever, "Clients that have connected.");
    gauge(out, "modules", modules, "Modules of all sessions.");
    gauge(out, "executables", executables, "Executables of all sessions.");
    gauge(out, "buffers", buffers, "Buffers of all sessions.");
}

static void tell_code(struct strbuf *out, const struct broker *broker)
{
    const struct counters *c = &broker->counters;
    struct cache_counts cache = cache_stats(broker->cache);
    counter(out, "finalizes", c->finalizes, "Graphs that were finalized.");
    counter(out, "plan_hits", c->plan_hits, "Of these, those whose plan was in the cache.");
    family(out, "objects_found", "counter", NULL, "Launches whose code was there already.");
    strbuf_printf(out, "fusiond_objects_found_total{where=\"memory\"} %" PRIu64 "\n", c->object_hits_memory);
    strbuf_printf(out, "fusiond_objects_found_total{where=\"disk\"} %" PRIu64 "\n", c->object_hits_disk);
    strbuf_printf(out, "fusiond_objects_found_total{where=\"bundle\"} %" PRIu64 "\n", c->object_hits_bundle);
    counter(out, "objects_missed", c->object_misses, "Launches whose code was nowhere.");
    counter(out, "compiles", c->compiles, "Kernels that were compiled.");
    counter(out, "quick_launches", c->quick_launches, "Launches that were interpreted at first.");
    counter(out, "launches_replaced", c->launches_replaced, "Of these, those that have code now.");
    counter(out, "launches_kept", c->launches_kept, "Of these, those that stay as they are.");
    counter(out, "binaries_made", c->binaries_made, "Binaries of drivers that were made for others.");
    counter(out, "binaries_found", c->binaries_found, "Launches whose binary of a driver was there already.");
    counter(out, "binaries_failed", c->binaries_failed, "Binaries of drivers that could not be made.");
    family(out, "cache_bytes", "gauge", "bytes", "What the cache holds.");
    strbuf_printf(out, "fusiond_cache_bytes{where=\"memory\"} %" PRIu64 "\n", (uint64_t)cache.memory_bytes);
    strbuf_printf(out, "fusiond_cache_bytes{where=\"disk\"} %" PRIu64 "\n", (uint64_t)cache.disk_bytes);
    counter(out, "cache_corrupt_entries", cache.corrupt, "Entries of the cache that were damaged.");
    counter(out, "cache_write_failures", cache.write_failures, "Entries of the cache that could not be written.");
}

static void tell_processes(struct strbuf *out, const struct broker *broker)
{
    const struct counters *c = &broker->counters;
    struct pool_counts pool = pool_counts(broker->pool);
    gauge(out, "compilers", pool.compilers, "Compilers that are there.");
    gauge(out, "compilers_busy", pool.busy, "Compilers that have a job.");
    gauge(out, "jobs_waiting", pool.queued, "Jobs that wait for a compiler.");
    counter(out, "jobs_repeated", c->jobs_repeated, "Jobs that were done once more.");
    counter(out, "compilers_recycled", c->compilers_recycled, "Compilers that were replaced after many jobs.");
    counter(out, "compilers_lost", c->compilers_lost, "Compilers that died, or were killed for what they took.");
    counter(out, "executors_lost", c->executors_lost, "Executors that died, or were killed for what they took.");
}

static bool may_see(const struct user *viewer, const struct user *user)
{
    return !viewer || user == viewer || user_sees_all(viewer);
}

/* Compiling within the last hour, the cache, and what the administrator allows. */
static void tell_allowed(struct strbuf *out, const struct broker *broker, const struct user *viewer)
{
    const struct users *users = &broker->users;
    const struct user *user;
    family(out, "user_compile_hour_seconds", "gauge", "seconds",
           "Processor time that compilers spent on a user within the last hour.");
    TAILQ_FOREACH(user, &users->list, link)
    if (may_see(viewer, user))
        strbuf_printf(out, "fusiond_user_compile_hour_seconds{uid=\"%u\"} %.6f\n", (unsigned)user->uid,
                      (double)quota_used(user, uv_hrtime()) * 1e-9);
    family(out, "user_cache_bytes", "gauge", "bytes", "What was made for a user and is in the cache on disk.");
    TAILQ_FOREACH(user, &users->list, link)
    if (may_see(viewer, user))
        strbuf_printf(out, "fusiond_user_cache_bytes{uid=\"%u\"} %" PRIu64 "\n", (unsigned)user->uid,
                      cache_bytes_of(broker->cache, user->uid));
    family(out, "user_allowed", "gauge", NULL, "What the administrator allows a user, where that is limited.");
    TAILQ_FOREACH(user, &users->list, link)
    for (int i = 0; i < USER_LIMITS && may_see(viewer, user); i++) {
        uint64_t most = users_allow(users, user->uid, i);
        if (most != UINT64_MAX)
            strbuf_printf(out, "fusiond_user_allowed{uid=\"%u\",resource=\"%s\"} %" PRIu64 "\n", (unsigned)user->uid,
                          user_limit_key(i), most);
    }
}

static void tell_users(struct strbuf *out, const struct users *users, const struct user *viewer)
{
    const struct user *user;
    family(out, "user_holds", "gauge", NULL, "What a user holds of the daemon.");
    TAILQ_FOREACH(user, &users->list, link)
    for (int i = 0; i < USER_RESOURCES && may_see(viewer, user); i++)
        strbuf_printf(out, "fusiond_user_holds{uid=\"%u\",resource=\"%s\"} %" PRIu64 "\n", (unsigned)user->uid,
                      user_limit_key(i), user->used[i]);
    family(out, "user_compile_seconds", "counter", "seconds", "How long a user's jobs took compilers.");
    TAILQ_FOREACH(user, &users->list, link)
    if (may_see(viewer, user))
        strbuf_printf(out, "fusiond_user_compile_seconds_total{uid=\"%u\"} %.6f\n", (unsigned)user->uid,
                      (double)user->turns.compile_ns * 1e-9);
    family(out, "limit", "gauge", NULL, "What all users together may hold of the daemon.");
    for (int i = 0; i < USER_RESOURCES; i++)
        strbuf_printf(out, "fusiond_limit{resource=\"%s\"} %" PRIu64 "\n", user_limit_key(i), users->limits[i]);
}

/* Their sessions' rings say so, which are theirs to write: so each user's number is his own. */
static void tell_submissions(struct strbuf *out, const struct broker *broker, const struct user *viewer)
{
    const struct user *user;
    const struct session *s;
    family(out, "user_submissions_done", "gauge", NULL, "Submissions that a user's sessions of now have had done.");
    TAILQ_FOREACH(user, &broker->users.list, link)
    {
        uint64_t done = 0;
        if (!may_see(viewer, user)) continue;
        LIST_FOREACH(s, &broker->sessions, link)
        done += s->user == user && s->ring ? atomic_load(&s->ring->completed) : 0;
        strbuf_printf(out, "fusiond_user_submissions_done{uid=\"%u\"} %" PRIu64 "\n", (unsigned)user->uid, done);
    }
}

/* viewer: whose eyes it is for; NULL: those of who may see all. To be freed. */
static char *text_for(const struct broker *broker, const struct user *viewer)
{
    struct strbuf out = {0};
    tell_daemon(&out, broker);
    tell_objects(&out, broker);
    tell_code(&out, broker);
    tell_processes(&out, broker);
    tell_users(&out, &broker->users, viewer);
    tell_allowed(&out, broker, viewer);
    tell_submissions(&out, broker, viewer);
    strbuf_add(&out, "# EOF\n");
    return strbuf_take(&out);
}

void metrics_reply(struct session *s, struct proto_message *m)
{
    struct proto_writer w;
    char *text = text_for(s->broker, s->user);
    proto_begin_reply(&w, m->id);
    proto_pack_map(&w, 1);
    proto_pack_string(&w, "text", text);
    free(text);
    session_send(s, &w);
}

/* ---- the file ---- */

/* Beside it first: whoever reads it has one moment's numbers. Everybody may. */
static bool replace(const char *path, const char *text)
{
    char beside[4096];
    size_t size = strlen(text);
    if (snprintf(beside, sizeof beside, "%s.new", path) >= (int)sizeof beside) {
        errno = ENAMETOOLONG;
        return false;
    }
    unlink(beside);
    int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0) return false;
    bool written = fchmod(fd, 0644) == 0 && write(fd, text, size) == (ssize_t)size;
    close(fd);
    return written && rename(beside, path) == 0;
}

/* Said once, until it works again. */
static void write_file(struct broker *broker)
{
    static bool failed;
    char *text = text_for(broker, NULL);
    bool written = replace(broker->options.metrics_file, text);
    if (!written && !failed)
        log_warning("metrics cannot be written to %s: %s", broker->options.metrics_file, strerror(errno));
    failed = !written;
    free(text);
}

static void on_time(uv_timer_t *timer)
{
    write_file(timer->data);
}

void metrics_begin(struct broker *broker)
{
    if (broker->options.metrics_file) uv_timer_start(&broker->metrics, on_time, 0, PERIOD_MS);
}

void metrics_end(struct broker *broker)
{
    if (!uv_is_active((uv_handle_t *)&broker->metrics)) return;
    uv_timer_stop(&broker->metrics);
    unlink(broker->options.metrics_file);
}
