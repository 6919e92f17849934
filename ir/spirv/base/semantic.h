/* Attributes as strings, for which SPIR-V has no place of their own: "word(a, b)" or "word=a,b", also inside of [[ ]].
 */
#pragma once

#include <stdbool.h>

struct spirv_semantic {
    char word[64];
    const char *list, *end; /* what is left of the list */
};

/* False where the text is none. */
bool spirv_semantic_split(const char *text, struct spirv_semantic *s);
/* The next name of the list, without the enum's prefix; false: there is none. */
bool spirv_semantic_name(struct spirv_semantic *s, char name[static 64]);
/* "word(a, b) of k": of whom, or NULL. */
const char *spirv_semantic_of(const char *text);
