/* The process of one job: started, watched, ended with all that it has started. */
#include "daemon/compiler/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/compiler/confine.h"
#include "daemon/compiler/process.h"

enum { MOST_SAID = 2000 }; /* bytes of a job's standard error that reach the log */

/* In the new process: only the connection, and standard error into a file, where it floods nobody's log. */
_Noreturn static void work(int job, pid_t compiler, int said, worker_body *body)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != compiler) _exit(EXIT_FAILURE);
    if (setpgid(0, 0) != 0 || dup2(said, STDERR_FILENO) < 0 || dup3(job, JOB_FD, O_CLOEXEC) < 0) _exit(EXIT_FAILURE);
    close_range(JOB_FD + 1, ~0u, CLOSE_RANGE_CLOEXEC);
    if (confine_enter() != 0) _exit(EXIT_FAILURE);
    close_range(JOB_FD + 1, ~0u, 0);
    body();
    _exit(EXIT_SUCCESS);
}

/* Until it has ended; -1: the broker has closed the connection. */
static int wait_for(pid_t pid, int control)
{
    int process = (int)syscall(SYS_pidfd_open, pid, 0);
    if (process < 0) return 0; /* a kernel before 5.3: waited for below, whatever the broker does */
    struct pollfd fds[] = {{process, POLLIN, 0}, {control, POLLIN, 0}};
    while (poll(fds, 2, -1) < 0 && errno == EINTR) continue;
    close(process);
    return fds[0].revents ? 0 : -1; /* while a job runs the broker says nothing, so that it can only have gone */
}

/* The job has no way out of its process group. Its leader is reaped afterwards: nobody else has its number until then.
 */
static int end_group(pid_t pid)
{
    siginfo_t ended;
    int status = 0;
    while (waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR) continue;
    kill(-pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
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

int worker_run(int control, int job, worker_body *body, void (*started)(int pid))
{
    int said = process_open_file("said");
    pid_t self = getpid(), pid = said >= 0 ? fork() : -1;
    if (pid == 0) work(job, self, said, body);
    close(job);
    if (pid < 0) end_like(EXIT_FAILURE << 8);
    setpgid(pid, pid); /* here too: whoever comes first */
    started(pid);
    int result = wait_for(pid, control);
    if (result != 0) kill(-pid, SIGKILL);
    int status = end_group(pid);
    repeat(said);
    close(said);
    if (status != 0 && result == 0) end_like(status);
    if (!process_clean()) end_like(EXIT_FAILURE << 8);
    return result;
}
