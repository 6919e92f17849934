/* Images in files: pictures (.png, .jpg), .npy and raw bytes. */
#pragma once

#include "tools/inspect/graph/graph_data.h"

/* A picture must have the image's size; .npy and raw bytes the channels of all pixels, row by row without gaps. False
   with a message on stderr. */
bool image_file_read(const char *path, const struct file_buffer *file, fusion_image *image);
bool image_file_write(const char *path, const struct file_buffer *file, fusion_image *image);
