/* Saving executables: the service finalizes the graph again, with all code, and makes a file of what it has. */
#include <stdlib.h>
#include <string.h>

#include "client/base/error.h"
#include "client/base/file.h"
#include "client/exec/saved_options.h"
#include "client/session/request.h"
#include "proto/fields.h"
#include "proto/frame.h"

static const char *kind_of(const struct graph_action *a)
{
    switch (a->kind) {
    case ACTION_FUNCTION: return "a function of this process";
    case ACTION_READ:
    case ACTION_WRITE: return "a copy with memory of this process";
    case ACTION_PIPE: return "packets of this process";
    case ACTION_GRAPH: break;
    }
    return "a graph that is finalized by itself; finalize with FUSION_ENABLE, or save that one's";
}

/* What runs in this process is nothing that a file could have. */
static fusion_status check_actions(const fusion_exec *e)
{
    if (!e->n_actions) return FUSION_SUCCESS;
    const struct graph_action *a = &e->actions[0];
    return client_error(FUSION_INVALID, e->node_names[a->node], "the executable cannot be saved, as this node is %s",
                        kind_of(a));
}

static fusion_status take_file(const struct proto_message *reply, void **bytes, size_t *size)
{
    const void *file;
    if (!proto_get_bytes(&reply->params, "file", &file, size))
        return client_error(FUSION_PROTOCOL, "graph.finalize", "the reply has no file");
    *bytes = malloc(*size ? *size : 1);
    if (!*bytes) return client_no_memory("executable");
    memcpy(*bytes, file, *size);
    return FUSION_SUCCESS;
}

fusion_status fusion_exec_save(fusion_exec *e, void **bytes, size_t *size)
{
    struct proto_message reply;
    fusion_status status = check_actions(e);
    if (status != FUSION_SUCCESS) return status;
    struct finalize_params params = {.source = e->source};
    uint8_t *options = client_saved_options_write(e->source, &params.save_size);
    if (!options) return client_no_memory("executable");
    params.save = options;
    status = client_request(e->session, "graph.finalize", client_pack_finalize, &params, NULL, 0, &reply);
    free(options);
    if (status != FUSION_SUCCESS) return status;
    status = take_file(&reply, bytes, size);
    proto_message_clear(&reply);
    return status;
}

fusion_status fusion_exec_save_file(fusion_exec *e, const char *path)
{
    void *bytes;
    size_t size;
    fusion_status status = fusion_exec_save(e, &bytes, &size);
    if (status != FUSION_SUCCESS) return status;
    status = client_file_write(path, bytes, size);
    free(bytes);
    return status;
}
