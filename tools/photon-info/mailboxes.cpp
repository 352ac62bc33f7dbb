#include "findings.hpp"

namespace photon_info {

// Those that no setting moves; docs/mailbox.md says what happens beyond each.
std::vector<Limit> find_mailbox_limits() {
  return {
      {"mailbox_retained", 65'536, "buffers that one mailbox retains"},
      {"mailbox_closed_names", 65'536, "closed addresses of a lane whose epochs are remembered"},
      {"mailbox_offers", 1'024, "larger messages of one sender without a verdict"},
      {"mailbox_part_bytes", 1'048'576, "bytes of a part of a get, which is of one moment"},
      {"mailbox_parts", 16, "parts of gets that one rank asks another for at a time"},
  };
}

}  // namespace photon_info
