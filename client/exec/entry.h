/* A submission in the making: its entry in the ring. */
#pragma once

#include "client/exec/exec.h"
#include "proto/ring.h"

/* Memory that a slot is bound to, from an offset on. */
struct binding {
    struct memory *memory; /* NULL: none is needed */
    uint64_t offset;
};

/* Bindings first, then values, then what it comes after, as the ring has them. */
struct entry {
    struct ring_entry head;
    uint8_t *rest;
    size_t size, capacity;
    fusion_event reserved; /* the number that it has already, the last one where it has several; 0: none */
};

bool client_entry_add(struct entry *e, const void *data, size_t bytes); /* padded to 8 bytes; false: no memory */
bool client_entry_bind(struct entry *e, uint32_t slot, const struct binding *b); /* false: no memory */
bool client_entry_after(struct entry *e, fusion_event event);                    /* false: no memory */
bool client_entry_value(struct entry *e, uint32_t value, const void *data, uint32_t size);
