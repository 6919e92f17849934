/* From a graph file to a graph in the service. */
#include "tools/inspect/graph/load.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/nearest.h"
#include "tools/inspect/graph/graph_file.h"
#include "tools/inspect/graph/types.h"
#include "tools/inspect/terminal/complain.h"

/* The library's error, at a place of the file. */
static bool fail_error(const struct loaded *l, struct file_place at)
{
    return print_error_at(l->file->path, at.line, at.column);
}

/* ---- modules and buffers ---- */

/* A module's path counts from the graph file's folder. */
static char *module_path(const char *graph, const char *path)
{
    const char *slash = graph ? strrchr(graph, '/') : NULL;
    char *out;
    if (path[0] == '/' || !slash) return strdup(path);
    if (asprintf(&out, "%.*s/%s", (int)(slash - graph), graph, path) < 0) return NULL;
    return out;
}

/* What is wrong in a module's text has a place of its own. */
static bool fail_module(const char *graph, const char *name, struct file_place at)
{
    bool is_file = fusion_last_error()->status == FUSION_IO;
    return print_error_at(graph ? graph : name, graph ? at.line : 0, graph && is_file ? at.column : 0);
}

static bool load_input(fusion_session *s, const char *graph, const struct file_input *in, fusion_module **module)
{
    const fusion_module_options options = {FUSION_SIZED(fusion_module_options), in->sub_group_size, in->n_constants,
                                           in->constants, in->options};
    char *path = module_path(graph, in->path);
    fusion_status status = fusion_module_load_file_with(s, path, &options, module);
    free(path);
    return status == FUSION_SUCCESS || fail_module(graph, in->path, in->at);
}

static void print_warnings(const fusion_module *m)
{
    for (uint32_t i = 0; fusion_module_warning(m, i); i++) fprintf(stderr, "%s\n", fusion_module_warning(m, i));
}

static bool link_inputs(fusion_session *s, const char *graph, const struct file_module *f, fusion_module **module)
{
    fusion_module **parts = calloc(f->n_inputs, sizeof(*parts));
    bool good = parts != NULL;
    for (uint32_t i = 0; i < f->n_inputs && good; i++) good = load_input(s, graph, &f->inputs[i], &parts[i]);
    if (good && fusion_module_link(s, f->name, parts, f->n_inputs, module) != FUSION_SUCCESS)
        good = fail_module(graph, f->name, f->at);
    for (uint32_t i = 0; parts && i < f->n_inputs; i++) fusion_module_destroy(parts[i]);
    free(parts);
    return good;
}

bool load_module(fusion_session *s, const char *graph, const struct file_module *f, fusion_module **module)
{
    bool good = f->n_inputs == 1 ? load_input(s, graph, &f->inputs[0], module) : link_inputs(s, graph, f, module);
    if (good) print_warnings(*module);
    return good;
}

static bool load_modules(struct loaded *l)
{
    l->modules = calloc(l->file->n_modules + 1, sizeof *l->modules);
    for (uint32_t i = 0; i < l->file->n_modules; i++)
        if (!load_module(l->session, l->file->path, &l->file->modules[i], &l->modules[i])) return false;
    return true;
}

static bool create_image(struct loaded *l, const struct file_buffer *f, struct loaded_buffer *b)
{
    fusion_image_desc desc = f->image;
    int of = f->of ? loaded_find(l, f->of) : -1;
    if (f->of && of < 0)
        return complain_at(l->file->path, f->at.line, f->at.column, "buffer %s of image %s is not there", f->of,
                           f->name);
    if (of >= 0) {
        desc.buffer = l->buffers[of].buffer;
        if (!desc.buffer)
            return complain_at(l->file->path, f->at.line, f->at.column, "%s, of which image %s would be, is no buffer",
                               f->of, f->name);
        desc.offset = f->of_offset * type_bytes(l->buffers[of].file->type);
    }
    return fusion_image_create(l->session, f->name, &desc, &b->image) == FUSION_SUCCESS || fail_error(l, f->at);
}

static bool create_buffer(struct loaded *l, const struct file_buffer *f, struct loaded_buffer *b)
{
    fusion_status status;
    b->file = f;
    if (f->is_image) return create_image(l, f, b);
    if (f->usm)
        status = fusion_malloc(l->session, FUSION_USM_SHARED, f->count * type_bytes(f->type), &b->usm);
    else
        status = fusion_buffer_create(l->session, f->name, f->type, f->count, f->properties, &b->buffer);
    return status == FUSION_SUCCESS || fail_error(l, f->at);
}

static bool fill_buffer(struct loaded *l, uint32_t index)
{
    const struct file_buffer *f = l->buffers[index].file;
    char text[64], value[8];
    unsigned bytes;
    bool floats = f->type >= FUSION_F16;
    snprintf(text, sizeof text, floats ? "%.17g" : "%.0f", f->fill);
    if (!number_parse(text, f->type == FUSION_BYTES ? "u8" : type_name(f->type), value, &bytes))
        return complain_at(l->file->path, f->at.line, f->at.column, "%s is no value of type %s", text,
                           type_name(f->type));
    fusion_image *image = l->buffers[index].image;
    char *memory = image ? calloc(f->count, bytes) : loaded_memory(l, index);
    if (!memory) return false;
    for (uint64_t i = 0; i < f->count; i++) memcpy(memory + i * bytes, value, bytes);
    if (!image) loaded_leave(l, index);
    if (!image) return true;
    bool stored = fusion_image_write(image, NULL, memory, 0) == FUSION_SUCCESS || fail_error(l, f->at);
    free(memory);
    return stored;
}

static bool create_buffers(struct loaded *l)
{
    l->buffers = calloc(l->file->n_buffers + 1, sizeof *l->buffers);
    for (uint32_t i = 0; i < l->file->n_buffers; i++) {
        if (!create_buffer(l, &l->file->buffers[i], &l->buffers[i])) return false;
        if (l->file->buffers[i].has_fill && !fill_buffer(l, i)) return false;
    }
    return true;
}

void *loaded_memory(struct loaded *l, uint32_t buffer)
{
    struct loaded_buffer *b = &l->buffers[buffer];
    void *memory = b->usm;
    if (!memory && fusion_buffer_map(b->buffer, &memory) != FUSION_SUCCESS) print_error(b->file->name);
    return memory;
}

void loaded_leave(struct loaded *l, uint32_t buffer)
{
    if (!l->buffers[buffer].usm) fusion_buffer_unmap(l->buffers[buffer].buffer);
}

int loaded_find(const struct loaded *l, const char *name)
{
    char hint[120];
    struct nearest near = nearest_begin(name, strlen(name));
    for (uint32_t i = 0; i < l->file->n_buffers; i++) {
        if (strcmp(l->file->buffers[i].name, name) == 0) return (int)i;
        nearest_offer(&near, l->file->buffers[i].name);
    }
    complain_at(l->file->path, 0, 0, "there is no buffer `%s`%s", name, nearest_hint(near.best, hint, sizeof hint));
    return -1;
}

/* ---- arguments ---- */

static const fusion_kernel_info *find_kernel(const fusion_module *m, const char *name)
{
    for (uint32_t i = 0; m && i < fusion_module_kernel_count(m); i++) {
        const fusion_kernel_info *k = fusion_module_kernel(m, i);
        if (strcmp(k->name, name) == 0) return k;
    }
    return NULL;
}

/* "f32x4" is element f32; the lanes follow from the size. */
static void element_type(const char *type, char out[16])
{
    const char *x = strchr(type, 'x');
    snprintf(out, 16, "%.*s", x ? (int)(x - type) : 15, type);
}

/* Numbers become a value of the type the kernel's parameter has. */
static bool make_value(const struct loaded *l, const struct file_arg *a, const fusion_kernel_arg *param,
                       fusion_arg *out)
{
    char type[16];
    unsigned char bytes[128] = {0};
    unsigned used = 0, width = 0;
    element_type(param->type, type);
    for (uint32_t i = 0; i < a->n_numbers; i++, used += width)
        if (used + 8 > sizeof bytes || !number_parse(a->numbers[i], type, bytes + used, &width))
            return complain_at(l->file->path, a->at.line, a->at.column, "`%s` is no value for a parameter of type %s",
                               a->numbers[i], param->type);
    /* A vector of 3 takes the place of one of 4. */
    if (a->n_numbers == 3 && param->size == 4ull * width) used = (unsigned)param->size;
    *out = fusion_arg_value(bytes, used);
    return true;
}

static bool make_memory_arg(const struct loaded *l, const struct file_arg *a, fusion_arg *out)
{
    int index = loaded_find(l, a->buffer);
    const struct loaded_buffer *b = &l->buffers[index];
    unsigned width = type_bytes(b->file->type);
    uint64_t offset, bytes;
    if (b->image) {
        *out = fusion_arg_image(b->image, a->access);
        return true;
    }
    if (__builtin_mul_overflow(a->offset, width, &offset) || __builtin_mul_overflow(a->count, width, &bytes) ||
        offset >= b->file->count * width)
        return complain_at(l->file->path, a->at.line, a->at.column, "offset or count lies outside buffer %s",
                           a->buffer);
    *out = b->usm ? fusion_arg_pointer((char *)b->usm + offset, a->access, a->properties | b->file->properties)
                  : fusion_arg_buffer(b->buffer, a->access);
    out->offset = b->usm ? 0 : offset;
    out->bytes = b->usm ? 0 : bytes;
    out->properties = b->usm ? out->properties : a->properties;
    return true;
}

static bool make_arg(const struct loaded *l, const struct file_node *n, const fusion_kernel_info *k, uint32_t i,
                     fusion_arg *out)
{
    const struct file_arg *a = &n->args[i];
    switch (a->kind) {
    case FILE_ARG_LOCAL: *out = fusion_arg_local(a->local_bytes); return true;
    case FILE_ARG_SAMPLER: *out = fusion_arg_sampler(a->sampler); return true;
    case FILE_ARG_BUFFER: break;
    case FILE_ARG_NUMBERS:
        if (k && i < k->n_args) return make_value(l, a, &k->args[i], out);
        *out = fusion_arg_i32(0); /* the service says what is wrong: unknown kernel, too many arguments */
        return true;
    }
    return make_memory_arg(l, a, out);
}

/* ---- nodes ---- */

static bool resolve_deps(const struct loaded *l, const struct file_node *n, fusion_node *deps)
{
    for (uint32_t d = 0; d < n->n_deps; d++)
        for (uint32_t k = 0; k < l->file->n_nodes; k++)
            if (l->file->nodes[k].name && strcmp(l->file->nodes[k].name, n->deps[d]) == 0) deps[d] = k;
    return true;
}

static bool add_kernel(struct loaded *l, const struct file_node *n, const fusion_node *deps, fusion_node *node)
{
    fusion_kernel_node k = {FUSION_SIZED(fusion_kernel_node),
                            .name = n->name,
                            .kernel = n->kernel,
                            .dims = n->dims,
                            .n_args = n->n_args,
                            .depends_on = deps,
                            .n_depends_on = n->n_deps};
    for (uint32_t i = 0; i < l->file->n_modules; i++)
        if (strcmp(l->file->modules[i].name, n->module) == 0) k.module = l->modules[i];
    memcpy(k.global, n->global, sizeof k.global);
    memcpy(k.offset, n->offset, sizeof k.offset);
    memcpy(k.local, n->local, sizeof k.local);
    fusion_arg *args = calloc(n->n_args + 1, sizeof *args);
    const fusion_kernel_info *info = find_kernel(k.module, n->kernel);
    bool ok = true;
    for (uint32_t i = 0; i < n->n_args && ok; i++) ok = make_arg(l, n, info, i, &args[i]);
    k.args = args;
    if (ok && fusion_graph_add_kernel(l->graph, &k, node) != FUSION_SUCCESS)
        ok = fail_error(l, info ? n->at : n->kernel_at);
    free(args);
    return ok;
}

static fusion_memory place(const struct loaded *l, const char *name, uint64_t offset)
{
    const struct loaded_buffer *b = &l->buffers[loaded_find(l, name)];
    uint64_t bytes = offset * type_bytes(b->file->type);
    return b->usm ? (fusion_memory){.pointer = (char *)b->usm + bytes}
                  : (fusion_memory){.buffer = b->buffer, .offset = bytes};
}

/* Where the pixels of a copy's side are. */
static fusion_pixels pixels(const struct loaded *l, const char *name, const uint32_t at[3], uint64_t offset)
{
    const struct loaded_buffer *b = &l->buffers[loaded_find(l, name)];
    if (b->image) return (fusion_pixels){.image = b->image, .x = at[0], .y = at[1], .z = at[2]};
    return (fusion_pixels){.memory = place(l, name, offset)};
}

/* The size that a node names, else all of an image; of one that was named without slices one. */
static fusion_region whole(const struct file_node *n, const fusion_image_desc *d)
{
    uint32_t slices = d->depth ? d->depth : d->array_size;
    fusion_region r = {.width = n->size[0], .height = n->size[1], .depth = n->size[2] ? n->size[2] : 1};
    if (r.width) return r;
    return (fusion_region){.width = d->width, .height = d->height ? d->height : 1, .depth = slices ? slices : 1};
}

static bool add_pixel_copy(struct loaded *l, const struct file_node *n, const fusion_node *deps, fusion_node *node)
{
    const struct file_buffer *from = graph_file_buffer(l->file, n->from), *to = graph_file_buffer(l->file, n->to);
    fusion_region all = whole(n, from->is_image ? &from->image : &to->image);
    fusion_status status = fusion_graph_add_copy_pixels_3d(
        l->graph, n->name, pixels(l, n->from, n->from_at, n->from_offset), pixels(l, n->to, n->to_at, n->to_offset),
        all.width, all.height, all.depth, deps, n->n_deps, node);
    return status == FUSION_SUCCESS || fail_error(l, n->at);
}

static bool add_pixel_fill(struct loaded *l, const struct file_node *n, const fusion_node *deps, fusion_node *node)
{
    const struct file_buffer *to = graph_file_buffer(l->file, n->to);
    const struct loaded_buffer *b = &l->buffers[loaded_find(l, n->to)];
    unsigned char pixel[16];
    unsigned width = type_bytes(to->type), channels = to->channels;
    if (n->n_channels != channels)
        return complain_at(l->file->path, n->at.line, n->at.column, "a value for each channel of image %s is needed",
                           n->to);
    for (uint32_t i = 0; i < channels; i++)
        if (!number_parse(n->channels[i], type_name(to->type), pixel + i * width, &width))
            return complain_at(l->file->path, n->at.line, n->at.column, "`%s` is no value of type %s", n->channels[i],
                               type_name(to->type));
    fusion_region region = whole(n, &to->image);
    region.x = n->to_at[0];
    region.y = n->to_at[1];
    region.z = n->to_at[2];
    fusion_status status =
        fusion_graph_add_fill_image(l->graph, n->name, b->image, &region, pixel, deps, n->n_deps, node);
    return status == FUSION_SUCCESS || fail_error(l, n->at);
}

static bool add_memory_node(struct loaded *l, const struct file_node *n, const fusion_node *deps, fusion_node *node)
{
    const struct file_buffer *to = graph_file_buffer(l->file, n->to),
                             *from = n->from ? graph_file_buffer(l->file, n->from) : to;
    if (n->kind == FILE_NODE_COPY && (from->is_image || to->is_image)) return add_pixel_copy(l, n, deps, node);
    if (n->kind == FILE_NODE_FILL && to->is_image) return add_pixel_fill(l, n, deps, node);
    uint64_t elements = n->count ? n->count : from->count - (n->from ? n->from_offset : n->to_offset);
    uint64_t bytes = elements * type_bytes(from->type);
    fusion_memory target = place(l, n->to, n->to_offset);
    fusion_status status;
    if (n->kind == FILE_NODE_COPY) {
        status = fusion_graph_add_copy(l->graph, n->name, place(l, n->from, n->from_offset), target, bytes, deps,
                                       n->n_deps, node);
    } else {
        char value[8];
        unsigned width;
        if (!number_parse(n->value, to->type == FUSION_BYTES ? "u8" : type_name(to->type), value, &width))
            return complain_at(l->file->path, n->at.line, n->at.column, "`%s` is no value of type %s", n->value,
                               type_name(to->type));
        status = fusion_graph_add_fill(l->graph, n->name, target, bytes, value, width, deps, n->n_deps, node);
    }
    return status == FUSION_SUCCESS || fail_error(l, n->at);
}

static bool add_nodes(struct loaded *l)
{
    l->nodes = calloc(l->file->n_nodes + 1, sizeof *l->nodes);
    for (uint32_t i = 0; i < l->file->n_nodes; i++) {
        const struct file_node *n = &l->file->nodes[i];
        fusion_node *deps = calloc(n->n_deps + 1, sizeof *deps);
        bool ok = resolve_deps(l, n, deps);
        ok = ok && (n->kind == FILE_NODE_KERNEL ? add_kernel(l, n, deps, &l->nodes[i])
                                                : add_memory_node(l, n, deps, &l->nodes[i]));
        free(deps);
        if (!ok) return false;
    }
    return true;
}

static bool set_outputs(struct loaded *l)
{
    uint32_t n = l->file->n_outputs;
    fusion_arg *args = calloc(n + 1, sizeof *args);
    bool good = args != NULL;
    for (uint32_t i = 0; i < n && good; i++) {
        int at = loaded_find(l, l->file->outputs[i]);
        if (!(good = at >= 0)) break;
        const struct loaded_buffer *b = &l->buffers[at];
        args[i] = b->image ? fusion_arg_image(b->image, FUSION_ACCESS_READ)
                  : b->usm ? fusion_arg_pointer(b->usm, FUSION_ACCESS_READ, 0)
                           : fusion_arg_read(b->buffer);
    }
    if (good && fusion_graph_set_outputs(l->graph, args, n) != FUSION_SUCCESS)
        good = fail_error(l, (struct file_place){.line = 1});
    free(args);
    return good;
}

bool loaded_open(struct loaded *l, fusion_session *session, const struct graph_file *file)
{
    *l = (struct loaded){.file = file, .session = session};
    if (fusion_graph_create(session, &l->graph) != FUSION_SUCCESS) return fail_error(l, (struct file_place){.line = 1});
    return load_modules(l) && create_buffers(l) && add_nodes(l) && (!file->has_outputs || set_outputs(l));
}

/* "node NAME" as words of the text. */
static bool names_node(const char *text, const char *name)
{
    static const char before[] = "node ";
    for (const char *at = text; (at = strstr(at, before)); at++) {
        const char *word = at + sizeof before - 1;
        size_t n = strlen(name);
        if (*word == '`') word++;
        if (strncmp(word, name, n) == 0 && !isalnum((unsigned char)word[n]) && word[n] != '_') return true;
    }
    return false;
}

/* Of "kernel NAME", as runs tell it: the node that is called so, or has the kernel. NULL: none, or several. */
static const struct file_node *only_node_of(const struct graph_file *f, const char *object)
{
    static const char before[] = "kernel ";
    const struct file_node *found = NULL;
    if (strncmp(object, before, sizeof before - 1) != 0) return NULL;
    const char *name = object + sizeof before - 1;
    for (uint32_t i = 0; i < f->n_nodes; i++) {
        const struct file_node *n = &f->nodes[i];
        if (!n->kernel || (strcmp(n->kernel, name) != 0 && (!n->name || strcmp(n->name, name) != 0))) continue;
        if (found) return NULL;
        found = n;
    }
    return found;
}

bool loaded_fail(const struct loaded *l)
{
    const fusion_error *e = fusion_last_error();
    for (uint32_t i = 0; i < l->file->n_nodes; i++) {
        const struct file_node *n = &l->file->nodes[i];
        const char *name = n->name ? n->name : n->kernel;
        if (name && (names_node(e->object, name) || names_node(e->reason, name))) return fail_error(l, n->at);
    }
    const struct file_node *n = only_node_of(l->file, e->object);
    return n ? fail_error(l, n->at) : print_error_at(l->file->path, 0, 0);
}

void loaded_close(struct loaded *l)
{
    free(l->modules);
    free(l->buffers);
    free(l->nodes);
}
