/* Where the executable of a private daemon is. Takes no memory. */
#include "client/session/locate.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Cuts `end`, whole folders, off path; false where it does not end so. */
static bool cut_end(char *path, const char *end)
{
    size_t n = strlen(path), m = strlen(end);
    if (n <= m || path[n - m - 1] != '/' || strcmp(path + n - m, end) != 0) return false;
    path[n - m - 1] = 0;
    return true;
}

static bool is_executable(const char *folder, const char *name, char path[PATH_MAX])
{
    int length = snprintf(path, PATH_MAX, "%s/%s", folder, name);
    return length > 0 && length < PATH_MAX && access(path, X_OK) == 0;
}

/* The daemon that belongs to a file in the folder: of the same build tree, or of the tree that both were installed to,
   wherever that has been moved. */
static bool locate_beside(char *folder, char path[PATH_MAX])
{
    if (is_executable(folder, "../daemon/broker/fusiond", path)) return true; /* build/client/, build/tools/ */
    if (is_executable(folder, "fusiond", path)) return true;                  /* a program in the same bin/ */
    return cut_end(folder, FUSIOND_LIBDIR) && is_executable(folder, FUSIOND_BINDIR "/fusiond", path);
}

/* The file that this code is in: the library, or a program that has it linked in. */
static bool locate_own_file(char path[PATH_MAX])
{
    Dl_info info;
    struct link_map *file = NULL;
    if (!dladdr1((const void *)client_locate_daemon, &info, (void **)&file, RTLD_DL_LINKMAP) || !file) return false;
    /* A program, which has no name here, is known by what it was called by, which need not be where it is. */
    return realpath(file->l_name[0] ? file->l_name : "/proc/self/exe", path) != NULL;
}

void client_locate_daemon(char path[PATH_MAX])
{
    char own[PATH_MAX];
    const char *given = secure_getenv("FUSIOND");
    if (given && *given) {
        snprintf(path, PATH_MAX, "%s", given);
        return;
    }
    if (locate_own_file(own)) {
        *strrchr(own, '/') = 0;
        if (locate_beside(own, path)) return;
    }
    snprintf(path, PATH_MAX, "%s", FUSIOND_EXECUTABLE);
}
