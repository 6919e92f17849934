/* Loading modules, for rooms above. */
#pragma once

#include "client/module/state.h"
#include "proto/frame.h"

/* One of the modules of a saved executable. reply: the service's, to be cleared. */
fusion_status client_module_load_part(fusion_session *s, const char *name, const void *bytes, size_t size,
                                      uint32_t part, struct proto_message *reply, fusion_module **module);
