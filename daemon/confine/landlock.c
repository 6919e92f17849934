/* Landlock's system calls, with what older headers do not define. */
#include "daemon/confine/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef LANDLOCK_ACCESS_FS_REFER
#define LANDLOCK_ACCESS_FS_REFER (1ULL << 13)
#endif
#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ULL << 14)
#endif
#ifndef LANDLOCK_ACCESS_FS_IOCTL_DEV
#define LANDLOCK_ACCESS_FS_IOCTL_DEV (1ULL << 15)
#endif
#ifndef LANDLOCK_ACCESS_NET_BIND_TCP
#define LANDLOCK_ACCESS_NET_BIND_TCP (1ULL << 0)
#define LANDLOCK_ACCESS_NET_CONNECT_TCP (1ULL << 1)
#endif
#ifndef LANDLOCK_SCOPE_SIGNAL
#define LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET (1ULL << 0)
#define LANDLOCK_SCOPE_SIGNAL (1ULL << 1)
#endif

/* As the newest version has it; older kernels take its beginning. */
struct rules {
    uint64_t files, net, scoped;
};

static const uint64_t read_rights = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
static const uint64_t file_rights = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE |
                                    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_TRUNCATE |
                                    LANDLOCK_ACCESS_FS_IOCTL_DEV;

int landlock_abi(void)
{
    int abi = (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    return abi > 0 ? abi : 0;
}

static struct rules all_rules(int abi)
{
    struct rules r = {.files = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1}; /* all of the first version */
    if (abi >= 2) r.files |= LANDLOCK_ACCESS_FS_REFER;
    if (abi >= 3) r.files |= LANDLOCK_ACCESS_FS_TRUNCATE;
    if (abi >= 5) r.files |= LANDLOCK_ACCESS_FS_IOCTL_DEV;
    if (abi >= 4) r.net = LANDLOCK_ACCESS_NET_BIND_TCP | LANDLOCK_ACCESS_NET_CONNECT_TCP;
    if (abi >= 6) r.scoped = LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | LANDLOCK_SCOPE_SIGNAL;
    return r;
}

static size_t rules_size(int abi)
{
    return abi >= 6 ? sizeof(struct rules) : abi >= 4 ? offsetof(struct rules, scoped) : offsetof(struct rules, net);
}

static uint64_t rights_of(enum landlock_right right)
{
    switch (right) {
    case LANDLOCK_RIGHT_READ: return read_rights;
    case LANDLOCK_RIGHT_EXECUTE: return read_rights | LANDLOCK_ACCESS_FS_EXECUTE;
    case LANDLOCK_RIGHT_WRITE:
        return read_rights | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE | LANDLOCK_ACCESS_FS_MAKE_REG |
               LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR;
    case LANDLOCK_RIGHT_DEVICE: return read_rights | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_IOCTL_DEV;
    }
    return 0;
}

static int add_path(int rules, const struct landlock_path *path, uint64_t handled)
{
    struct stat s;
    struct landlock_path_beneath_attr rule = {.parent_fd = open(path->path, O_PATH | O_CLOEXEC)};
    if (rule.parent_fd < 0) return errno == ENOENT || errno == ENOTDIR || errno == EACCES ? 0 : -1;
    rule.allowed_access = rights_of(path->right) & handled;
    int result = fstat(rule.parent_fd, &s);
    if (result == 0 && !S_ISDIR(s.st_mode)) rule.allowed_access &= file_rights;
    if (result == 0) result = (int)syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close(rule.parent_fd);
    return result;
}

int landlock_make(const struct landlock_path *paths, size_t n)
{
    int abi = landlock_abi();
    struct rules r = all_rules(abi);
    int rules = (int)syscall(SYS_landlock_create_ruleset, &r, rules_size(abi), 0);
    if (rules < 0) return -1;
    for (size_t i = 0; i < n; i++) {
        if (add_path(rules, &paths[i], r.files) == 0) continue;
        close(rules);
        return -1;
    }
    return rules;
}

int landlock_enter(int rules)
{
    return (int)syscall(SYS_landlock_restrict_self, rules, 0);
}
