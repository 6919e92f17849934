/*
 * Accesses outside of their memory, in words: as the interpreter tells them, and as code does that checks them. Code
 * has a description of each access that it checks, its site: text of six lines, which are the members of struct
 * ir_site.
 */
#pragma once

#include "ir/base/nd_range.h"
#include "ir/base/strbuf.h"

struct ir_site {
    const char *object; /* whose error it is: "kernel add" */
    const char *place;  /* "add, line 12" */
    struct nd_range range;
    const char *access;     /* "store of 4 bytes" */
    uint64_t element_bytes; /* what elements are counted in */
    const char *memory;     /* "argument 1 `out` (40 bytes)" */
};

/* Findings of a launch have places: the first of all is told. Its kernel among those of the graph, then the
   work-item's linear id, in so many bits. */
enum { IR_PLACE_ITEM_BITS = 44 };

/* The site as text. */
void ir_site_write(struct strbuf *to, const struct ir_site *site);
/* The object, a line break and the sentence of a finding. A site that is none gives text that says so. */
void ir_finding_text(struct strbuf *to, const char *site, uint64_t place, int64_t offset);
/* The two ends of the sentence: "add, line 12, work-item (3, 0): ", and ": element 10". */
void ir_finding_begin(struct strbuf *to, const char *place, const struct nd_range *range, const uint64_t item[3]);
void ir_finding_end(struct strbuf *to, int64_t offset, uint64_t element_bytes);
