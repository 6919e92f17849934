/* The daemon's status. */
#include "daemon/broker/requests/status.h"

#include <unistd.h>

#include "daemon/broker/cache/cache.h"
#include "daemon/broker/cache/remote.h"
#include "daemon/broker/compile/quota.h"
#include "daemon/broker/core/procstat.h"
#include "proto/frame.h"
#include "proto/writer.h"

enum { FIELDS = 42, CLIENT_FIELDS = 7 };

static void pack_client(struct proto_writer *w, const struct session *s)
{
    proto_pack_map(w, CLIENT_FIELDS);
    proto_pack_uint(w, "session", s->id);
    proto_pack_string(w, "name", s->name);
    proto_pack_uint(w, "uid", s->uid);
    proto_pack_uint(w, "pid", (uint64_t)s->pid);
    proto_pack_uint(w, "buffers", s->buffers.count);
    proto_pack_uint(w, "executables", s->executables.count);
    proto_pack_uint(w, "submissions", s->ring ? atomic_load(&s->ring->completed) : 0);
}

struct totals {
    uint32_t clients;
    uint64_t modules, executables, buffers;
};

static struct totals count_objects(const struct broker *broker)
{
    struct totals t = {0};
    struct session *s;
    LIST_FOREACH(s, &broker->sessions, link)
    {
        t.clients += s->greeted;
        t.modules += s->modules.count;
        t.executables += s->executables.count;
        t.buffers += s->buffers.count;
    }
    return t;
}

static void pack_cache(struct proto_writer *w, const struct broker *broker)
{
    const struct counters *counters = &broker->counters;
    struct cache_counts stats = cache_stats(broker->cache);
    proto_pack_uint(w, "finalizes", counters->finalizes);
    proto_pack_uint(w, "plan_hits", counters->plan_hits);
    proto_pack_uint(w, "object_hits_memory", counters->object_hits_memory);
    proto_pack_uint(w, "object_hits_disk", counters->object_hits_disk);
    proto_pack_uint(w, "object_hits_bundle", counters->object_hits_bundle);
    proto_pack_uint(w, "object_misses", counters->object_misses);
    proto_pack_uint(w, "compiles", counters->compiles);
    proto_pack_uint(w, "quick_launches", counters->quick_launches);
    proto_pack_uint(w, "launches_replaced", counters->launches_replaced);
    proto_pack_uint(w, "launches_kept", counters->launches_kept);
    proto_pack_uint(w, "binaries_found", counters->binaries_found);
    proto_pack_uint(w, "binaries_made", counters->binaries_made);
    proto_pack_uint(w, "binaries_failed", counters->binaries_failed);
    proto_pack_uint(w, "drivers_tested", counters->drivers_tested);
    proto_pack_uint(w, "corrupt_entries", stats.corrupt);
    struct remote_counts remote = remote_stats(broker->remote);
    proto_pack_uint(w, "cache_server_hits", remote.hits);
    proto_pack_uint(w, "cache_server_misses", remote.misses);
    proto_pack_uint(w, "cache_server_rejected", remote.rejected);
    proto_pack_uint(w, "cache_server_late", remote.late);
    proto_pack_uint(w, "cache_server_writes", remote.writes);
    proto_pack_uint(w, "cache_write_failures", stats.write_failures);
    proto_pack_uint(w, "cache_bytes_memory", stats.memory_bytes);
    proto_pack_uint(w, "cache_bytes_disk", stats.disk_bytes);
}

static void pack_processes(struct proto_writer *w, const struct broker *broker)
{
    struct pool_counts pool = pool_counts(broker->pool);
    proto_pack_uint(w, "compilers", pool.compilers);
    proto_pack_uint(w, "compilers_busy", pool.busy);
    proto_pack_uint(w, "jobs_queued", pool.queued);
    proto_pack_uint(w, "compilers_recycled", broker->counters.compilers_recycled);
    proto_pack_uint(w, "compilers_lost", broker->counters.compilers_lost);
    proto_pack_uint(w, "jobs_repeated", broker->counters.jobs_repeated);
    proto_pack_uint(w, "executors_lost", broker->counters.executors_lost);
}

static bool may_see(const struct session *viewer, const struct user *user)
{
    return user == viewer->user || user_sees_all(viewer->user);
}

static void pack_clients(struct proto_writer *w, const struct session *viewer)
{
    struct session *s;
    uint32_t count = 0;
    LIST_FOREACH(s, &viewer->broker->sessions, link)
    count += s->greeted && may_see(viewer, s->user);
    proto_pack_key(w, "clients");
    msgpack_pack_array(&w->packer, count);
    LIST_FOREACH(s, &viewer->broker->sessions, link)
    if (s->greeted && may_see(viewer, s->user)) pack_client(w, s);
}

static void pack_held(struct proto_writer *w, const char *key, const uint64_t held[USER_RESOURCES])
{
    proto_pack_key(w, key);
    proto_pack_map(w, USER_RESOURCES);
    for (int i = 0; i < USER_RESOURCES; i++) proto_pack_uint(w, user_limit_key(i), held[i]);
}

/* What the administrator allows him, where that is said. */
static void pack_allowed(struct proto_writer *w, const struct user *user)
{
    uint32_t n = 0;
    for (int i = 0; i < USER_LIMITS; i++) n += users_allow(user->users, user->uid, i) != UINT64_MAX;
    proto_pack_key(w, "allowed");
    proto_pack_map(w, n);
    for (int i = 0; i < USER_LIMITS; i++) {
        uint64_t most = users_allow(user->users, user->uid, i);
        if (most != UINT64_MAX) proto_pack_uint(w, user_limit_key(i), most);
    }
}

/* What each user holds, and how much there is. */
static void pack_users(struct proto_writer *w, const struct session *viewer)
{
    const struct users *users = &viewer->broker->users;
    const struct user *user;
    uint32_t count = 0;
    TAILQ_FOREACH(user, &users->list, link)
    count += may_see(viewer, user);
    proto_pack_key(w, "users");
    msgpack_pack_array(&w->packer, count);
    TAILQ_FOREACH(user, &users->list, link)
    {
        if (!may_see(viewer, user)) continue;
        proto_pack_map(w, 6);
        proto_pack_uint(w, "uid", user->uid);
        proto_pack_uint(w, "compile_ns", user->turns.compile_ns);
        proto_pack_uint(w, user_limit_key(USER_COMPILING), quota_used(user, uv_hrtime()));
        proto_pack_uint(w, user_limit_key(USER_CACHE), cache_bytes_of(viewer->broker->cache, user->uid));
        pack_held(w, "holds", user->used);
        pack_allowed(w, user);
    }
    pack_held(w, "limits", users->limits);
}

void status_reply(struct session *s, struct proto_message *m)
{
    const struct broker *broker = s->broker;
    struct totals totals = count_objects(broker);
    struct proto_writer w;
    proto_begin_reply(&w, m->id);
    proto_pack_map(&w, FIELDS);
    proto_pack_string(&w, "version", FUSIOND_VERSION);
    proto_pack_uint(&w, "pid", (uint64_t)getpid());
    proto_pack_uint(&w, "uptime_ms", uv_hrtime() / 1000000 - broker->started_ms);
    proto_pack_uint(&w, "rss_bytes", procstat_resident(getpid()));
    proto_pack_uint(&w, "sessions", totals.clients);
    proto_pack_uint(&w, "sessions_ever", broker->counters.sessions_ever);
    proto_pack_uint(&w, "modules", totals.modules);
    proto_pack_uint(&w, "executables", totals.executables);
    proto_pack_uint(&w, "buffers", totals.buffers);
    pack_cache(&w, broker);
    pack_processes(&w, broker);
    pack_clients(&w, s);
    pack_users(&w, s);
    session_send(s, &w);
}
