// What travels through the simulated network: one record with its bulk bytes, or credits, or news
// about the sender itself or about a fragment that the NICs move.
// Owner: the network, from post() until take_due(); plain values, no pointer of a rank in it but in
// a Flight.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "transport/transport.hpp"

namespace photon::transport::sim {

// Tag word and data words of one ring line.
using LineImage = std::array<std::uint64_t, sync::kWordsPerLine + 1>;

struct CreditValues {
  std::uint64_t lines = 0;
  std::uint64_t ledger = 0;
  std::uint64_t bulk = 0;
  bool met = false;
  bool operator==(const CreditValues&) const = default;
};

// A fragment on its way. Shared by its initiator and the network; written under the network's
// mutex.
//
//   flying -- all has landed --> PH_OK   flying -- refused, target gone --> an error
//   any -- cancelled by its initiator --> cancelled: its memory is not touched any more
struct Flight {
  PostedFragment fragment;
  ph_status status = PH_OK;
  bool cancelled = false;
};

struct Packet {
  enum class Kind : std::uint8_t {
    hello,     // the sender has its half of the link
    record,    // lines at `position` of the ring, bulk bytes at `bulk_position` of the bulk ring
    credits,   // the sender's credit words
    gone,      // the sender's transport has ended; the last packet of its link
    fragment,  // of the sender's, all of which has landed
    done,      // to the initiator: its fragment is over
  };

  Kind kind = Kind::hello;
  Rank from = 0;
  std::uint32_t incarnation = 0;  // of the sender: 0 is the one that the job began with
  bool is_malformed = false;      // a record that its receiver must end the pair over
  std::uint64_t position = 0;
  std::vector<LineImage> lines;
  std::uint64_t bulk_position = 0;
  std::vector<std::byte> bulk;
  CreditValues credits;
  std::shared_ptr<Flight> flight;
};

}  // namespace photon::transport::sim
