#include "../variables_first.inc.h"
