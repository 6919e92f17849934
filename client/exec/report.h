/* The report of an executable. */
#pragma once

#include "client/exec/exec.h"
#include "proto/fields.h"

/* Reads the reply to graph.finalize: the executable's id, and its report on the graph that went to the service. */
fusion_status client_report_read(fusion_exec *e, const msgpack_object *reply, const fusion_graph *flat);
/* From nodes of the graph that went to the service to those of the graph that the caller knows. */
void client_report_rename(fusion_exec *e, const fusion_graph *flat);
/* Adds what the report of an inner graph says. */
fusion_status client_report_add(fusion_exec *e, const fusion_report *inner);
