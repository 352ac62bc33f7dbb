#include "self_send.inc.h"
