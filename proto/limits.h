/* Limits of the protocol, the same on both sides. Those a daemon may lower are told in its hello. */
#pragma once

enum {
    PROTO_VERSION_MIN = 1,
    PROTO_VERSION_MAX = 1,
    PROTO_MAX_MESSAGE = 64 << 20, /* bytes of a message's body */
    PROTO_MAX_DEPTH = 16,         /* nesting of arrays and maps */
    PROTO_MAX_OBJECTS = 1 << 20,  /* msgpack values in a message: each costs its receiver 24 bytes */
    PROTO_MAX_FDS = 16,           /* file descriptors with one message */
    PROTO_MAX_NAME = 255,         /* bytes of a name (module, node, buffer) */
    PROTO_MAX_TUNING = 1023,      /* bytes of what tuning chose for a graph */
    PROTO_MAX_MODULES = 4096,     /* of a session */
    PROTO_MAX_BUFFERS = 4096,     /* of a session, attached at a time */
    PROTO_MAX_EXECUTABLES = 4096, /* of a session */
    PROTO_MAX_NODES = 65536,      /* of a graph */
    PROTO_MAX_ARGS = 1024,        /* of a node */
    PROTO_MAX_SLOTS = 4096,       /* of a graph */
    PROTO_MAX_VALUES = 65536,     /* of a graph */
    PROTO_MAX_VALUE_BYTES = 65536,
    PROTO_MAX_STATES = 4096,          /* variables and pipes of programs in use, of a session */
    PROTO_MAX_TOGETHER = 16,          /* launches at a time that wait for pipes */
    PROTO_MAX_IMAGE_SIDE = 16384,     /* pixels; slices and layers too */
    PROTO_MAX_IMAGE_BUFFER = 1 << 27, /* pixels of an image of a buffer */
    PROTO_MAX_ROW_PITCH = 1 << 20,    /* bytes from one row of an image to the next */
};
