#include "multiple_send.inc.h"
