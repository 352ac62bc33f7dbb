/* The classic ABI, asserted by a C compiler: it lays out what old programs were compiled with. */
#include "compat/abi_check.h"
