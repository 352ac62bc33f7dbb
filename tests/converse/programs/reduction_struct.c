#include "reduction_struct.inc.h"
