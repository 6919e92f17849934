/* Starting, stopping and watching a fusiond in tests. */
#include "tests/support/service.h"

#include <errno.h>
#include <grp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { START_LIMIT_MS = 20000, MAX_OPTIONS = 16 };

const char test_kernels[] =
    "module \"test\"\n"
    "kernel @add(%a: ptr.global i32 read, %b: ptr.global i32 read, %o: ptr.global i32 write) {\n"
    "  %i = global_id x\n  %x = load i32 %a[%i]\n  %y = load i32 %b[%i]\n  %s = add i32 %x, %y\n  store i32 %o[%i], "
    "%s\n  return\n}\n"
    "kernel @multiply(%a: ptr.global i32 read, %b: ptr.global i32 read, %o: ptr.global i32 write) {\n"
    "  %i = global_id x\n  %x = load i32 %a[%i]\n  %y = load i32 %b[%i]\n  %s = mul i32 %x, %y\n  store i32 %o[%i], "
    "%s\n  return\n}\n"
    "kernel @scale(%a: ptr.global i32 read, %o: ptr.global i32 write, %f: i32) {\n"
    "  %i = global_id x\n  %x = load i32 %a[%i]\n  %s = mul i32 %x, %f\n  store i32 %o[%i], %s\n  return\n}\n"
    "kernel @neighbour(%a: ptr.global i32 read, %o: ptr.global i32 write) {\n"
    "  %i = global_id x\n  %k = xor i64 %i, 1\n  %x = load i32 %a[%k]\n  store i32 %o[%i], %x\n  return\n}\n"
    "kernel @write_beyond(%o: ptr.global i32 write, %by: i64) {\n"
    "  %i = global_id x\n  %k = add i64 %i, %by\n  store i32 %o[%k], 7\n  return\n}\n"
    "kernel @endless(%o: ptr.global i32 read_write) {\n"
    "  %i = global_id x\n"
    "  loop (%n: i32 = 0) {\n    %v = load i32 %o[%i], volatile\n    %c = ieq i32 %v, -1\n"
    "    if %c { break }\n    %m = add i32 %n, 1\n    store i32 %o[%i], %n, volatile\n    continue %m\n  }\n  "
    "return\n}\n"
    "kernel @needs_image(%o: ptr.global i32 write, %m: image2d.read) {\n"
    "  %i = global_id x\n  %w = image_width %m\n  store i32 %o[%i], %w\n  return\n}\n";

/* ---- the daemon ---- */

/* Another user may be unable to reach the build tree: the programs are copied, laid out as there. */
static void copy_programs(const struct service *s, char *program, size_t size)
{
    char command[2048];
    const char *compiler = getenv("FUSIOND_COMPILER"), *executor = getenv("FUSIOND_EXECUTOR");
    snprintf(command, sizeof command,
             "cd '%s' && mkdir -p broker compiler executor && F='%s' && D=\"${F%%/*}\" && cp \"$F\" broker && "
             "cp \"${C:-$D/../compiler/fusiond-compiler}\" compiler/fusiond-compiler && cp "
             "\"${E:-$D/../executor/fusiond-executor}\" executor/fusiond-executor",
             s->folder, program);
    setenv("C", compiler ? compiler : "", 1);
    setenv("E", executor ? executor : "", 1);
    if (system(command) != 0) _exit(127);
    unsetenv("C");
    unsetenv("E");
    unsetenv("FUSIOND_COMPILER");
    unsetenv("FUSIOND_EXECUTOR");
    snprintf(program, size, "%s/broker/fusiond", s->folder);
}

/* As the unit file has it: who has stepped back may come forward again. */
static void become(uid_t uid)
{
    const struct rlimit nice_limit = {20, 20};
    setrlimit(RLIMIT_NICE, &nice_limit);
    if (setgroups(0, NULL) != 0 || setresgid(uid, uid, uid) != 0 || setresuid(uid, uid, uid) != 0) _exit(127);
    umask(0); /* the socket is everybody's */
}

static void exec_daemon(const struct service *s, const char *const *options)
{
    const char *argv[8 + MAX_OPTIONS] = {"fusiond", "--socket", s->socket, "--cache", s->cache};
    char program[512];
    int n = 5;
    for (int i = 0; options && options[i] && i < MAX_OPTIONS; i++) argv[n++] = options[i];
    argv[n] = NULL;
    snprintf(program, sizeof program, "%s", getenv("FUSIOND"));
    if (s->uid) {
        copy_programs(s, program, sizeof program);
        become(s->uid);
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* not even a crashing test leaves a daemon */
    setenv("TMPDIR", s->folder, 1);
    setenv("FUSIOND_TIER", "compiled", 0); /* tests are about code, but for those that say something else */
    execv(program, (char *const *)argv);
    perror(program);
    _exit(127);
}

static void wait_until_ready(struct service *s)
{
    for (int waited = 0; waited < START_LIMIT_MS; waited += 10) {
        fusion_session *session;
        if (access(s->socket, F_OK) == 0 && fusion_connect(s->socket, NULL, &session) == FUSION_SUCCESS) {
            fusion_disconnect(session);
            return;
        }
        int status;
        if (waitpid(s->pid, &status, WNOHANG) == s->pid)
            fail_msg("fusiond ended at its start with status 0x%x", status);
        usleep(10000);
    }
    fail_msg("fusiond does not answer: %s", fusion_last_error()->reason);
}

void service_restart(struct service *s, const char *const *options)
{
    s->pid = 0; /* where none can be made, clearing it has nobody to stop */
    if (!getenv("FUSIOND")) fail_msg("$FUSIOND is not set: it is the path of the daemon, build/daemon/broker/fusiond");
    s->pid = fork_or_fail();
    if (s->pid == 0) exec_daemon(s, options);
    wait_until_ready(s);
}

void service_start_as(struct service *s, uid_t uid, const char *const *options)
{
    s->uid = uid;
    strcpy(s->folder, "/tmp/fusiond-test-XXXXXX");
    assert_non_null(mkdtemp(s->folder));
    if (s->uid) assert_int_equal(chown(s->folder, s->uid, s->uid) | chmod(s->folder, 0755), 0);
    snprintf(s->socket, sizeof s->socket, "%s/socket", s->folder);
    snprintf(s->cache, sizeof s->cache, "%s/cache", s->folder);
    service_restart(s, options);
}

void service_start(struct service *s, const char *const *options)
{
    service_start_as(s, 0, options);
}

void service_stop(struct service *s)
{
    int status = 0;
    kill(s->pid, SIGTERM);
    assert_int_equal(waitpid(s->pid, &status, 0), s->pid);
    s->pid = 0;
    assert_int_equal(status, 0);
}

void service_clear(struct service *s)
{
    char command[128];
    if (s->pid) service_stop(s);
    snprintf(command, sizeof command, "rm -rf '%s'", s->folder);
    assert_int_equal(system(command), 0);
}

fusion_session *service_connect(const struct service *s)
{
    fusion_session *session = NULL;
    expect_ok(fusion_connect(s->socket, NULL, &session));
    return session;
}

/* ---- expectations ---- */

void expect_status(fusion_status status, fusion_status expected, const char *file, int line)
{
    if (status == expected) return;
    const fusion_error *e = fusion_last_error();
    print_error("%s:%d: %s instead of %s; last error: %s: %s\n", file, line, fusion_status_name(status),
                fusion_status_name(expected), e->object, e->reason);
    _fail(file, line);
}

void expect_reason(const char *text, const char *file, int line)
{
    const fusion_error *e = fusion_last_error();
    if (strstr(e->object, text) || strstr(e->reason, text)) return;
    print_error("%s:%d: no `%s` in: %s: %s\n", file, line, text, e->object, e->reason);
    _fail(file, line);
}

/* ---- watching ---- */

bool service_has_device(fusion_session *session, const char *name)
{
    uint32_t n = 0;
    bool there = false;
    expect_ok(fusion_device_count(session, &n));
    for (uint32_t i = 0; i < n && !there; i++) {
        fusion_device_info info = {FUSION_SIZED(fusion_device_info)};
        expect_ok(fusion_device_get(session, i, &info));
        there = strcmp(info.name, name) == 0;
    }
    return there;
}

long long service_counter(fusion_session *session, const char *key)
{
    char *json, quoted[80];
    expect_ok(fusion_session_status(session, &json));
    snprintf(quoted, sizeof quoted, "\"%s\": ", key);
    const char *at = strstr(json, quoted);
    if (!at) fail_msg("no %s in the status: %s", key, json);
    long long value = atoll(at + strlen(quoted));
    free(json);
    return value;
}

/* Parent and command name of a process, from /proc/PID/stat. */
static bool read_stat(pid_t pid, pid_t *parent, char name[32])
{
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "r");
    if (!f) return false;
    bool ok = fgets(line, sizeof line, f) != NULL;
    fclose(f);
    char *open = ok ? strchr(line, '(') : NULL, *close = ok ? strrchr(line, ')') : NULL;
    if (!open || !close) return false;
    snprintf(name, 32, "%.*s", (int)(close - open - 1), open + 1);
    char state;
    int p;
    if (sscanf(close + 1, " %c %d", &state, &p) != 2 || state == 'Z') return false;
    *parent = p;
    return true;
}

bool process_lives(pid_t pid)
{
    pid_t parent;
    char command[32];
    return read_stat(pid, &parent, command);
}

int service_children(const struct service *s, const char *name, pid_t *pids, int max)
{
    char path[96];
    int n = 0, pid;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)s->pid, (int)s->pid);
    FILE *f = fopen(path, "r");
    if (!f) return 0;
    while (n < max && fscanf(f, "%d", &pid) == 1) {
        pid_t parent;
        char command[32];
        if (read_stat(pid, &parent, command) && strncmp(command, name, strlen(name)) == 0) pids[n++] = pid;
    }
    fclose(f);
    return n;
}

/* An executor without a session has one thread. */
static bool is_waiting(pid_t pid)
{
    char path[64];
    struct stat s;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    return stat(path, &s) == 0 && s.st_nlink == 2 + 1;
}

int service_executors(const struct service *s, bool waiting, pid_t *pids, int max)
{
    int all = service_children(s, "fusiond-exec", pids, max), n = 0;
    for (int i = 0; i < all; i++)
        if (is_waiting(pids[i]) == waiting) pids[n++] = pids[i];
    return n;
}

long long resident_bytes(pid_t pid)
{
    char path[64];
    long long total, resident = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    FILE *f = fopen(path, "r");
    if (!f) return 0;
    if (fscanf(f, "%lld %lld", &total, &resident) != 2) resident = 0;
    fclose(f);
    return resident * sysconf(_SC_PAGESIZE);
}

/* ---- graphs ---- */

fusion_module *load_test_kernels(fusion_session *session)
{
    fusion_module *module = NULL;
    expect_ok(fusion_module_load(session, "test.fk", test_kernels, strlen(test_kernels), &module));
    return module;
}

fusion_buffer *index_buffer(fusion_session *session, const char *name, uint64_t count, int factor, unsigned properties)
{
    fusion_buffer *buffer = NULL;
    void *memory;
    expect_ok(fusion_buffer_create(session, name, FUSION_I32, count, properties, &buffer));
    expect_ok(fusion_buffer_map(buffer, &memory));
    for (uint64_t i = 0; i < count; i++) ((int *)memory)[i] = factor * (int)i;
    return buffer;
}

fusion_node add_node(fusion_graph *graph, fusion_module *module, const char *kernel, uint64_t count,
                     const fusion_arg *args, uint32_t n_args)
{
    fusion_node node = 0;
    fusion_kernel_node k = {
        .module = module, .kernel = kernel, .dims = 1, .global = {count}, .args = args, .n_args = n_args};
    expect_ok(fusion_graph_add_kernel(graph, &k, &node));
    return node;
}

pid_t service_executor_with(const struct service *s, const char *wanted)
{
    pid_t pids[16], found = 0;
    int n = service_children(s, "fusiond-executo", pids, 16);
    for (int i = 0; i < n; i++) {
        char path[64], line[256] = "";
        snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pids[i]);
        FILE *file = fopen(path, "r");
        size_t size = file ? fread(line, 1, sizeof line - 1, file) : 0;
        if (file) fclose(file);
        const char *option = line + strlen(line) + 1;
        if (size > strlen(line) + 1 && strcmp(option, wanted) == 0) found = pids[i];
    }
    return found;
}

pid_t service_gpu_executor(const struct service *s)
{
    return service_executor_with(s, "--gpu");
}
