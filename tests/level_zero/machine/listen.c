#include "tests/level_zero/machine/listen.h"

#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/level_zero/machine/channel.h"

static bool name_socket(struct sockaddr_un *address, const char *path)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address->sun_path) return false;
    strcpy(address->sun_path, path);
    return true;
}

/* One byte, and a descriptor with it. */
struct parcel {
    char byte;
    struct iovec bytes;
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
    struct msghdr message;
};

static void pack(struct parcel *p)
{
    *p = (struct parcel){.bytes = {.iov_base = &p->byte, .iov_len = 1}};
    p->message = (struct msghdr){
        .msg_iov = &p->bytes, .msg_iovlen = 1, .msg_control = p->control, .msg_controllen = sizeof p->control};
}

static int receive(int connection)
{
    struct parcel p;
    int fd = -1;
    pack(&p);
    if (recvmsg(connection, &p.message, 0) != 1) return -1;
    struct cmsghdr *head = CMSG_FIRSTHDR(&p.message);
    if (head && head->cmsg_type == SCM_RIGHTS) memcpy(&fd, CMSG_DATA(head), sizeof fd);
    return fd;
}

static bool send_descriptor(int connection, int fd)
{
    struct parcel p;
    pack(&p);
    struct cmsghdr *head = CMSG_FIRSTHDR(&p.message);
    *head = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof fd)};
    memcpy(CMSG_DATA(head), &fd, sizeof fd);
    return sendmsg(connection, &p.message, MSG_NOSIGNAL) == 1;
}

bool listen_for_one(const char *path)
{
    struct sockaddr_un address;
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || !name_socket(&address, path)) return false;
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 8) != 0) return false;
    signal(SIGCHLD, SIG_IGN); /* nobody waits for the processes */
    for (;;) {
        int connection = accept(listener, NULL, NULL);
        if (connection < 0) continue;
        if (fork() == 0) {
            signal(SIGCHLD, SIG_DFL); /* compilers wait for theirs */
            close(listener);
            return dup2(connection, 30) == 30 && dup2(receive(connection), 31) == 31 &&
                   dup2(30, MACHINE_LIFE_FD) >= 0 && dup2(31, MACHINE_MEMORY_FD) >= 0 && close(30) == 0 &&
                   close(31) == 0;
        }
        close(connection);
    }
}

int listen_connect(const char *path, int memory)
{
    struct sockaddr_un address;
    int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection < 0) return -1;
    if (name_socket(&address, path) && connect(connection, (struct sockaddr *)&address, sizeof address) == 0 &&
        send_descriptor(connection, memory))
        return connection;
    close(connection);
    return -1;
}
