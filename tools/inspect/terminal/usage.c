#include "tools/inspect/terminal/usage.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "ir/base/nearest.h"
#include "tools/inspect/terminal/complain.h"

static bool is_one_of(const char *word, const char *const *words)
{
    while (*words && strcmp(*words, word) != 0) words++;
    return *words;
}

/* NULL: all are known. */
static const char *unknown_option(int argc, char **argv, const char *const *options)
{
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], "--", 2) == 0 && !is_one_of(argv[i], options)) return argv[i];
    return NULL;
}

int usage_of(int argc, char **argv, const char *arguments, const char *const *options)
{
    static const char *const help[] = {"--help", "-h", NULL};
    char hint[120];
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) complain_as_json();
        if (!is_one_of(argv[i], help)) continue;
        printf("usage: fusion-inspect %s %s\n", argv[0], arguments);
        return 0;
    }
    const char *word = unknown_option(argc, argv, options);
    struct nearest s = nearest_begin(word ? word : "", word ? strlen(word) : 0);
    for (; word && *options; options++) nearest_offer(&s, *options);
    if (word)
        complain(argv[0], "invalid", "there is no option `%s`%s; usage: fusion-inspect %s %s", word,
                 nearest_hint(s.best, hint, sizeof hint), argv[0], arguments);
    else
        complain(argv[0], "invalid", "usage: fusion-inspect %s %s", argv[0], arguments);
    return 2;
}
