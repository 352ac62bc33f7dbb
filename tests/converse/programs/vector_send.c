#include "vector_send.inc.h"
