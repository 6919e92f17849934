/* What the service itself takes: work `service`. */
#pragma once

#include <fusiond/fusiond.h>
#include <json.h>

#include "tests/bench/work.h"

/* The chain over n floats in buffers of its own; salt as in chain_graph(). */
fusion_graph *service_graph(fusion_session *s, size_t n, int salt);
/* Fused, and with its code. */
extern const fusion_finalize_options service_options;
fusion_exec *service_finalize(fusion_graph *g);

/* latency.c: finalizing and submitting, one client */
void bench_finalize(fusion_session *s, json_object *rows);
void bench_submit(fusion_session *s, json_object *rows);
/* load.c: daemons of their own, with many clients or after a restart */
void bench_disk_cache(json_object *rows);
void bench_compilers(json_object *rows);
void bench_clients(json_object *rows);
