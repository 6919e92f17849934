/* Memory in small pieces that is freed all at once. Nothing here ends the process: where memory is out, `failed` is set
   for good, arrays are NULL and texts "". */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* All 0 is an empty one. */
struct client_pool {
    struct pool_chunk *chunks;
    bool failed;
};

/* n items, zeroed; of 0 items it is no NULL either. */
void *client_pool_array(struct client_pool *p, size_t n, size_t item);
void *client_pool_copy(struct client_pool *p, const void *data, size_t bytes);
/* With a 0 byte behind it; never NULL. */
const char *client_pool_text(struct client_pool *p, const char *text, size_t bytes);
void client_pool_clear(struct client_pool *p);
