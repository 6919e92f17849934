/* Finalizing. */
#pragma once

#include "client/exec/exec.h"

fusion_status client_check_finalize_options(const fusion_finalize_options *options);
/* The handle for a graph that goes to the service as `flat`, which says all that is to be said of it. */
fusion_status client_finalize_flat(const fusion_graph *g, const fusion_graph *flat,
                                   const fusion_finalize_options *options, fusion_exec **exec);
