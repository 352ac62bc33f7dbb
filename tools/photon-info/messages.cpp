#include <photon/am.h>

#include "findings.hpp"

namespace photon_info {

// Those that no setting moves; docs/active-messages.md says what happens beyond each.
std::vector<Limit> find_am_limits() {
  return {
      {"am_ids", PH_AM_MAX_ID + 1, "handlers of a lane"},
      {"am_small_bytes", PH_AM_SMALL_BYTES, "bytes of the shortest way"},
      {"am_header_bytes", PH_AM_HEADER_BYTES, "bytes of a header"},
      {"am_blocks", PH_AM_BLOCKS, "blocks of a payload, and of a landing"},
      {"am_pulls", 1'024, "payloads of one sender that a rank is to read"},
      {"am_parts", 4, "parts of one payload that are read at a time"},
      {"am_replies", 65'536, "replies to one rank that are still to come"},
  };
}

}  // namespace photon_info
