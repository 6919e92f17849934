/* A service that is broken or means harm: what it sends, and what it writes into the ring, is not believed. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "proto/ring.h"
#include "proto/transfer.h"
#include "tests/support/service.h"

enum { SIZE = 64, LIMIT_MS = 1000 };

/* ---- the service ---- */

/* Packs the result of a reply. */
typedef void pack_fn(struct proto_writer *w);

struct rogue {
    char folder[64], socket[96];
    int listener, ring_fd;
    pthread_t thread;
    pack_fn *finalize; /* what graph.finalize answers */
    bool flood;        /* notices without end instead of replies to `status` */
    struct ring *ring; /* as the service has it mapped */
};

static void pack_hello(struct proto_writer *w)
{
    proto_pack_map(w, 1);
    proto_pack_uint(w, "version", 1);
}

static void pack_module(struct proto_writer *w)
{
    proto_pack_map(w, 2);
    proto_pack_uint(w, "module", 1);
    proto_pack_key(w, "kernels");
    msgpack_pack_array(&w->packer, 1);
    proto_pack_map(w, 2);
    proto_pack_string(w, "name", "kernel");
    proto_pack_key(w, "args");
    msgpack_pack_array(&w->packer, 1);
    proto_pack_map(w, 1);
    proto_pack_string(w, "type", "ptr.global");
}

static void pack_nothing(struct proto_writer *w)
{
    proto_pack_map(w, 0);
}

static void flood(int fd)
{
    for (bool sent = true; sent;) {
        struct proto_writer w;
        proto_begin_notice(&w, "news");
        proto_pack_map(&w, 0);
        proto_finish(&w);
        sent = proto_send(fd, &w, 0) == 0;
        proto_writer_clear(&w);
    }
}

static void answer(const struct rogue *r, int fd, const struct proto_message *m)
{
    struct proto_writer w;
    bool hello = strcmp(m->method, "hello") == 0;
    if (r->flood && strcmp(m->method, "status") == 0) {
        flood(fd);
        return;
    }
    proto_begin_reply(&w, m->id);
    if (hello)
        pack_hello(&w);
    else if (strcmp(m->method, "module.load") == 0)
        pack_module(&w);
    else if (strcmp(m->method, "graph.finalize") == 0)
        r->finalize(&w);
    else
        pack_nothing(&w);
    if (hello) {
        w.fds[w.n_fds++] = r->ring_fd;
        w.fds[w.n_fds++] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    }
    proto_finish(&w);
    proto_send(fd, &w, 0);
    if (hello) close(w.fds[1]);
    proto_writer_clear(&w);
}

static void *serve(void *data)
{
    struct rogue *r = data;
    int fd = accept4(r->listener, NULL, NULL, SOCK_CLOEXEC);
    struct proto_reader *reader = proto_reader_new(PROTO_MAX_MESSAGE);
    struct proto_message m;
    const char *reason;
    while (proto_receive(fd, reader, &m, 0, &reason) == 0) {
        answer(r, fd, &m);
        proto_message_clear(&m);
    }
    proto_reader_free(reader);
    close(fd);
    return NULL;
}

static int make_ring(size_t bytes, unsigned seals)
{
    int fd = memfd_create("ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
    if (bytes >= sizeof(struct ring)) {
        struct ring *ring = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        assert_ptr_not_equal(ring, MAP_FAILED);
        ring_init(ring);
        munmap(ring, bytes);
    }
    assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
    return fd;
}

static void rogue_start(struct rogue *r, int ring_fd)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(r->folder, "/tmp/fusiond-test-XXXXXX");
    assert_non_null(mkdtemp(r->folder));
    snprintf(r->socket, sizeof r->socket, "%s/socket", r->folder);
    strcpy(address.sun_path, r->socket);
    r->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(r->listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(r->listener, 1), 0);
    r->ring_fd = ring_fd;
    assert_int_equal(pthread_create(&r->thread, NULL, serve, r), 0);
}

static void rogue_end(struct rogue *r)
{
    pthread_join(r->thread, NULL);
    if (r->ring) munmap(r->ring, ring_total_bytes());
    close(r->listener);
    close(r->ring_fd);
    unlink(r->socket);
    rmdir(r->folder);
}

/* ---- the ring that it gives ---- */

static void expect_refused(int ring_fd, const char *reason)
{
    struct rogue r = {0};
    fusion_session *s = NULL;
    rogue_start(&r, ring_fd);
    expect_error(fusion_connect(r.socket, NULL, &s), FUSION_PROTOCOL);
    expect_in_reason(reason);
    assert_null(s);
    rogue_end(&r);
}

static void test_ring_that_can_shrink(void **state)
{
    (void)state;
    expect_refused(make_ring(ring_total_bytes(), F_SEAL_GROW), "sealed");
}

static void test_ring_that_is_too_small(void **state)
{
    (void)state;
    expect_refused(make_ring(ring_total_bytes() - 4096, F_SEAL_GROW | F_SEAL_SHRINK), "bytes instead of");
}

static void test_ring_that_is_none(void **state)
{
    (void)state;
    int pipes[2];
    assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
    expect_refused(pipes[0], "sealed");
    close(pipes[1]);
    int fd = make_ring(ring_total_bytes(), 0);
    uint32_t magic = 1;
    assert_int_equal(pwrite(fd, &magic, sizeof magic, 0), sizeof magic);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK), 0);
    expect_refused(fd, "header");
}

/* ---- replies ---- */

struct client {
    struct rogue rogue;
    fusion_session *session;
    fusion_graph *graph;
    int ran; /* host tasks */
};

static void host_task(void *data)
{
    ++*(int *)data;
}

/* A graph of two nodes: host, kernel. */
static void open_client(struct client *c, pack_fn *finalize)
{
    fusion_module *module;
    fusion_buffer *buffer;
    *c = (struct client){.rogue.finalize = finalize};
    rogue_start(&c->rogue, make_ring(ring_total_bytes(), F_SEAL_GROW | F_SEAL_SHRINK));
    c->rogue.ring = mmap(NULL, ring_total_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, c->rogue.ring_fd, 0);
    fusion_connect_options options = {.request_limit_ms = LIMIT_MS};
    expect_ok(fusion_connect(c->rogue.socket, &options, &c->session));
    expect_ok(fusion_module_load(c->session, "m", "x", 1, &module));
    expect_ok(fusion_buffer_create(c->session, "b", FUSION_I32, SIZE, 0, &buffer));
    expect_ok(fusion_graph_create(c->session, &c->graph));
    fusion_arg args[] = {fusion_arg_write(buffer)};
    expect_ok(fusion_graph_add_host_task(c->graph, "host", NULL, 0, host_task, &c->ran, NULL, 0, NULL));
    add_node(c->graph, module, "kernel", SIZE, args, 1);
}

static void close_client(struct client *c)
{
    fusion_disconnect(c->session);
    rogue_end(&c->rogue);
}

static void pack_numbers(struct proto_writer *w, const char *key, const uint64_t *numbers, uint32_t n)
{
    proto_pack_key(w, key);
    msgpack_pack_array(&w->packer, n);
    for (uint32_t i = 0; i < n; i++) msgpack_pack_uint64(&w->packer, numbers[i]);
}

/* A report with this order, launch and home. */
static void pack_report(struct proto_writer *w, const uint64_t *order, uint32_t n_order, uint64_t in_launch,
                        const char *home)
{
    proto_pack_map(w, 2);
    proto_pack_uint(w, "executable", 1);
    proto_pack_key(w, "report");
    proto_pack_map(w, 4);
    pack_numbers(w, "order", order, n_order);
    proto_pack_key(w, "launches");
    msgpack_pack_array(&w->packer, 1);
    proto_pack_map(w, 2);
    pack_numbers(w, "nodes", &in_launch, 1);
    proto_pack_string(w, "kernel", "kernel");
    proto_pack_key(w, "homes");
    msgpack_pack_array(&w->packer, 1);
    msgpack_pack_str(&w->packer, strlen(home));
    msgpack_pack_str_body(&w->packer, home, strlen(home));
    pack_numbers(w, "saved", NULL, 0);
}

static void pack_good(struct proto_writer *w)
{
    pack_report(w, (uint64_t[]){0, 1}, 2, 1, "memory");
}

/* The host task over and over. */
static void pack_repeated(struct proto_writer *w)
{
    static uint64_t order[4000];
    pack_report(w, order, 4000, 1, "memory");
}

static void pack_missing(struct proto_writer *w)
{
    pack_report(w, (uint64_t[]){1}, 1, 1, "memory");
}

static void pack_beyond(struct proto_writer *w)
{
    pack_report(w, (uint64_t[]){0, 2}, 2, 1, "memory");
}

static void pack_wide(struct proto_writer *w)
{
    pack_report(w, (uint64_t[]){0, (UINT64_C(1) << 32) + 1}, 2, 1, "memory");
}

static void pack_launch_beyond(struct proto_writer *w)
{
    pack_report(w, (uint64_t[]){0, 1}, 2, 77, "memory");
}

static void pack_unknown_home(struct proto_writer *w)
{
    pack_report(w, (uint64_t[]){0, 1}, 2, 1, "elsewhere");
}

static void test_reports(void **state)
{
    (void)state;
    static pack_fn *const bad[] = {pack_nothing, pack_repeated,      pack_missing,     pack_beyond,
                                   pack_wide,    pack_launch_beyond, pack_unknown_home};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct client c;
        fusion_exec *exec = NULL;
        open_client(&c, bad[i]);
        expect_error(fusion_graph_finalize(c.graph, NULL, &exec), FUSION_PROTOCOL);
        expect_in_reason("report");
        assert_null(exec);
        close_client(&c);
    }
}

/* The limit of a request holds, however much comes that nobody asked for. */
static void test_flood(void **state)
{
    (void)state;
    struct client c;
    char *json;
    open_client(&c, pack_good);
    c.rogue.flood = true;
    expect_error(fusion_session_status(c.session, &json), FUSION_TIMEOUT);
    close_client(&c);
}

/* ---- the ring that it writes ---- */

static void submit_one(struct client *c, fusion_event *event)
{
    fusion_exec *exec;
    open_client(c, pack_good);
    expect_ok(fusion_graph_finalize(c->graph, NULL, &exec));
    expect_ok(fusion_exec_submit(exec, NULL, 0, event));
    assert_int_equal(c->ran, 1);
}

/* Texts without an end, a status that there is none of. */
static void test_completion(void **state)
{
    (void)state;
    struct client c;
    fusion_event event;
    submit_one(&c, &event);
    for (int i = 0; i < RING_MAX_PENDING; i++) {
        memset(c.rogue.ring->failures[i].object, 'x', RING_OBJECT_BYTES);
        memset(c.rogue.ring->failures[i].reason, 'y', RING_REASON_BYTES);
        c.rogue.ring->completions[i].status = 12345;
        atomic_store(&c.rogue.ring->completions[i].sequence, (uint64_t)i);
    }
    atomic_store(&c.rogue.ring->completed, event);
    expect_error(fusion_event_wait(c.session, event, 1000, NULL), FUSION_INTERNAL);
    assert_int_equal(strlen(fusion_last_error()->object), RING_OBJECT_BYTES - 1);
    assert_int_equal(strlen(fusion_last_error()->reason), RING_REASON_BYTES - 1);
    close_client(&c);
}

static void test_completion_of_another(void **state)
{
    (void)state;
    struct client c;
    fusion_event event;
    submit_one(&c, &event);
    atomic_store(&c.rogue.ring->completed, event); /* but nothing was written about it */
    expect_error(fusion_event_wait(c.session, event, 1000, NULL), FUSION_PROTOCOL);
    close_client(&c);
}

static void test_positions(void **state)
{
    (void)state;
    struct client c;
    fusion_event event;
    fusion_exec *exec;
    open_client(&c, pack_good);
    expect_ok(fusion_graph_finalize(c.graph, NULL, &exec));
    atomic_store(&c.rogue.ring->completed, UINT64_MAX);
    expect_error(fusion_exec_submit(exec, NULL, 0, &event), FUSION_PROTOCOL);
    atomic_store(&c.rogue.ring->completed, 0);
    atomic_store(&c.rogue.ring->state, 99u);
    expect_error(fusion_exec_submit(exec, NULL, 0, &event), FUSION_PROTOCOL);
    atomic_store(&c.rogue.ring->state, RING_RUNNING);
    atomic_store(&c.rogue.ring->head, UINT64_MAX - 7); /* what is written goes round: nothing outside is touched */
    atomic_store(&c.rogue.ring->tail, UINT64_MAX - 7);
    expect_ok(fusion_exec_submit(exec, NULL, 0, &event));
    close_client(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ring_that_can_shrink),
        cmocka_unit_test(test_ring_that_is_too_small),
        cmocka_unit_test(test_ring_that_is_none),
        cmocka_unit_test(test_reports),
        cmocka_unit_test(test_flood),
        cmocka_unit_test(test_completion),
        cmocka_unit_test(test_completion_of_another),
        cmocka_unit_test(test_positions),
    };
    return cmocka_run_group_tests_name("hostile service", tests, NULL, NULL);
}
