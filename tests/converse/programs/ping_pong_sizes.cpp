#include "ping_pong_sizes.inc.h"
