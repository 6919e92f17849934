/* Edit distances between short words (Damerau and Levenshtein's, of adjacent swaps). */
#include "ir/base/nearest.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 64 };

/* A word of three letters may have one wrong, one of nine three. */
static size_t allowed(size_t n)
{
    return n < 3 ? 0 : n / 3 < 3 ? n / 3 : 3;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* rows[i % 3][j]: from the first i letters of a to the first j of b. */
static size_t distance(const char *a, size_t n, const char *b, size_t m)
{
    size_t rows[3][LONGEST + 1];
    for (size_t j = 0; j <= m; j++) rows[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
        }
    }
    return rows[n % 3][m];
}

struct nearest nearest_begin(const char *word, size_t n)
{
    return (struct nearest){.word = word, .n = n, .distance = (n <= LONGEST ? allowed(n) : 0) + 1};
}

void nearest_offer(struct nearest *s, const char *known)
{
    size_t n = known ? strlen(known) : 0;
    if (!known || n > LONGEST || s->n > LONGEST) return;
    if ((n > s->n ? n - s->n : s->n - n) >= s->distance) return; /* each letter more is one wrong */
    size_t d = distance(s->word, s->n, known, n);
    if (d >= s->distance) return;
    s->best = known;
    s->distance = d;
}

const char *nearest_word(const char *word, size_t n, const char *const *known, size_t n_known)
{
    struct nearest s = nearest_begin(word, n);
    for (size_t i = 0; i < n_known; i++) nearest_offer(&s, known[i]);
    return s.best;
}

const char *nearest_hint(const char *best, char *to, size_t size)
{
    *to = 0;
    if (best) snprintf(to, size, " (did you mean `%.80s`?)", best);
    return to;
}
