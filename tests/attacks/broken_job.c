/*
 * A compiler that a client has broken: the real one, but for this job. A module whose text begins with "attack" makes
 * it try what code of an attacker would try in its place; the reply's reason lists what has worked. Any other module is
 * read as usual, and remembered. A graph with "forges" in it is planned as usual, but the reply has figures of the
 * machine that are none; one with "tells" in it fails with the figures that the job was given. A module "flood" is
 * answered with half of a very large message, and nothing more.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/compiler/job.h"
#include "proto/fields.h"
#include "proto/frame.h"
#include "proto/header.h"
#include "proto/writer.h"

int honest_job_plan(const struct proto_message *m, struct proto_writer *reply, struct error *e);
int honest_job_module(const struct proto_message *m, struct proto_writer *reply, struct error *e);

/* What the text says behind "attack". */
struct target {
    int broker;
    char cache[200], entry[300], socket[100];
};

static char remembered[4096]; /* of the jobs before */
static const char planted[] = "planted";

static bool can_read(const char *path)
{
    char byte;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool read_it = fd >= 0 && read(fd, &byte, 1) >= 0;
    if (fd >= 0) close(fd);
    return read_it;
}

static bool can_read_of(int pid, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    return can_read(path);
}

static bool can_list(const char *path)
{
    DIR *d = opendir(path);
    if (d) closedir(d);
    return d != NULL;
}

static bool can_write_memory(int pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", pid);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd >= 0) close(fd);
    return fd >= 0;
}

static bool can_read_memory(int pid)
{
    char byte;
    struct iovec here = {&byte, 1}, there = {(void *)(uintptr_t)&can_read, 1};
    /* Whether the address is mapped there does not matter: EFAULT says that it was looked at. */
    return process_vm_readv(pid, &here, 1, &there, 1, 0) > 0 || errno == EFAULT;
}

static bool can_trace(int pid)
{
    if (ptrace(PTRACE_SEIZE, pid, 0, 0) != 0) return false;
    ptrace(PTRACE_DETACH, pid, 0, 0);
    return true;
}

static bool can_create(const char *folder)
{
    char path[300];
    snprintf(path, sizeof path, "%s/attack", folder);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0) close(fd);
    return fd >= 0;
}

static bool can_connect(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    bool connected = fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
    if (fd >= 0) close(fd);
    return connected;
}

static bool can_own_signals(int pid)
{
    return fcntl(3, F_SETOWN, pid) == 0;
}

static bool has_more_descriptors(void)
{
    for (int fd = 4; fd < 1024; fd++)
        if (fcntl(fd, F_GETFD) >= 0) return true;
    return false;
}

/* Does a job find what one before it has left in its folder? Leaves something for the next. */
static bool finds_planted(void)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", getenv("TMPDIR"), planted);
    bool found = access(path, F_OK) == 0;
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0) close(fd);
    return found;
}

static bool can_execute(void)
{
    pid_t pid = vfork();
    if (pid == 0) {
        execl("/bin/true", "true", (char *)NULL);
        _exit(1);
    }
    int status = 1;
    return pid > 0 && syscall(SYS_wait4, pid, &status, 0, NULL) == pid && status == 0;
}

/* Something that goes on when the job is answered. */
static void stay(void)
{
    if (fork() == 0)
        for (;;) poll(NULL, 0, 1000);
}

static void add(struct error *e, bool worked, const char *what)
{
    size_t used = strlen(e->reason);
    if (worked) snprintf(e->reason + used, sizeof e->reason - used, "%s; ", what);
}

static int attack(const struct target *t, struct error *e)
{
    char parent[600];
    snprintf(parent, sizeof parent, "%s/../..", getenv("TMPDIR"));
    error_set(e, FUSION_INVALID, "attack", "worked: ");
    add(e, can_read_of(t->broker, "mem") || can_write_memory(t->broker), "opened the broker's memory");
    add(e, can_read_of(t->broker, "maps"), "read the broker's memory map");
    add(e, can_read_memory(t->broker), "process_vm_readv of the broker");
    add(e, can_trace(t->broker), "traced the broker");
    add(e, can_trace(getppid()), "traced its parent");
    add(e, kill(t->broker, 0) == 0, "signalled the broker");
    add(e, kill(getppid(), 0) == 0, "signalled its parent");
    add(e, can_own_signals(t->broker), "had the broker signalled");
    add(e, can_list(t->cache), "listed the cache");
    add(e, can_read(t->entry), "read the cache");
    add(e, can_create(t->cache), "wrote into the cache");
    chmod(t->cache, 0777); /* whether it worked, the test looks */
    add(e, can_list(parent), "listed the compilers' folders");
    add(e, can_read("/etc/passwd"), "read /etc/passwd");
    add(e, can_connect(t->socket), "connected to the daemon");
    add(e, socket(AF_INET, SOCK_DGRAM, 0) >= 0, "made a socket");
    add(e, can_execute(), "executed a program");
    add(e, setsid() >= 0 || setpgid(0, 0) == 0, "left its process group");
    add(e, has_more_descriptors(), "had descriptors of others");
    add(e, finds_planted(), "found a file of a job before");
    add(e, remembered[0], "knew of a job before");
    stay();
    return -1;
}

/* One entry more in a reply that has been packed: its map is the last of what is in it, and small. */
static void add_entry(struct proto_writer *reply, const char *key, const void *bytes, size_t size)
{
    enum { ID = 2 + FRAME_HEADER };
    uint8_t *map = (uint8_t *)reply->buffer.data + ID;
    map += *map == 0xce ? 5 : *map == 0xcd ? 3 : *map == 0xcc ? 2 : 1;
    map[1]++; /* behind the nil of a reply that is no error */
    proto_pack_bytes(reply, key, bytes, size);
}

static bool has_text(const void *bytes, size_t size, const char *text)
{
    return memmem(bytes, size, text, strlen(text)) != NULL;
}

static int tell_figures(const struct proto_message *m, struct error *e)
{
    const uint8_t *figures;
    size_t size;
    if (!proto_get_bytes(&m->params, "machine", (const void **)&figures, &size)) size = 0;
    error_set(e, FUSION_INVALID, "attack", "figures:");
    for (size_t i = 0; i < size && i < 32; i++) {
        size_t used = strlen(e->reason);
        snprintf(e->reason + used, sizeof e->reason - used, " %02x", figures[i]);
    }
    return -1;
}

int job_plan(const struct proto_message *m, struct proto_writer *reply, struct error *e)
{
    static const uint8_t forged[24] = {0xee, 0xee, 0xee, 0xee};
    const void *graph;
    size_t size;
    if (!proto_get_bytes(&m->params, "graph", &graph, &size)) return honest_job_plan(m, reply, e);
    if (has_text(graph, size, "tells")) return tell_figures(m, e);
    int result = honest_job_plan(m, reply, e);
    if (result == 0 && has_text(graph, size, "forges")) add_entry(reply, "machine", forged, sizeof forged);
    return result;
}

static _Noreturn void flood(void)
{
    enum { CONNECTION = 3, WHOLE = 60 << 20, STEP = 1 << 20 };
    static uint8_t bytes[STEP];
    const uint8_t header[8] = {WHOLE & 0xff, WHOLE >> 8 & 0xff, WHOLE >> 16 & 0xff, WHOLE >> 24, 0, 0, 0x31, 0x46};
    signal(SIGPIPE, SIG_IGN);
    bool open = write(CONNECTION, header, sizeof header) == (ssize_t)sizeof header;
    for (size_t sent = 0; open && sent < WHOLE / 2; sent += STEP)
        open = write(CONNECTION, bytes, sizeof bytes) == (ssize_t)sizeof bytes;
    for (;;) poll(NULL, 0, 1000);
}

int job_module(const struct proto_message *m, struct proto_writer *reply, struct error *e)
{
    const void *data;
    size_t size;
    struct target t = {0};
    char text[1024] = "";
    if (proto_get_bytes(&m->params, "data", &data, &size) && size < sizeof text) memcpy(text, data, size);
    if (strncmp(text, "flood", 5) == 0) flood();
    if (sscanf(text, "attack %d %199s %299s %99s", &t.broker, t.cache, t.entry, t.socket) == 4) return attack(&t, e);
    snprintf(remembered, sizeof remembered, "%s", text);
    return honest_job_module(m, reply, e);
}
