/* Where the executable of a private daemon is. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/internal.h"

/* Cuts `end`, whole folders, off path; false where it does not end so. */
static bool cut_end(char *path, const char *end)
{
    size_t n = strlen(path), m = strlen(end);
    if (n <= m || path[n - m - 1] != '/' || strcmp(path + n - m, end) != 0) return false;
    path[n - m - 1] = 0;
    return true;
}

static char *executable(const char *folder, const char *name)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s", folder, name) < 0) return NULL;
    if (access(path, X_OK) == 0) return path;
    free(path);
    return NULL;
}

/* The daemon that belongs to a file in the folder: of the same build tree, or of the tree that both were installed to,
   wherever that has been moved. */
static char *beside(char *folder)
{
    char *path = executable(folder, "../daemon/broker/fusiond"); /* build/client/, build/tools/ */
    if (!path) path = executable(folder, "fusiond");             /* a program in the same bin/ */
    if (!path && cut_end(folder, FUSIOND_LIBDIR)) path = executable(folder, FUSIOND_BINDIR "/fusiond");
    return path;
}

/* The file that this code is in: the library, or a program that has it linked in. */
static bool own_file(char *path)
{
    Dl_info info;
    void *handle = NULL;
    if (!dladdr((const void *)client_locate_daemon, &info) || !info.dli_fname) return false;
    /* A program is known by the name it was called by, which need not be where it is. */
    handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (handle) dlclose(handle);
    return realpath(handle ? info.dli_fname : "/proc/self/exe", path) != NULL;
}

char *client_locate_daemon(void)
{
    char path[PATH_MAX], *found = NULL;
    const char *given = secure_getenv("FUSIOND");
    if (given && *given) return strdup(given);
    if (own_file(path)) {
        *strrchr(path, '/') = 0;
        found = beside(path);
    }
    return found ? found : strdup(FUSIOND_EXECUTABLE);
}
