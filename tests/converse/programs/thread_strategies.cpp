// The same program, compiled as C++.
#include "thread_strategies.c"
