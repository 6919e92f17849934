/* Command line, configuration file, environment, defaults. */
#include "daemon/broker/core/options.h"

#include <errno.h>
#include <getopt.h>
#include <grp.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/broker/core/config.h"
#include "ir/base/nearest.h"

static const char usage[] =
    "usage: fusiond [option ...]\n"
    "\n"
    "Fuses, compiles and runs graphs of compute kernels for the programs that connect to it.\n"
    "\n"
    "  --config FILE         options as \"name = value\" lines (default /etc/fusiond/fusiond.conf, where\n"
    "                        there is one and it is no private daemon); read again at SIGHUP\n"
    "  --socket PATH         listen there (default /run/fusiond/fusiond.sock); a socket passed\n"
    "                        by systemd comes first\n"
    "  --socket-group GROUP  the socket's group, whose users alone may connect then\n"
    "  --socket-mode MODE    its permissions, as an octal number (default with a group: 660)\n"
    "  --private FD          serve only the client connected to descriptor FD, end with it\n"
    "  --cache DIR           keep compiled code in DIR (default $CACHE_DIRECTORY, else\n"
    "                        $XDG_CACHE_HOME/fusiond, else ~/.cache/fusiond); none: only in memory\n"
    "  --cache-size MB       at most as much on disk (default 512)\n"
    "  --cache-server WHERE  share it with other daemons by a Redis or Valkey server: the path of its\n"
    "                        socket, or a numeric ADDRESS:PORT\n"
    "  --cache-key FILE      what entries there are authenticated by: 16 bytes or more\n"
    "  --compilers N         at most N compilers at a time (default: processors)\n"
    "  --compiler PATH       the compiler's executable\n"
    "  --executor PATH       the executor's executable\n"
    "  --time-limit MS       of a submission, unless the client says otherwise (default 10000)\n"
    "  --max-time-limit MS   the most that a client may ask for (default 3600000)\n"
    "  --compile-limit MS    of a compilation (default 60000)\n"
    "  --compiler-memory MB  a compiler that needs ten times as much is killed (default 120)\n"
    "  --max-sessions N      clients at a time (default 256)\n"
    "  --max-objects N       modules, buffers and executables of all clients (default 262144)\n"
    "  --memory MB           of the daemon itself (default 1024)\n"
    "  --buffer-memory MB    of what clients share with it (default: three quarters of the machine's)\n"
    "                        Of these four one user can have half of what the others leave;\n"
    "                        root, and the daemon's own user, all of it\n"
    "  --frame-limit MS      for a message to arrive as a whole (default 30000)\n"
    "  --metrics-file PATH   write metrics there as OpenMetrics text, every 15 s\n"
    "  --without-landlock    start although the kernel has no Landlock: compilers and kernels can read\n"
    "                        the files that the daemon can read\n"
    "  --foreground          write the log to standard error instead of syslog\n"
    "  --help, --version\n";

static const char default_config[] = "/etc/fusiond/fusiond.conf";

enum option_number {
    OPTION_SOCKET = 256,
    OPTION_SOCKET_GROUP,
    OPTION_SOCKET_MODE,
    OPTION_CONFIG,
    OPTION_PRIVATE,
    OPTION_CACHE,
    OPTION_CACHE_SIZE,
    OPTION_CACHE_SERVER,
    OPTION_CACHE_KEY,
    OPTION_COMPILERS,
    OPTION_COMPILER,
    OPTION_EXECUTOR,
    OPTION_TIME_LIMIT,
    OPTION_MAX_TIME_LIMIT,
    OPTION_COMPILE_LIMIT,
    OPTION_COMPILER_MEMORY,
    OPTION_MAX_SESSIONS,
    OPTION_MAX_OBJECTS,
    OPTION_MEMORY,
    OPTION_BUFFER_MEMORY,
    OPTION_FRAME_LIMIT,
    OPTION_METRICS_FILE,
    OPTION_WITHOUT_LANDLOCK,
    OPTION_FOREGROUND,
    OPTION_HELP,
    OPTION_VERSION
};

static const struct option long_options[] = {
    {"config", required_argument, NULL, OPTION_CONFIG},
    {"socket", required_argument, NULL, OPTION_SOCKET},
    {"socket-group", required_argument, NULL, OPTION_SOCKET_GROUP},
    {"socket-mode", required_argument, NULL, OPTION_SOCKET_MODE},
    {"private", required_argument, NULL, OPTION_PRIVATE},
    {"cache", required_argument, NULL, OPTION_CACHE},
    {"cache-size", required_argument, NULL, OPTION_CACHE_SIZE},
    {"cache-server", required_argument, NULL, OPTION_CACHE_SERVER},
    {"cache-key", required_argument, NULL, OPTION_CACHE_KEY},
    {"compilers", required_argument, NULL, OPTION_COMPILERS},
    {"compiler", required_argument, NULL, OPTION_COMPILER},
    {"executor", required_argument, NULL, OPTION_EXECUTOR},
    {"time-limit", required_argument, NULL, OPTION_TIME_LIMIT},
    {"max-time-limit", required_argument, NULL, OPTION_MAX_TIME_LIMIT},
    {"compile-limit", required_argument, NULL, OPTION_COMPILE_LIMIT},
    {"compiler-memory", required_argument, NULL, OPTION_COMPILER_MEMORY},
    {"max-sessions", required_argument, NULL, OPTION_MAX_SESSIONS},
    {"max-objects", required_argument, NULL, OPTION_MAX_OBJECTS},
    {"memory", required_argument, NULL, OPTION_MEMORY},
    {"buffer-memory", required_argument, NULL, OPTION_BUFFER_MEMORY},
    {"frame-limit", required_argument, NULL, OPTION_FRAME_LIMIT},
    {"metrics-file", required_argument, NULL, OPTION_METRICS_FILE},
    {"without-landlock", no_argument, NULL, OPTION_WITHOUT_LANDLOCK},
    {"foreground", no_argument, NULL, OPTION_FOREGROUND},
    {"help", no_argument, NULL, OPTION_HELP},
    {"version", no_argument, NULL, OPTION_VERSION},
    {0},
};

/* ---- paths ---- */

static char *join(const char *directory, const char *name)
{
    char *path = NULL;
    return asprintf(&path, "%s/%s", directory, name) < 0 ? NULL : path;
}

static char *default_cache(void)
{
    const char *given = getenv("CACHE_DIRECTORY");
    if (given && given[0] == '/') return strndup(given, strcspn(given, ":"));
    given = getenv("XDG_CACHE_HOME");
    if (given && given[0] == '/') return join(given, "fusiond");
    given = getenv("HOME");
    return given && given[0] == '/' ? join(given, ".cache/fusiond") : NULL;
}

/* The same file from any working directory. */
static char *absolute(const char *path)
{
    char *found = realpath(path, NULL);
    return found ? found : strdup(path);
}

/* directory/sub/name, where it can be executed; else NULL. */
static char *executable_at(const char *directory, const char *sub, const char *name)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s/%s", directory, sub, name) < 0) return NULL;
    if (access(path, X_OK) == 0) return path;
    free(path);
    return NULL;
}

static bool own_directory(char *path, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    if (length <= 0) return false;
    path[length] = 0;
    *strrchr(path, '/') = 0;
    return true;
}

/* An environment variable; the build tree this daemon runs from, or the tree it was moved to; where it was installed.
   The build tree goes before: a daemon does not start the compiler of another version. */
static char *find_executable(const char *variable, const char *build_folder, const char *name)
{
    char directory[PATH_MAX];
    const char *given = getenv(variable);
    if (given && given[0]) return absolute(given);
    char *path = NULL;
    if (own_directory(directory, sizeof directory)) {
        path = executable_at(directory, build_folder, name);
        if (!path) path = executable_at(directory, "../libexec/fusiond", name);
    }
    return path ? path : join(FUSIOND_LIBEXECDIR, name);
}

/* ---- values ---- */

static int number(const char *text, uint64_t min, uint64_t max, uint64_t *value, struct error *e)
{
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (errno || end == text || *end || text[0] == '-' || n < min || n > max)
        return error_set(e, 1, "", "\"%s\" is not a number from %llu to %llu", text, (unsigned long long)min,
                         (unsigned long long)max);
    *value = n;
    return 0;
}

static int number32(const char *text, uint32_t min, uint32_t max, uint32_t *value, struct error *e)
{
    uint64_t n = 0;
    if (number(text, min, max, &n, e) != 0) return -1;
    *value = (uint32_t)n;
    return 0;
}

static int megabytes(const char *text, uint64_t least, uint64_t *bytes, struct error *e)
{
    if (number(text, least, UINT64_C(1) << 30, bytes, e) != 0) return -1;
    *bytes <<= 20;
    return 0;
}

/* text is the field's from now on. */
static int set_text(char **field, char *text, struct error *e)
{
    if (!text) return error_set(e, 1, "", "there is no memory");
    free(*field);
    *field = text;
    return 0;
}

static int set_descriptor(int *field, const char *text, struct error *e)
{
    uint64_t n = 0;
    if (number(text, 0, INT_MAX, &n, e) != 0) return -1;
    *field = (int)n;
    return 0;
}

/* An option without a value on the command line, with one in the file. */
static int set_flag(bool *field, const char *text, struct error *e)
{
    if (text && strcmp(text, "yes") != 0 && strcmp(text, "no") != 0)
        return error_set(e, 1, "", "\"%s\" is neither yes nor no", text);
    *field = !text || strcmp(text, "yes") == 0;
    return 0;
}

/* A name, or a number. */
static int set_group(gid_t *field, const char *text, struct error *e)
{
    const struct group *group = getgrnam(text);
    uint64_t n = 0;
    if (group)
        *field = group->gr_gid;
    else if (number(text, 0, UINT32_MAX - 1, &n, NULL) == 0)
        *field = (gid_t)n;
    else
        return error_set(e, 1, "", "there is no group `%s`", text);
    return 0;
}

static int set_mode(int *field, const char *text, struct error *e)
{
    size_t digits = strspn(text, "01234567");
    unsigned long mode = strtoul(text, NULL, 8);
    if (!digits || text[digits] || mode > 0777) return error_set(e, 1, "", "\"%s\" is no octal number up to 777", text);
    *field = (int)mode;
    return 0;
}

static uint32_t processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 1;
}

static uint64_t machine_memory(void)
{
    return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* For tests, which are about one of them. */
static int set_path(char **path, const char *text, struct error *e)
{
    if (text[0] != '/') return error_set(e, 1, "", "`%s` is to be a path from /", text);
    return set_text(path, strdup(text), e);
}

static enum tier default_tier(void)
{
    const char *given = getenv("FUSIOND_TIER");
    if (given && strcmp(given, "quick") == 0) return TIER_QUICK;
    return given && strcmp(given, "compiled") == 0 ? TIER_COMPILED : TIER_AUTOMATIC;
}

static void set_defaults(struct options *o)
{
    *o = (struct options){.socket_group = (gid_t)-1,
                          .socket_mode = -1,
                          .private_fd = -1,
                          .cache_bytes = UINT64_C(512) << 20,
                          .compilers = processors(),
                          .compiler_bytes = UINT64_C(120) << 20,
                          .time_limit_ms = 10000,
                          .compile_limit_ms = 60000,
                          .max_time_limit_ms = 3600000,
                          .frame_limit_ms = 30000,
                          .max_sessions = 256,
                          .max_objects = 1 << 18,
                          .memory_bytes = UINT64_C(1) << 30,
                          .buffer_bytes = machine_memory() / 4 * 3};
    o->socket = strdup("/run/fusiond/fusiond.sock");
    o->cache = default_cache();
    o->compiler = find_executable("FUSIOND_COMPILER", "../compiler", "fusiond-compiler");
    o->executor = find_executable("FUSIOND_EXECUTOR", "../executor", "fusiond-executor");
    o->tier = default_tier();
}

static int set_option(struct options *o, int option, const char *text, struct error *e)
{
    switch (option) {
    case OPTION_CONFIG: return set_text(&o->config, absolute(text), e);
    case OPTION_SOCKET: return set_text(&o->socket, strdup(text), e);
    case OPTION_SOCKET_GROUP: return set_group(&o->socket_group, text, e);
    case OPTION_SOCKET_MODE: return set_mode(&o->socket_mode, text, e);
    case OPTION_PRIVATE: return set_descriptor(&o->private_fd, text, e);
    case OPTION_CACHE: return set_text(&o->cache, strdup(text), e);
    case OPTION_CACHE_SIZE: return megabytes(text, 1, &o->cache_bytes, e);
    case OPTION_CACHE_SERVER: return set_text(&o->cache_server, strdup(text), e);
    case OPTION_CACHE_KEY: return set_text(&o->cache_key, absolute(text), e);
    case OPTION_COMPILERS: return number32(text, 1, 1024, &o->compilers, e);
    case OPTION_COMPILER: return set_text(&o->compiler, absolute(text), e);
    case OPTION_EXECUTOR: return set_text(&o->executor, absolute(text), e);
    case OPTION_TIME_LIMIT: return number32(text, 1, UINT32_MAX, &o->time_limit_ms, e);
    case OPTION_MAX_TIME_LIMIT: return number32(text, 1, UINT32_MAX, &o->max_time_limit_ms, e);
    case OPTION_COMPILE_LIMIT: return number32(text, 1, UINT32_MAX, &o->compile_limit_ms, e);
    case OPTION_COMPILER_MEMORY: return megabytes(text, 1, &o->compiler_bytes, e);
    case OPTION_MAX_SESSIONS: return number32(text, 1, 100000, &o->max_sessions, e);
    case OPTION_MAX_OBJECTS: return number32(text, 1, UINT32_MAX, &o->max_objects, e);
    case OPTION_MEMORY: return megabytes(text, OPTIONS_OWN_MEMORY_MB + 1, &o->memory_bytes, e);
    case OPTION_BUFFER_MEMORY: return megabytes(text, 1, &o->buffer_bytes, e);
    case OPTION_FRAME_LIMIT: return number32(text, 1, UINT32_MAX, &o->frame_limit_ms, e);
    case OPTION_METRICS_FILE: return set_path(&o->metrics_file, text, e);
    case OPTION_WITHOUT_LANDLOCK: return set_flag(&o->without_landlock, text, e);
    case OPTION_FOREGROUND: return set_flag(&o->foreground, text, e);
    default: return error_set(e, 1, "", "it has no meaning here");
    }
}

/* Options that make no sense in a file. */
static bool is_for_files(int option)
{
    return option != OPTION_CONFIG && option != OPTION_PRIVATE && option != OPTION_HELP && option != OPTION_VERSION;
}

/* A line of the file. */
static int set_by_name(void *data, const char *name, const char *text, struct error *e)
{
    struct options *o = data;
    char hint[120];
    struct nearest s = nearest_begin(name, strlen(name));
    for (const struct option *option = long_options; option->name; option++) {
        if (!is_for_files(option->val)) continue;
        nearest_offer(&s, option->name);
        if (strcmp(option->name, name) != 0) continue;
        if (set_option(o, option->val, text, e) == 0) return 0;
        struct error why = *e;
        return error_set(e, 1, "", "%s: %s", name, why.reason);
    }
    return error_set(e, 1, "", "there is no option `%s`%s", name, nearest_hint(s.best, hint, sizeof hint));
}

/* The command line. e: what is wrong, "" where getopt has said it. */
static enum options_result parse_arguments(struct options *o, struct error *e)
{
    int option, index = 0;
    optind = 0; /* it may have been read before */
    error_set(e, 1, "", "%s", "");
    while ((option = getopt_long(o->argc, o->argv, "", long_options, &index)) != -1) {
        if (option == OPTION_HELP) {
            fputs(usage, stdout);
            return OPTIONS_DONE;
        }
        if (option == OPTION_VERSION) {
            puts("fusiond " FUSIOND_VERSION);
            return OPTIONS_DONE;
        }
        if (option == '?') return OPTIONS_WRONG;
        if (set_option(o, option, optarg, e) == 0) continue;
        struct error why = *e;
        error_set(e, 1, "", "--%s: %s", long_options[index].name, why.reason);
        return OPTIONS_WRONG;
    }
    if (optind < o->argc) error_set(e, 1, "", "unexpected argument %s", o->argv[optind]);
    return optind < o->argc ? OPTIONS_WRONG : OPTIONS_RUN;
}

/* The command line names the file, and comes before it: it is read twice. */
static enum options_result parse_all(struct options *o, int argc, char **argv, struct error *e)
{
    set_defaults(o);
    o->argc = argc;
    o->argv = argv;
    enum options_result result = parse_arguments(o, e);
    bool given = o->config, reads = given || o->private_fd < 0;
    if (result != OPTIONS_RUN || !reads) return result;
    struct config_target file = {.set = set_by_name, .data = o};
    int read = config_read(&file, given ? o->config : default_config, given, e);
    o->caps = file.caps;
    o->n_caps = file.n_caps;
    return read == 0 ? parse_arguments(o, e) : OPTIONS_WRONG;
}

static void without_cache(struct options *o)
{
    if (!o->cache || strcmp(o->cache, "none") != 0) return;
    free(o->cache);
    o->cache = NULL;
}

enum options_result options_parse(struct options *o, int argc, char **argv)
{
    struct error e;
    enum options_result result = parse_all(o, argc, argv, &e);
    if (result == OPTIONS_WRONG && *e.reason) fprintf(stderr, "fusiond: %s\n", e.reason);
    if (result == OPTIONS_WRONG) fputs("Try fusiond --help.\n", stderr);
    without_cache(o);
    return result;
}

int options_parse_again(struct options *o, const struct options *first, struct error *e)
{
    enum options_result result = parse_all(o, first->argc, first->argv, e);
    without_cache(o);
    return result == OPTIONS_RUN ? 0 : -1;
}

void options_clear(struct options *o)
{
    free(o->socket);
    free(o->cache);
    free(o->cache_server);
    free(o->cache_key);
    free(o->metrics_file);
    free(o->compiler);
    free(o->executor);
    free(o->config);
    free(o->caps);
}
