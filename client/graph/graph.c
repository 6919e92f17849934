/* A graph from its beginning to its end. */
#include "client/base/error.h"
#include "client/graph/parts.h"

static void free_graph(struct client_object *object)
{
    client_graph_free((fusion_graph *)object);
}

fusion_status fusion_graph_create(fusion_session *s, fusion_graph **graph)
{
    fusion_graph *g = client_graph_new(s);
    if (!g) return client_no_memory("graph");
    g->of_user = true;
    client_object_add(s, &g->object, free_graph);
    *graph = g;
    return FUSION_SUCCESS;
}

void fusion_graph_destroy(fusion_graph *g)
{
    if (!g) return;
    if (g->recorders) fusion_graph_end_recording(g);
    client_object_remove(g->session, &g->object);
    free_graph(&g->object);
}
