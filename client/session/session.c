/* A session from its beginning to its end. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/base/error.h"
#include "client/base/sized.h"
#include "client/session/fork.h"
#include "client/session/launch.h"
#include "client/session/locks.h"
#include "client/session/objects.h"
#include "client/session/print.h"
#include "client/session/request.h"
#include "client/session/wait.h"
#include "client/session/watcher.h"
#include "client/session/workers.h"
#include "proto/fields.h"
#include "proto/frame.h"
#include "proto/writer.h"

static const char system_socket[] = "/run/fusiond/fusiond.sock";
enum { DEFAULT_REQUEST_LIMIT_MS = 60000, DAEMON_END_MS = 3000 };

/* ---- connecting ---- */

static fusion_status connect_socket(const char *path, int *fd)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path)
        return client_error(FUSION_CONNECTION, path, "the path of a socket has at most %zu bytes",
                            sizeof address.sun_path - 1);
    memcpy(address.sun_path, path, strlen(path) + 1);
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s < 0) return client_errno(FUSION_CONNECTION, path, "socket");
    if (connect(s, (struct sockaddr *)&address, sizeof address) < 0) {
        fusion_status status = client_errno(FUSION_CONNECTION, path, "connect");
        close(s);
        return status;
    }
    *fd = s;
    return FUSION_SUCCESS;
}

/* The order of fusion_connect's documentation. */
static fusion_status open_connection(const char *address, const fusion_connect_options *options, int *fd, pid_t *pid)
{
    const char *environment = getenv("FUSION_SOCKET");
    if (options->private_daemon) return client_launch_daemon(fd, pid);
    if (address) return connect_socket(address, fd);
    if (environment && *environment) return connect_socket(environment, fd);
    fusion_status status = connect_socket(system_socket, fd);
    if (status == FUSION_SUCCESS || options->running_only) return status;
    return client_launch_daemon(fd, pid);
}

static void pack_hello(struct proto_writer *w, const void *data)
{
    const fusion_connect_options *o = data;
    proto_pack_map(w, 4);
    proto_pack_uint(w, "min", PROTO_VERSION_MIN);
    proto_pack_uint(w, "max", PROTO_VERSION_MAX);
    proto_pack_string(w, "name", o->name ? o->name : program_invocation_short_name);
    proto_pack_uint(w, "time_limit_ms", o->time_limit_ms);
}

/* The memory that the service gives: a file that has the ring's size for good, and the ring's header. */
static fusion_status map_ring(fusion_session *s, int fd)
{
    struct stat file;
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(fd, &file) < 0)
        return client_error(FUSION_PROTOCOL, "hello",
                            "the submission ring is not a memory file sealed against shrinking");
    if ((uint64_t)file.st_size < ring_total_bytes())
        return client_error(FUSION_PROTOCOL, "hello", "the submission ring has %lld bytes instead of %zu",
                            (long long)file.st_size, ring_total_bytes());
    void *map = mmap(NULL, ring_total_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED) return client_errno(FUSION_OUT_OF_MEMORY, "hello", "mapping the submission ring");
    s->ring = map;
    if (ring_check(map, (size_t)file.st_size)) return FUSION_SUCCESS;
    return client_error(FUSION_PROTOCOL, "hello", "the submission ring has another header than this library knows");
}

static fusion_status take_ring(fusion_session *s, struct proto_message *hello)
{
    uint64_t version = 0;
    if (!proto_get_uint(&hello->params, "version", &version) || hello->n_fds != 2)
        return client_error(FUSION_PROTOCOL, "hello", "the reply has no version or %u descriptors instead of 2",
                            hello->n_fds);
    if (version < PROTO_VERSION_MIN || version > PROTO_VERSION_MAX)
        return client_error(FUSION_VERSION, "hello", "fusiond speaks version %llu, this library %d to %d",
                            (unsigned long long)version, PROTO_VERSION_MIN, PROTO_VERSION_MAX);
    fusion_status status = map_ring(s, hello->fds[0]);
    if (status != FUSION_SUCCESS) return status;
    s->event_fd = hello->fds[1];
    hello->fds[1] = -1;
    return FUSION_SUCCESS;
}

static fusion_session *new_session(const fusion_connect_options *options)
{
    fusion_session *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->fd = s->event_fd = -1;
    LIST_INIT(&s->objects);
    STAILQ_INIT(&s->outgoing);
    LIST_INIT(&s->awaiting);
    s->next_request = 1;
    s->next_sequence = s->next_reserved = 1;
    s->request_limit_ms = options->request_limit_ms ? options->request_limit_ms : DEFAULT_REQUEST_LIMIT_MS;
    s->n_threads = options->threads ? (uint32_t)options->threads : CLIENT_DEFAULT_WORKERS;
    client_session_init_long_locks(s);
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

static fusion_status say_hello(fusion_session *s, const fusion_connect_options *options)
{
    struct proto_message hello;
    s->reader = proto_reader_new(PROTO_MAX_MESSAGE);
    if (!s->reader || !client_failures_open(s)) return client_no_memory("session");
    fusion_status status = client_request(s, "hello", pack_hello, options, NULL, 0, &hello);
    if (status != FUSION_SUCCESS) return status;
    status = take_ring(s, &hello);
    proto_message_clear(&hello);
    return status;
}

static void pack_nothing(struct proto_writer *w, const void *data)
{
    (void)data;
    proto_pack_map(w, 0);
}

/* From here on the session's kernels run in the control group that the program or its environment names. */
static fusion_status enter_cgroup(fusion_session *s, const fusion_connect_options *options)
{
    const char *environment = getenv("FUSION_CGROUP"), *path = options->cgroup ? options->cgroup : environment;
    if (!path || !*path) return FUSION_SUCCESS;
    int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return client_errno(FUSION_INVALID, path, "opening the control group");
    fusion_status status = client_request(s, "session.cgroup", pack_nothing, NULL, &fd, 1, NULL);
    close(fd);
    return status;
}

fusion_status fusion_connect(const char *address, const fusion_connect_options *given, fusion_session **session)
{
    fusion_connect_options own = {0}, *options = &own;
    fusion_status status =
        given ? CLIENT_TAKE(fusion_connect_options, private_daemon, options, given, "connect options") : FUSION_SUCCESS;
    if (status != FUSION_SUCCESS) return status;
    if (options->threads > CLIENT_MOST_WORKERS)
        return client_error(FUSION_INVALID, "connect options", "%llu threads; %d are the most",
                            (unsigned long long)options->threads, CLIENT_MOST_WORKERS);
    fusion_session *s = new_session(options);
    if (!s) return client_no_memory("session");
    status = client_sessions_add(s) ? FUSION_SUCCESS : client_no_memory("session");
    if (status == FUSION_SUCCESS) status = open_connection(address, options, &s->fd, &s->daemon_pid);
    if (status == FUSION_SUCCESS) status = say_hello(s, options);
    if (status == FUSION_SUCCESS) status = enter_cgroup(s, options);
    if (status == FUSION_SUCCESS)
        *session = s;
    else
        fusion_disconnect(s);
    return status;
}

/* ---- disconnecting ---- */

/* A private daemon ends when its connection closes; one that does not is killed. */
static void reap_daemon(pid_t pid)
{
    for (int waited = 0; waited < DAEMON_END_MS; waited += 5) {
        if (waitpid(pid, NULL, WNOHANG) != 0) return;
        usleep(5000);
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

void fusion_disconnect(fusion_session *s)
{
    if (!s) return;
    client_sessions_remove(s);
    if (!client_is_foreign(s)) client_print(s);
    if (s->workers && s->fd >= 0) shutdown(s->fd, SHUT_RDWR); /* what waits for replies ends */
    client_workers_end(s);
    client_watcher_end(s);
    if (s->fd >= 0) close(s->fd);
    if (s->daemon_pid) reap_daemon(s->daemon_pid);
    client_objects_free(s);
    if (s->ring) munmap(s->ring, ring_total_bytes());
    if (s->event_fd >= 0) close(s->event_fd);
    proto_reader_free(s->reader);
    client_requests_clear(s);
    free(s->failures);
    free(s->spans);
    free(s->moments);
    pthread_mutex_destroy(&s->turn_lock);
    pthread_mutex_destroy(&s->print_lock);
    pthread_mutex_destroy(&s->attach_lock);
    pthread_mutex_destroy(&s->pipe_lock);
    pthread_mutex_destroy(&s->request_lock);
    pthread_mutex_destroy(&s->reply_lock);
    if (!client_is_foreign(s)) pthread_cond_destroy(&s->replied); /* a child has not the threads that wait */
    pthread_mutex_destroy(&s->lock);
    free(s);
}

/* ---- completion events ---- */

int fusion_session_fd(fusion_session *s)
{
    if (!s || client_is_foreign(s)) return -1;
    atomic_store(&s->ring->wants_event, 1);
    return s->event_fd;
}

fusion_status fusion_session_dispatch(fusion_session *s)
{
    char bytes[512];
    ssize_t got;
    if (client_is_foreign(s)) return client_foreign("session");
    do got = recv(s->event_fd, bytes, sizeof bytes, MSG_DONTWAIT);
    while (got == sizeof bytes || (got < 0 && errno == EINTR));
    if (got == 0) return client_error(FUSION_CONNECTION, "session", "the daemon has ended");
    if (got < 0 && errno != EAGAIN) return client_errno(FUSION_CONNECTION, "session", "reading the completion event");
    return FUSION_SUCCESS;
}
