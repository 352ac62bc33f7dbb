#include "careless.inc.h"
