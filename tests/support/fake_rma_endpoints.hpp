// The RMA endpoints of one FakeFabric, its memory that is exposed, and the fragments it has under
// way: moved late, refused now and then, or failing, as the test says.
//
// As with tcp;ofi_rxm: the peer's side looks at the key when a fragment begins, and what has begun
// goes on until its RMA endpoint ends; a fragment that fails takes all others to that RMA endpoint
// with it; what an RMA endpoint has written when it ends still lands, as long as the peer's RMA
// endpoint is open. Owner: FakeFabric. RMA endpoints find each other by a registry of the process.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <photon/memory.h>

#include "transport/ofi/fabric.hpp"

namespace photon::test {

class FakeRmaEndpoints {
 public:
  using Operation = transport::ofi::Operation;
  using Place = transport::ofi::Place;
  using Taken = transport::ofi::Taken;
  using Buffer = transport::ofi::Buffer;
  struct Manners {
    unsigned refuses_every = 0;       // each so-manieth fragment is refused once
    unsigned completes_after = 0;     // so many step()s after it began
    std::size_t fragments_count = 0;  // under way at a time, at most
    std::size_t told_count = 0;       // likewise, of what peers' writes tell
    bool refuses_data = false;        // of writes
    unsigned dead_rma_endpoints = 0;  // so many take nothing, the first ones
    // Of our own memory that a fragment uses.
    std::function<void(const Buffer& own, bool is_written)> check_own = [](const Buffer&, bool) {};
  };
  explicit FakeRmaEndpoints(Manners manners) : manners_(std::move(manners)) {}
  ~FakeRmaEndpoints() { EXPECT_EQ(exposed_, 0u) << "memory that is still exposed"; }
  FakeRmaEndpoints(const FakeRmaEndpoints&) = delete;
  FakeRmaEndpoints& operator=(const FakeRmaEndpoints&) = delete;

  base::Result<transport::ofi::Exposed> expose(const transport::ofi::Exposure& wanted,
                                               const transport::ofi::RmaEndpoint& by) {
    auto& all = registry();
    const std::scoped_lock lock(all.mutex);
    const std::uint64_t rma_endpoint = dynamic_cast<const FakeRmaEndpoint&>(by).number();
    all.shown[wanted.key] = {rma_endpoint, wanted.memory, wanted.access};
    ++exposed_;
    return transport::ofi::Exposed{.handle = wanted.key, .begin = kBegin, .key = wanted.key};
  }
  void conceal(const transport::ofi::Exposed& exposed) noexcept {
    auto& all = registry();
    const std::scoped_lock lock(all.mutex);
    EXPECT_EQ(all.shown.erase(exposed.handle), 1u);
    --exposed_;
  }
  std::unique_ptr<transport::ofi::RmaEndpoint> open() {
    ++opened_;
    return std::make_unique<FakeRmaEndpoint>(*this);
  }

  // The fabric's: a look; whether a fragment is due, and well; moves it.
  void step() noexcept {
    ++steps_;
    if (!holds_landings_) land();
  }
  bool has_ended_any() const noexcept { return ended_ != 0; }
  bool is_due() const noexcept {
    return !holds_ && !fragments_.empty() && fragments_.front().due <= steps_;
  }
  bool is_next_well() const {
    auto& all = registry();
    const std::scoped_lock lock(all.mutex);
    return is_well(all, fragments_.front());
  }
  std::pair<Operation*, bool> move_next() {
    auto& all = registry();
    const std::scoped_lock lock(all.mutex);
    const Fragment one = fragments_.front();
    const bool well = is_well(all, one);
    fragments_.pop_front();
    if (!well) {
      for (Fragment& other : fragments_)
        if (other.to == one.to) other.theirs = nullptr;
    } else if (one.has_landed) {
    } else if (one.source != nullptr) {
      std::memcpy(one.theirs, one.source, one.size_bytes);
      if (one.operation->data) tell(all, one.to, *one.operation->data);
    } else {
      std::memcpy(one.destination, one.theirs, one.size_bytes);
    }
    under_way_ = fragments_.size();
    return {one.operation, well};
  }

  // What peers' writes have told us.
  bool has_told() const {
    const std::scoped_lock lock(registry().mutex);
    return !told_.empty() && !holds_told_;
  }
  std::uint64_t move_told() {
    const std::scoped_lock lock(registry().mutex);
    const std::uint64_t data = told_.front().second;
    told_.pop_front();
    return data;
  }

  // The test's.
  // Moves and tells the fragment that is due next, but does not say so: its RMA endpoint fails it
  // later.
  void land_unanswered() { ASSERT_TRUE(land_unanswered_if_well()); }
  bool land_unanswered_if_well() {
    auto& all = registry();
    const std::scoped_lock lock(all.mutex);
    for (Fragment& one : fragments_) {
      if (one.has_landed || one.source == nullptr || !is_well(all, one)) continue;
      one.has_landed = true;
      std::memcpy(one.theirs, one.source, one.size_bytes);
      if (one.operation->data) tell(all, one.to, *one.operation->data);
      return true;
    }
    return false;
  }
  // What is told is not read meanwhile, by a flusher neither; when our RMA endpoint ends, it goes
  // with it.
  void hold_told(bool holds = true) {
    const std::scoped_lock lock(registry().mutex);
    holds_told_ = holds;
  }
  // As a stranger would.
  void tell_us(std::uint64_t data) {
    const std::scoped_lock lock(registry().mutex);
    told_.push_back({0, data});
  }
  void hold(bool holds) { holds_ = holds; }
  void hold_landings(bool holds) { holds_landings_ = holds; }  // of writes to memory of ours
  void fail(bool fails) { fails_ = fails; }                    // though nothing explains it
  void answer(Taken how) { answers_ = how; }  // to fragments from now on; yes: all well
  unsigned opened() const { return opened_; }
  std::size_t exposed() const { return exposed_; }
  std::size_t fragments_under_way() const { return under_way_; }

 private:
  static constexpr std::uint64_t kBegin = 0x1000;  // what the first exposed byte is called
  struct Fragment {
    Operation* operation = nullptr;
    std::uint64_t by = 0;
    std::uint64_t to = 0;
    const std::byte* source = nullptr;
    std::byte* destination = nullptr;
    std::size_t size_bytes = 0;
    std::byte* theirs = nullptr;  // null: refused
    std::uint64_t due = 0;
    bool has_landed = false;
  };
  struct Shown {
    std::uint64_t rma_endpoint = 0;
    std::span<std::byte> memory;
    std::uint32_t access = 0;
  };
  // A write whose RMA endpoint has ended.
  struct Late {
    std::uint64_t to = 0;
    std::byte* theirs = nullptr;
    std::vector<std::byte> bytes;
    std::optional<std::uint64_t> data;
  };
  struct Registry {
    std::mutex mutex;
    std::vector<Late> late;
    std::uint64_t numbers = 0;
    std::map<std::uint64_t, FakeRmaEndpoints*> rma_endpoints;
    std::map<std::uint64_t, Shown> shown;  // by key
  };
  class FakeRmaEndpoint final : public transport::ofi::RmaEndpoint {
   public:
    explicit FakeRmaEndpoint(FakeRmaEndpoints& owner)
        : owner_(owner), is_dead_(owner.opened_ <= owner.manners_.dead_rma_endpoints) {
      auto& all = registry();
      const std::scoped_lock lock(all.mutex);
      number_ = ++all.numbers;
      all.rma_endpoints[number_] = &owner_;
      std::memcpy(address_, &number_, sizeof number_);
    }
    ~FakeRmaEndpoint() override {
      auto& all = registry();
      const std::scoped_lock lock(all.mutex);
      all.rma_endpoints.erase(number_);
      for (const auto& [key, one] : all.shown)
        EXPECT_NE(one.rma_endpoint, number_) << "concealed first";
      ++owner_.ended_;
      // As NICs do; what was not read is lost.
      std::erase_if(owner_.told_, [this](const auto& one) { return one.first == number_; });
      owner_.holds_told_ = false;
      std::erase_if(all.late, [this](const Late& one) { return one.to == number_; });
      for (const Fragment& one : owner_.fragments_)
        if (one.by == number_ && one.source != nullptr && !one.has_landed &&
            owner_.is_well(all, one))
          all.late.push_back(
              {one.to, one.theirs, {one.source, one.source + one.size_bytes}, one.operation->data});
      std::erase_if(owner_.fragments_, [this](const Fragment& one) { return one.by == number_; });
      owner_.under_way_ = owner_.fragments_.size();
    }
    std::span<const std::byte> address() const noexcept override { return address_; }
    std::uint64_t number() const noexcept { return number_; }
    Taken write(std::uint64_t to, const Buffer& source, const Place& place,
                Operation& operation) noexcept override {
      owner_.check_own(source, false);
      if (is_dead_) return Taken::full;
      const auto& bytes = source.bytes;
      return owner_.begin({&operation, number_, to, bytes.data(), nullptr, bytes.size()}, place);
    }
    Taken read_from(std::uint64_t to, const Buffer& destination, const Place& place,
                    Operation& operation) noexcept override {
      owner_.check_own(destination, true);
      if (is_dead_) return Taken::full;
      const auto& bytes = destination.bytes;
      return owner_.begin({&operation, number_, to, nullptr, bytes.data(), bytes.size()}, place);
    }

   private:
    FakeRmaEndpoints& owner_;
    const bool is_dead_;
    std::uint64_t number_ = 0;
    std::byte address_[sizeof number_] = {};
  };

  void land() noexcept {
    auto& all = registry();
    const std::scoped_lock lock(all.mutex);
    std::erase_if(all.late, [&](const Late& one) {
      const auto rma_endpoint = all.rma_endpoints.find(one.to);
      if (rma_endpoint == all.rma_endpoints.end() || rma_endpoint->second != this) return false;
      std::memcpy(one.theirs, one.bytes.data(), one.bytes.size());
      if (one.data) tell(all, one.to, *one.data);
      return true;
    });
  }
  static void tell(Registry& all, std::uint64_t rma_endpoint, std::uint64_t data) {
    FakeRmaEndpoints& owner = *all.rma_endpoints.at(rma_endpoint);
    owner.told_.push_back({rma_endpoint, data});
    EXPECT_LE(owner.told_.size(), owner.manners_.told_count) << "more is told than was announced";
  }
  static Registry& registry() {
    static Registry all;
    return all;
  }
  bool is_well(const Registry& all, const Fragment& one) const {
    return one.theirs != nullptr && !fails_ && all.rma_endpoints.count(one.to) != 0;
  }
  void check_own(const Buffer& own, bool is_written) const { manners_.check_own(own, is_written); }
  Taken begin(Fragment fragment, const Place& place) noexcept {
    if (answers_ != Taken::yes) return answers_;
    if (manners_.refuses_data && fragment.operation->data) return Taken::refused;
    if (manners_.refuses_every != 0 && ++asked_ % manners_.refuses_every == 0) return Taken::full;
    auto& all = registry();
    const std::scoped_lock lock(all.mutex);
    const auto rma_endpoint = all.rma_endpoints.find(fragment.to);
    const auto found = all.shown.find(place.key);
    if (rma_endpoint != all.rma_endpoints.end() && found != all.shown.end()) {
      const Shown& one = found->second;
      const std::uint64_t offset = place.address - kBegin;
      const std::uint32_t access = fragment.source != nullptr ? PH_ACCESS_WRITE : PH_ACCESS_READ;
      if (fragment.to == one.rma_endpoint && (one.access & access) != 0 &&
          offset <= one.memory.size() && fragment.size_bytes <= one.memory.size() - offset)
        fragment.theirs = one.memory.data() + offset;
    }
    fragment.due = steps_ + manners_.completes_after;
    fragments_.push_back(fragment);
    under_way_ = fragments_.size();
    EXPECT_LE(fragments_.size(), manners_.fragments_count) << "more fragments than were announced";
    return Taken::yes;
  }

  const Manners manners_;
  std::deque<Fragment> fragments_;
  // Of what peers' writes tell, under the registry's mutex: a test's thread and a flusher look.
  bool holds_told_ = false;
  std::deque<std::pair<std::uint64_t, std::uint64_t>> told_;  // by which RMA endpoint
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
