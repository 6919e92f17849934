/* Running another program and waiting for its end. */
#pragma once

/* Its exit status; 127 where it could not be started, 128 + N where signal N ended it. What it says on standard error
   is appended to the file. It reads nothing and prints nothing. */
int process_run(char *const argv[], const char *errors);
