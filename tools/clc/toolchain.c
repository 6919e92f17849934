/* The user's compiler of OpenCL C. */
#include "tools/clc/toolchain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Those that the tests know come first, then the newest. */
static const unsigned versions[] = {15, 19, 18, 17, 16, 14, 20, 21};

static bool is_in(const char *folder, size_t length, const char *name, char path[PATH_MAX])
{
    int n = snprintf(path, PATH_MAX, "%.*s/%s", (int)length, folder, name);
    return n > 0 && n < PATH_MAX && access(path, X_OK) == 0;
}

static bool find_on_path(const char *name, char path[PATH_MAX])
{
    const char *folder = getenv("PATH");
    if (!folder) folder = "/usr/local/bin:/usr/bin:/bin";
    for (;;) {
        size_t length = strcspn(folder, ":");
        if (length && is_in(folder, length, name, path)) return true;
        if (!folder[length]) return false;
        folder += length + 1;
    }
}

static bool find_version(unsigned version, struct toolchain *t)
{
    char clang[32], translator[32];
    snprintf(clang, sizeof clang, "clang-%u", version);
    snprintf(translator, sizeof translator, "llvm-spirv-%u", version);
    return find_on_path(clang, t->clang) && find_on_path(translator, t->translator);
}

static bool take_given(const char *clang, const char *translator, struct toolchain *t, const char **missing)
{
    snprintf(t->clang, sizeof t->clang, "%s", clang);
    snprintf(t->translator, sizeof t->translator, "%s", translator);
    *missing = "FUSIOND_CLANG and FUSIOND_LLVM_SPIRV are not paths of programs";
    return access(t->clang, X_OK) == 0 && access(t->translator, X_OK) == 0;
}

bool toolchain_find(struct toolchain *t, const char **missing)
{
    const char *clang = getenv("FUSIOND_CLANG"), *translator = getenv("FUSIOND_LLVM_SPIRV");
    if (clang && translator) return take_given(clang, translator, t, missing);
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
        if (find_version(versions[i], t)) return true;
    *missing = "OpenCL C needs clang and llvm-spirv of one version, 14 to 21, on the PATH (Debian: clang-15 and "
               "llvm-spirv-15)";
    return false;
}
