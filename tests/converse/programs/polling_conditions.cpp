// The same program, compiled as C++.
#include "polling_conditions.c"
