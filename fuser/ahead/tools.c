/* Compilers of others. */
#include "fuser/ahead/tools.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ir/base/arena.h"

/* ---- files ---- */

bool workshop_open(struct workshop *w, struct error *e)
{
    const char *base = getenv("TMPDIR");
    if (!base || !*base || strlen(base) > 200) base = "/tmp";
    snprintf(w->folder, sizeof w->folder, "%s/fusion-ahead-XXXXXX", base);
    if (mkdtemp(w->folder)) return true;
    error_set(e, 1, w->folder, "%m");
    return false;
}

const char *workshop_path(const struct workshop *w, const char *name, char path[static 512])
{
    snprintf(path, 512, "%s/%s", w->folder, name);
    return path;
}

void workshop_close(struct workshop *w)
{
    char path[512];
    DIR *d = opendir(w->folder);
    for (struct dirent *entry; d && (entry = readdir(d));)
        if (entry->d_name[0] != '.') unlink(workshop_path(w, entry->d_name, path));
    if (d) closedir(d);
    rmdir(w->folder);
}

bool workshop_put(const struct workshop *w, const char *name, const void *bytes, size_t size, struct error *e)
{
    char path[512];
    FILE *out = fopen(workshop_path(w, name, path), "wbe");
    bool good = out && fwrite(bytes, 1, size, out) == size;
    if (out && fclose(out) != 0) good = false;
    if (!good) error_set(e, 1, path, "%m");
    return good;
}

uint8_t *workshop_get(const struct workshop *w, const char *name, size_t *size)
{
    char path[512];
    FILE *in = fopen(workshop_path(w, name, path), "rbe");
    uint8_t *bytes = NULL;
    size_t room = 0;
    *size = 0;
    if (!in) return NULL;
    do {
        if (room - *size < 2) bytes = arena_realloc(bytes, room = room ? 2 * room : 1 << 16);
        *size += fread(bytes + *size, 1, room - *size - 1, in);
    } while (!feof(in) && !ferror(in));
    fclose(in);
    bytes[*size] = 0;
    return bytes;
}

/* ---- processes ---- */

bool program_found(const char *name)
{
    char path[4096];
    if (strchr(name, '/')) return access(name, X_OK) == 0;
    for (const char *at = getenv("PATH"); at && *at; at += *at == ':') {
        size_t n = strcspn(at, ":");
        snprintf(path, sizeof path, "%.*s/%s", (int)n, at, name);
        if (access(path, X_OK) == 0) return true;
        at += n;
    }
    return false;
}

static int exec_program(void *data)
{
    char *const *argv = data;
    execvp(argv[0], argv);
    fprintf(stderr, "%s\n", strerror(errno));
    return 127;
}

/* What it said last. */
static void fail(const struct workshop *w, const char *name, int status, struct error *e)
{
    size_t size;
    char *words = (char *)workshop_get(w, "messages", &size), ending[64];
    while (size && (words[size - 1] == '\n' || words[size - 1] == ' ')) words[--size] = 0;
    snprintf(ending, sizeof ending, WIFSIGNALED(status) ? "it was ended by signal %d" : "it ended with status %d",
             WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    error_set(e, 1, name, "%s%s%s", ending, size ? ": " : "", size ? words + (size > 2000 ? size - 2000 : 0) : "");
    free(words);
}

bool function_run(const struct workshop *w, const char *name, int (*run)(void *data), void *data, struct error *e)
{
    char path[512];
    int status = -1;
    workshop_path(w, "messages", path);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC),
            messages = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (nothing < 0 || messages < 0 || chdir(w->folder) != 0) _exit(127);
        dup2(nothing, 0);
        dup2(messages, 1);
        dup2(messages, 2);
        int result = run(data);
        fflush(NULL);
        _exit(result);
    }
    if (child < 0) return error_set(e, 1, name, "%m") == 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
    fail(w, name, status, e);
    return false;
}

bool program_run(const struct workshop *w, const char *name, char *const argv[], struct error *e)
{
    return function_run(w, name, exec_program, (void *)argv, e);
}
