// Checks ph_map() against the promises of photon/map.h: what each rank has mapped of the memory
// that ph_alloc() gave to others.
//
//   pointer:   unmapped -- mapped() --> mapped, counted -- as many unmapped(), gone() --> unmapped
//   its bytes: the owner's `arena`, judged by the oracle as the target of all operations
//              -- freed() --> touched by those alone who have it mapped: known byte by byte
//
// Stores are those of one instruction stream: nobody sees them halfway. The pointer of who ends is
// forgotten when that begins, so nothing is claimed of when the memory is free then.
// Invariant: a pointer that is mapped goes to memory that its owner has given to nobody else.
// Owner: the runner. Threads: one.
#pragma once

#include <photon/photon.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "simtest/oracle.hpp"
#include "simtest/program.hpp"

namespace photon::simtest {

class MapModel {
 public:
  // It says whether so much memory of the owner is within reach of the mapper's own stores.
  using Reaches = std::function<bool(ph_rank mapper, ph_rank owner, std::uint64_t size_bytes)>;

  MapModel(Oracle& oracle, const Program& program, Reaches reaches)
      : oracle_(oracle),
        reaches_(std::move(reaches)),
        ranks_(program.ranks),
        latest_(program.ranks),
        mapped_(program.ranks),
        stale_(program.ranks) {}

  // The region that a step names, as its owner's memory is now, and the status that is right.
  struct Call {
    ph_region region{};
    ph_status right = PH_OK;
  };
  Call call_of(const Endpoint& at, const Step& step);
  void mapped(const Endpoint& at, const Step& step, const Call& call, ph_status status,
              void* local);
  // Every rank has a few at most, so that no owner's table is full of what it has freed.
  bool is_full(ph_rank rank) const noexcept { return mapped_[rank].size() >= kMostMapped; }

  // The pointer is null where none is mapped.
  void* pick(ph_rank rank, std::uint64_t number) const noexcept;
  // This pointer was unmapped, and goes nowhere now; or it is null.
  void* stale(ph_rank rank) noexcept;
  // A ph_unmap() said PH_OK. The result says whether it was the last one of its pointer.
  bool unmapped(ph_rank rank, void* local);

  // These go by the pointers of a rank; nothing happens if it has none.
  void store(ph_rank rank, const Step& step);
  void load(ph_rank rank, const Step& step);
  void load_all(ph_rank rank);

  // The owner's `arena` is its own no more; it has got a new one.
  void freed(ph_rank owner);
  void allocated(ph_rank owner, const ph_region& region);
  // A mapper dies, or begins to finalize.
  void gone(ph_rank mapper) { mapped_[mapper].clear(); }

 private:
  static constexpr std::size_t kMostMapped = 4;

  // One generation of an `arena` that somebody has mapped.
  struct Estate {
    ph_rank owner = 0;
    std::uint32_t generation = 0;
    std::span<std::byte> bytes;
    std::vector<std::byte> freed;  // what it holds, once its owner has freed it

    bool is_freed() const noexcept { return !freed.empty(); }
  };
  struct Mapped {
    void* local = nullptr;
    std::shared_ptr<Estate> estate;
    std::uint64_t offset = 0;
    std::uint64_t size_bytes = 0;
    std::uint64_t count = 0;
  };
  // Some bytes of the memory that a pointer goes to; without an estate there is no pointer.
  struct Place {
    std::shared_ptr<Estate> estate;
    std::byte* at = nullptr;  // by the pointer
    std::uint64_t offset = 0;
    std::uint64_t size_bytes = 0;
  };

  Mapped* find(ph_rank rank, void* local) noexcept;
  Place place_of(ph_rank rank, const Step& step) const;
  bool may_say(const Endpoint& at, const Step& step, const Call& call, ph_status status);
  std::shared_ptr<Estate> estate_of(ph_rank owner);
  void check(ph_rank rank, const Place& place);
  static std::string text_of_place(const Place& place);

  Oracle& oracle_;
  const Reaches reaches_;
  const std::uint32_t ranks_;
  std::vector<std::shared_ptr<Estate>> latest_;  // by owner; null: nobody has that mapped
  std::vector<std::vector<Mapped>> mapped_;      // by mapper, the oldest first
  std::vector<void*> stale_;                     // the same
  std::deque<Step> stores_;                      // the oracle keeps pointers to them
};

}  // namespace photon::simtest
