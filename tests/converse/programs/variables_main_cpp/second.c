#include "../variables_second.inc.h"
