// The same program, compiled as C++.
#include "reduce_messages.c"
