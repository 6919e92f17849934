/* What the kernels of a run print: whole messages, bounded, in the order of their work-items. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ir_printer;

struct ir_printer *ir_printer_new(size_t most_bytes); /* of all messages until they are taken */
void ir_printer_free(struct ir_printer *p);           /* NULL is fine */
/* By any thread. item: where in the launch; messages of one item keep their order. False: it was dropped, and counted,
   since there is no room. p may be NULL: all is dropped. */
bool ir_printer_add(struct ir_printer *p, uint64_t item, const char *text, size_t bytes);
/* So many were dropped before they came here. */
void ir_printer_drop(struct ir_printer *p, uint64_t n);
/* By any thread: an access outside of its memory (ir/printf/finding.h). Of a launch's the one with the least place is
   kept, of several with that the first one, and of a run of launches that of the first launch that has one. */
void ir_printer_find(struct ir_printer *p, uint64_t place, const char *site, int64_t offset);
/* There was one that did not come here. */
void ir_printer_find_unknown(struct ir_printer *p);
/* What was found by launches that have ended, as ir_finding_text() has it, until the next call of any of these; NULL:
   nothing. Begins again with nothing. */
const char *ir_printer_take_finding(struct ir_printer *p);
/* The launch is over: what it printed comes behind what was printed before. */
void ir_printer_end_launch(struct ir_printer *p);
/* Text of all launches that have ended, until the next call of any of these; and begins again with nothing. */
const char *ir_printer_take(struct ir_printer *p, size_t *bytes, uint64_t *dropped);
/* Gives back the memory of texts that were taken. */
void ir_printer_trim(struct ir_printer *p);
