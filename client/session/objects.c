/* What a session frees at its end, where it is still there. */
#include "client/session/objects.h"

void client_object_add_locked(fusion_session *s, struct client_object *object, void (*free)(struct client_object *))
{
    object->free = free;
    LIST_INSERT_HEAD(&s->objects, object, link);
}

void client_object_add(fusion_session *s, struct client_object *object, void (*free)(struct client_object *))
{
    pthread_mutex_lock(&s->lock);
    client_object_add_locked(s, object, free);
    pthread_mutex_unlock(&s->lock);
}

void client_object_remove(fusion_session *s, struct client_object *object)
{
    pthread_mutex_lock(&s->lock);
    LIST_REMOVE(object, link);
    pthread_mutex_unlock(&s->lock);
}

void client_objects_free(fusion_session *s)
{
    struct client_object *object;
    while ((object = LIST_FIRST(&s->objects))) {
        LIST_REMOVE(object, link);
        object->free(object);
    }
}
