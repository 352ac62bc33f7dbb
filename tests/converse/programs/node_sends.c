#include "node_sends.inc.h"
