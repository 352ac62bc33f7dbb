// A fabric within the process, for tests of transport ofi without libfabric: messages go from
// endpoint to endpoint in order; refusals, late completions and failures are the test's.
//
//   FakeManners manners{.refuses_every = 3};
//   open_ofi_over(config, boot, open_fake(manners));
//
// It checks what the transport promises: no more under way than it said, no more completions.
// Owner: the test. The endpoints that live find each other by a registry of the process.
#pragma once

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "base/unique_fd.hpp"
#include "fake_manners.hpp"
#include "fake_rma_endpoints.hpp"
#include "transport/ofi/fabric.hpp"

namespace photon::test {

class FakeFabric final : public transport::ofi::Fabric {
 public:
  using Operation = transport::ofi::Operation;
  using Buffer = transport::ofi::Buffer;
  using Completion = transport::ofi::Completion;

  FakeFabric(const FakeManners& manners, const transport::ofi::FabricWants& wants)
      : manners_(manners),
        sends_count_(wants.sends_count),
        receives_count_(wants.receives_count),
        rma_endpoints_({manners.refuses_every, manners.completes_after, wants.fragments_count,
                        wants.told_count, manners.refuses_data, manners.dead_rma_endpoints,
                        [this](const Buffer& own, bool writes) { check_own(own, writes); }}) {
    add_endpoint();
    number_ = numbers_.front();
    traits_.provider = "fake";
    traits_.domain = "here";
    traits_.most_bytes = manners.most_bytes;
    traits_.inject_bytes = manners.inject_bytes;
    traits_.keeps_order = manners.keeps_order;
    traits_.has_rma_endpoints = manners.has_rma_endpoints && wants.fragments_count != 0;
    traits_.registers_own = manners.registers_all;
    traits_.data_bytes = traits_.has_rma_endpoints ? manners.data_bytes : 0;
    if (manners.has_wait_fd) traits_.wait_fd = box_->news.get();
  }
  ~FakeFabric() override {
    stop();
    EXPECT_TRUE(shown_.empty()) << "memory that is still registered";
  }

  const Traits& traits() const noexcept override { return traits_; }
  std::span<const std::byte> address(std::size_t by) const noexcept override {
    return std::as_bytes(std::span(&numbers_[by], 1));
  }
  base::Result<> open_endpoint() override {
    if (manners_.opens_no_endpoint && ++refused_endpoints_ != 0)
      return base::Error{PH_ERR_SYSTEM, 0, "no fake endpoint is left"};
    add_endpoint();
    return {};
  }
  std::size_t endpoints_count() const noexcept override { return endpoints_count_; }
  base::Result<std::uint64_t> insert(std::span<const std::byte> address) override {
    std::uint64_t number = 0;
    if (manners_.takes_no_address) return base::Error{PH_ERR_SYSTEM, 0, "the fake table is full"};
    if (address.size() != sizeof number) return base::Error{PH_ERR_PROTOCOL, 0, "no fake address"};
    std::memcpy(&number, address.data(), sizeof number);
    return number;
  }
  base::Result<std::uint64_t> show(std::span<std::byte> memory, Use use) override {
    if (!wants_shown()) return std::uint64_t{0};
    const auto posted = std::count_if(shown_.begin(), shown_.end(), [](const auto& one) {
      return one.second.use != Use::messages;
    });
    if (use != Use::messages && manners_.registers_most != 0 && posted >= manners_.registers_most)
      return base::Error{PH_ERR_MEMORY, 0, "the fake NIC is full"};
    shown_[++handles_] = {memory, use};
    return handles_;
  }
  void hide(std::uint64_t handle) noexcept override { EXPECT_EQ(shown_.erase(handle), 1u); }

  Taken send(const transport::ofi::Route& route, const Buffer& message,
             Operation& operation) noexcept override {
    const std::uint64_t to = route.to;
    EXPECT_LT(route.by, numbers_.size());
    check_shown(message, {Use::messages});
    if (fails_sends_) return Taken::failed;
    if (has_no_way_) return Taken::no_way;
    if (is_stuck_) note_refusal();
    if (is_stuck_ || is_refused() || is_dead(route)) return Taken::full;
    if (takes_left_ != 0 && --takes_left_ == 0) is_stuck_ = true;
    const unsigned number = ++taken_count_;
    ++taken_by_.at(route.by);
    const bool fails = number == manners_.fails || number <= manners_.fails_first;
    const bool is_lost = number == manners_.loses || fails;
    const bool is_later = manners_.sends_when_over && !is_lost;
    if (!is_lost && !is_later) deliver(to, message.bytes);
    if (message.bytes.size() <= manners_.inject_bytes) return Taken::over;
    under_way_.push_back({&operation, reads_count_ + manners_.completes_after, fails, to, {}});
    if (is_later) under_way_.back().later.assign(message.bytes.begin(), message.bytes.end());
    EXPECT_LE(under_way_.size(), sends_count_) << "more sends under way than were announced";
    return Taken::yes;
  }
  Taken receive(const Buffer& into, Operation& operation) noexcept override {
    check_shown(into, {Use::messages});
    if (is_refused()) return Taken::full;
    const auto has_fewer = [](const auto& a, const auto& b) { return a.size() < b.size(); };
    const auto least = std::min_element(posted_.begin(), posted_.end(), has_fewer);
    least->push_back({into.bytes, &operation});
    EXPECT_LE(posted_count(), receives_count_) << "more receives posted than were announced";
    return Taken::yes;
  }
  base::Result<transport::ofi::Exposed> expose(const transport::ofi::Exposure& wanted,
                                               transport::ofi::RmaEndpoint& by) override {
    if (manners_.opens_none) return base::Error{PH_ERR_MEMORY, 0, "the fake NIC is full"};
    return rma_endpoints_.expose(wanted, by);
  }
  void conceal(const transport::ofi::Exposed& exposed) noexcept override {
    rma_endpoints_.conceal(exposed);
  }
  base::Result<std::unique_ptr<transport::ofi::RmaEndpoint>> open_rma_endpoint() override {
    if (manners_.opens_none) return base::Error{PH_ERR_SYSTEM, 0, "no fake RMA endpoint is left"};
    return rma_endpoints_.open();
  }
  Got read(std::span<Completion> into, std::size_t& count) noexcept override {
    count = 0;
    ++reads_count_;
    if (breaks_) return Got::broken;
    const bool is_due = !under_way_.empty() && !holds_completions_ &&
                        under_way_.front().due <= reads_count_ && under_way_.front().fails;
    if (is_due || (fails_next_send_ && !under_way_.empty())) {
      fails_next_send_ = false;
      failed_ = under_way_.front().operation;
      under_way_.pop_front();
      return Got::error;
    }
    rma_endpoints_.step();
    while (count < into.size() && rma_endpoints_.has_told())
      into[count++] = {nullptr, 0, rma_endpoints_.move_told()};
    while (count < into.size() && rma_endpoints_.is_due()) {
      if (!rma_endpoints_.is_next_well() && count != 0) break;  // the error comes first next time
      const auto [operation, is_well] = rma_endpoints_.move_next();
      if (!is_well) {
        failed_ = operation;
        return Got::error;
      }
      into[count++] = {operation, 0};
    }
    while (count < into.size() && !holds_completions_ && !under_way_.empty() &&
           under_way_.front().due <= reads_count_ && !under_way_.front().fails) {
      if (!under_way_.front().later.empty())
        deliver(under_way_.front().to, under_way_.front().later);
      into[count++] = {under_way_.front().operation, 0};
      under_way_.pop_front();
    }
    const std::scoped_lock lock(box_->mutex);
    if (!manners_.keeps_order) std::reverse(box_->messages.begin(), box_->messages.end());
    for (auto one = box_->messages.begin(); count < into.size() && one != box_->messages.end();) {
      auto& posted_there = posted_[index_of(one->to)];
      if (posted_there.empty()) {
        ++one;
        continue;
      }
      const Posted posted = posted_there.front();
      const auto& message = one->bytes;
      if (message.size() > posted.bytes.size()) {
        if (count != 0) break;  // the error comes first next time
        failed_ = posted.operation;
        posted_there.pop_front();
        box_->messages.erase(one);
        return Got::error;
      }
      std::copy(message.begin(), message.end(), posted.bytes.begin());
      into[count++] = {posted.operation, message.size()};
      posted_there.pop_front();
      one = box_->messages.erase(one);
    }
    if (box_->messages.empty()) box_->quiet();
    return Got::some;
  }
  Operation* failed() const noexcept override { return failed_; }
  std::string words() const override { return "fake trouble"; }
  MayWait may_wait() noexcept override {
    EXPECT_FALSE(rma_endpoints_.has_ended_any()) << "fi_trywait() of libfabric 1.17 crashes then";
    if (fails_waits_) return MayWait::failed;
    const std::scoped_lock lock(box_->mutex);
    return box_->messages.empty() && under_way_.empty() && rma_endpoints_.fragments_under_way() == 0
               ? MayWait::yes
               : MayWait::not_now;
  }
  void stop() noexcept override {
    auto& all = registry();
    const std::scoped_lock lock(all.mutex);
    for (const std::uint64_t number : numbers_) all.boxes.erase(number);
    EXPECT_EQ(rma_endpoints_.fragments_under_way(), 0u) << "RMA endpoints end first";
    posted_.clear();
    under_way_.clear();
  }

  // The test's.
  void stick(bool is_stuck) { is_stuck_ = is_stuck; }
  // It takes so many messages, then it is stuck again.
  void take_only(unsigned count) {
    takes_left_ = count;
    is_stuck_ = false;
  }
  void hold_completions(bool holds) { holds_completions_ = holds; }
  FakeRmaEndpoints& rma_endpoints() { return rma_endpoints_; }
  void fail_sends(bool fails = true) { fails_sends_ = fails; }
  void lose_way(bool has_none) { has_no_way_ = has_none; }
  void fail_next_send() { fails_next_send_ = true; }
  void fail_waits() { fails_waits_ = true; }
  void break_down() { breaks_ = true; }
  // When sends were refused since it is stuck.
  std::vector<std::chrono::steady_clock::time_point> refusals() const {
    const std::scoped_lock lock(refusals_mutex_);
    return refusals_;
  }
  std::uint64_t number() const { return number_; }
  unsigned refused_endpoints() const { return refused_endpoints_; }  // to open
  unsigned taken_by(std::size_t endpoint) const { return taken_by_.at(endpoint); }
  // Its first endpoint sends nothing any more, and what is sent there is lost.
  void lose_first() {
    auto& all = registry();
    const std::scoped_lock lock(all.mutex);
    all.boxes.erase(number_);
    is_first_stuck_ = true;
  }
  std::size_t shown() const { return shown_.size(); }
  // From nowhere, as a stranger would.
  static void deliver(std::uint64_t to, std::span<const std::byte> bytes) {
    std::shared_ptr<Box> box;
    {
      auto& all = registry();
      const std::scoped_lock lock(all.mutex);
      const auto found = all.boxes.find(to);
      if (found == all.boxes.end()) return;
      box = found->second;
    }
    const std::scoped_lock lock(box->mutex);
    box->messages.push_back({to, {bytes.begin(), bytes.end()}});
    const std::uint64_t one = 1;
    if (::write(box->news.get(), &one, sizeof one) < 0) return;
  }

 private:
  struct Box {
    void quiet() const {
      std::uint64_t ignored = 0;
      if (::read(news.get(), &ignored, sizeof ignored) < 0) return;
    }
    struct Letter {
      std::uint64_t to = 0;
      std::vector<std::byte> bytes;
    };
    std::mutex mutex;
    std::deque<Letter> messages;
    base::UniqueFd news{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  };
  struct Registry {
    std::mutex mutex;
    std::uint64_t numbers = 0;
    std::map<std::uint64_t, std::shared_ptr<Box>> boxes;
    std::set<std::uint64_t> dead;
  };
  struct UnderWay {
    Operation* operation = nullptr;
    std::uint64_t due = 0;
    bool fails = false;
    std::uint64_t to = 0;
    std::vector<std::byte> later;
  };
  struct Posted {
    std::span<std::byte> bytes;
    Operation* operation = nullptr;
  };
  void add_endpoint() {
    auto& all = registry();
    const std::scoped_lock lock(all.mutex);
    numbers_.push_back(++all.numbers);
    all.boxes[numbers_.back()] = box_;
    if (numbers_.size() <= manners_.dead_endpoints) all.dead.insert(numbers_.back());
    posted_.emplace_back();
    ++endpoints_count_;
  }
  bool is_dead(const transport::ofi::Route& route) const {
    if (route.by == 0 && is_first_stuck_) return true;
    auto& all = registry();
    const std::scoped_lock lock(all.mutex);
    return route.by < manners_.dead_endpoints && all.dead.count(route.to) != 0;
  }
  std::size_t index_of(std::uint64_t number) const {
    return static_cast<std::size_t>(std::find(numbers_.begin(), numbers_.end(), number) -
                                    numbers_.begin());
  }
  std::size_t posted_count() const {
    std::size_t count = 0;
    for (const auto& one : posted_) count += one.size();
    return count;
  }
  bool wants_shown() const { return manners_.wants_memory_shown || manners_.registers_all; }
  void check_shown(const Buffer& used, std::initializer_list<Use> uses) const {
    if (!wants_shown()) {
      EXPECT_EQ(used.handle, 0u);
      return;
    }
    const auto found = shown_.find(used.handle);
    if (found == shown_.end()) {
      ADD_FAILURE() << "memory that is not registered";
      return;
    }
    const auto& memory = found->second.memory;
    EXPECT_NE(std::find(uses.begin(), uses.end(), found->second.use), uses.end());
    EXPECT_LE(memory.data(), used.bytes.data());
    EXPECT_GE(memory.data() + memory.size(), used.bytes.data() + used.bytes.size());
  }
  void check_own(const Buffer& own, bool is_written) const {
    if (!manners_.registers_all) {
      EXPECT_EQ(own.handle, 0u);
      return;
    }
    if (is_written) return check_shown(own, {Use::destinations});
    check_shown(own, {Use::sources, Use::destinations});
  }
  static Registry& registry() {
    static Registry all;
    return all;
  }
  void note_refusal() {
    const std::scoped_lock lock(refusals_mutex_);
    refusals_.push_back(std::chrono::steady_clock::now());
  }
  bool is_refused() {
    return manners_.refuses_every != 0 && ++asked_count_ % manners_.refuses_every == 0;
  }

  const FakeManners manners_;
  const std::size_t sends_count_;
  const std::size_t receives_count_;
  const std::shared_ptr<Box> box_ = std::make_shared<Box>();
  Traits traits_;
  std::vector<std::uint64_t> numbers_;  // of the endpoints, which share the box
  std::uint64_t number_ = 0;            // of the first
  std::deque<UnderWay> under_way_;
  std::vector<std::deque<Posted>> posted_;  // by endpoint
  FakeRmaEndpoints rma_endpoints_;
  Operation* failed_ = nullptr;
  std::uint64_t reads_count_ = 0;
  unsigned asked_count_ = 0;
  unsigned taken_count_ = 0;
  struct Shown {
    std::span<std::byte> memory;
    Use use = Use::messages;
  };
  std::map<std::uint64_t, Shown> shown_;  // by handle
  std::uint64_t handles_ = 4710;
  // The test's thread sets them while a flusher calls.
  std::atomic<std::size_t> endpoints_count_ = 0;
  std::array<std::atomic<unsigned>, transport::ofi::kMostEndpoints> taken_by_{};
  std::atomic<unsigned> refused_endpoints_ = 0;
  std::atomic<bool> is_first_stuck_ = false;
  std::atomic<bool> is_stuck_ = false;
  std::atomic<unsigned> takes_left_ = 0;  // 0: it is not counted
  std::atomic<bool> holds_completions_ = false;
  std::atomic<bool> fails_sends_ = false;
  std::atomic<bool> has_no_way_ = false;
  std::atomic<bool> fails_next_send_ = false;
  std::atomic<bool> fails_waits_ = false;
  std::atomic<bool> breaks_ = false;
  mutable std::mutex refusals_mutex_;
  std::vector<std::chrono::steady_clock::time_point> refusals_;
};

// `made`, if given, is told each fabric that is opened; they live as long as their transports.
inline transport::ofi::OpenFabric open_fake(const FakeManners& manners,
                                            std::vector<FakeFabric*>* made = nullptr) {
  return [=](const transport::ofi::FabricWants& wants)
             -> base::Result<std::unique_ptr<transport::ofi::Fabric>> {
    auto fabric = std::make_unique<FakeFabric>(manners, wants);
    if (made != nullptr) made->push_back(fabric.get());
    return std::unique_ptr<transport::ofi::Fabric>(std::move(fabric));
  };
}

}  // namespace photon::test
