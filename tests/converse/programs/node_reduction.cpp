#include "node_reduction.inc.h"
