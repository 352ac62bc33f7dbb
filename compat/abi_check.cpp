// The classic ABI, asserted where the library is compiled.
#include "compat/abi_check.h"

#include <cstdint>
#include <type_traits>

// Programs in C++ overload on it.
static_assert(std::is_same_v<photon_rid, std::uint64_t>);
