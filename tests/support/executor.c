/* An executor under test. */
#include "tests/support/executor.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "proto/writer.h"

/* ---- memory ---- */

struct memory memory_new(size_t bytes)
{
    struct memory m = {.fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING), .bytes = bytes};
    assert_true(m.fd >= 0);
    assert_int_equal(ftruncate(m.fd, (off_t)bytes), 0);
    assert_int_equal(fcntl(m.fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
    m.data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, m.fd, 0);
    assert_ptr_not_equal(m.data, MAP_FAILED);
    return m;
}

void memory_free(struct memory *m)
{
    munmap(m->data, m->bytes);
    close(m->fd);
}

fusion_status executor_attach(struct executor *x, uint64_t id, const struct memory *m, uint64_t address)
{
    struct proto_writer w;
    child_begin(&x->child, &w, "buffer.attach");
    proto_pack_map(&w, 4);
    proto_pack_uint(&w, "buffer", id);
    proto_pack_uint(&w, "bytes", m->bytes);
    proto_pack_uint(&w, "address", address);
    proto_pack_uint(&w, "offset", m->offset);
    w.fds[w.n_fds++] = m->fd;
    return child_do(&x->child, &w);
}

/* ---- the process ---- */

void executor_start(struct executor *x, const char *threads)
{
    *x = (struct executor){.next_executable = 1};
    struct memory ring = memory_new(ring_total_bytes());
    x->ring = ring.data;
    x->ring_fd = ring.fd;
    ring_init(x->ring);
    int events[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, events), 0);
    x->event_fd = events[0];
    const char *argv[] = {"--threads", threads, NULL};
    child_start(&x->child, "executor", NULL, 0, threads ? argv : NULL);
    struct proto_writer w;
    child_begin(&x->child, &w, "begin");
    proto_pack_map(&w, 0);
    w.fds[w.n_fds++] = x->ring_fd;
    w.fds[w.n_fds++] = events[1];
    assert_int_equal(child_do(&x->child, &w), FUSION_SUCCESS);
    close(events[1]);
}

static void clean_up(struct executor *x)
{
    munmap(x->ring, ring_total_bytes());
    close(x->ring_fd);
    close(x->event_fd);
}

void executor_stop(struct executor *x)
{
    int status = child_stop(&x->child);
    clean_up(x);
    if (!WIFEXITED(status) || WEXITSTATUS(status)) fail_msg("the executor's wait status is %#x", (unsigned)status);
}

int executor_exit_code(struct executor *x)
{
    int status = child_wait(&x->child);
    clean_up(x);
    if (!WIFEXITED(status)) fail_msg("the executor's wait status is %#x", (unsigned)status);
    return WEXITSTATUS(status);
}

/* ---- programs ---- */

static void pack_text(msgpack_packer *k, const char *s)
{
    msgpack_pack_str(k, strlen(s));
    msgpack_pack_str_body(k, s, strlen(s));
}

static void pack_uint(msgpack_packer *k, const char *key, uint64_t n)
{
    pack_text(k, key);
    msgpack_pack_uint64(k, n);
}

static void pack_flag(msgpack_packer *k, const char *key, bool b)
{
    pack_text(k, key);
    b ? msgpack_pack_true(k) : msgpack_pack_false(k);
}

static void pack_bytes(msgpack_packer *k, const void *bytes, size_t size)
{
    msgpack_pack_bin(k, size);
    if (size) msgpack_pack_bin_body(k, bytes, size);
}

static void pack_list(msgpack_packer *k, const char *key, size_t n)
{
    pack_text(k, key);
    msgpack_pack_array(k, n);
}

static void pack_triple(msgpack_packer *k, const char *key, uint64_t x, uint64_t rest)
{
    pack_list(k, key, 3);
    msgpack_pack_uint64(k, x);
    msgpack_pack_uint64(k, rest);
    msgpack_pack_uint64(k, rest);
}

static void pack_launch(msgpack_packer *k, const struct test_launch *l)
{
    msgpack_pack_map(k, l->ir ? 5 : 4);
    pack_text(k, "name");
    pack_text(k, l->name);
    pack_uint(k, "args_size", l->args_size);
    pack_text(k, "range");
    msgpack_pack_map(k, 4);
    pack_uint(k, "dims", 1);
    pack_triple(k, "global", l->global, 1);
    pack_triple(k, "offset", 0, 0);
    pack_triple(k, "local", l->local, 1);
    pack_list(k, "params", l->n_params);
    for (unsigned i = 0; i < l->n_params; i++) {
        const struct test_param *p = &l->params[i];
        msgpack_pack_map(k, 6);
        pack_uint(k, "kind", p->kind);
        pack_uint(k, "index", p->index);
        pack_uint(k, "offset", p->offset);
        pack_uint(k, "at", p->at);
        pack_uint(k, "size", p->size);
        pack_flag(k, "writes", p->writes);
    }
    if (!l->ir) return;
    pack_text(k, "ir");
    pack_bytes(k, l->ir, l->ir_size);
}

static void pack_step(msgpack_packer *k, const struct test_step *s)
{
    if (s->kind == 3) {
        msgpack_pack_array(k, 1);
        msgpack_pack_uint64(k, s->kind);
        return;
    }
    msgpack_pack_array(k, s->kind == 0 ? 2 : s->kind == 1 ? 6 : 5);
    msgpack_pack_uint64(k, s->kind);
    msgpack_pack_uint64(k, s->a);
    if (s->kind == 0) return;
    msgpack_pack_uint64(k, s->a_offset);
    if (s->kind == 1) {
        msgpack_pack_uint64(k, s->b);
        msgpack_pack_uint64(k, s->b_offset);
    }
    msgpack_pack_uint64(k, s->bytes);
    if (s->kind == 2) pack_bytes(k, &s->pattern, sizeof s->pattern);
}

static void pack_bands(msgpack_packer *k, const struct test_bands *b)
{
    msgpack_pack_map(k, 5);
    pack_uint(k, "first", b->first);
    pack_uint(k, "steps", b->steps);
    pack_uint(k, "at_once", b->at_once);
    pack_list(k, "ends", b->n_ends);
    for (unsigned i = 0; i < b->n_ends; i++) msgpack_pack_uint64(k, b->ends[i]);
    pack_list(k, "conditions", b->n_condition > 0);
    if (!b->n_condition) return;
    msgpack_pack_array(k, b->n_condition);
    for (unsigned i = 0; i < b->n_condition; i++) msgpack_pack_uint64(k, b->condition[i]);
}

static void pack_all_bands(msgpack_packer *k, const struct test_program *p)
{
    pack_list(k, "bands", p->n_bands);
    for (unsigned i = 0; i < p->n_bands; i++) pack_bands(k, &p->bands[i]);
}

static void pack_slot(msgpack_packer *k, const struct test_slot *s)
{
    msgpack_pack_map(k, s->has_ring ? 4 : 3);
    pack_text(k, "name");
    pack_text(k, s->name);
    pack_uint(k, "bytes", s->bytes);
    pack_flag(k, "needed", !s->absent);
    if (s->has_ring) pack_uint(k, "ring", s->ring);
}

void program_pack(const struct test_program *p, msgpack_sbuffer *out)
{
    msgpack_packer packer, *k = &packer;
    msgpack_sbuffer_init(out);
    msgpack_packer_init(k, out, msgpack_sbuffer_write);
    msgpack_pack_map(k, p->n_bands ? 6 : 5);
    if (p->n_bands) pack_all_bands(k, p);
    pack_text(k, "device");
    pack_text(k, p->device ? p->device : "cpu");
    pack_list(k, "slots", p->n_slots);
    for (unsigned i = 0; i < p->n_slots; i++) pack_slot(k, &p->slots[i]);
    pack_list(k, "values", p->n_values);
    for (unsigned i = 0; i < p->n_values; i++) msgpack_pack_uint64(k, p->value_sizes[i]);
    pack_list(k, "launches", p->n_launches);
    for (unsigned i = 0; i < p->n_launches; i++) pack_launch(k, &p->launches[i]);
    pack_list(k, "steps", p->n_steps ? p->n_steps : p->n_launches);
    for (unsigned i = 0; i < p->n_steps; i++) pack_step(k, &p->steps[i]);
    for (unsigned i = 0; i < p->n_launches && !p->n_steps; i++) pack_step(k, &(struct test_step){.a = i});
}

fusion_status executor_load(struct executor *x, const struct test_program *p, const int *objects,
                            const uint64_t *bindings, const void *const *values, uint64_t *id)
{
    struct proto_writer w;
    msgpack_sbuffer program;
    program_pack(p, &program);
    uint64_t number = x->next_executable++;
    if (id) *id = number;
    child_begin(&x->child, &w, "executable.load");
    proto_pack_map(&w, 4);
    proto_pack_uint(&w, "executable", number);
    proto_pack_bytes(&w, "program", program.data, program.size);
    proto_pack_key(&w, "bindings");
    msgpack_pack_array(&w.packer, p->n_slots);
    for (unsigned i = 0; i < p->n_slots; i++) msgpack_pack_uint64(&w.packer, bindings[i]);
    proto_pack_key(&w, "values");
    msgpack_pack_array(&w.packer, p->n_values);
    for (unsigned i = 0; i < p->n_values; i++) pack_bytes(&w.packer, values[i], p->value_sizes[i]);
    for (unsigned i = 0; objects && i < p->n_launches; i++) w.fds[w.n_fds++] = objects[i];
    msgpack_sbuffer_destroy(&program);
    return child_do(&x->child, &w);
}

fusion_status executor_replace(struct executor *x, uint64_t id, uint64_t launch, int object)
{
    struct proto_writer w;
    child_begin(&x->child, &w, "executable.replace");
    proto_pack_map(&w, 2);
    proto_pack_uint(&w, "executable", id);
    proto_pack_uint(&w, "launch", launch);
    w.fds[w.n_fds++] = object;
    return child_do(&x->child, &w);
}

/* ---- submissions ---- */

/* A wait also ends when the ring's state changes, which a dying executor does before it completes. */
static fusion_status push(struct executor *x, const struct ring_entry *entry, const void *rest, size_t bytes)
{
    assert_true(ring_push(x->ring, entry, rest, bytes));
    if (!ring_wait(x->ring, x->sequence, 20000) && !ring_wait(x->ring, x->sequence, 20000))
        fail_msg("submission %ju did not complete", (uintmax_t)x->sequence);
    return executor_completion(x)->status;
}

fusion_status executor_submit_rounds(struct executor *x, const struct test_rounds *r)
{
    const struct ring_entry entry = {.sequence = ++x->sequence,
                                     .executable = r->executable,
                                     .rounds = r->rounds,
                                     .first = r->first,
                                     .first_rounds = r->first_rounds,
                                     .time_limit_ms = r->time_limit_ms};
    return push(x, &entry, NULL, 0);
}

fusion_status executor_submit(struct executor *x, uint64_t executable, const struct test_bind *binds, uint32_t n_binds,
                              const struct test_value *values, uint32_t n_values)
{
    uint64_t rest[64], *at = rest;
    for (uint32_t i = 0; i < n_binds; i++) {
        struct ring_binding b = {.slot = binds[i].slot, .buffer = binds[i].buffer, .offset = binds[i].offset};
        memcpy(at, &b, sizeof b);
        at += sizeof b / 8;
    }
    for (uint32_t i = 0; i < n_values; i++) {
        struct ring_value v = {values[i].value, values[i].size};
        memcpy(at++, &v, sizeof v);
        memcpy(at++, &values[i].data, 8);
    }
    struct ring_entry entry = {.part = x->part,
                               .sequence = ++x->sequence,
                               .executable = executable,
                               .n_bindings = n_binds,
                               .n_values = n_values};
    return push(x, &entry, rest, (size_t)(at - rest) * 8);
}

const struct ring_completion *executor_completion(const struct executor *x)
{
    return &x->ring->completions[x->sequence % RING_MAX_PENDING];
}

const struct ring_failure *executor_failure(const struct executor *x)
{
    return &x->ring->failures[x->sequence % RING_MAX_PENDING];
}

/* ---- objects ---- */

static int read_into_memfd(const char *path)
{
    char buffer[65536];
    int from = open(path, O_RDONLY | O_CLOEXEC), to = memfd_create("object", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_true(from >= 0 && to >= 0);
    for (ssize_t n; (n = read(from, buffer, sizeof buffer)) > 0;) assert_int_equal(write(to, buffer, (size_t)n), n);
    close(from);
    assert_int_equal(fcntl(to, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE), 0);
    return to;
}

int object_compile(const char *source)
{
    const char *root = getenv("FUSIOND_SOURCE_ROOT"), *temporary = getenv("TMPDIR");
    char directory[256], path[300], command[1024];
    snprintf(directory, sizeof directory, "%s/fusiond-object-XXXXXX", temporary ? temporary : "/tmp");
    if (!root || !mkdtemp(directory)) fail_msg("no FUSIOND_SOURCE_ROOT, or no temporary directory");
    snprintf(path, sizeof path, "%s/kernel.so", directory);
    snprintf(command, sizeof command, "cc -std=gnu17 -D_GNU_SOURCE -O2 -shared -fPIC -I'%s' -x c -o '%s' -", root,
             path);
    FILE *compiler = popen(command, "w");
    assert_non_null(compiler);
    fputs("#include \"fuser/cpu/abi/kernel_abi.h\"\n", compiler);
    fputs(source, compiler);
    assert_int_equal(pclose(compiler), 0);
    int fd = read_into_memfd(path);
    unlink(path);
    rmdir(directory);
    return fd;
}
