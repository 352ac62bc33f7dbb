// Classic ids as the context's.
//
//   u64 (size 0)      8 bytes
//   n bytes at data   n bytes
//
// A peer sees 8 bytes in either case and calls them a u64, as libphoton did.
// Owner: none.
#pragma once

#include <photon.h>
#include <photon/types.h>

namespace photon::classic {

// Points into `id`, or where it points.
inline ph_id bytes_of(const photon_cid& id) noexcept {
  if (id.size == 0) return {&id.u64, sizeof id.u64};
  return {id.data, id.size};
}

}  // namespace photon::classic
