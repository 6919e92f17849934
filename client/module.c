/* Modules: loading them, and what is known of their kernels. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "client/internal.h"

const char *client_pool_string(struct obstack *pool, const msgpack_object *o)
{
    if (!o || o->type != MSGPACK_OBJECT_STR) return "";
    return obstack_copy0(pool, o->via.str.ptr, (int)o->via.str.size);
}

const char *client_pool_get(struct obstack *pool, const msgpack_object *map, const char *key)
{
    return client_pool_string(pool, proto_get(map, key));
}

static const msgpack_object_array *get_list(const msgpack_object *map, const char *key)
{
    static const msgpack_object_array none;
    const msgpack_object *o = proto_get(map, key);
    return o && o->type == MSGPACK_OBJECT_ARRAY ? &o->via.array : &none;
}

static void *pool_zeroed(struct obstack *pool, size_t bytes)
{
    void *memory = obstack_alloc(pool, (int)(bytes ? bytes : 1));
    return memset(memory, 0, bytes);
}

static const char *read_aspects(struct obstack *pool, const msgpack_object *map)
{
    const msgpack_object_array *names = get_list(map, "aspects");
    for (uint32_t i = 0; i < names->size; i++) {
        if (names->ptr[i].type != MSGPACK_OBJECT_STR) continue;
        if (i) obstack_1grow(pool, ' ');
        obstack_grow(pool, names->ptr[i].via.str.ptr, (int)names->ptr[i].via.str.size);
    }
    obstack_1grow(pool, 0);
    return obstack_finish(pool);
}

static void read_kernel(fusion_module *m, fusion_kernel_info *k, const msgpack_object *map)
{
    k->name = client_pool_get(&m->pool, map, "name");
    k->aspects = read_aspects(&m->pool, map);
    k->sub_group_size = client_pool_get(&m->pool, map, "sub_group_size");
    const msgpack_object_array *size = get_list(map, "work_group_size");
    for (uint32_t i = 0; i < size->size && i < 3; i++) k->work_group_size[i] = (uint32_t)size->ptr[i].via.u64;
    const msgpack_object_array *args = get_list(map, "args");
    fusion_kernel_arg *list = pool_zeroed(&m->pool, args->size * sizeof *list);
    for (uint32_t i = 0; i < args->size; i++) {
        list[i].name = client_pool_get(&m->pool, &args->ptr[i], "name");
        list[i].type = client_pool_get(&m->pool, &args->ptr[i], "type");
        list[i].access = client_pool_get(&m->pool, &args->ptr[i], "access");
        proto_get_uint(&args->ptr[i], "size", &list[i].size);
    }
    k->n_args = args->size;
    k->args = list;
    client_read_kernel_devices(m, (uint32_t)(k - m->kernels), map);
}

static void free_module(struct client_object *object)
{
    fusion_module *m = (fusion_module *)object;
    obstack_free(&m->pool, NULL);
    free(m->name);
    free(m);
}

/* Asks for a module, which gets a name of its own. */
static fusion_status request(fusion_session *s, const char *name, const char *method, client_pack_fn *pack,
                             const void *data, fusion_module **module)
{
    if (!name || strlen(name) > PROTO_MAX_NAME)
        return client_error(FUSION_INVALID, "module", "a name of 1 to %d bytes is needed", PROTO_MAX_NAME);
    struct proto_message reply;
    fusion_status status = client_request(s, method, pack, data, NULL, 0, &reply);
    if (status != FUSION_SUCCESS) return status;
    fusion_module *m = calloc(1, sizeof *m);
    m->session = s;
    m->name = strdup(name);
    obstack_init(&m->pool);
    proto_get_uint(&reply.params, "module", &m->id);
    const msgpack_object_array *kernels = get_list(&reply.params, "kernels");
    m->n_kernels = kernels->size;
    m->kernels = pool_zeroed(&m->pool, kernels->size * sizeof *m->kernels);
    m->devices = pool_zeroed(&m->pool, kernels->size * sizeof *m->devices);
    for (uint32_t i = 0; i < kernels->size; i++) read_kernel(m, &m->kernels[i], &kernels->ptr[i]);
    proto_message_clear(&reply);
    client_object_add(s, &m->object, free_module);
    *module = m;
    return FUSION_SUCCESS;
}

/* ---- load ---- */

struct load {
    const char *name;
    const void *bytes;
    size_t size;
    const fusion_module_options *options;
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
    proto_pack_map(w, 2 + (o->sub_group_size != NULL) + (o->n_constants > 0));
    proto_pack_string(w, "name", l->name);
    proto_pack_bytes(w, "data", l->bytes, l->size);
    if (o->sub_group_size) proto_pack_string(w, "sub_group_size", o->sub_group_size);
    if (o->n_constants) pack_constants(w, o);
}

fusion_status fusion_module_load_with(fusion_session *s, const char *name, const void *bytes, size_t size,
                                      const fusion_module_options *options, fusion_module **module)
{
    static const fusion_module_options none;
    const fusion_module_options *o = options ? options : &none;
    if (!bytes || !size) return client_error(FUSION_INVALID, name ? name : "module", "it is empty");
    for (uint32_t i = 0; i < o->n_constants; i++)
        if (!o->constants[i].value || !o->constants[i].bytes || o->constants[i].bytes > 8)
            return client_error(FUSION_INVALID, "module",
                                "the value of specialization constant %u is not one of 1 to 8 bytes",
                                o->constants[i].id);
    return request(s, name, "module.load", pack_load, &(struct load){name, bytes, size, o}, module);
}

fusion_status fusion_module_load(fusion_session *s, const char *name, const void *bytes, size_t size,
                                 fusion_module **module)
{
    return fusion_module_load_with(s, name, bytes, size, NULL, module);
}

static fusion_status read_file(const char *path, char **bytes, size_t *size)
{
    FILE *f = fopen(path, "rb");
    if (!f) return client_errno(FUSION_IO, path, "opening");
    struct stat st;
    if (fstat(fileno(f), &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > PROTO_MAX_MESSAGE) {
        fclose(f);
        return client_error(FUSION_IO, path, "not a regular file of at most %d bytes", PROTO_MAX_MESSAGE);
    }
    *bytes = malloc((size_t)st.st_size + 1);
    *size = *bytes ? fread(*bytes, 1, (size_t)st.st_size, f) : 0;
    bool whole = *bytes && *size == (size_t)st.st_size;
    fclose(f);
    if (whole) return FUSION_SUCCESS;
    free(*bytes);
    return client_error(FUSION_IO, path, "could not be read whole (%zu of %lld bytes)", *size, (long long)st.st_size);
}

fusion_status fusion_module_load_file_with(fusion_session *s, const char *path, const fusion_module_options *options,
                                           fusion_module **module)
{
    char *bytes = NULL;
    size_t size = 0;
    fusion_status status = read_file(path, &bytes, &size);
    if (status != FUSION_SUCCESS) return status;
    const char *slash = strrchr(path, '/');
    status = fusion_module_load_with(s, slash ? slash + 1 : path, bytes, size, options, module);
    free(bytes);
    return status;
}

fusion_status fusion_module_load_file(fusion_session *s, const char *path, fusion_module **module)
{
    return fusion_module_load_file_with(s, path, NULL, module);
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
    return request(s, name, "module.link", pack_link, &(struct link){name, modules, n}, module);
}

/* ---- the rest ---- */

void fusion_module_destroy(fusion_module *m)
{
    if (!m) return;
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
    if (o && o->type == MSGPACK_OBJECT_STR)
        *text = strndup(o->via.str.ptr, o->via.str.size);
    else
        status = client_error(FUSION_PROTOCOL, "module.text", "the reply has no text");
    proto_message_clear(&reply);
    return status;
}
