/* Binaries of drivers. */
#include "daemon/executor/binaries.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/executor/devices/devices.h"
#include "proto/fields.h"
#include "proto/transfer.h"

/* ---- what an executable found, and what it would take ---- */

static const struct launch_binary *binary_of(const struct executable *x, uint32_t launch)
{
    const struct launch_code *code = x->launches[launch].code;
    return code ? code->binary : NULL;
}

static void pack_wish(struct proto_writer *w, uint32_t launch, const struct launch_binary *b)
{
    proto_pack_map(w, 3);
    proto_pack_uint(w, "launch", launch);
    proto_pack_bool(w, "refused", b->refused);
    proto_pack_bytes(w, "key", b->key, b->key_bytes);
}

static bool tell(const struct executable *x, struct proto_writer *w)
{
    uint32_t n = x->program->n_launches, n_found = 0, n_wishes = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct launch_binary *b = binary_of(x, i);
        n_found += b && b->found;
        n_wishes += b && !b->found;
    }
    if (!n_found && !n_wishes) return false;
    proto_begin_notice(w, "executable.binaries");
    proto_pack_map(w, 3);
    proto_pack_uint(w, "executable", x->id);
    proto_pack_uint(w, "found", n_found);
    proto_pack_key(w, "wishes");
    msgpack_pack_array(&w->packer, n_wishes);
    for (uint32_t i = 0; i < n; i++) {
        const struct launch_binary *b = binary_of(x, i);
        if (b && !b->found) pack_wish(w, i, b);
    }
    return true;
}

bool binaries_tell(struct executables *x, uint64_t executable, struct proto_writer *w)
{
    struct error ignored;
    struct executable *loaded = executables_get(x, executable, &ignored); /* of many objects some may be missing yet */
    bool told = loaded && tell(loaded, w);
    executables_put(loaded);
    return told;
}

/* ---- making one ---- */

static void answer(const char *device, const struct proto_message *m, struct proto_writer *w)
{
    struct error e = {0};
    const void *key;
    uint8_t *binary = NULL;
    size_t key_size, size;
    if (m->kind != PROTO_REQUEST || strcmp(m->method, "binary.make") != 0 || m->n_fds != 1 ||
        !proto_get_bytes(&m->params, "key", &key, &key_size))
        error_set(&e, FUSION_PROTOCOL, m->method, "is no request for a binary");
    else
        binary = devices_make_binary(device, m->fds[0], key, key_size, &size, &e);
    if (!binary) {
        proto_write_error(w, m->id, (fusion_status)e.code, e.object, e.reason);
        return;
    }
    proto_begin_reply(w, m->id);
    proto_pack_map(w, 1);
    proto_pack_bytes(w, "binary", binary, size);
    if (!proto_finish(w)) {
        proto_writer_clear(w);
        proto_write_error(w, m->id, FUSION_OUT_OF_MEMORY, NULL, "the binary is larger than a message can be");
    }
    free(binary);
}

int binaries_make_one(int connection, const char *device)
{
    struct proto_message m;
    struct proto_writer w;
    const char *reason = "";
    struct proto_reader *reader = proto_reader_new(PROTO_MAX_MESSAGE);
    if (!reader || proto_receive(connection, reader, &m, 0, &reason) != 0) return -1;
    answer(device, &m, &w);
    proto_message_clear(&m);
    int sent = proto_send(connection, &w, 0);
    proto_writer_clear(&w);
    return sent;
}
