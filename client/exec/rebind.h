/* What a submission says otherwise than finalize did. */
#pragma once

#include "client/exec/entry.h"

/* Puts the rebindings into the entry and into `bindings`, which has those of finalize, by slot. */
fusion_status client_rebind(fusion_exec *e, const fusion_rebind *rebind, uint32_t n, struct binding *bindings,
                            struct entry *entry);
