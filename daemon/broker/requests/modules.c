/* Modules of a session. */
#include "daemon/broker/requests/modules.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/broker/requests/executables.h"
#include "daemon/broker/requests/module_job.h"
#include "daemon/broker/session/request.h"
#include "proto/fields.h"
#include "proto/frame.h"
#include "proto/writer.h"

enum { TEXT_VARIANT = 1 };

static struct module *find_module(struct session *s, struct proto_message *m, uint64_t id)
{
    struct module *module = map_get(&s->modules, id);
    if (!module)
        request_fail(s, m, FUSION_NOT_FOUND, "module", "the session has no module %llu", (unsigned long long)id);
    return module;
}

static struct module *get_module(struct session *s, struct proto_message *m)
{
    uint64_t id;
    return request_uint(s, m, "module", &id) ? find_module(s, m, id) : NULL;
}

/* A job for a new module, with its key begun: what compilers are made for, and the name. NULL: a failure was sent. */
static struct module_job *begin(struct session *s, struct proto_message *m, const char *domain, struct hasher *h)
{
    char *name = NULL;
    struct hash target;
    struct module_job *j = NULL;
    if (!proto_get_string(&m->params, "name", &name, PROTO_MAX_NAME))
        request_fail(s, m, FUSION_INVALID, m->method, "parameter name is not a text of at most %d bytes",
                     PROTO_MAX_NAME);
    else if (s->modules.count >= PROTO_MAX_MODULES)
        request_fail(s, m, FUSION_OUT_OF_MEMORY, name, "the session has %u modules, the most it may have",
                     s->modules.count);
    else if (request_target(s, m, &target))
        j = module_job_new(s, m, name);
    free(name);
    if (!j) return NULL;
    hasher_begin(h, domain);
    hasher_add_hash(h, &target);
    hasher_add_text(h, j->name);
    return j;
}

/* ---- load ---- */

/* How the module is to be read: the compiler's business, and part of the key. */
static const char *const option_keys[] = {"sub_group_size", "constants", "part"};
enum { N_OPTIONS = sizeof option_keys / sizeof *option_keys };

struct load {
    const void *bytes;
    size_t size;
    const msgpack_object *options[N_OPTIONS]; /* NULL: not given */
};

static void hash_option(struct hasher *h, const char *key, const msgpack_object *option)
{
    msgpack_sbuffer bytes;
    msgpack_packer packer;
    msgpack_sbuffer_init(&bytes);
    msgpack_packer_init(&packer, &bytes, msgpack_sbuffer_write);
    msgpack_pack_object(&packer, *option);
    hasher_add_text(h, key);
    hasher_add(h, bytes.data, bytes.size);
    msgpack_sbuffer_destroy(&bytes);
}

static void pack_load(struct proto_writer *w, const struct module_job *j, const void *data)
{
    const struct load *l = data;
    uint32_t n = 0;
    for (int i = 0; i < N_OPTIONS; i++) n += l->options[i] != NULL;
    proto_pack_map(w, 2 + n);
    proto_pack_string(w, "name", j->name);
    proto_pack_bytes(w, "data", l->bytes, l->size);
    for (int i = 0; i < N_OPTIONS; i++) {
        if (!l->options[i]) continue;
        proto_pack_key(w, option_keys[i]);
        msgpack_pack_object(&w->packer, *l->options[i]);
    }
}

void module_load(struct session *s, struct proto_message *m)
{
    struct load load;
    struct hasher h;
    if (!request_bytes(s, m, "data", &load.bytes, &load.size)) return;
    struct module_job *j = begin(s, m, "module", &h);
    if (!j) return;
    hasher_add(&h, load.bytes, load.size);
    for (int i = 0; i < N_OPTIONS; i++) {
        load.options[i] = proto_get(&m->params, option_keys[i]);
        if (load.options[i]) hash_option(&h, option_keys[i], load.options[i]);
    }
    j->key.hash = hasher_end(&h);
    module_job_make(j, &(struct module_request){"module", pack_load, &load});
}

/* ---- link ---- */

struct parts {
    uint32_t n;
    struct module **modules;
};

static bool find_parts(struct session *s, struct proto_message *m, struct parts *parts)
{
    const msgpack_object_array *list;
    if (!request_list(s, m, "modules", &list)) return false;
    if (!list->size || list->size > PROTO_MAX_MODULES)
        return request_fail(s, m, FUSION_INVALID, m->method, "%u modules to link; 1 to %d can be", list->size,
                            PROTO_MAX_MODULES);
    parts->modules = calloc(list->size, sizeof(*parts->modules));
    if (!parts->modules) return request_fail(s, m, FUSION_OUT_OF_MEMORY, m->method, "out of memory");
    for (parts->n = 0; parts->n < list->size; parts->n++) {
        const msgpack_object *id = &list->ptr[parts->n];
        if (id->type != MSGPACK_OBJECT_POSITIVE_INTEGER)
            return request_fail(s, m, FUSION_INVALID, m->method, "parameter modules is no list of modules");
        parts->modules[parts->n] = find_module(s, m, id->via.u64);
        if (!parts->modules[parts->n]) return false;
    }
    return true;
}

static void pack_link(struct proto_writer *w, const struct module_job *j, const void *data)
{
    const struct parts *parts = data;
    proto_pack_map(w, 2);
    proto_pack_string(w, "name", j->name);
    proto_pack_key(w, "modules");
    msgpack_pack_array(&w->packer, parts->n);
    for (uint32_t i = 0; i < parts->n; i++)
        msgpack_pack_bin_with_body(&w->packer, parts->modules[i]->ir, parts->modules[i]->ir_size);
}

void module_link(struct session *s, struct proto_message *m)
{
    struct parts parts = {0};
    struct hasher h;
    struct module_job *j = find_parts(s, m, &parts) ? begin(s, m, "linked module", &h) : NULL;
    if (j) {
        for (uint32_t i = 0; i < parts.n; i++) hasher_add_hash(&h, &parts.modules[i]->hash);
        j->key.hash = hasher_end(&h);
        module_job_make(j, &(struct module_request){"link", pack_link, &parts});
    }
    free(parts.modules);
}

/* ---- text ---- */

static void answer_text(struct module_job *j, struct blob *result)
{
    struct session *s = j->operation.session;
    struct blob_value value;
    bool parsed = blob_parse(result, &value);
    const msgpack_object *text = parsed ? proto_get(&value.root, "text") : NULL;
    if (text && text->type == MSGPACK_OBJECT_STR) {
        struct proto_writer w;
        proto_begin_reply(&w, j->operation.request);
        proto_pack_map(&w, 1);
        proto_pack_key(&w, "text");
        msgpack_pack_object(&w.packer, *text);
        operation_end(&j->operation);
        session_send(s, &w);
        module_job_free(j);
    } else {
        struct error error;
        error_set(&error, FUSION_INTERNAL, "compiler", "it gave no text of the module");
        module_job_fail(j, &error);
    }
    if (parsed) blob_value_clear(&value);
}

static void on_text(void *data, struct blob *result, const struct error *error)
{
    if (result)
        answer_text(data, result);
    else
        module_job_fail(data, error);
}

static void pack_text(struct proto_writer *w, const struct module_job *j, const void *data)
{
    const struct module *m = data;
    proto_pack_map(w, 3);
    proto_pack_string(w, "name", j->name);
    proto_pack_bytes(w, "data", m->ir, m->ir_size);
    proto_pack_bool(w, "want_text", true);
}

void module_text(struct session *s, struct proto_message *m)
{
    struct hasher h;
    struct module *module = get_module(s, m);
    struct module_job *j = module ? module_job_new(s, m, module->name) : NULL;
    if (!j) return;
    hasher_begin(&h, "module text");
    hasher_add_text(&h, module->name);
    hasher_add_hash(&h, &module->hash);
    j->key = (struct job_key){.kind = CACHE_MODULE, .hash = hasher_end(&h), .variant = TEXT_VARIANT};
    module_job_run(j, &(struct module_request){"module", pack_text, module}, on_text);
}

/* ---- release ---- */

void module_release(struct session *s, struct proto_message *m)
{
    struct module *module = get_module(s, m);
    if (!module) return;
    map_remove(&s->modules, module->id);
    executables_forget_module(s, module->id);
    struct user_cost cost = module_cost(module);
    session_refund(s, &cost);
    module_free(module);
    request_done(s, m->id);
}

void modules_clear(struct session *s)
{
    uint32_t position = 0;
    for (struct map_entry *e; (e = map_next(&s->modules, &position));) {
        struct module *m = e->pointer;
        struct user_cost cost = module_cost(m);
        session_refund(s, &cost);
        module_free(m);
    }
    map_clear(&s->modules);
}
