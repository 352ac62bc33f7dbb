// One memfd mapped by every rank of the run, for the limit programs and for set-up.
// Invariant: the descriptor is closed once every rank has mapped it; nothing has a name, so nothing
// is left behind however the run ends.
// Owner: each rank owns its mapping.
#pragma once

#include <cstddef>
#include <span>

#include "limit_layout.hpp"

namespace photon::perf {

class SharedBlock {
 public:
  // What rank 0 tells the others so that they find its descriptor.
  struct Ticket {
    int pid;
    int descriptor;
  };

  // Rank 0 creates the block, with `data_bytes` of bulk data behind the LimitArea; the others
  // attach by its ticket while its descriptor is open. Both throw Failure.
  static SharedBlock create(std::size_t data_bytes);
  static SharedBlock attach(const Ticket& ticket, std::size_t data_bytes);

  SharedBlock(SharedBlock&& other) noexcept;
  SharedBlock& operator=(SharedBlock&&) = delete;
  ~SharedBlock();

  Ticket ticket() const noexcept;
  void close_descriptor() noexcept;

  LimitArea& area() const noexcept { return *static_cast<LimitArea*>(base_); }
  std::span<std::byte> data() const noexcept;

 private:
  SharedBlock(int descriptor, std::size_t size_bytes);

  int descriptor_ = -1;
  std::size_t size_bytes_ = 0;
  void* base_ = nullptr;
};

}  // namespace photon::perf
