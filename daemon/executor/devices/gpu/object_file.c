/* The object of a launch as it comes: a memfd. */
#include "daemon/executor/devices/gpu/object_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "proto/include/fusiond/status.h"

int gpu_object_open(struct gpu_object_file *file, int fd, struct error *e)
{
    struct stat s;
    const int needed = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || (seals & needed) != needed || fstat(fd, &s) != 0 || s.st_size == 0)
        return error_set(e, FUSION_INTERNAL, NULL, "its object is not in a memfd sealed against changes");
    file->size = (size_t)s.st_size;
    file->bytes = mmap(NULL, file->size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (file->bytes == MAP_FAILED)
        return error_set(e, FUSION_INTERNAL, NULL, "mapping its object: %s", strerror(errno));
    const char *wrong = gpu_object_decode(&file->object, file->bytes, file->size);
    if (!wrong) return 0;
    gpu_object_close(file);
    return error_set(e, FUSION_INTERNAL, NULL, "its object cannot be read: %s", wrong);
}

void gpu_object_close(struct gpu_object_file *file)
{
    munmap(file->bytes, file->size);
}
