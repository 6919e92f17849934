/* From a saved executable to what a graph file would have given. */
#include "tools/inspect/graph/saved.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuser/features/bundle.h"
#include "tools/inspect/terminal/complain.h"

bool saved_is(const char *path)
{
    char magic[sizeof BUNDLE_MAGIC - 1];
    FILE *f = fopen(path, "rbe");
    bool is = f && fread(magic, 1, sizeof magic, f) == sizeof magic && bundle_is(magic, sizeof magic);
    if (f) fclose(f);
    return is;
}

/* Of all pixels, without gaps. */
static uint64_t pixel_bytes(const fusion_image *image)
{
    const fusion_image_desc *d = fusion_image_describe(image);
    uint32_t slices = d->depth ? d->depth : d->array_size;
    return (uint64_t)d->width * (d->height ? d->height : 1) * (slices ? slices : 1) * fusion_image_pixel_bytes(image);
}

/* Channels of images, and buffers whose elements are not known, are bytes here. */
static void describe(const fusion_exec_memory_info *m, struct file_buffer *f)
{
    bool typed = m->buffer && m->type != FUSION_BYTES;
    f->name = strdup(m->name);
    f->type = typed ? m->type : FUSION_BYTES;
    f->usm = m->pointer != NULL;
    f->dims = 1;
    f->is_image = m->image != NULL;
    if (m->image) f->image = *fusion_image_describe(m->image);
    f->count = f->shape[0] = typed ? m->count : m->image ? pixel_bytes(m->image) : m->bytes;
}

static bool take_memory(struct loaded *l, struct graph_file *file)
{
    fusion_exec_memory_info m = {FUSION_SIZED(fusion_exec_memory_info)};
    while (fusion_exec_memory(l->exec, file->n_buffers, &m) == FUSION_SUCCESS) file->n_buffers++;
    file->buffers = calloc(file->n_buffers + 1, sizeof *file->buffers);
    l->buffers = calloc(file->n_buffers + 1, sizeof *l->buffers);
    if (!file->buffers || !l->buffers) return false;
    for (uint32_t i = 0; i < file->n_buffers; i++) {
        fusion_exec_memory(l->exec, i, &m);
        describe(&m, &file->buffers[i]);
        l->buffers[i] = (struct loaded_buffer){&file->buffers[i], m.buffer, m.pointer, m.image};
    }
    return true;
}

bool saved_open(struct loaded *l, fusion_session *session, const char *path, const fusion_finalize_options *options,
                struct graph_file **file)
{
    *file = calloc(1, sizeof **file);
    if (*file) (*file)->path = strdup(path);
    *l = (struct loaded){.session = session, .file = *file};
    if (!*file || !(*file)->path) return false;
    if (fusion_exec_load_file(session, path, options, &l->exec) != FUSION_SUCCESS) {
        print_error(path);
        return false;
    }
    return take_memory(l, *file);
}
