// The doors of one FakeFabric, its memory that is exposed, and the pieces it has under way: moved
// late, refused now and then, or failing, as the test says.
//
// As with tcp;ofi_rxm: the peer's side looks at the key when a piece begins, and what has begun
// goes on until its door ends; a piece that fails takes all others to that door with it; what a
// door has written when it ends still lands, as long as the peer's door is open.
// Owner: FakeFabric. Doors find each other by a registry of the process.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <photon/memory.h>

#include "transport/ofi/fabric.hpp"

namespace photon::test {

class FakeDoors {
 public:
  using Operation = transport::ofi::Operation;
  using Place = transport::ofi::Place;
  using Taken = transport::ofi::Taken;
  struct Manners {
    unsigned refuses_every = 0;    // each so-manieth piece is refused once
    unsigned completes_after = 0;  // so many step()s after it began
    std::size_t pieces_count = 0;  // under way at a time, at most
  };
  explicit FakeDoors(const Manners& manners) : manners_(manners) {}
  ~FakeDoors() { EXPECT_EQ(exposed_, 0u) << "memory that is still exposed"; }
  FakeDoors(const FakeDoors&) = delete;
  FakeDoors& operator=(const FakeDoors&) = delete;

  base::Result<transport::ofi::Exposed> expose(const transport::ofi::Exposure& wanted) {
    auto& all = registry();
    const std::scoped_lock lock(all.mutex);
    all.shown[wanted.key] = {this, wanted.memory, wanted.access};
    ++exposed_;
    return transport::ofi::Exposed{.handle = wanted.key, .begin = kBegin, .key = wanted.key};
  }
  void conceal(const transport::ofi::Exposed& exposed) noexcept {
    auto& all = registry();
    const std::scoped_lock lock(all.mutex);
    EXPECT_EQ(all.shown.erase(exposed.handle), 1u);
    --exposed_;
  }
  std::unique_ptr<transport::ofi::Door> open() {
    ++opened_;
    return std::make_unique<FakeDoor>(*this);
  }

  // The fabric's: a look; whether a piece is due, and well; moves it.
  void step() noexcept {
    ++steps_;
    if (!holds_landings_) land();
  }
  bool has_ended_any() const noexcept { return ended_ != 0; }
  bool is_due() const noexcept {
    return !holds_ && !pieces_.empty() && pieces_.front().due <= steps_;
  }
  bool is_next_well() const {
    auto& all = registry();
    const std::scoped_lock lock(all.mutex);
    return is_well(all, pieces_.front());
  }
  std::pair<Operation*, bool> move_next() {
    auto& all = registry();
    const std::scoped_lock lock(all.mutex);
    const Piece one = pieces_.front();
    const bool well = is_well(all, one);
    pieces_.pop_front();
    if (!well) {
      for (Piece& other : pieces_)
        if (other.to == one.to) other.theirs = nullptr;
    } else if (one.source != nullptr) {
      std::memcpy(one.theirs, one.source, one.size_bytes);
    } else {
      std::memcpy(one.destination, one.theirs, one.size_bytes);
    }
    under_way_ = pieces_.size();
    return {one.operation, well};
  }

  // The test's.
  void hold(bool holds) { holds_ = holds; }
  void hold_landings(bool holds) { holds_landings_ = holds; }  // of writes to memory of ours
  void fail(bool fails) { fails_ = fails; }                    // though nothing explains it
  void answer(Taken how) { answers_ = how; }  // to pieces from now on; yes: all well
  unsigned opened() const { return opened_; }
  std::size_t exposed() const { return exposed_; }
  std::size_t pieces_under_way() const { return under_way_; }

 private:
  static constexpr std::uint64_t kBegin = 0x1000;  // what the first exposed byte is called
  struct Piece {
    Operation* operation = nullptr;
    std::uint64_t by = 0;
    std::uint64_t to = 0;
    const std::byte* source = nullptr;
    std::byte* destination = nullptr;
    std::size_t size_bytes = 0;
    std::byte* theirs = nullptr;  // null: refused
    std::uint64_t due = 0;
  };
  struct Shown {
    const FakeDoors* whose = nullptr;
    std::span<std::byte> memory;
    std::uint32_t access = 0;
  };
  // A write whose door has ended.
  struct Late {
    std::uint64_t to = 0;
    std::byte* theirs = nullptr;
    std::vector<std::byte> bytes;
  };
  struct Registry {
    std::mutex mutex;
    std::vector<Late> late;
    std::uint64_t numbers = 0;
    std::map<std::uint64_t, const FakeDoors*> doors;
    std::map<std::uint64_t, Shown> shown;  // by key
  };
  class FakeDoor final : public transport::ofi::Door {
   public:
    explicit FakeDoor(FakeDoors& owner) : owner_(owner) {
      auto& all = registry();
      const std::scoped_lock lock(all.mutex);
      number_ = ++all.numbers;
      all.doors[number_] = &owner_;
      std::memcpy(address_, &number_, sizeof number_);
    }
    ~FakeDoor() override {
      auto& all = registry();
      const std::scoped_lock lock(all.mutex);
      all.doors.erase(number_);
      ++owner_.ended_;
      std::erase_if(all.late, [this](const Late& one) { return one.to == number_; });
      for (const Piece& one : owner_.pieces_)
        if (one.by == number_ && one.source != nullptr && owner_.is_well(all, one))
          all.late.push_back({one.to, one.theirs, {one.source, one.source + one.size_bytes}});
      std::erase_if(owner_.pieces_, [this](const Piece& one) { return one.by == number_; });
      owner_.under_way_ = owner_.pieces_.size();
    }
    std::span<const std::byte> address() const noexcept override { return address_; }
    Taken write(std::uint64_t to, std::span<const std::byte> source, const Place& place,
                Operation& operation) noexcept override {
      return owner_.begin({&operation, number_, to, source.data(), nullptr, source.size()}, place);
    }
    Taken read_from(std::uint64_t to, std::span<std::byte> destination, const Place& place,
                    Operation& operation) noexcept override {
      return owner_.begin(
          {&operation, number_, to, nullptr, destination.data(), destination.size()}, place);
    }

   private:
    FakeDoors& owner_;
    std::uint64_t number_ = 0;
    std::byte address_[sizeof number_] = {};
  };

  void land() noexcept {
    auto& all = registry();
    const std::scoped_lock lock(all.mutex);
    std::erase_if(all.late, [&](const Late& one) {
      const auto door = all.doors.find(one.to);
      if (door == all.doors.end() || door->second != this) return false;
      std::memcpy(one.theirs, one.bytes.data(), one.bytes.size());
      return true;
    });
  }
  static Registry& registry() {
    static Registry all;
    return all;
  }
  bool is_well(const Registry& all, const Piece& one) const {
    return one.theirs != nullptr && !fails_ && all.doors.count(one.to) != 0;
  }
  Taken begin(Piece piece, const Place& place) noexcept {
    if (answers_ != Taken::yes) return answers_;
    if (manners_.refuses_every != 0 && ++asked_ % manners_.refuses_every == 0) return Taken::full;
    auto& all = registry();
    const std::scoped_lock lock(all.mutex);
    const auto door = all.doors.find(piece.to);
    const auto found = all.shown.find(place.key);
    if (door != all.doors.end() && found != all.shown.end()) {
      const Shown& one = found->second;
      const std::uint64_t offset = place.address - kBegin;
      const std::uint32_t access = piece.source != nullptr ? PH_ACCESS_WRITE : PH_ACCESS_READ;
      if (door->second == one.whose && (one.access & access) != 0 && offset <= one.memory.size() &&
          piece.size_bytes <= one.memory.size() - offset)
        piece.theirs = one.memory.data() + offset;
    }
    piece.due = steps_ + manners_.completes_after;
    pieces_.push_back(piece);
    under_way_ = pieces_.size();
    EXPECT_LE(pieces_.size(), manners_.pieces_count) << "more pieces than were announced";
    return Taken::yes;
  }

  const Manners manners_;
  std::deque<Piece> pieces_;
  std::uint64_t steps_ = 0;
  unsigned asked_ = 0;
  // The test's thread sets and reads them while a flusher calls.
  std::atomic<unsigned> opened_ = 0;
  std::atomic<unsigned> ended_ = 0;
  std::atomic<unsigned> exposed_ = 0;
  std::atomic<std::size_t> under_way_ = 0;
  std::atomic<bool> holds_ = false;
  std::atomic<bool> holds_landings_ = false;
  std::atomic<bool> fails_ = false;
  std::atomic<Taken> answers_ = Taken::yes;
};

}  // namespace photon::test
