#include "multicast.inc.h"
