// The same program, compiled as C++.
#include "quiescence_chains.c"
