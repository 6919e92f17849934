/* A submission in the making, for submit.c and rebind.c. */
#pragma once

#include "client/internal.h"

/* Memory that a slot is bound to, from an offset on. */
struct binding {
    struct memory *memory; /* NULL: none is needed */
    uint64_t offset;
};

/* Its entry in the ring: bindings first, then values, as the ring has them. */
struct entry {
    struct ring_entry head;
    uint8_t *rest;
    size_t size, capacity;
};

bool entry_bind(struct entry *e, uint32_t slot, const struct binding *b); /* false: no memory */
bool entry_value(struct entry *e, uint32_t value, const void *data, uint32_t size);

/* Puts the rebindings into the entry and into `bindings`, which has those of finalize, by slot (rebind.c). */
fusion_status client_rebind(fusion_exec *e, const fusion_rebind *rebind, uint32_t n, struct binding *bindings,
                            struct entry *entry);
