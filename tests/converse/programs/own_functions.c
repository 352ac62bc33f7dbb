#include "own_functions.inc.h"
