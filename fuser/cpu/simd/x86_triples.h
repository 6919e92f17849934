/* Three bytes of each work-item one after the other in memory, as in pictures of RGB pixels, as words and back. */
#pragma once

#include "fuser/cpu/jit/emit.h"

/* A register of words of 4 bytes, the last of them 0, of what lies at the address; nothing behind that is read. */
lval x86_load_triples(struct emit *e, rval address);
/* The other way round: the last byte of each word is left out, and nothing behind the others is written. */
void x86_store_triples(struct emit *e, rval address, lval v);
