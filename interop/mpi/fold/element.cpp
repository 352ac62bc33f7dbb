#include "interop/mpi/fold/element.hpp"
