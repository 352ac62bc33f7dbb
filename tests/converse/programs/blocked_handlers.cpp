// The same program, compiled as C++.
#include "blocked_handlers.c"
