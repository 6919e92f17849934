/* Finalizing. */
#pragma once

#include "client/exec/exec.h"

fusion_status client_check_finalize_options(const fusion_finalize_options *options);
/* In a thread of the session, as fusion_graph_finalize_async(), of a graph that nobody else has, which is taken over in
   any case. */
fusion_status client_finalize_later(fusion_graph *g, const fusion_finalize_options *options, int64_t priority,
                                    fusion_future **future);
/* The handle for a graph that goes to the service as `flat`, which says all that is to be said of it. */
fusion_status client_finalize_flat(const fusion_graph *g, const fusion_graph *flat,
                                   const fusion_finalize_options *options, fusion_exec **exec);
