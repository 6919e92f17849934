/* Modules: loading and linking them. */
#include "client/module/module.h"

#include <stdlib.h>
#include <string.h>

#include "client/base/error.h"
#include "client/base/file.h"
#include "client/base/sized.h"
#include "client/module/kernels.h"
#include "client/module/pipe.h"
#include "client/module/state.h"
#include "client/session/held.h"
#include "client/session/request.h"
#include "proto/fields.h"
#include "proto/frame.h"
#include "proto/writer.h"

static void free_module(struct client_object *object)
{
    fusion_module *m = (fusion_module *)object;
    client_pool_clear(&m->pool);
    free(m->name);
    free(m);
}

static fusion_module *new_module(fusion_session *s, const char *name)
{
    fusion_module *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    m->session = s;
    m->name = strdup(name);
    if (m->name) return m;
    free(m);
    return NULL;
}

/* What to ask for, and where its reply goes (NULL: nowhere). */
struct module_order {
    const char *method;
    client_pack_fn *pack;
    const void *data;
    struct proto_message *reply;
};

/* The service's answer to a request for a module. */
static fusion_status request_module(fusion_module *m, const struct module_order *o)
{
    struct proto_message reply;
    fusion_status status = client_request(m->session, o->method, o->pack, o->data, NULL, 0, &reply);
    if (status != FUSION_SUCCESS) return status;
    proto_get_uint(&reply.params, "module", &m->id);
    client_module_read_kernels(m, &reply.params);
    if (!m->pool.failed && o->reply)
        *o->reply = reply;
    else
        proto_message_clear(&reply);
    if (!m->pool.failed) return FUSION_SUCCESS;
    client_release(m->session, "module.release", "module", m->id);
    return client_no_memory(m->name);
}

/* Asks for a module, which gets a name of its own. */
static fusion_status make_module(fusion_session *s, const char *name, const struct module_order *o,
                                 fusion_module **module)
{
    if (!name || strlen(name) > PROTO_MAX_NAME)
        return client_error(FUSION_INVALID, "module", "a name of 1 to %d bytes is needed", PROTO_MAX_NAME);
    fusion_module *m = new_module(s, name);
    if (!m) return client_no_memory(name);
    fusion_status status = request_module(m, o);
    if (status != FUSION_SUCCESS) {
        free_module(&m->object);
        return status;
    }
    client_object_add(s, &m->object, free_module);
    client_pipes_remember(m);
    *module = m;
    return FUSION_SUCCESS;
}

/* ---- load ---- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

struct load {
    const char *name;
    const void *bytes;
    size_t size;
    const fusion_module_options *options;
    uint32_t part; /* of a saved executable */
};

static void pack_constants(struct proto_writer *w, const fusion_module_options *o)
{
    proto_pack_key(w, "constants");
    msgpack_pack_array(&w->packer, o->n_constants);
    for (uint32_t i = 0; i < o->n_constants; i++) {
        proto_pack_map(w, 2);
        proto_pack_uint(w, "id", o->constants[i].id);
        proto_pack_bytes(w, "value", o->constants[i].value, o->constants[i].bytes);
    }
}

static void pack_load(struct proto_writer *w, const void *data)
{
    const struct load *l = data;
    const fusion_module_options *o = l->options;
    proto_pack_map(w, 2 + (o->sub_group_size != NULL) + (o->n_constants > 0) + (l->part > 0));
    proto_pack_string(w, "name", l->name);
    proto_pack_bytes(w, "data", l->bytes, l->size);
    if (o->sub_group_size) proto_pack_string(w, "sub_group_size", o->sub_group_size);
    if (o->n_constants) pack_constants(w, o);
    if (l->part) proto_pack_uint(w, "part", l->part);
}

static fusion_status load_bytes(fusion_session *s, const struct load *l, struct proto_message *reply,
                                fusion_module **module)
{
    const fusion_module_options *o = l->options;
    if (!l->bytes || !l->size) return client_error(FUSION_INVALID, l->name ? l->name : "module", "it is empty");
    for (uint32_t i = 0; i < o->n_constants; i++)
        if (!o->constants[i].value || !o->constants[i].bytes || o->constants[i].bytes > 8)
            return client_error(FUSION_INVALID, "module",
                                "the value of specialization constant %u is not one of 1 to 8 bytes",
                                o->constants[i].id);
    return make_module(s, l->name, &(struct module_order){"module.load", pack_load, l, reply}, module);
}

static fusion_status take_options(fusion_module_options *own, const fusion_module_options *given)
{
    *own = (fusion_module_options){0};
    return given ? CLIENT_TAKE(fusion_module_options, build_options, own, given, "module options") : FUSION_SUCCESS;
}

/* Source, or (NULL) the file at the path, through its compiler. */
static fusion_status load_opencl_c(fusion_session *s, const char *path, const void *source, size_t size,
                                   const fusion_module_options *o, fusion_module **module)
{
    struct load l = {.name = base_name(path), .options = o};
    void *spirv = NULL;
    char *log = NULL;
    fusion_status status = fusion_compile_opencl_c(path, source, size, o->build_options, &spirv, &l.size, &log);
    l.bytes = spirv;
    if (status == FUSION_SUCCESS) status = load_bytes(s, &l, NULL, module);
    if (status == FUSION_SUCCESS && *log) client_module_add_warning(*module, log);
    free(spirv);
    free(log);
    return status;
}

fusion_status fusion_module_load_with(fusion_session *s, const char *name, const void *bytes, size_t size,
                                      const fusion_module_options *options, fusion_module **module)
{
    fusion_module_options own, *o = &own;
    fusion_status status = take_options(o, options);
    if (status != FUSION_SUCCESS) return status;
    if (name && bytes && size && fusion_is_opencl_c(name)) return load_opencl_c(s, name, bytes, size, o, module);
    return load_bytes(s, &(struct load){name, bytes, size, o, 0}, NULL, module);
}

fusion_status fusion_module_load(fusion_session *s, const char *name, const void *bytes, size_t size,
                                 fusion_module **module)
{
    return fusion_module_load_with(s, name, bytes, size, NULL, module);
}

fusion_status fusion_module_load_file_with(fusion_session *s, const char *path, const fusion_module_options *options,
                                           fusion_module **module)
{
    fusion_module_options own;
    struct load l = {.name = base_name(path), .options = &own};
    char *bytes = NULL;
    fusion_status status = take_options(&own, options);
    if (status != FUSION_SUCCESS) return status;
    if (fusion_is_opencl_c(path)) return load_opencl_c(s, path, NULL, 0, l.options, module);
    status = client_file_read(path, &bytes, &l.size);
    if (status != FUSION_SUCCESS) return status;
    l.bytes = bytes;
    status = load_bytes(s, &l, NULL, module);
    free(bytes);
    return status;
}

fusion_status fusion_module_load_file(fusion_session *s, const char *path, fusion_module **module)
{
    return fusion_module_load_file_with(s, path, NULL, module);
}

fusion_status client_module_load_part(fusion_session *s, const char *name, const void *bytes, size_t size,
                                      uint32_t part, struct proto_message *reply, fusion_module **module)
{
    const fusion_module_options none = {0};
    return load_bytes(s, &(struct load){name, bytes, size, &none, part}, reply, module);
}

/* ---- link ---- */

struct link {
    const char *name;
    fusion_module *const *modules;
    uint32_t n;
};

static void pack_link(struct proto_writer *w, const void *data)
{
    const struct link *l = data;
    proto_pack_map(w, 2);
    proto_pack_string(w, "name", l->name);
    proto_pack_key(w, "modules");
    msgpack_pack_array(&w->packer, l->n);
    for (uint32_t i = 0; i < l->n; i++) msgpack_pack_uint64(&w->packer, l->modules[i]->id);
}

fusion_status fusion_module_link(fusion_session *s, const char *name, fusion_module *const *modules, uint32_t n,
                                 fusion_module **module)
{
    if (!n) return client_error(FUSION_INVALID, "module", "there are no modules to link");
    for (uint32_t i = 0; i < n; i++) {
        if (!modules[i]) return client_error(FUSION_INVALID, "module", "module %u of those to link is NULL", i);
        if (modules[i]->session != s)
            return client_error(FUSION_INVALID, modules[i]->name, "it is a module of another session");
    }
    const struct link l = {name, modules, n};
    return make_module(s, name, &(struct module_order){"module.link", pack_link, &l, NULL}, module);
}

/* ---- the rest ---- */

void fusion_module_destroy(fusion_module *m)
{
    if (!m) return;
    client_flush(m->session);
    client_pipes_forget(m);
    client_release(m->session, "module.release", "module", m->id);
    client_object_remove(m->session, &m->object);
    free_module(&m->object);
}

uint32_t fusion_module_kernel_count(const fusion_module *m)
{
    return m->n_kernels;
}

const fusion_kernel_info *fusion_module_kernel(const fusion_module *m, uint32_t index)
{
    return index < m->n_kernels ? &m->kernels[index] : NULL;
}

const char *fusion_module_warning(const fusion_module *m, uint32_t index)
{
    return index < m->n_warnings ? m->warnings[index] : NULL;
}

static void pack_module(struct proto_writer *w, const void *data)
{
    const fusion_module *m = data;
    proto_pack_map(w, 1);
    proto_pack_uint(w, "module", m->id);
}

fusion_status fusion_module_text(fusion_module *m, char **text)
{
    struct proto_message reply;
    fusion_status status = client_request(m->session, "module.text", pack_module, m, NULL, 0, &reply);
    if (status != FUSION_SUCCESS) return status;
    const msgpack_object *o = proto_get(&reply.params, "text");
    char *copy = NULL;
    if (!o || o->type != MSGPACK_OBJECT_STR)
        status = client_error(FUSION_PROTOCOL, "module.text", "the reply has no text");
    else if (!(copy = strndup(o->via.str.ptr, o->via.str.size)))
        status = client_no_memory("module.text");
    else
        *text = copy;
    proto_message_clear(&reply);
    return status;
}
