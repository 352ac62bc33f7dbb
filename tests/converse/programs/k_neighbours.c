#include "k_neighbours.inc.h"
