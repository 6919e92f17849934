/*
 * Everything that reads what another process wrote: the first byte says how the rest is taken. 0: a stream of frames,
 * in pieces; 1: the body of one frame; 2: a wire graph; 3: the submission ring.
 */
#include <stdlib.h>
#include <string.h>

#include "ir/base/cursor.h"
#include "proto/fields.h"
#include "proto/frame.h"
#include "proto/graph.h"
#include "proto/ring.h"
#include "tests/fuzz/fuzz.h"

/* ---- frames ---- */

/* Looks at everything a message has, as handlers do. */
static uint64_t walk(const msgpack_object *object)
{
    uint64_t sum = object->type;
    switch (object->type) {
    case MSGPACK_OBJECT_STR:
    case MSGPACK_OBJECT_BIN:
        for (uint32_t i = 0; i < object->via.bin.size; i++) sum += (uint8_t)object->via.bin.ptr[i];
        break;
    case MSGPACK_OBJECT_ARRAY:
        for (uint32_t i = 0; i < object->via.array.size; i++) sum += walk(&object->via.array.ptr[i]);
        break;
    case MSGPACK_OBJECT_MAP:
        for (uint32_t i = 0; i < object->via.map.size; i++)
            sum += walk(&object->via.map.ptr[i].key) + walk(&object->via.map.ptr[i].val);
        break;
    default: sum += object->via.u64 & 1; break;
    }
    return sum;
}

static volatile uint64_t seen;

static void look(const struct proto_message *m)
{
    char *text = NULL;
    const void *bytes;
    size_t size;
    uint64_t number;
    bool flag;
    fuzz_check(m->kind <= PROTO_NOTICE, "a message of no kind");
    fuzz_check((m->method != NULL) == (m->kind != PROTO_REPLY), "a method where none belongs, or none");
    fuzz_check(m->status == FUSION_SUCCESS || (m->object && m->reason), "a failure without a reason");
    seen += walk(&m->params);
    if (proto_get_string(&m->params, "name", &text, PROTO_MAX_NAME))
        fuzz_check(strlen(text) <= PROTO_MAX_NAME, "a name longer than asked for");
    free(text);
    seen += proto_get_bytes(&m->params, "data", &bytes, &size) && size > 0 ? *(const uint8_t *)bytes : 0;
    seen += proto_get_uint(&m->params, "module", &number) + proto_get_bool(&m->params, "keep_ir", &flag);
}

static int next(struct proto_reader *r)
{
    struct proto_message m;
    const char *reason = NULL;
    int state = proto_reader_next(r, &m, &reason);
    fuzz_check(state >= 0 || (reason && reason[0]), "refused without a reason");
    if (state > 0) look(&m);
    if (state > 0) proto_message_clear(&m);
    return state;
}

static void read_stream(const uint8_t *data, size_t size)
{
    struct proto_reader *r = proto_reader_new(1 << 16);
    for (size_t at = 0; at < size;) {
        size_t piece = 1 + data[at] % 64; /* the data decides where it is cut */
        if (piece > size - at) piece = size - at;
        proto_reader_feed(r, data + at, piece, NULL, 0);
        at += piece;
        while (next(r) > 0) continue;
    }
    proto_reader_free(r);
}

static void read_body(const uint8_t *data, size_t size)
{
    uint8_t header[8] = {(uint8_t)size, (uint8_t)(size >> 8), (uint8_t)(size >> 16), 0, 0, 0, 0x31, 0x46};
    struct proto_reader *r = proto_reader_new(PROTO_MAX_MESSAGE);
    proto_reader_feed(r, header, sizeof header, NULL, 0);
    proto_reader_feed(r, data, size, NULL, 0);
    int state = next(r);
    fuzz_check(state != 0, "a whole frame is neither a message nor refused");
    bool sound = !cursor_check(data, size, PROTO_MAX_DEPTH, PROTO_MAX_OBJECTS);
    fuzz_check(sound || state < 0, "a message of what is not msgpack");
    proto_reader_free(r);
}

/* ---- graphs ---- */

static void read_graph(const uint8_t *data, size_t size)
{
    struct error e = {0};
    struct proto_graph *g = proto_graph_decode(data, size, &e);
    fuzz_check(g || e.reason[0], "refused without a reason");
    if (!g) return;
    size_t n, n_again;
    uint8_t *bytes = proto_graph_encode(g, &n);
    struct proto_graph *again = proto_graph_decode(bytes, n, &e);
    fuzz_check(again, "what was encoded is refused");
    uint8_t *bytes_again = proto_graph_encode(again, &n_again);
    fuzz_check(n == n_again && memcmp(bytes, bytes_again, n) == 0, "equal graphs have two forms");
    free(bytes_again);
    proto_graph_free(again);
    free(bytes);
    proto_graph_free(g);
}

/* ---- the ring ---- */

static void pop_all(struct ring *r)
{
    static uint8_t entry[RING_MAX_ENTRY];
    const char *reason = NULL;
    int state;
    while ((state = ring_pop(r, entry, &reason)) > 0) {
        struct ring_entry header;
        memcpy(&header, entry, sizeof header);
        fuzz_check(header.size >= sizeof header && header.size <= RING_MAX_ENTRY, "an entry of an impossible size");
        fuzz_check(header.sequence - atomic_load(&r->completed) - 1 < RING_MAX_PENDING, "a sequence out of range");
        if (!ring_entry_valid(entry, &reason)) fuzz_check(reason, "refused without a reason");
    }
    fuzz_check(state == 0 || reason, "refused without a reason");
}

/* tail, fill, completed, pushed, then the contents from tail on. */
static void read_ring(const uint8_t *data, size_t size)
{
    static struct ring *r;
    uint64_t position[4];
    if (!r) r = aligned_alloc(64, (ring_total_bytes() + 63) & ~(size_t)63);
    if (!r || size < sizeof position) return;
    memset(r, 0, sizeof *r);
    ring_init(r);
    memcpy(position, data, sizeof position);
    for (size_t i = sizeof position; i < size; i++)
        r->data[(position[0] + i - sizeof position) % RING_DATA_BYTES] = data[i];
    atomic_store(&r->tail, position[0]);
    atomic_store(&r->head, position[0] + position[1] % (2 * RING_DATA_BYTES));
    atomic_store(&r->completed, position[2]);
    atomic_store(&r->pushed, position[3]);
    pop_all(r);
    fuzz_check(ring_abort(r, FUSION_EXECUTOR, "executor", "the end") <= RING_MAX_PENDING, "more than can be pending");
    const char *reason;
    static uint8_t entry[RING_MAX_ENTRY];
    fuzz_check(ring_pop(r, entry, &reason) == 0, "entries left after an abort");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    switch (data[0]) {
    case 0: read_stream(data + 1, size - 1); break;
    case 1: read_body(data + 1, size - 1); break;
    case 2: read_graph(data + 1, size - 1); break;
    case 3: read_ring(data + 1, size - 1); break;
    default: break;
    }
    return 0;
}
