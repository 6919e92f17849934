#include "tools/inspect/terminal/style.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *style(FILE *stream, enum style s)
{
    static const char *const sequences[] = {[STYLE_NONE] = "\033[0m",
                                            [STYLE_BOLD] = "\033[1m",
                                            [STYLE_FAINT] = "\033[2m",
                                            [STYLE_GOOD] = "\033[32m",
                                            [STYLE_ERROR] = "\033[31m"};
    const char *off = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if ((off && *off) || !terminal || strcmp(terminal, "dumb") == 0 || !isatty(fileno(stream))) return "";
    return sequences[s];
}
