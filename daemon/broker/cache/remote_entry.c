/* Entries of the second level: names, MACs, and the key that these are made by. */
#include "daemon/broker/cache/remote_entry.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { REMOTE_FORMAT = 1, LEAST_KEY = 16, MOST_KEY = 4096 };

struct access_list {
    struct posix_acl_xattr_header header;
    struct posix_acl_xattr_entry entries[64];
};

/* Does the entry give a right to somebody who is neither us nor root nor the owner? */
static bool is_for_others(const struct posix_acl_xattr_entry *entry, unsigned mask)
{
    unsigned rights = le16toh(entry->e_perm);
    uid_t id = (uid_t)le32toh(entry->e_id);
    switch (le16toh(entry->e_tag)) {
    case ACL_USER_OBJ:
    case ACL_MASK: return false;
    case ACL_USER: return id != 0 && id != geteuid() && (rights & mask);
    case ACL_GROUP_OBJ:
    case ACL_GROUP: return rights & mask;
    default: return rights;
    }
}

/* Where there is a list, its group's rights in the mode are the most that anybody in it has: perhaps we alone, as in
   what systemd gives to a service (LoadCredential=). */
static bool others_may_use(int fd, const struct stat *s)
{
    struct access_list list;
    ssize_t size = fgetxattr(fd, "system.posix_acl_access", &list, sizeof list);
    if (size < (ssize_t)sizeof list.header || le32toh(list.header.a_version) != POSIX_ACL_XATTR_VERSION)
        return s->st_mode & 077;
    size_t n = ((size_t)size - sizeof list.header) / sizeof *list.entries;
    unsigned mask = 07;
    for (size_t i = 0; i < n; i++)
        if (le16toh(list.entries[i].e_tag) == ACL_MASK) mask = le16toh(list.entries[i].e_perm);
    for (size_t i = 0; i < n; i++)
        if (is_for_others(&list.entries[i], mask)) return true;
    return false;
}

static const char *fault_of(int fd, const struct stat *s)
{
    if (!S_ISREG(s->st_mode)) return "it is no file";
    if (others_may_use(fd, s)) return "others than its owner may read or write it";
    if (s->st_uid != geteuid() && s->st_uid != 0) return "it is neither the daemon's nor root's";
    if (s->st_size < LEAST_KEY || s->st_size > MOST_KEY) return "a key has 16 to 4096 bytes";
    return NULL;
}

/* Whatever is in the file, the key is a hash of it. */
int remote_key_read(struct remote_key *key, const char *file, struct error *e)
{
    uint8_t bytes[MOST_KEY];
    struct stat s;
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 || fstat(fd, &s) < 0) {
        int number = errno;
        if (fd >= 0) close(fd);
        return error_set(e, 1, NULL, "%s: %s", file, strerror(number));
    }
    const char *fault = fault_of(fd, &s);
    ssize_t n = fault ? 0 : read(fd, bytes, sizeof bytes);
    close(fd);
    if (!fault && n < LEAST_KEY) fault = "it cannot be read";
    if (fault) return error_set(e, 1, NULL, "%s: %s", file, fault);
    crypto_generichash(key->bytes, sizeof key->bytes, bytes, (size_t)n, NULL, 0);
    sodium_memzero(bytes, sizeof bytes);
    return 0;
}

void remote_entry_name(char name[REMOTE_NAME_SIZE], enum cache_kind kind, const struct hash *key)
{
    int n = snprintf(name, REMOTE_NAME_SIZE, "fusiond:%d:%d:", REMOTE_FORMAT, (int)kind);
    for (size_t i = 0; i < sizeof key->bytes; i++, n += 2) snprintf(name + n, 3, "%02x", key->bytes[i]);
}

void remote_entry_mac(const struct remote_key *with, enum cache_kind kind, const struct hash *key, const void *bytes,
                      size_t size, uint8_t mac[REMOTE_MAC_BYTES])
{
    const uint8_t head[2] = {REMOTE_FORMAT, (uint8_t)kind};
    crypto_generichash_state state;
    crypto_generichash_init(&state, with->bytes, sizeof with->bytes, REMOTE_MAC_BYTES);
    crypto_generichash_update(&state, head, sizeof head);
    crypto_generichash_update(&state, key->bytes, sizeof key->bytes);
    crypto_generichash_update(&state, bytes, size);
    crypto_generichash_final(&state, mac, REMOTE_MAC_BYTES);
}

struct blob *remote_entry_read(const struct remote_key *with, enum cache_kind kind, const struct hash *key,
                               const void *bytes, size_t size)
{
    uint8_t mac[REMOTE_MAC_BYTES];
    if (size < sizeof mac) return NULL;
    const uint8_t *contents = (const uint8_t *)bytes + sizeof mac;
    remote_entry_mac(with, kind, key, contents, size - sizeof mac, mac);
    return sodium_memcmp(mac, bytes, sizeof mac) == 0 ? blob_new(contents, size - sizeof mac) : NULL;
}
