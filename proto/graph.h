/* A graph on the wire: what the client recorded, as plain data with no pointers to kernels. Encoded to
   one canonical byte string: the broker treats it as opaque and hashes it, the compiler decodes it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/error.h"
#include "proto/image.h"

enum proto_elem { /* element types of buffers */
                  PROTO_ELEM_BYTES,
                  PROTO_ELEM_I8,
                  PROTO_ELEM_I16,
                  PROTO_ELEM_I32,
                  PROTO_ELEM_I64,
                  PROTO_ELEM_U8,
                  PROTO_ELEM_U16,
                  PROTO_ELEM_U32,
                  PROTO_ELEM_U64,
                  PROTO_ELEM_F16,
                  PROTO_ELEM_F32,
                  PROTO_ELEM_F64,
                  PROTO_ELEM_COUNT
};

enum proto_scope { PROTO_SCOPE_NONE, PROTO_SCOPE_WORK_GROUP, PROTO_SCOPE_WORK_ITEM, PROTO_SCOPE_COUNT };

struct proto_props {
    uint8_t access_scope; /* enum proto_scope */
    bool internal_memory, no_init;
};

struct proto_slot { /* a buffer, USM allocation or image of the graph; which one is bound at submit */
    char *name;
    uint64_t bytes;
    uint8_t elem;  /* enum proto_elem */
    uint8_t lanes; /* 1, 2, 3, 4, 8, 16 */
    bool usm;
    struct proto_props props;
    bool unread;              /* outputs were declared, and it is none */
    struct proto_image image; /* all 0: it is none. An image is used whole; elements are bytes, without properties */
};

enum proto_arg_kind { PROTO_ARG_SLOT, PROTO_ARG_VALUE, PROTO_ARG_LOCAL, PROTO_ARG_COUNT };
enum proto_access {
    PROTO_ACCESS_UNKNOWN,
    PROTO_ACCESS_READ,
    PROTO_ACCESS_WRITE,
    PROTO_ACCESS_READ_WRITE,
    PROTO_ACCESS_COUNT
};

struct proto_arg {
    uint8_t kind;
    uint8_t access;  /* SLOT */
    uint32_t index;  /* SLOT: which slot; VALUE: which value */
    uint64_t offset; /* SLOT: bytes */
    uint64_t bytes;  /* SLOT: 0 to the end; VALUE: size; LOCAL: size */
    struct proto_props props;
    struct proto_image image; /* SLOT: a buffer of which `bytes` bytes are taken as an image; all 0: as it is */
};

enum proto_node_kind { PROTO_NODE_KERNEL, PROTO_NODE_COPY, PROTO_NODE_FILL, PROTO_NODE_HOST, PROTO_NODE_COUNT };

struct proto_node {
    uint8_t kind;
    char *name;
    uint32_t module; /* KERNEL: index into the finalize request's list of modules */
    char *kernel;
    uint32_t dims;
    uint64_t global[3], offset[3], local[3]; /* local all 0: the service chooses */
    uint32_t n_args;
    struct proto_arg *args; /* HOST too: the slots it touches */
    uint32_t from, to;      /* COPY, FILL: slots */
    uint64_t from_offset, to_offset, bytes;
    /* COPY, FILL of a rectangle: rows of `bytes`, a pitch from each to the next; rows 0: one run of bytes */
    uint32_t rows;
    uint64_t from_pitch, to_pitch;
    /* ... and slices of `plane` rows each, a slice pitch from each to the next; plane 0: all rows are one slice */
    uint32_t plane;
    uint64_t from_slice_pitch, to_slice_pitch;
    uint8_t pattern[16];
    uint32_t pattern_size;
    uint32_t n_deps;
    uint32_t *deps; /* nodes */
};

/* A scalar or struct given by value. Its bytes are not part of the graph; what is said of them here is what held when
   it was finalized, for plans that go by it where it still holds. */
struct proto_value {
    uint32_t size;
    uint32_t alike;  /* 1 + the first value with the same bytes; 0: not said */
    uint64_t number; /* what it is as an integer; 0: not said */
};

struct proto_graph {
    uint32_t n_modules, n_slots, n_values, n_nodes;
    struct proto_slot *slots;
    struct proto_value *values;
    struct proto_node *nodes;
};

/* To be freed by the caller. Equal graphs give equal bytes. */
uint8_t *proto_graph_encode(const struct proto_graph *g, size_t *size);
/* Checks everything that can be checked without kernels: ranges of enums, indices, sizes, names, limits.
   NULL with the error. Owned by the caller; proto_graph_free. */
struct proto_graph *proto_graph_decode(const void *bytes, size_t size, struct error *e);
void proto_graph_free(struct proto_graph *g);
