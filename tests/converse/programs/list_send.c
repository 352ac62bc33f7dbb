#include "list_send.inc.h"
