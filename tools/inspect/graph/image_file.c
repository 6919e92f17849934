/* Reading and writing images. */
#include "tools/inspect/graph/image_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/inspect/graph/array_file.h"
#include "tools/inspect/graph/picture.h"
#include "tools/inspect/graph/types.h"
#include "tools/inspect/terminal/complain.h"

static bool ends_in(const char *path, const char *ending)
{
    size_t n = strlen(path), m = strlen(ending);
    return n > m && strcasecmp(path + n - m, ending) == 0;
}

static bool is_picture(const char *path)
{
    return ends_in(path, ".png") || ends_in(path, ".jpg") || ends_in(path, ".jpeg");
}

/* ---- pictures ---- */

/* Pictures are RGBA of 8 bits. */
static bool takes_pictures(const char *path, const struct file_buffer *f)
{
    const fusion_image_desc *d = &f->image;
    bool order = d->channel_order == FUSION_CHANNEL_RGBA || d->channel_order == FUSION_CHANNEL_BGRA;
    bool type = d->channel_type == FUSION_UNORM_INT8 || d->channel_type == FUSION_UNSIGNED_INT8;
    bool flat = d->type == FUSION_IMAGE_2D;
    order |= d->channel_order == FUSION_CHANNEL_SRGBA;
    if (!order || !type || !flat)
        complain_at(path, 0, 0,
                    "image %s is no picture: those are image2d, have order rgba, bgra or srgba and type unorm_int8 or "
                    "unsigned_int8",
                    f->name);
    return order && type && flat;
}

/* Between RGBA and BGRA. */
static void swap_ends(uint32_t *pixels, size_t n)
{
    for (size_t i = 0; i < n; i++)
        pixels[i] = (pixels[i] & 0xff00ff00u) | (pixels[i] & 0xff) << 16 | (pixels[i] >> 16 & 0xff);
}

static void fit_order(const struct file_buffer *f, uint32_t *pixels)
{
    if (f->image.channel_order == FUSION_CHANNEL_BGRA) swap_ends(pixels, (size_t)f->image.width * f->image.height);
}

static bool stored(const char *path, fusion_status status)
{
    if (status != FUSION_SUCCESS) print_error(path);
    return status == FUSION_SUCCESS;
}

static bool read_picture(const char *path, const struct file_buffer *f, fusion_image *image)
{
    struct picture p;
    if (!takes_pictures(path, f)) return false;
    if (!picture_read(path, &p)) return complain_at(path, 0, 0, "%s", picture_reason());
    bool fits = p.width == f->image.width && p.height == f->image.height;
    if (fits)
        fit_order(f, p.pixels);
    else
        complain_at(path, 0, 0, "%u x %u pixels, image %s has %u x %u", p.width, p.height, f->name, f->image.width,
                    f->image.height);
    bool ok = fits && stored(path, fusion_image_write(image, NULL, p.pixels, 0));
    picture_clear(&p);
    return ok;
}

/* ---- both ---- */

static void *tight_memory(const char *path, const struct file_buffer *f)
{
    void *memory = calloc(f->count, type_bytes(f->type));
    if (!memory) complain_at(path, 0, 0, "no memory");
    return memory;
}

bool image_file_read(const char *path, const struct file_buffer *f, fusion_image *image)
{
    if (is_picture(path)) return read_picture(path, f, image);
    void *memory = tight_memory(path, f);
    bool ok = memory && array_read(path, f->type, f->count, memory) &&
              stored(path, fusion_image_write(image, NULL, memory, 0));
    free(memory);
    return ok;
}

bool image_file_write(const char *path, const struct file_buffer *f, fusion_image *image)
{
    if (is_picture(path) && !ends_in(path, ".png")) {
        complain_at(path, 0, 0, "pictures are written as .png");
        return false;
    }
    if (is_picture(path) && !takes_pictures(path, f)) return false;
    void *memory = tight_memory(path, f);
    bool ok = memory && stored(path, fusion_image_read(image, NULL, memory, 0));
    if (ok && is_picture(path)) {
        fit_order(f, memory);
        ok = picture_write(path, &(struct picture){f->image.width, f->image.height, memory}) ||
             complain_at(path, 0, 0, "%s", picture_reason());
    } else if (ok) {
        ok = array_write(path, f->type, f->dims, f->shape, memory);
    }
    free(memory);
    return ok;
}
