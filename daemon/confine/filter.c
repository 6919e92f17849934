/* Filters of system calls. */
#include "daemon/confine/filter.h"

#include <stdlib.h>
#include <string.h>

bool filter_wanted(void)
{
#if defined(__SANITIZE_ADDRESS__)
    return false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
    return false;
#endif
#endif
    const char *off = getenv("FUSIOND_NO_SECCOMP");
    return !off || strcmp(off, "1") != 0;
}

int filter_add(scmp_filter_ctx filter, const struct filter_rule *rules, size_t n)
{
    int result = 0;
    for (size_t i = 0; i < n && result == 0; i++)
        result =
            seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, rules[i].call, rules[i].n_conditions, rules[i].conditions);
    return result;
}
