#include "machine.inc.h"
