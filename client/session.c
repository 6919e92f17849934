/* A session from its beginning to its end. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "client/internal.h"

static const char system_socket[] = "/run/fusiond/fusiond.sock";
enum { DEFAULT_REQUEST_LIMIT_MS = 60000, DAEMON_END_MS = 3000 };

uint64_t client_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

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
static fusion_status open_connection(const char *address, bool private_daemon, int *fd, pid_t *pid)
{
    const char *environment = getenv("FUSION_SOCKET");
    if (private_daemon) return client_launch_daemon(fd, pid);
    if (address) return connect_socket(address, fd);
    if (environment && *environment) return connect_socket(environment, fd);
    if (connect_socket(system_socket, fd) == FUSION_SUCCESS) return FUSION_SUCCESS;
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

void client_init_recursive(pthread_mutex_t *mutex)
{
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(mutex, &recursive);
    pthread_mutexattr_destroy(&recursive);
}

void client_session_init_long_locks(fusion_session *s)
{
    client_init_recursive(&s->turn_lock);
    client_init_recursive(&s->print_lock);
    pthread_mutex_init(&s->attach_lock, NULL);
    pthread_mutex_init(&s->request_lock, NULL);
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

fusion_status fusion_connect(const char *address, const fusion_connect_options *options, fusion_session **session)
{
    fusion_connect_options defaults = {0};
    if (!options) options = &defaults;
    fusion_session *s = calloc(1, sizeof *s);
    if (!s) return client_error(FUSION_OUT_OF_MEMORY, "session", "no memory");
    s->fd = s->event_fd = -1;
    LIST_INIT(&s->objects);
    STAILQ_INIT(&s->outgoing);
    s->next_request = 1;
    s->next_sequence = 1;
    s->request_limit_ms = options->request_limit_ms ? options->request_limit_ms : DEFAULT_REQUEST_LIMIT_MS;
    client_session_init_long_locks(s);
    pthread_mutex_init(&s->lock, NULL);
    client_sessions_add(s);

    fusion_status status = open_connection(address, options->private_daemon, &s->fd, &s->daemon_pid);
    if (status != FUSION_SUCCESS) goto fail;
    s->reader = proto_reader_new(PROTO_MAX_MESSAGE);
    if (!s->reader) {
        status = client_error(FUSION_OUT_OF_MEMORY, "session", "no memory");
        goto fail;
    }
    struct proto_message hello;
    status = client_request(s, "hello", pack_hello, options, NULL, 0, &hello);
    if (status != FUSION_SUCCESS) goto fail;
    status = take_ring(s, &hello);
    proto_message_clear(&hello);
    if (status != FUSION_SUCCESS) goto fail;
    *session = s;
    return FUSION_SUCCESS;

fail:
    fusion_disconnect(s);
    return status;
}

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

void client_object_add(fusion_session *s, struct client_object *object, void (*free)(struct client_object *))
{
    object->free = free;
    pthread_mutex_lock(&s->lock);
    LIST_INSERT_HEAD(&s->objects, object, link);
    pthread_mutex_unlock(&s->lock);
}

void client_object_remove(fusion_session *s, struct client_object *object)
{
    pthread_mutex_lock(&s->lock);
    LIST_REMOVE(object, link);
    pthread_mutex_unlock(&s->lock);
}

static void free_objects(fusion_session *s)
{
    struct client_object *object;
    while ((object = LIST_FIRST(&s->objects))) {
        LIST_REMOVE(object, link);
        object->free(object);
    }
}

void fusion_disconnect(fusion_session *s)
{
    if (!s) return;
    client_sessions_remove(s);
    if (!client_is_foreign(s)) client_print(s);
    if (s->fd >= 0) close(s->fd);
    if (s->daemon_pid) reap_daemon(s->daemon_pid);
    free_objects(s);
    client_memories_clear(s);
    if (s->ring) munmap(s->ring, ring_total_bytes());
    if (s->event_fd >= 0) close(s->event_fd);
    proto_reader_free(s->reader);
    client_requests_clear(s);
    free(s->failures);
    client_recordings_clear(s);
    pthread_mutex_destroy(&s->turn_lock);
    pthread_mutex_destroy(&s->print_lock);
    pthread_mutex_destroy(&s->attach_lock);
    pthread_mutex_destroy(&s->request_lock);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

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

/* ---- status as JSON ---- */

static void print_json(FILE *out, const msgpack_object *o);

static void print_json_string(FILE *out, const char *text, uint32_t size)
{
    fputc('"', out);
    for (uint32_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < 0x20)
            fprintf(out, "\\u%04x", c);
        else
            fputc(c, out);
    }
    fputc('"', out);
}

static void print_json_map(FILE *out, const msgpack_object_map *map)
{
    fputc('{', out);
    for (uint32_t i = 0; i < map->size; i++) {
        if (i) fputs(", ", out);
        print_json(out, &map->ptr[i].key);
        fputs(": ", out);
        print_json(out, &map->ptr[i].val);
    }
    fputc('}', out);
}

static void print_json(FILE *out, const msgpack_object *o)
{
    switch (o->type) {
    case MSGPACK_OBJECT_BOOLEAN: fputs(o->via.boolean ? "true" : "false", out); break;
    case MSGPACK_OBJECT_POSITIVE_INTEGER: fprintf(out, "%llu", (unsigned long long)o->via.u64); break;
    case MSGPACK_OBJECT_NEGATIVE_INTEGER: fprintf(out, "%lld", (long long)o->via.i64); break;
    case MSGPACK_OBJECT_FLOAT32:
    case MSGPACK_OBJECT_FLOAT64: fprintf(out, "%.17g", o->via.f64); break;
    case MSGPACK_OBJECT_STR: print_json_string(out, o->via.str.ptr, o->via.str.size); break;
    case MSGPACK_OBJECT_ARRAY:
        fputc('[', out);
        for (uint32_t i = 0; i < o->via.array.size; i++) {
            if (i) fputs(", ", out);
            print_json(out, &o->via.array.ptr[i]);
        }
        fputc(']', out);
        break;
    case MSGPACK_OBJECT_MAP: print_json_map(out, &o->via.map); break;
    default: fputs("null", out); break;
    }
}

fusion_status fusion_session_status(fusion_session *s, char **json)
{
    struct proto_message reply;
    fusion_status status = client_request(s, "status", NULL, NULL, NULL, 0, &reply);
    if (status != FUSION_SUCCESS) return status;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    print_json(out, &reply.params);
    fclose(out);
    proto_message_clear(&reply);
    *json = text;
    return FUSION_SUCCESS;
}
