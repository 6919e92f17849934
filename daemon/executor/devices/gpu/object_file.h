/* The object of a launch as it comes: a memfd. */
#pragma once

#include "daemon/gpu/object.h"
#include "ir/base/error.h"

struct gpu_object_file {
    struct gpu_object object; /* points into the bytes */
    void *bytes;
    size_t size;
};

/* Maps it, where nobody can change it any more, and reads it. Keeps no descriptor. To be closed if that succeeds. */
int gpu_object_open(struct gpu_object_file *file, int fd, struct error *e);
void gpu_object_close(struct gpu_object_file *file);
