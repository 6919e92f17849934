/*
 * Loading objects. Of code: dlopen() knows a library by its path: while one is loaded from /proc/self/fd/N, another
 * file under that path gives back the first. So the descriptor of a loaded object stays open, and its
 * number, hence the path, is not used a second time. Equal memory is loaded once.
 */
#include "daemon/executor/devices/cpu/objects.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/executor/devices/interpreter/interpreter.h"
#include "fuser/cpu/batch/batch.h"
#include "ir/core/ir.h"
#include "proto/include/fusiond/status.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct object *loaded;

static int check_descriptor(int fd, struct stat *s, const char *name, struct error *e)
{
    const int needed = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || (seals & needed) != needed)
        return error_set(e, FUSION_INTERNAL, name, "its object is not in a memfd sealed against changes");
    if (fstat(fd, s) != 0) return error_set(e, FUSION_INTERNAL, name, "fstat of its object: %s", strerror(errno));
    return 0;
}

static struct object *find_loaded(const struct stat *s)
{
    for (struct object *o = loaded; o; o = o->next)
        if (o->device == s->st_dev && o->inode == s->st_ino) return o;
    return NULL;
}

static int check_library(struct object *o, const char *name, struct error *e)
{
    o->entry = (kernel_entry *)dlsym(o->library, KERNEL_ENTRY_SYMBOL);
    o->info = dlsym(o->library, KERNEL_INFO_SYMBOL);
    if (!o->entry || !o->info) return error_set(e, FUSION_INTERNAL, name, "its object lacks the kernel's symbols");
    if (o->info->abi_version != KERNEL_ABI_VERSION)
        return error_set(e, FUSION_INTERNAL, name, "its object has version %u of the kernel ABI, not %d",
                         o->info->abi_version, KERNEL_ABI_VERSION);
    return 0;
}

static void destroy(struct object *o)
{
    if (o->library) dlclose(o->library);
    batch_free(o->batch);
    ir_module_free(o->module);
    if (o->fd >= 0) close(o->fd);
    free(o);
}

static int load_code(struct object *o, const char *name, struct error *e)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", o->fd);
    o->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!o->library) return error_set(e, FUSION_INTERNAL, name, "loading its object: %s", dlerror());
    return check_library(o, name, e);
}

static int load_kernel(struct object *o, size_t size, const char *name, struct error *e)
{
    uint8_t *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, o->fd, 0);
    if (bytes == MAP_FAILED) return error_set(e, FUSION_INTERNAL, name, "mapping its object: %s", strerror(errno));
    o->kernel = interpreter_decode(bytes, size, name, &o->module, e);
    munmap(bytes, size);
    if (!o->kernel) return -1;
    o->batch = batch_new(o->kernel, BATCH_BEST);
    o->info = batch_info(o->batch);
    return 0;
}

/* ELF files begin so, kernels do not (docs/ir.md, "The msgpack form"). */
static bool is_code(int fd)
{
    char magic[4];
    return pread(fd, magic, sizeof magic, 0) == sizeof magic && memcmp(magic, "\177ELF", sizeof magic) == 0;
}

static struct object *load(int *fd, const struct stat *s, const char *name, struct error *e)
{
    struct object *o = calloc(1, sizeof *o);
    if (!o) abort();
    o->fd = *fd;
    *fd = -1;
    o->device = s->st_dev;
    o->inode = s->st_ino;
    o->references = 1;
    int result = is_code(o->fd) ? load_code(o, name, e) : load_kernel(o, (size_t)s->st_size, name, e);
    if (result == 0) return o;
    destroy(o);
    return NULL;
}

struct object *objects_load(int *fd, const char *name, struct error *e)
{
    struct stat s;
    if (check_descriptor(*fd, &s, name, e) != 0) return NULL;
    pthread_mutex_lock(&lock);
    struct object *o = find_loaded(&s);
    if (o) {
        o->references++;
    } else if ((o = load(fd, &s, name, e))) {
        o->next = loaded;
        loaded = o;
    }
    pthread_mutex_unlock(&lock);
    return o;
}

void objects_release(struct object *o)
{
    if (!o) return;
    pthread_mutex_lock(&lock);
    if (--o->references == 0) {
        struct object **link = &loaded;
        while (*link != o) link = &(*link)->next;
        *link = o->next;
        destroy(o);
    }
    pthread_mutex_unlock(&lock);
}
