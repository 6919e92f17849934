/* What is said where the arguments of a command are not its own. */
#pragma once

/* Says it: the word that is no option of the NULL-terminated list, what was meant, and `arguments`, which the command
   has; as JSON where --json is among them. With --help, how it is used. Gives the exit status. */
int usage_of(int argc, char **argv, const char *arguments, const char *const *options);
