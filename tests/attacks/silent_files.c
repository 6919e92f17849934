/* A FUSE server, without a library: all requests that opening a file needs are answered, flushing it never. */
#include "tests/attacks/silent_files.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROOT = FUSE_ROOT_ID, FILE_NODE = 2, FOREVER = 3600 };

static void answer(int fuse, const struct fuse_in_header *in, int error, const void *body, size_t size)
{
    struct fuse_out_header out = {
        .len = (uint32_t)(sizeof out + (error ? 0 : size)), .error = -error, .unique = in->unique};
    struct iovec parts[2] = {{&out, sizeof out}, {(void *)body, error ? 0 : size}};
    if (writev(fuse, parts, 2) < 0 && errno == ENODEV) _exit(0);
}

static struct fuse_attr attributes(uint64_t node)
{
    return (struct fuse_attr){.ino = node, .mode = node == ROOT ? S_IFDIR | 0755 : S_IFREG | 0666, .nlink = 1};
}

static void serve(int fuse, const struct fuse_in_header *in, const void *body)
{
    switch (in->opcode) {
    case FUSE_INIT: {
        const struct fuse_init_in *asked = body;
        struct fuse_init_out init = {.major = FUSE_KERNEL_VERSION,
                                     .minor = asked->minor < FUSE_KERNEL_MINOR_VERSION ? asked->minor
                                                                                       : FUSE_KERNEL_MINOR_VERSION,
                                     .max_write = 4096};
        answer(fuse, in, 0, &init, sizeof init);
        return;
    }
    case FUSE_LOOKUP: {
        struct fuse_entry_out entry = {
            .nodeid = FILE_NODE, .entry_valid = FOREVER, .attr_valid = FOREVER, .attr = attributes(FILE_NODE)};
        answer(fuse, in, strcmp(body, "file") == 0 ? 0 : ENOENT, &entry, sizeof entry);
        return;
    }
    case FUSE_GETATTR: {
        struct fuse_attr_out attr = {.attr_valid = FOREVER, .attr = attributes(in->nodeid)};
        answer(fuse, in, 0, &attr, sizeof attr);
        return;
    }
    case FUSE_OPEN: answer(fuse, in, 0, &(struct fuse_open_out){0}, sizeof(struct fuse_open_out)); return;
    case FUSE_FLUSH:
    case FUSE_FORGET:
    case FUSE_INTERRUPT: return;
    default: answer(fuse, in, ENOSYS, NULL, 0);
    }
}

static _Noreturn void serve_for_ever(int fuse)
{
    static char request[1 << 16] __attribute__((aligned(8)));
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        ssize_t size = read(fuse, request, sizeof request);
        if (size < 0 && (errno == EINTR || errno == ENOENT || errno == EAGAIN)) continue;
        if (size < (ssize_t)sizeof(struct fuse_in_header)) _exit(0);
        serve(fuse, (const struct fuse_in_header *)request, request + sizeof(struct fuse_in_header));
    }
}

pid_t silent_files_mount(const char *folder)
{
    char options[128];
    int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    if (fuse < 0) return 0;
    snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", fuse);
    if (mkdir(folder, 0755) != 0 || mount("silent", folder, "fuse", MS_NODEV | MS_NOSUID, options) != 0) {
        int number = errno;
        close(fuse);
        rmdir(folder);
        errno = number;
        return 0;
    }
    pid_t server = fork();
    if (server == 0) serve_for_ever(fuse);
    close(fuse); /* the server alone has it: with its end the connection ends */
    return server > 0 ? server : 0;
}

void silent_files_end(const char *folder, pid_t server)
{
    if (!server) return;
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    umount2(folder, MNT_DETACH);
    rmdir(folder);
}
