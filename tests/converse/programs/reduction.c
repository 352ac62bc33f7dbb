#include "reduction.inc.h"
