/* Attributes as strings. */
#include "ir/spirv/base/semantic.h"

#include <stdio.h>
#include <string.h>

#define OF ") of "

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == ',';
}

bool spirv_semantic_split(const char *text, struct spirv_semantic *s)
{
    while (*text == '[' || *text == ' ') text++;
    size_t n = strcspn(text, "(=");
    if (!text[n] || n >= sizeof s->word) return false;
    snprintf(s->word, sizeof s->word, "%.*s", (int)n, text);
    s->list = text + n + 1;
    s->end = s->list + strcspn(s->list, ")]");
    return true;
}

bool spirv_semantic_name(struct spirv_semantic *s, char name[static 64])
{
    while (s->list < s->end && is_space(*s->list)) s->list++;
    const char *begin = s->list;
    while (s->list < s->end && !is_space(*s->list)) s->list++;
    for (const char *p = begin; p + 1 < s->list; p++)
        if (p[0] == ':' && p[1] == ':') begin = p + 2;
    snprintf(name, 64, "%.*s", (int)(s->list - begin), begin);
    return s->list > begin;
}

const char *spirv_semantic_of(const char *text)
{
    const char *end = strchr(text, ')');
    return end && strncmp(end, OF, strlen(OF)) == 0 ? end + strlen(OF) : NULL;
}
