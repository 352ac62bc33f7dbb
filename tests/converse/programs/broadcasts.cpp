#include "broadcasts.inc.h"
