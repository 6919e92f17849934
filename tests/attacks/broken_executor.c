/*
 * An executor that native code of a client has taken over: it says yes to all that the broker asks, until the size of a
 * buffer that is attached tells it to do something else (broken_executor.h).
 */
#include "tests/attacks/broken_executor.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/fields.h"
#include "proto/header.h"
#include "proto/transfer.h"

enum { BROKER = 3, STEP = 1 << 20 };

static void send_message(struct proto_writer *w)
{
    if (!proto_finish(w) || proto_send(BROKER, w, 0) != 0) _exit(0);
    proto_writer_clear(w);
}

/* Most of the largest message that there may be. */
static void leave_unfinished(void)
{
    static uint8_t bytes[STEP];
    size_t size = PROTO_MAX_MESSAGE;
    uint8_t header[FRAME_HEADER] = {
        (uint8_t)size, (uint8_t)(size >> 8), (uint8_t)(size >> 16), (uint8_t)(size >> 24), 0, 0, 0x31, 0x46};
    if (send(BROKER, header, sizeof header, MSG_NOSIGNAL) < 0) _exit(0);
    for (size_t sent = 0; sent < size - STEP; sent += STEP)
        for (size_t n = 0; n < STEP;) {
            ssize_t now = send(BROKER, bytes, STEP - n, MSG_NOSIGNAL);
            if (now < 0) _exit(0);
            n += (size_t)now;
        }
}

/* More of what it says than there can be. */
static void forge_counters(uint64_t executable)
{
    struct proto_writer w;
    proto_begin_notice(&w, "executable.binaries");
    proto_pack_map(&w, 3);
    proto_pack_uint(&w, "executable", executable);
    proto_pack_uint(&w, "found", UINT64_MAX / 2);
    proto_pack_key(&w, "wishes");
    msgpack_pack_array(&w.packer, 0);
    send_message(&w);
}

static void obey(const struct proto_message *m, bool *answers)
{
    uint64_t order = 0;
    if (strcmp(m->method, "buffer.attach") != 0 || !proto_get_uint(&m->params, "bytes", &order)) return;
    if (order == BROKEN_IS_UNFINISHED) leave_unfinished();
    if (order == BROKEN_IS_UNFINISHED || order == BROKEN_IS_DEAF)
        for (;;) pause();
    if (order == BROKEN_IS_MUTE) *answers = false;
    if (order == BROKEN_FORGES) forge_counters(1);
}

int main(int argc, char **argv)
{
    struct proto_reader *r = proto_reader_new(PROTO_MAX_MESSAGE);
    struct proto_message m;
    const char *reason;
    bool answers = true;
    (void)argv;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (argc > 1) return EXIT_SUCCESS; /* there are no GPUs */
    while (proto_receive(BROKER, r, &m, 0, &reason) == 0) {
        struct proto_writer w;
        obey(&m, &answers);
        proto_begin_reply(&w, m.id);
        proto_pack_map(&w, 0);
        if (answers || strcmp(m.method, "buffer.attach") == 0)
            send_message(&w);
        else
            proto_writer_clear(&w);
        proto_message_clear(&m);
    }
    return EXIT_SUCCESS;
}
