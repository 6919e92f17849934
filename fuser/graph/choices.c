#include "fuser/graph/choices.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TIMES = 64, MOST_ITEMS = 1 << 16 };

/* A decimal number from least to most. */
static bool read_number(const char *text, uint32_t least, uint32_t most, uint32_t *number)
{
    char *end;
    if (!isdigit((unsigned char)*text)) return false;
    unsigned long n = strtoul(text, &end, 10);
    if (*end || n < least || n > most) return false;
    *number = (uint32_t)n;
    return true;
}

static bool read_choice(struct fuser_choices *c, const char *name, const char *value)
{
    bool no = strcmp(value, "no") == 0;
    if (strcmp(name, "recompute") == 0) return no && (c->no_recomputing = true);
    if (strcmp(name, "bands") == 0)
        return no ? (c->no_bands = true) : read_number(value, 1, MOST_TIMES, &c->more_bands);
    if (strcmp(name, "items") == 0) return read_number(value, 1, MOST_ITEMS, &c->group_items);
    if (strcmp(name, "cut") != 0 || c->n_cuts == FUSER_MOST_CUTS) return false;
    return read_number(value, 0, UINT32_MAX - 1, &c->cuts[c->n_cuts++]);
}

bool fuser_choices_read(struct fuser_choices *c, const char *text)
{
    enum { LONGEST = 32 };
    *c = (struct fuser_choices){.text = text};
    while (*text) {
        char word[LONGEST];
        size_t n = strcspn(text, " ");
        if (n == 0 || n >= sizeof word) return false;
        memcpy(word, text, n);
        word[n] = 0;
        char *equals = strchr(word, '=');
        if (!equals) return false;
        *equals = 0;
        if (!read_choice(c, word, equals + 1)) return false;
        text += n;
        if (*text && !*++text) return false;
    }
    return true;
}
