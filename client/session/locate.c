/* Where the programs are that belong to this library. Takes no memory. */
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

/* The program that belongs to a file in the folder: of the same build tree, or of the tree that both were installed to,
   wherever that has been moved. */
static bool locate_beside(const struct client_program *p, char *folder, char path[PATH_MAX])
{
    if (is_executable(folder, p->built, path)) return true; /* from build/client/, build/tools/ */
    if (is_executable(folder, p->name, path)) return true;  /* a program in the same bin/ */
    if (!cut_end(folder, FUSIOND_LIBDIR)) return false;
    size_t length = strlen(folder);
    return (size_t)snprintf(folder + length, PATH_MAX - length, "/%s", FUSIOND_BINDIR) < PATH_MAX - length &&
           is_executable(folder, p->name, path);
}

/* The file that this code is in: the library, or a program that has it linked in. */
static bool locate_own_file(char path[PATH_MAX])
{
    Dl_info info;
    struct link_map *file = NULL;
    if (!dladdr1((const void *)client_locate, &info, (void **)&file, RTLD_DL_LINKMAP) || !file) return false;
    /* A program, which has no name here, is known by what it was called by, which need not be where it is. */
    return realpath(file->l_name[0] ? file->l_name : "/proc/self/exe", path) != NULL;
}

const struct client_program client_daemon = {"fusiond", "FUSIOND", "../daemon/broker/fusiond"};
const struct client_program client_clc = {"fusiond-clc", "FUSIOND_CLC", "../tools/fusiond-clc"};

void client_locate(const struct client_program *p, char path[PATH_MAX])
{
    char own[PATH_MAX];
    const char *given = secure_getenv(p->variable);
    if (given && *given) {
        snprintf(path, PATH_MAX, "%s", given);
        return;
    }
    if (locate_own_file(own)) {
        *strrchr(own, '/') = 0;
        if (locate_beside(p, own, path)) return;
    }
    snprintf(path, PATH_MAX, "%s/%s", FUSIOND_PREFIX_BINDIR, p->name);
}
