/* Limits of the protocol, the same on both sides. Those a daemon may lower are told in its hello. */
#pragma once

enum {
    PROTO_VERSION_MIN = 1,
    PROTO_VERSION_MAX = 1,
    PROTO_MAX_MESSAGE = 64 << 20, /* bytes of a message's body */
    PROTO_MAX_DEPTH = 16,         /* nesting of arrays and maps */
    PROTO_MAX_FDS = 16,           /* file descriptors with one message */
    PROTO_MAX_NAME = 255,         /* bytes of a name (module, node, buffer) */
    PROTO_MAX_MODULES = 4096,     /* of a session */
    PROTO_MAX_BUFFERS = 4096,     /* of a session, attached at a time */
    PROTO_MAX_EXECUTABLES = 4096, /* of a session */
};
