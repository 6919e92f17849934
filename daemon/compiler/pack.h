/* Packing what several replies share. */
#pragma once

#include "proto/writer.h"

/* Map entry "aspects": the names of the bits. */
void pack_aspects(struct proto_writer *w, uint64_t aspects);
/* Map entry with a list of numbers. */
void pack_numbers(struct proto_writer *w, const char *key, const uint64_t *numbers, size_t n);
