/* Element types and properties, and what they are on the wire. */
#pragma once

#include <fusiond/fusiond.h>

#include "proto/graph.h"

uint32_t client_type_bytes(fusion_type type); /* 0: there is no such type */
fusion_status client_check_properties(unsigned properties, const char *object);
struct proto_props client_props(unsigned properties);
