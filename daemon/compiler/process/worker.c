/* The process of one job: started, watched, ended with all that it has started. */
#include "daemon/compiler/process/worker.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/compiler/process/confine.h"
#include "daemon/compiler/process/process.h"
#include "proto/fields.h"
#include "proto/transfer.h"

enum { MOST_SAID = 2000 }; /* bytes of a job's standard error that reach the log */
enum { BEHIND_NICE = 10, LAST_NICE = 19 };
enum { MOST_STARTS = 8 }; /* times that what was started meanwhile is looked for */

/* The process of the next job. */
static struct {
    pid_t pid; /* 0: there is none */
    int waits; /* our end of the connection over which it waits for the job's */
    int said;  /* its standard error */
} next = {.waits = -1, .said = -1};

/* ---- in the process of a job ---- */

/* Takes the job's connection from the one with the compiler, and puts it in the place of that. */
static int receive_job(uint64_t *care)
{
    struct proto_reader *reader = proto_reader_new(PROTO_MAX_MESSAGE);
    struct proto_message m;
    const char *reason = "";
    if (!reader || proto_receive(JOB_FD, reader, &m, 0, &reason) != 0) return -1;
    int result = m.n_fds == 1 && proto_get_uint(&m.params, "care", care) ? dup3(m.fds[0], JOB_FD, O_CLOEXEC) : -1;
    proto_message_clear(&m);
    proto_reader_free(reader);
    return result;
}

/* Only the connection, and standard error into a file, where it floods nobody's log. */
_Noreturn static void work(int connection, pid_t compiler, int said, worker_body *body)
{
    uint64_t care;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != compiler) _exit(EXIT_FAILURE);
    if (setpgid(0, 0) != 0 || dup2(said, STDERR_FILENO) < 0 || dup3(connection, JOB_FD, O_CLOEXEC) < 0)
        _exit(EXIT_FAILURE);
    close_range(JOB_FD + 1, ~0u, CLOSE_RANGE_CLOEXEC);
    if (confine_enter() != 0) _exit(EXIT_FAILURE);
    close_range(JOB_FD + 1, ~0u, 0);
    if (receive_job(&care) < 0) _exit(EXIT_FAILURE);
    body(care);
    _exit(EXIT_SUCCESS);
}

/* ---- in the compiler ---- */

/* Until it has ended; -1: the broker has closed the connection. */
static int wait_for(pid_t pid, const struct worker_control *control)
{
    int process = (int)syscall(SYS_pidfd_open, pid, 0);
    if (process < 0) return 0; /* a kernel before 5.3: waited for below, whatever the broker does */
    struct pollfd fds[] = {{process, POLLIN, 0}, {control->fd, POLLIN, 0}};
    bool open = control->hear();
    while (open && !fds[0].revents) {
        poll(fds, 2, -1);
        open = control->hear();
    }
    close(process);
    return fds[0].revents ? 0 : -1;
}

static uint64_t microseconds(struct timeval t)
{
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_usec;
}

/* The job has no way out of its process group. Its leader is reaped afterwards: nobody else has its number until then.
 */
static int end_group(pid_t pid, uint64_t *used_us)
{
    siginfo_t ended;
    struct rusage used = {0};
    int status = 0;
    while (waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR) continue;
    kill(-pid, SIGKILL);
    while (wait4(pid, &status, 0, &used) < 0 && errno == EINTR) continue;
    if (used_us) *used_us = microseconds(used.ru_utime) + microseconds(used.ru_stime);
    return status;
}

static void repeat(int said)
{
    char text[MOST_SAID];
    ssize_t n = pread(said, text, sizeof text, 0);
    for (ssize_t i = 0; i < n; i++)
        if ((unsigned char)text[i] < 0x20 && text[i] != '\n') text[i] = '?';
    if (n > 0) fprintf(stderr, "fusiond-compiler: a job said: %.*s\n", (int)n, text);
}

/* The broker learns from our end how the job has ended. */
_Noreturn static void end_like(int status)
{
    process_leave();
    if (WIFSIGNALED(status)) {
        signal(WTERMSIG(status), SIG_DFL);
        kill(getpid(), WTERMSIG(status));
    }
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE);
}

static void forget(void)
{
    if (next.waits >= 0) close(next.waits);
    if (next.said >= 0) close(next.said);
    next.pid = 0;
    next.waits = next.said = -1;
}

/* May a process that has stepped back as far as possible come forward again? A limit or a right allows that. Where not,
   it must not be starved. */
static bool may_return(void)
{
    static int status = -1;
    const struct sched_param none = {0};
    pid_t pid = status < 0 ? fork() : 0;
    if (status < 0 && pid == 0)
        _exit(sched_setscheduler(0, SCHED_IDLE, &none) != 0 || sched_setscheduler(0, SCHED_OTHER, &none) != 0);
    if (pid > 0) waitpid(pid, &status, 0);
    return status == 0;
}

/* Of each process in the group. True: some had another one, and may have started more meanwhile. */
static bool change_policy(pid_t group, int policy)
{
    const struct sched_param none = {0};
    bool some = false;
    DIR *dir = opendir("/proc");
    if (!dir) return false;
    for (struct dirent *d = readdir(dir); d; d = readdir(dir)) {
        pid_t pid = (pid_t)atol(d->d_name);
        if (pid <= 0 || getpgid(pid) != group || sched_getscheduler(pid) == policy) continue;
        some |= sched_setscheduler(pid, policy, &none) == 0;
    }
    closedir(dir);
    return some;
}

/* Who wakes up goes before an idle process at once. What the job starts from now on takes over what it has; alone: it
   has started nothing yet. An assembler that was left behind as an idle process would get nothing where something else
   keeps the processors busy, and the job, whatever it has now, waits for it. */
static void set_priority(uint64_t priority, bool alone)
{
    const struct sched_param none = {0};
    errno = 0;
    int own = getpriority(PRIO_PROCESS, 0);
    if (errno != 0 || next.pid == 0) return;
    bool idle = priority >= WORKER_LAST && may_return();
    int nice_value = own + (priority == WORKER_BEHIND ? BEHIND_NICE : 0), policy = idle ? SCHED_IDLE : SCHED_OTHER;
    if (priority >= WORKER_LAST && !idle) nice_value = LAST_NICE;
    setpriority(PRIO_PGRP, (id_t)next.pid, nice_value);
    sched_setscheduler(next.pid, policy, &none);
    for (int i = 0; !alone && i < MOST_STARTS && change_policy(next.pid, policy); i++) continue;
}

void worker_set_priority(uint64_t priority)
{
    set_priority(priority, false);
}

void worker_prepare(worker_body *body)
{
    int pair[2];
    pid_t self = getpid();
    next.said = process_open_file("said");
    if (next.said < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        forget();
        return;
    }
    next.waits = pair[0];
    next.pid = fork();
    if (next.pid == 0) work(pair[1], self, next.said, body);
    close(pair[1]);
    if (next.pid > 0) {
        setpgid(next.pid, next.pid);                       /* here too: whoever comes first */
        if (may_return()) set_priority(WORKER_LAST, true); /* until there is a job */
    } else {
        forget();
    }
}

void worker_discard(void)
{
    if (next.pid == 0) return;
    kill(-next.pid, SIGKILL);
    end_group(next.pid, NULL);
    forget();
}

/* The job's connection, to the process that waits for it. */
static int hand_over(const struct worker_job *job)
{
    struct proto_writer w;
    set_priority(job->priority, true);
    proto_begin_notice(&w, "job");
    proto_pack_map(&w, 1);
    proto_pack_uint(&w, "care", job->care);
    w.fds[w.n_fds++] = job->connection;
    int result = proto_finish(&w) ? proto_send(next.waits, &w, 0) : -1;
    proto_writer_clear(&w);
    return result;
}

/* One that has died meanwhile is none. */
static int start(const struct worker_job *job, worker_body *body)
{
    if (next.pid != 0 && hand_over(job) == 0) return 0;
    worker_discard();
    process_clean();
    worker_prepare(body);
    return next.pid != 0 ? hand_over(job) : -1;
}

int worker_run(const struct worker_job *job, const struct worker_control *control, worker_body *body, uint64_t *used_us)
{
    int result = start(job, body);
    close(job->connection);
    if (result != 0) end_like(EXIT_FAILURE << 8);
    control->started(next.pid);
    result = wait_for(next.pid, control);
    if (result != 0) kill(-next.pid, SIGKILL);
    int status = end_group(next.pid, used_us);
    repeat(next.said);
    forget();
    if (status != 0 && result == 0) end_like(status);
    if (!process_clean()) end_like(EXIT_FAILURE << 8);
    return result;
}
