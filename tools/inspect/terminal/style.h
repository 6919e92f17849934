/* Colours, where there is a terminal that shows them. */
#pragma once

#include <stdio.h>

enum style { STYLE_NONE, STYLE_BOLD, STYLE_FAINT, STYLE_GOOD, STYLE_ERROR };

/* The sequence that begins the style, "" where the stream is no terminal or $NO_COLOR is set. */
const char *style(FILE *stream, enum style s);
