/* What a session frees at its end, where it is still there. */
#pragma once

#include "client/session/state.h"

void client_object_add(fusion_session *s, struct client_object *object, void (*free)(struct client_object *));
/* The same for callers that hold the session's lock. */
void client_object_add_locked(fusion_session *s, struct client_object *object, void (*free)(struct client_object *));
void client_object_remove(fusion_session *s, struct client_object *object);
void client_objects_free(fusion_session *s);
