/* The daemon from start to end. */
#include "daemon/broker/run.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/broker/cache/cache.h"
#include "daemon/broker/cache/remote.h"
#include "daemon/broker/compile/binary_maker.h"
#include "daemon/broker/core/closing.h"
#include "daemon/broker/core/listener.h"
#include "daemon/broker/core/log.h"
#include "daemon/broker/core/notify.h"
#include "daemon/broker/requests/methods.h"
#include "daemon/broker/requests/metrics.h"
#include "daemon/broker/session/gpus.h"
#include "daemon/broker/session/spare.h"
#include "daemon/confine/landlock.h"

enum {
    CACHE_MEMORY_BYTES = 16 << 20,
    OWN_FILES = 192, /* with those whose numbers are kept free (child.c) */
    FILES_OF_COMPILER = 4,
    FAIRNESS_MS = 100,
    BUSY_TICKS = 3,
    WEIGHING_MS = 500
};
enum { BUSY_PERCENT = 80, IDLE_PERCENT = 20 }; /* of one processor */

/* One step at a time, as long as it is so; and not for a moment's work, as an executor's start. */
static void adjust_user(struct user *user, uint64_t elapsed_ns, bool several)
{
    uint64_t percent = user->busy_ns * 100 / elapsed_ns;
    user->busy_ticks = several && percent > BUSY_PERCENT ? user->busy_ticks + 1 : 0;
    if (user->busy_ticks >= BUSY_TICKS && user->steps_back < PRIORITY_STEPS)
        user->steps_back++;
    else if (user->steps_back > 0 && (!several || percent < IDLE_PERCENT))
        user->steps_back--;
}

/* The executors of a user who keeps a processor busy step back for other users. */
static void on_fairness(uv_timer_t *timer)
{
    struct broker *broker = timer->data;
    bool several = broker->users.n_present > 1, stepped = false;
    uint64_t now = uv_hrtime(), elapsed = now - broker->fairness_ns;
    struct session *s;
    struct user *user;
    broker->fairness_ns = now;
    TAILQ_FOREACH(user, &broker->users.list, link)
    user->busy_ns = 0;
    LIST_FOREACH(s, &broker->sessions, link)
    s->user->busy_ns += executor_measure(s->executor) + executor_measure(s->gpu.executor);
    TAILQ_FOREACH(user, &broker->users.list, link)
    {
        adjust_user(user, elapsed ? elapsed : 1, several);
        stepped |= user->steps_back > 0;
    }
    LIST_FOREACH(s, &broker->sessions, link)
    {
        executor_step_to(s->executor, s->user->steps_back);
        executor_step_to(s->gpu.executor, s->user->steps_back);
    }
    if (!several && !stepped) uv_timer_stop(timer);
}

static void on_weighing(uv_timer_t *timer)
{
    struct broker *broker = timer->data;
    struct session *s;
    LIST_FOREACH(s, &broker->sessions, link)
    session_weigh(s);
    if (LIST_EMPTY(&broker->sessions)) uv_timer_stop(timer);
}

/* Executors are looked at from now on: their memory, and while there are several users their processor time. */
static void begin_looking(struct broker *broker)
{
    if (!broker->listener) return; /* a private daemon has one client, who shares with nobody */
    if (!uv_is_active((uv_handle_t *)&broker->weighing))
        uv_timer_start(&broker->weighing, on_weighing, WEIGHING_MS, WEIGHING_MS);
    if (broker->users.n_present < 2 || uv_is_active((uv_handle_t *)&broker->fairness)) return;
    broker->fairness_ns = uv_hrtime();
    uv_timer_start(&broker->fairness, on_fairness, FAIRNESS_MS, FAIRNESS_MS);
}

static void on_client(void *data, int fd)
{
    struct broker *broker = data;
    session_new(broker, fd, &methods_events);
    begin_looking(broker);
}

static void on_signal(uv_signal_t *signal, int number)
{
    struct broker *broker = signal->data;
    log_info("ending: signal %d", number);
    notify_stopping(broker->notify);
    broker_stop(broker);
}

/* Each executable keeps a descriptor for each of its launches. */
static uint64_t raise_file_limit(void)
{
    struct rlimit limit, raised;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
    raised = (struct rlimit){limit.rlim_max, limit.rlim_max};
    return setrlimit(RLIMIT_NOFILE, &raised) == 0 ? raised.rlim_cur : limit.rlim_cur;
}

/* What is left for clients of what the daemon may have. */
static void limit_users(struct broker *broker)
{
    const struct options *o = &broker->options;
    uint64_t own_files = OWN_FILES + FILES_OF_COMPILER * o->compilers, files = raise_file_limit();
    const uint64_t limits[USER_RESOURCES] = {
        [USER_SESSIONS] = o->max_sessions,
        [USER_BYTES] = o->memory_bytes - ((uint64_t)OPTIONS_OWN_MEMORY_MB << 20),
        [USER_DESCRIPTORS] = files > 2 * own_files ? files - own_files : files / 2,
        [USER_OBJECTS] = o->max_objects,
        [USER_SHARED] = o->buffer_bytes,
        [USER_EXECUTORS] = o->buffer_bytes / 3,
    };
    users_limit(&broker->users, limits, o->caps, o->n_caps);
}

/* Those whom something is said about, root and the daemon's own user, and all others. */
static void limit_cache(struct broker *broker)
{
    const struct users *users = &broker->users;
    enum { OTHERS = 2 };
    struct cache_allowances a = {.of = calloc(users->n_caps + OTHERS, sizeof *a.of), .others = UINT64_MAX};
    const uid_t whole[OTHERS] = {0, users->owner};
    for (uint32_t i = 0; i < users->n_caps; i++)
        if (users->caps[i].everybody) a.others = users->caps[i].most[USER_CACHE];
    for (uint32_t i = 0; a.of && i < users->n_caps + OTHERS; i++) {
        uid_t uid = i < OTHERS ? whole[i] : users->caps[i - OTHERS].uid;
        if (i >= OTHERS && users->caps[i - OTHERS].everybody) continue;
        a.of[a.n++] = (struct cache_allowance){uid, users_allow(users, uid, USER_CACHE)};
    }
    cache_allow(broker->cache, a);
}

/* ---- the configuration, read again ---- */

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* What is in use already. */
static void keep_what_is_fixed(struct options *fresh, struct options *running)
{
    struct {
        const char *name;
        char **fresh, **running;
    } fixed[] = {{"socket", &fresh->socket, &running->socket},
                 {"cache", &fresh->cache, &running->cache},
                 {"cache-server", &fresh->cache_server, &running->cache_server},
                 {"cache-key", &fresh->cache_key, &running->cache_key},
                 {"compiler", &fresh->compiler, &running->compiler},
                 {"executor", &fresh->executor, &running->executor}};
    if (fresh->cache_bytes != running->cache_bytes)
        log_warning("configuration: cache-size is another one at the next start only");
    if (fresh->socket_group != running->socket_group || fresh->socket_mode != running->socket_mode)
        log_warning("configuration: socket-group and socket-mode are others at the next start only");
    fresh->socket_group = running->socket_group;
    fresh->socket_mode = running->socket_mode;
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        if (!same_text(*fixed[i].fresh, *fixed[i].running))
            log_warning("configuration: %s is another one at the next start only", fixed[i].name);
        char *text = *fixed[i].fresh;
        *fixed[i].fresh = *fixed[i].running;
        *fixed[i].running = text;
    }
}

static void read_again(struct broker *broker)
{
    struct options fresh;
    struct error e;
    if (options_parse_again(&fresh, &broker->options, &e) != 0) {
        log_warning("configuration: it stays as it was: %s", e.reason);
        options_clear(&fresh);
        return;
    }
    keep_what_is_fixed(&fresh, &broker->options);
    fresh.tier = broker->options.tier;
    fresh.foreground = broker->options.foreground;
    metrics_end(broker);
    options_clear(&broker->options);
    broker->options = fresh;
    metrics_begin(broker);
    limit_users(broker);
    limit_cache(broker);
    log_info("configuration: read again");
}

static void on_reload(uv_signal_t *signal, int number)
{
    struct broker *broker = signal->data;
    (void)number;
    notify_reloading(broker->notify);
    read_again(broker);
    notify_ready(broker->notify);
}

static void watch_signals(struct broker *broker)
{
    sigset_t none; /* whoever started us may have had some blocked */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a cache that meets a limit is no reason to die */
    /* SIGUSR2 wakes the threads of closing.c. */
    static const int meaningless[] = {SIGUSR1, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGTTOU};
    for (size_t i = 0; i < sizeof meaningless / sizeof *meaningless; i++) signal(meaningless[i], SIG_IGN);
    uv_signal_init(&broker->loop, &broker->terminate);
    uv_signal_init(&broker->loop, &broker->interrupt);
    uv_signal_init(&broker->loop, &broker->reload);
    broker->terminate.data = broker->interrupt.data = broker->reload.data = broker;
    uv_signal_start(&broker->reload, on_reload, SIGHUP);
    uv_signal_start(&broker->terminate, on_signal, SIGTERM);
    uv_signal_start(&broker->interrupt, on_signal, SIGINT);
}

static bool is_executable(const char *path)
{
    if (access(path, X_OK) == 0) return true;
    log_warning("%s is missing, or cannot be executed", path);
    return false;
}

/* The clients: the one connection of a private daemon, or a socket. */
static bool open_service(struct broker *broker)
{
    const struct options *options = &broker->options;
    if (options->private_fd >= 0) {
        fcntl(options->private_fd, F_SETFD, FD_CLOEXEC);
        session_new(broker, options->private_fd, &methods_events);
        return !LIST_EMPTY(&broker->sessions);
    }
    const struct listener_access access = {options->socket_group, options->socket_mode};
    broker->listener = listener_open(&broker->loop, options->socket, &access, on_client, broker);
    return broker->listener != NULL;
}

/* A service has users who do not trust each other. A private daemon has one, and runs what that one has given it. */
static bool is_confined(const struct options *options)
{
    bool service = options->private_fd < 0;
    if (landlock_abi() > 0) return true;
    if (service && !options->without_landlock) {
        log_warning("this kernel has no Landlock, which keeps compilers and kernels from the files of this user: "
                    "not started; --without-landlock starts all the same");
        return false;
    }
    log_info("this kernel has no Landlock: compilers and kernels can read the files of this user");
    return true;
}

/* What is wrong with a cache server is said, and there is none. */
static struct remote *open_remote(struct broker *broker)
{
    const struct options *options = &broker->options;
    struct error e;
    if (!options->cache_server) return NULL;
    struct remote *remote =
        options->cache_key ? remote_open(&broker->loop, options->cache_server, options->cache_key, &e) : NULL;
    if (!remote)
        log_warning("cache server %s is not used: %s", options->cache_server,
                    options->cache_key ? e.reason : "there is no cache-key");
    return remote;
}

static bool begin(struct broker *broker)
{
    const struct options *options = &broker->options;
    if (!is_confined(options)) return false;
    if (!is_executable(options->compiler) || !is_executable(options->executor) || !tempdir_make(&broker->temporary))
        return false;
    broker->cache = cache_open(options->cache, options->cache_bytes, CACHE_MEMORY_BYTES);
    if (broker->cache) limit_cache(broker);
    broker->remote = open_remote(broker);
    broker->pool = broker->cache ? pool_new(broker, session_pool_changed) : NULL;
    broker->gpus = gpus_new(broker, session_gpus_changed);
    broker->binary_maker = binary_maker_new(broker);
    return broker->pool && broker->gpus && broker->binary_maker && open_service(broker);
}

static void end(struct broker *broker)
{
    listener_close(broker->listener);
    metrics_end(broker);
    notify_free(broker->notify);
    while (!LIST_EMPTY(&broker->sessions)) session_free(LIST_FIRST(&broker->sessions));
    pool_free(broker->pool);
    remote_close(broker->remote);
    binary_maker_free(broker->binary_maker);
    spare_free(broker->spare);
    gpus_free(broker->gpus);
    children_end(&broker->children);
    uv_close((uv_handle_t *)&broker->terminate, NULL);
    uv_close((uv_handle_t *)&broker->interrupt, NULL);
    uv_close((uv_handle_t *)&broker->reload, NULL);
    uv_close((uv_handle_t *)&broker->fairness, NULL);
    uv_close((uv_handle_t *)&broker->weighing, NULL);
    uv_close((uv_handle_t *)&broker->metrics, NULL);
    laters_close(&broker->laters);
    uv_run(&broker->loop, UV_RUN_DEFAULT); /* until every handle is closed */
    uv_loop_close(&broker->loop);
    users_clear(&broker->users);
    cache_close(broker->cache);
    map_clear(&broker->codes.by_key);
    tempdir_remove(&broker->temporary);
}

int broker_run(struct options *options)
{
    /* No process of the same user looks into this memory, compilers and executors included. */
    prctl(PR_SET_DUMPABLE, 0);
    struct broker broker = {.options = *options, .started_ms = uv_hrtime() / 1000000, .temporary.lock = -1};
    if (sodium_init() < 0 || uv_loop_init(&broker.loop) != 0 || !closing_start()) {
        log_warning("cannot start: no randomness, no event loop or no thread");
        return 1;
    }
    LIST_INIT(&broker.sessions);
    users_init(&broker.users);
    limit_users(&broker);
    if (options->private_fd >= 0) umask(077); /* not what the client has: it may want files that nobody can open */
    watch_signals(&broker);
    uv_timer_init(&broker.loop, &broker.fairness);
    uv_timer_init(&broker.loop, &broker.weighing);
    uv_timer_init(&broker.loop, &broker.metrics);
    laters_init(&broker.laters, &broker.loop);
    broker.fairness.data = broker.weighing.data = broker.metrics.data = &broker;
    if (options->private_fd < 0) broker.notify = notify_new(&broker.loop); /* else it is somebody else's manager */
    children_start(&broker.children, &broker.loop);
    bool started = begin(&broker);
    /* Paths that are used from here on are absolute. A client's folder may be on what is to be unmounted. */
    if (started && options->private_fd >= 0 && chdir("/") != 0) log_warning("cannot leave the working directory");
    if (started) broker.spare = spare_new(&broker);
    if (started) metrics_begin(&broker);
    if (started) notify_ready(broker.notify);
    if (started) uv_run(&broker.loop, UV_RUN_DEFAULT);
    end(&broker);
    *options = broker.options; /* to be freed: they may be others by now */
    return started ? 0 : 1;
}
