/* Reading graph files; each error names file and line. */
#include "tools/inspect/graph/graph_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/nearest.h"
#include "tools/inspect/graph/graph_image.h"
#include "tools/inspect/graph/types.h"
#include "tools/inspect/terminal/complain.h"

static bool read_properties(struct reader *r, const yaml_node_t *map, unsigned *properties)
{
    static const struct {
        const char *name;
        unsigned bit;
    } known[] = {{"access_scope_work_item", FUSION_ACCESS_SCOPE_WORK_ITEM},
                 {"access_scope_work_group", FUSION_ACCESS_SCOPE_WORK_GROUP},
                 {"fusion_internal_memory", FUSION_INTERNAL_MEMORY},
                 {"no_init", FUSION_NO_INIT}};
    const yaml_node_t *list = reader_get(r, map, "properties");
    if (!list) return true;
    if (list->type != YAML_SEQUENCE_NODE) return reader_fail(r, list, "properties must be a list");
    for (uint32_t i = 0; i < reader_list_size(list); i++) {
        const yaml_node_t *item = reader_list_item(r, list, i);
        const char *name = reader_text_of(item);
        unsigned bit = 0;
        for (unsigned k = 0; k < 4; k++)
            if (name && strcmp(known[k].name, name) == 0) bit = known[k].bit;
        if (!bit)
            return reader_fail(r, item,
                               "unknown property `%s` (access_scope_work_item, access_scope_work_group, "
                               "fusion_internal_memory, no_init)",
                               name ? name : "");
        *properties |= bit;
    }
    return true;
}

/* ---- modules and buffers ---- */

static bool read_constants(struct reader *r, const yaml_node_t *map, struct file_input *in)
{
    if (!reader_need_map(r, map, "constants")) return false;
    uint32_t n = (uint32_t)(map->data.mapping.pairs.top - map->data.mapping.pairs.start);
    in->constants = calloc(n + 1, sizeof *in->constants);
    for (; in->n_constants < n; in->n_constants++) {
        yaml_node_pair_t *p = &map->data.mapping.pairs.start[in->n_constants];
        const yaml_node_t *key = reader_node(r, p->key), *value = reader_node(r, p->value);
        fusion_constant *c = &in->constants[in->n_constants];
        uint64_t id;
        if (!reader_u64(r, key, &id)) return false;
        if (id > UINT32_MAX) return reader_fail(r, key, "a specialization constant has a number of 32 bits");
        if (!reader_text_of(value) || !constant_parse(reader_text_of(value), c))
            return reader_fail(r, value, "`%s` is no constant: a type and a value are needed, as f32 1.5",
                               reader_text_of(value) ? reader_text_of(value) : "");
        c->id = (uint32_t)id;
    }
    return true;
}

/* A path, or a mapping with the path and how it is read. */
static bool read_input(struct reader *r, const yaml_node_t *n, struct file_input *in)
{
    static const char *const keys[] = {"file", "sub_group_size", "constants", "options", NULL};
    in->at = reader_place(n);
    if (n->type == YAML_SCALAR_NODE) return reader_text(r, n, &in->path);
    if (!reader_need_map(r, n, "a module's file") || !reader_known_keys(r, n, keys)) return false;
    const yaml_node_t *file = reader_get(r, n, "file"), *constants = reader_get(r, n, "constants");
    if (!file) return reader_fail(r, n, "a module needs file: its path");
    return reader_text(r, file, &in->path) && reader_optional_text(r, n, "sub_group_size", &in->sub_group_size) &&
           reader_optional_text(r, n, "options", &in->options) && (!constants || read_constants(r, constants, in));
}

static bool read_inputs(struct reader *r, const yaml_node_t *n, struct file_module *m)
{
    bool list = n->type == YAML_SEQUENCE_NODE;
    uint32_t count = list ? reader_list_size(n) : 1;
    if (!count) return reader_fail(r, n, "a module is made of one file at least");
    m->inputs = calloc(count, sizeof *m->inputs);
    m->at = reader_place(n);
    while (m->n_inputs < count) {
        const yaml_node_t *item = list ? reader_list_item(r, n, m->n_inputs) : n;
        if (!read_input(r, item, &m->inputs[m->n_inputs++])) return false;
    }
    return true;
}

static bool read_modules(struct reader *r, const yaml_node_t *map, struct graph_file *f)
{
    if (!reader_need_map(r, map, "modules")) return false;
    size_t n = (size_t)(map->data.mapping.pairs.top - map->data.mapping.pairs.start);
    f->modules = calloc(n + 1, sizeof *f->modules);
    for (size_t i = 0; i < n; i++) {
        yaml_node_pair_t *p = &map->data.mapping.pairs.start[i];
        struct file_module *m = &f->modules[f->n_modules++];
        if (!reader_text(r, reader_node(r, p->key), &m->name) || !read_inputs(r, reader_node(r, p->value), m))
            return false;
    }
    return true;
}

static bool read_shape(struct reader *r, const yaml_node_t *n, struct file_buffer *b)
{
    const yaml_node_t *shape = reader_get(r, n, "shape"), *count = reader_get(r, n, "count");
    if (!shape == !count) return reader_fail(r, n, "buffer %s needs either count or shape", b->name);
    if (!reader_sizes(r, shape ? shape : count, b->shape, 4, &b->dims)) return false;
    b->count = 1;
    for (uint32_t d = 0; d < b->dims; d++)
        if (b->shape[d] == 0 || __builtin_mul_overflow(b->count, b->shape[d], &b->count))
            return reader_fail(r, n, "buffer %s: a shape of 0 or of more elements than a number holds", b->name);
    return true;
}

static bool read_fill(struct reader *r, const yaml_node_t *n, struct file_buffer *b)
{
    const yaml_node_t *fill = reader_get(r, n, "fill");
    if (!fill) return true;
    char *end = NULL;
    const char *text = reader_text_of(fill);
    b->fill = text ? strtod(text, &end) : 0;
    if (!end || end == text || *end) return reader_fail(r, fill, "fill must be a number");
    b->has_fill = true;
    return true;
}

static bool read_buffer(struct reader *r, const yaml_node_t *n, struct file_buffer *b)
{
    static const char *const keys[] = {"type", "count", "shape", "properties", "fill", "usm", NULL};
    if (!reader_need_map(r, n, "a buffer") || !reader_known_keys(r, n, keys)) return false;
    b->at = reader_place(n);
    const yaml_node_t *type = reader_get(r, n, "type");
    const char *word = type ? reader_text_of(type) : NULL;
    char hint[120];
    if (!word || !type_parse(word, &b->type))
        return reader_fail(r, type ? type : n,
                           "buffer %s: unknown type `%s`%s (i8 ... i64, u8 ... u64, f16, f32, f64, bytes)", b->name,
                           word ? word : "", nearest_hint(type_nearest(word ? word : ""), hint, sizeof hint));
    const yaml_node_t *usm = reader_get(r, n, "usm");
    b->usm = usm && reader_text_of(usm) && strcmp(reader_text_of(usm), "true") == 0;
    return read_shape(r, n, b) && read_properties(r, n, &b->properties) && read_fill(r, n, b);
}

typedef bool read_one(struct reader *r, const yaml_node_t *n, struct file_buffer *b);

/* Buffers and images have names that differ. */
static bool read_each(struct reader *r, const yaml_node_t *map, struct graph_file *f, read_one *read)
{
    size_t n = (size_t)(map->data.mapping.pairs.top - map->data.mapping.pairs.start);
    f->buffers = reallocarray(f->buffers, f->n_buffers + n + 1, sizeof *f->buffers);
    for (size_t i = 0; i < n; i++) {
        yaml_node_pair_t *p = &map->data.mapping.pairs.start[i];
        char *name = NULL;
        if (!reader_text(r, reader_node(r, p->key), &name)) return false;
        bool twice = graph_file_buffer(f, name) != NULL;
        struct file_buffer *b = &f->buffers[f->n_buffers++];
        *b = (struct file_buffer){.name = name};
        if (twice) return reader_fail(r, reader_node(r, p->key), "buffer %s is there twice", name);
        if (!read(r, reader_node(r, p->value), b)) return false;
    }
    return true;
}

static bool read_buffers(struct reader *r, const yaml_node_t *map, struct graph_file *f)
{
    return reader_need_map(r, map, "buffers") && read_each(r, map, f, read_buffer);
}

static bool read_image(struct reader *r, const yaml_node_t *n, struct file_buffer *b)
{
    return graph_image_read(r, n, b) && read_fill(r, n, b);
}

static bool read_images(struct reader *r, const yaml_node_t *map, struct graph_file *f)
{
    return reader_need_map(r, map, "images") && read_each(r, map, f, read_image);
}

const struct file_buffer *graph_file_buffer(const struct graph_file *f, const char *name)
{
    for (uint32_t i = 0; i < f->n_buffers; i++)
        if (strcmp(f->buffers[i].name, name) == 0) return &f->buffers[i];
    return NULL;
}

static bool need_buffer(struct reader *r, const yaml_node_t *at, const struct graph_file *f, const char *name)
{
    char hint[120];
    struct nearest s = nearest_begin(name, strlen(name));
    if (graph_file_buffer(f, name)) return true;
    for (uint32_t i = 0; i < f->n_buffers; i++) nearest_offer(&s, f->buffers[i].name);
    return reader_fail(r, at, "unknown buffer `%s`%s", name, nearest_hint(s.best, hint, sizeof hint));
}

/* ---- arguments ---- */

static bool read_numbers(struct reader *r, const yaml_node_t *n, struct file_arg *a)
{
    bool list = n->type == YAML_SEQUENCE_NODE;
    a->kind = FILE_ARG_NUMBERS;
    a->n_numbers = list ? reader_list_size(n) : 1;
    a->numbers = calloc(a->n_numbers + 1, sizeof *a->numbers);
    for (uint32_t i = 0; i < a->n_numbers; i++)
        if (!reader_text(r, list ? reader_list_item(r, n, i) : n, &a->numbers[i])) return false;
    return true;
}

static bool read_arg(struct reader *r, const yaml_node_t *n, const struct graph_file *f, struct file_arg *a)
{
    static const char *const keys[] = {"read",   "write", "read_write", "local", "sampler",
                                       "offset", "count", "properties", NULL};
    static const fusion_access accesses[] = {FUSION_ACCESS_READ, FUSION_ACCESS_WRITE, FUSION_ACCESS_READ_WRITE};
    a->at = reader_place(n);
    if (n->type != YAML_MAPPING_NODE) return read_numbers(r, n, a);
    if (!reader_known_keys(r, n, keys)) return false;
    const yaml_node_t *local = reader_get(r, n, "local");
    if (local) {
        a->kind = FILE_ARG_LOCAL;
        return reader_u64(r, local, &a->local_bytes);
    }
    const yaml_node_t *sampler = reader_get(r, n, "sampler");
    if (sampler) {
        a->kind = FILE_ARG_SAMPLER;
        return graph_sampler_read(r, sampler, &a->sampler);
    }
    for (int i = 0; i < 3; i++) {
        const yaml_node_t *name = reader_get(r, n, keys[i]);
        if (!name) continue;
        if (a->buffer) return reader_fail(r, n, "an argument has one of read, write, read_write");
        a->access = accesses[i];
        if (!reader_text(r, name, &a->buffer) || !need_buffer(r, name, f, a->buffer)) return false;
    }
    if (!a->buffer)
        return reader_fail(r, n,
                           "an argument is a number, a list of numbers, {read: ...}, {write: ...}, {read_write: ...}, "
                           "{local: bytes} or {sampler: ...}");
    if (graph_file_buffer(f, a->buffer)->is_image && n->data.mapping.pairs.top - n->data.mapping.pairs.start > 1)
        return reader_fail(r, n, "image %s is taken as a whole", a->buffer);
    return reader_optional_u64(r, n, "offset", &a->offset) && reader_optional_u64(r, n, "count", &a->count) &&
           read_properties(r, n, &a->properties);
}

static bool read_args(struct reader *r, const yaml_node_t *list, const struct graph_file *f, struct file_node *node)
{
    if (list->type != YAML_SEQUENCE_NODE) return reader_fail(r, list, "args must be a list");
    node->args = calloc(reader_list_size(list) + 1, sizeof *node->args);
    for (uint32_t i = 0; i < reader_list_size(list); i++, node->n_args++)
        if (!read_arg(r, reader_list_item(r, list, i), f, &node->args[i])) {
            node->n_args++;
            return false;
        }
    return true;
}

/* ---- nodes ---- */

static bool read_range(struct reader *r, const yaml_node_t *n, struct file_node *node)
{
    const yaml_node_t *global = reader_get(r, n, "global"), *local = reader_get(r, n, "local"),
                      *offset = reader_get(r, n, "offset");
    uint32_t dims;
    if (!global) return reader_fail(r, n, "a kernel node needs global: [sizes]");
    if (!reader_sizes(r, global, node->global, 3, &node->dims)) return false;
    if (local &&
        (!reader_sizes(r, local, node->local, 3, &dims) ||
         (dims != node->dims && !reader_fail(r, local, "local has %u dimensions, global %u", dims, node->dims))))
        return false;
    if (offset &&
        (!reader_sizes(r, offset, node->offset, 3, &dims) ||
         (dims != node->dims && !reader_fail(r, offset, "offset has %u dimensions, global %u", dims, node->dims))))
        return false;
    return true;
}

static bool read_kernel_node(struct reader *r, const yaml_node_t *n, const struct graph_file *f, struct file_node *node)
{
    static const char *const keys[] = {"name", "kernel", "global", "local", "offset", "args", "depends_on", NULL};
    const yaml_node_t *kernel = reader_get(r, n, "kernel"), *args = reader_get(r, n, "args");
    char hint[120];
    if (!reader_known_keys(r, n, keys)) return false;
    const char *text = reader_text_of(kernel), *dot = text ? strchr(text, '.') : NULL;
    if (!dot || !dot[1]) return reader_fail(r, kernel, "a kernel is written module.kernel");
    node->kind = FILE_NODE_KERNEL;
    node->module = strndup(text, (size_t)(dot - text));
    node->kernel = strdup(dot + 1);
    node->kernel_at = reader_place(kernel);
    bool known = false;
    for (uint32_t i = 0; i < f->n_modules; i++) known = known || strcmp(f->modules[i].name, node->module) == 0;
    struct nearest s = nearest_begin(node->module, strlen(node->module));
    for (uint32_t i = 0; i < f->n_modules; i++) nearest_offer(&s, f->modules[i].name);
    if (!known)
        return reader_fail(r, kernel, "unknown module `%s`%s", node->module, nearest_hint(s.best, hint, sizeof hint));
    return read_range(r, n, node) && (!args || read_args(r, args, f, node));
}

static bool is_image(const struct graph_file *f, const char *name)
{
    return graph_file_buffer(f, name)->is_image;
}

static bool read_copy(struct reader *r, const yaml_node_t *n, const struct graph_file *f, struct file_node *node)
{
    static const char *const keys[] = {"from", "to", "from_offset", "to_offset", "count", NULL};
    static const char *const image_keys[] = {"from", "to",          "from_at",   "to_at",
                                             "size", "from_offset", "to_offset", NULL};
    if (!reader_need_map(r, n, "copy")) return false;
    const yaml_node_t *from = reader_get(r, n, "from"), *to = reader_get(r, n, "to");
    node->kind = FILE_NODE_COPY;
    if (!from || !to) return reader_fail(r, n, "a copy needs from and to");
    if (!reader_text(r, from, &node->from) || !reader_text(r, to, &node->to) || !need_buffer(r, from, f, node->from) ||
        !need_buffer(r, to, f, node->to) || !reader_optional_u64(r, n, "from_offset", &node->from_offset) ||
        !reader_optional_u64(r, n, "to_offset", &node->to_offset))
        return false;
    if (is_image(f, node->from) || is_image(f, node->to))
        return reader_known_keys(r, n, image_keys) && graph_pixels_read(r, n, node);
    return reader_known_keys(r, n, keys) && reader_optional_u64(r, n, "count", &node->count);
}

static bool read_fill_node(struct reader *r, const yaml_node_t *n, const struct graph_file *f, struct file_node *node)
{
    static const char *const keys[] = {"to", "value", "offset", "count", NULL};
    static const char *const image_keys[] = {"to", "value", "at", "size", NULL};
    if (!reader_need_map(r, n, "fill")) return false;
    const yaml_node_t *to = reader_get(r, n, "to"), *value = reader_get(r, n, "value");
    node->kind = FILE_NODE_FILL;
    if (!to || !value) return reader_fail(r, n, "a fill needs to and value");
    if (!reader_text(r, to, &node->to) || !need_buffer(r, to, f, node->to)) return false;
    if (is_image(f, node->to))
        return reader_known_keys(r, n, image_keys) && graph_pixel_read(r, value, node) && graph_pixels_read(r, n, node);
    return reader_known_keys(r, n, keys) && reader_text(r, value, &node->value) &&
           reader_optional_u64(r, n, "offset", &node->to_offset) && reader_optional_u64(r, n, "count", &node->count);
}

static bool read_deps(struct reader *r, const yaml_node_t *n, struct file_node *node)
{
    const yaml_node_t *list = reader_get(r, n, "depends_on");
    if (!list) return true;
    if (list->type != YAML_SEQUENCE_NODE) return reader_fail(r, list, "depends_on must be a list of node names");
    node->deps = calloc(reader_list_size(list) + 1, sizeof *node->deps);
    node->deps_at = calloc(reader_list_size(list) + 1, sizeof *node->deps_at);
    for (uint32_t i = 0; i < reader_list_size(list); i++) {
        node->deps_at[i] = reader_place(reader_list_item(r, list, i));
        if (!reader_text(r, reader_list_item(r, list, i), &node->deps[node->n_deps++])) return false;
    }
    return true;
}

static bool read_node(struct reader *r, const yaml_node_t *n, const struct graph_file *f, struct file_node *node)
{
    static const char *const memory_keys[] = {"name", "copy", "fill", "depends_on", NULL};
    if (!reader_need_map(r, n, "a node")) return false;
    node->at = reader_place(n);
    if (!reader_optional_text(r, n, "name", &node->name) || !read_deps(r, n, node)) return false;
    const yaml_node_t *copy = reader_get(r, n, "copy"), *fill = reader_get(r, n, "fill");
    if (reader_get(r, n, "kernel")) return read_kernel_node(r, n, f, node);
    if (!copy == !fill) return reader_fail(r, n, "a node is one of kernel, copy, fill");
    return reader_known_keys(r, n, memory_keys) &&
           (copy ? read_copy(r, copy, f, node) : read_fill_node(r, fill, f, node));
}

static bool read_nodes(struct reader *r, const yaml_node_t *list, struct graph_file *f)
{
    if (list->type != YAML_SEQUENCE_NODE) return reader_fail(r, list, "graph must be a list of nodes");
    f->nodes = calloc(reader_list_size(list) + 1, sizeof *f->nodes);
    for (uint32_t i = 0; i < reader_list_size(list); i++) {
        f->n_nodes++;
        if (!read_node(r, reader_list_item(r, list, i), f, &f->nodes[i])) return false;
    }
    return true;
}

static bool read_outputs(struct reader *r, const yaml_node_t *list, struct graph_file *f)
{
    if (list->type != YAML_SEQUENCE_NODE) return reader_fail(r, list, "outputs must be a list of buffers and images");
    f->has_outputs = true;
    f->outputs = calloc(reader_list_size(list) + 1, sizeof *f->outputs);
    for (uint32_t i = 0; i < reader_list_size(list); i++) {
        const yaml_node_t *item = reader_list_item(r, list, i);
        if (!reader_text(r, item, &f->outputs[i])) return false;
        f->n_outputs++;
        if (!need_buffer(r, item, f, f->outputs[i])) return false;
    }
    return true;
}

static bool unknown_node(struct reader *r, const struct graph_file *f, const char *name, struct file_place at)
{
    char hint[120];
    struct nearest s = nearest_begin(name, strlen(name));
    for (uint32_t i = 0; i < f->n_nodes; i++) nearest_offer(&s, f->nodes[i].name);
    return complain_at(r->path, at.line, at.column, "depends_on names no node: `%s`%s", name,
                       nearest_hint(s.best, hint, sizeof hint));
}

/* Names given in the file are unique, and each depends_on names one of them. */
static bool check_names(struct reader *r, const struct graph_file *f)
{
    for (uint32_t i = 0; i < f->n_nodes; i++) {
        for (uint32_t d = 0; d < f->nodes[i].n_deps; d++) {
            bool found = false;
            for (uint32_t k = 0; k < f->n_nodes; k++)
                found = found || (f->nodes[k].name && !strcmp(f->nodes[k].name, f->nodes[i].deps[d]));
            if (found) continue;
            return unknown_node(r, f, f->nodes[i].deps[d], f->nodes[i].deps_at[d]);
        }
    }
    return true;
}

/* ---- the file ---- */

/* What holds for all of it. */
static bool read_limits(struct reader *r, const yaml_node_t *root, struct graph_file *f)
{
    if (!reader_optional_bool(r, root, "bounds", &f->bounds) ||
        !reader_optional_u64(r, root, "time_limit_ms", &f->time_limit_ms))
        return false;
    return f->time_limit_ms <= UINT32_MAX ||
           reader_fail(r, reader_get(r, root, "time_limit_ms"), "a time limit is at most %u ms", UINT32_MAX);
}

static bool read_root(struct reader *r, struct graph_file *f)
{
    static const char *const keys[] = {"modules", "buffers", "images",        "outputs",
                                       "graph",   "bounds",  "time_limit_ms", NULL};
    yaml_node_t *root = yaml_document_get_root_node(&r->document);
    if (!root) return reader_fail(r, NULL, "the file is empty");
    if (!reader_need_map(r, root, "a graph file") || !reader_known_keys(r, root, keys)) return false;
    yaml_node_t *modules = reader_get(r, root, "modules"), *buffers = reader_get(r, root, "buffers"),
                *images = reader_get(r, root, "images"), *outputs = reader_get(r, root, "outputs"),
                *graph = reader_get(r, root, "graph");
    if (!graph) return reader_fail(r, root, "there is no graph: list of nodes");
    return (!modules || read_modules(r, modules, f)) && (!buffers || read_buffers(r, buffers, f)) &&
           (!images || read_images(r, images, f)) && read_limits(r, root, f) &&
           (!outputs || read_outputs(r, outputs, f)) && read_nodes(r, graph, f) && check_names(r, f);
}

struct graph_file *graph_file_read(const char *path)
{
    FILE *in = fopen(path, "rbe");
    if (!in) {
        complain_at(path, 0, 0, "%s", strerror(errno));
        return NULL;
    }
    struct reader r = {.path = path};
    struct graph_file *f = calloc(1, sizeof *f);
    f->path = strdup(path);
    yaml_parser_t parser;
    yaml_parser_initialize(&parser);
    yaml_parser_set_input_file(&parser, in);
    bool ok = yaml_parser_load(&parser, &r.document);
    if (ok) {
        ok = reader_check_keys(&r) && read_root(&r, f);
        yaml_document_delete(&r.document);
    } else {
        complain_at(path, parser.problem_mark.line + 1, parser.problem_mark.column + 1, "%s",
                    parser.problem ? parser.problem : "no YAML");
    }
    yaml_parser_delete(&parser);
    fclose(in);
    if (ok) return f;
    graph_file_free(f);
    return NULL;
}

static void free_node(struct file_node *n)
{
    for (uint32_t a = 0; a < n->n_args; a++) {
        for (uint32_t i = 0; i < n->args[a].n_numbers; i++) free(n->args[a].numbers[i]);
        free(n->args[a].numbers);
        free(n->args[a].buffer);
    }
    for (uint32_t d = 0; d < n->n_deps; d++) free(n->deps[d]);
    for (uint32_t i = 0; i < n->n_channels; i++) free(n->channels[i]);
    free(n->args);
    free(n->deps);
    free(n->deps_at);
    free(n->name);
    free(n->module);
    free(n->kernel);
    free(n->from);
    free(n->to);
    free(n->value);
}

void file_input_clear(struct file_input *in)
{
    for (uint32_t i = 0; i < in->n_constants; i++) free((void *)in->constants[i].value);
    free(in->constants);
    free(in->sub_group_size);
    free(in->options);
    free(in->path);
}

void graph_file_free(struct graph_file *f)
{
    if (!f) return;
    for (uint32_t i = 0; i < f->n_modules; i++) {
        for (uint32_t k = 0; k < f->modules[i].n_inputs; k++) file_input_clear(&f->modules[i].inputs[k]);
        free(f->modules[i].inputs);
        free(f->modules[i].name);
    }
    for (uint32_t i = 0; i < f->n_buffers; i++) {
        free(f->buffers[i].name);
        free(f->buffers[i].of);
    }
    for (uint32_t i = 0; i < f->n_nodes; i++) free_node(&f->nodes[i]);
    for (uint32_t i = 0; i < f->n_outputs; i++) free(f->outputs[i]);
    free(f->outputs);
    free(f->modules);
    free(f->buffers);
    free(f->nodes);
    free(f->path);
    free(f);
}
