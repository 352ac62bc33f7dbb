// What the operations of collectives do to elements of each type.
// Owner: none.
#pragma once

#include <photon.h>

#include <cstddef>

namespace photon::classic {

// left[i] = left[i] op right[i]. Whole numbers wrap around.
using Fold = void (*)(void* left, const void* right, std::size_t count);

// 0: there is no such type.
std::size_t element_bytes_of(photon_datatype type) noexcept;

// Null: there is no such operation, or not on this type.
Fold fold_of(photon_datatype type, photon_coll_op op) noexcept;

}  // namespace photon::classic
