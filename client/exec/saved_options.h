/*
 * What a saved executable has of the client's, besides its graph: how it was finalized, and what values are unless a
 * submission says otherwise. Numbers of four bytes, least significant first: mode, insert_barriers, barriers, keep_ir,
 * keep_assembly, debug, tier; the bytes of the device's name, and these; then, of each value of the graph, its element
 * type, its lanes, and its bytes, as many as the graph says.
 */
#pragma once

#include "client/exec/source.h"

/* To be freed; NULL: no memory. */
uint8_t *client_saved_options_write(const struct exec_source *source, size_t *size);
/* Fills in the values of a graph whose sizes of values are known, and options whose device is in the pool. Trusts
   nothing. FUSION_INVALID: it is none; object is what errors are about. */
fusion_status client_saved_options_read(const void *bytes, size_t size, const char *object, struct client_pool *pool,
                                        fusion_finalize_options *options, fusion_graph *graph);
