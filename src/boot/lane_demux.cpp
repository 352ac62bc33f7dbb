#include "boot/lane_demux.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "boot/limits.hpp"
#include "boot/packet.hpp"
#include "boot/watch.hpp"

namespace photon::boot {

namespace {

constexpr int kMostSorted = 64;  // messages in one go

Message gone_message(Rank rank, const char* why) {
  Message message;
  message.kind = Message::Kind::gone;
  message.from = rank;
  message.why = why;
  return message;
}

// A lane's view of the switch.
class LaneBoot final : public Boot {
 public:
  LaneBoot(std::shared_ptr<LaneDemux> lanes, std::uint32_t number,
           std::shared_ptr<LaneDemux::LaneInbox> lane_inbox, Watch watch)
      : lanes_(std::move(lanes)),
        number_(number),
        lane_inbox_(std::move(lane_inbox)),
        watch_(std::move(watch)) {}
  ~LaneBoot() override { lanes_->drop(number_); }

  static base::Result<std::unique_ptr<Boot>> open(const std::shared_ptr<LaneDemux>& lanes,
                                                  std::uint32_t number);

  Rank rank() const override { return lanes_->real().rank(); }
  std::uint32_t size() const override { return lanes_->real().size(); }
  const Secret& secret() const override { return lanes_->real().secret(); }
  std::uint32_t local_size() const override { return lanes_->local_size(); }
  bool knows(Rank rank) const override { return lanes_->knows(rank); }
  std::optional<Address> met_at(Rank rank) const override { return lanes_->met_at(rank); }
  bool knows_hosts() const override { return lanes_->real().knows_hosts(); }
  std::optional<Rank> host_of(Rank rank) const override { return lanes_->real().host_of(rank); }
  bool passes_descriptors(Rank rank) const override { return lanes_->passes_descriptors(rank); }
  base::Result<std::span<const std::byte>> address() const override {
    return lanes_->real().address();
  }
  base::Result<Rank> connect(std::span<const std::byte> address) override {
    return lanes_->connect(address);
  }

  base::Result<bool> send(Rank to, std::span<const std::byte> bytes,
                          std::span<const int> fds) override {
    if (number_ != 0) met_.insert(to);
    return lanes_->send(number_, to, bytes, fds);
  }
  base::Result<std::optional<Message>> receive() override {
    auto found = take();
    if (!found || *found) return found;
    lanes_->sort(number_);
    return take();
  }
  bool idle() const override { return lanes_->idle(); }
  base::Result<> leave() override {
    if (number_ == 0) return lanes_->leave();
    lanes_->close(number_, met_);
    return {};
  }
  void blame(Rank rank) override {
    if (blamed_.insert(rank).second) lanes_->blame(rank);
  }
  bool has_left(Rank rank) const override {
    {
      const std::scoped_lock lock(lane_inbox_->mutex);
      if (lane_inbox_->left.contains(rank)) return true;
    }
    return lanes_->has_left(rank);
  }
  int poll_fd() const override { return watch_.fd(); }
  base::Result<std::unique_ptr<Boot>> open_lane(std::uint32_t number) override {
    return open(lanes_, number);
  }

  base::Result<> allgather(std::span<const std::byte> mine, std::span<std::byte> all,
                           const Serve& serve) override {
    if (number_ != 0) return not_for_lanes();
    return lanes_->collect(
        [&](Boot& real, const Serve& inner) { return real.allgather(mine, all, inner); }, serve);
  }
  base::Result<> barrier(const Serve& serve) override {
    if (number_ != 0) return not_for_lanes();
    return lanes_->collect([](Boot& real, const Serve& inner) { return real.barrier(inner); },
                           serve);
  }

 private:
  static base::Error not_for_lanes() {
    return {PH_ERR_STATE, 0, "collectives are the context's, not a lane's", PH_ANY_RANK};
  }
  base::Result<std::optional<Message>> take() {
    const std::scoped_lock lock(lane_inbox_->mutex);
    if (auto message = lane_inbox_->inbox.pop()) {
      if (number_ != 0) met_.insert(message->from);
      return message;
    }
    if (!lane_inbox_->failure) return std::optional<Message>{};
    const base::Error why = std::move(*lane_inbox_->failure);
    lane_inbox_->failure.reset();
    lane_inbox_->inbox.set_readable(false);
    return why;
  }

  const std::shared_ptr<LaneDemux> lanes_;
  const std::uint32_t number_;
  const std::shared_ptr<LaneDemux::LaneInbox> lane_inbox_;
  const Watch watch_;
  std::set<Rank> met_;  // who has to hear that this lane was closed
  std::set<Rank> blamed_;
};

base::Result<std::unique_ptr<Boot>> LaneBoot::open(const std::shared_ptr<LaneDemux>& lanes,
                                                   std::uint32_t number) {
  auto inbox = Inbox::create();
  if (!inbox) return inbox.error();
  auto watch = Watch::create();
  if (!watch) return watch.error();
  for (const int fd : {lanes->real().poll_fd(), inbox->fd()})
    if (fd >= 0)
      if (auto added = watch->add(fd, EPOLLIN, 0); !added) return added.error();
  auto lane_inbox = std::make_shared<LaneDemux::LaneInbox>(std::move(*inbox));
  if (auto opened = lanes->open(number, lane_inbox); !opened) return opened.error();
  return std::unique_ptr<Boot>(
      std::make_unique<LaneBoot>(lanes, number, std::move(lane_inbox), std::move(*watch)));
}

}  // namespace

base::Result<std::unique_ptr<Boot>> LaneDemux::front(std::unique_ptr<Boot> real) {
  return LaneBoot::open(std::make_shared<LaneDemux>(std::move(real)), 0);
}

base::Result<> LaneDemux::open(std::uint32_t number, const std::shared_ptr<LaneInbox>& lane_inbox) {
  const std::scoped_lock lock(mutex_);
  const char* why = closed_.contains(number)         ? " was closed, and a number is used once"
                    : lane_inboxes_.contains(number) ? " is open already"
                                                     : nullptr;
  if (why != nullptr)
    return base::Error{PH_ERR_STATE, 0, "lane " + std::to_string(number) + why, PH_ANY_RANK};
  if (failure_) {
    lane_inbox->failure = failure_;
    lane_inbox->inbox.set_readable(true);
  }
  lane_inboxes_.emplace(number, lane_inbox);
  if (const auto kept = kept_.extract(number); !kept.empty()) {
    for (Message& message : kept.mapped()) {
      --kept_counts_[message.from];
      put(*lane_inbox, std::move(message));
    }
  }
  for (const auto& [rank, reason] : gone_) put(*lane_inbox, gone_message(rank, reason));
  return {};
}

void LaneDemux::close(std::uint32_t number, const std::set<Rank>& met) {
  const std::scoped_lock lock(mutex_);
  if (closed_.contains(number)) return;
  closed_.add(number);
  for (const Rank rank : met)
    if (rank != real_->rank()) answer(number, rank, What::closed);
  LaneInbox& lane_inbox = *lane_inboxes_.at(number);
  std::deque<Message> unread;
  {
    const std::scoped_lock inner(lane_inbox.mutex);
    while (auto message = lane_inbox.inbox.pop()) unread.push_back(std::move(*message));
  }
  answer_unread(number, unread);
}

void LaneDemux::drop(std::uint32_t number) {
  const std::scoped_lock lock(mutex_);
  closed_.add(number);
  lane_inboxes_.erase(number);
}

void LaneDemux::answer_unread(std::uint32_t number, const std::deque<Message>& messages) {
  for (const Message& message : messages)
    if (message.kind == Message::Kind::data) answer(number, message.from, What::closed);
}

base::Result<bool> LaneDemux::send(std::uint32_t number, Rank to, std::span<const std::byte> bytes,
                                   std::span<const int> fds) {
  const std::scoped_lock lock(mutex_);
  if (number == 0) return real_->send(to, bytes, fds);
  const Envelope envelope{kMagic, number, What::data};
  std::vector<std::byte> packet(sizeof envelope + bytes.size());
  std::memcpy(packet.data(), &envelope, sizeof envelope);
  if (!bytes.empty()) std::memcpy(packet.data() + sizeof envelope, bytes.data(), bytes.size());
  return real_->send(to, packet, fds);
}

// A queue that is full loses it: then that rank finds out from our bye, or from our end.
void LaneDemux::answer(std::uint32_t number, Rank to, What what) {
  const Envelope envelope{kMagic, number, what};
  static_cast<void>(real_->send(to, bytes_of(envelope), {}));
}

void LaneDemux::sort(std::uint32_t number) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || failure_) return;
  const LaneInbox* own = lane_inboxes_.at(number).get();
  for (int i = 0; i < kMostSorted; ++i) {
    auto received = real_->receive();
    if (!received) return fail(received.error());
    if (!*received || route(std::move(**received)) == own) return;
  }
}

void LaneDemux::fail(const base::Error& why) {
  failure_ = why;
  for (const auto& [number, lane_inbox] : lane_inboxes_) {
    const std::scoped_lock lock(lane_inbox->mutex);
    lane_inbox->failure = why;
    lane_inbox->inbox.set_readable(true);
  }
}

// The lane inbox that it went to, if it was one.
LaneDemux::LaneInbox* LaneDemux::route(Message message) {
  if (message.kind == Message::Kind::gone) {
    tell_gone(std::move(message));
    return nullptr;
  }
  Envelope envelope{};
  if (message.bytes.size() >= sizeof envelope)
    std::memcpy(&envelope, message.bytes.data(), sizeof envelope);
  if (envelope.magic == kMagic && envelope.lane != 0 && envelope.what <= What::refused)
    return take_for(envelope, std::move(message));
  // Whatever else it is, lane 0 judges it.
  const auto lane_inbox = lane_inboxes_.find(0);
  return lane_inbox == lane_inboxes_.end() ? nullptr : put(*lane_inbox->second, std::move(message));
}

LaneDemux::LaneInbox* LaneDemux::take_for(const Envelope& envelope, Message message) {
  message.bytes.erase(message.bytes.begin(), message.bytes.begin() + sizeof envelope);
  if (envelope.what != What::data) {
    message.kind = Message::Kind::gone;
    message.fds.clear();
    message.why = envelope.what == What::closed ? "has closed this lane"
                                                : "keeps no more messages for lanes not opened";
    message.left = envelope.what == What::closed;
  }
  const auto lane_inbox = lane_inboxes_.find(envelope.lane);
  const bool is_data = message.kind == Message::Kind::data;
  if (closed_.contains(envelope.lane)) {
    if (is_data) answer(envelope.lane, message.from, What::closed);
  } else if (lane_inbox != lane_inboxes_.end()) {
    return put(*lane_inbox->second, std::move(message));
  } else if (knows(envelope.lane, message)) {
    return nullptr;
  } else if (is_data && kept_counts_[message.from] >= kMostKept) {
    answer(envelope.lane, message.from, What::refused);
  } else if (is_data || kept_.contains(envelope.lane)) {
    keep(envelope.lane, std::move(message));
  }
  return nullptr;
}

void LaneDemux::keep(std::uint32_t number, Message message) {
  ++kept_counts_[message.from];
  kept_[number].push_back(std::move(message));
}

// Of one rank a lane that is not open needs to be told one thing of each kind: who offers, that it
// should look, that it need not.
bool LaneDemux::knows(std::uint32_t number, const Message& message) const {
  const auto kept = kept_.find(number);
  if (kept == kept_.end() || !message.fds.empty()) return false;
  return std::any_of(kept->second.begin(), kept->second.end(), [&](const Message& one) {
    return one.from == message.from && one.kind == message.kind && one.fds.empty() &&
           one.bytes == message.bytes;
  });
}

void LaneDemux::tell_gone(Message message) {
  gone_.emplace(message.from, message.why);
  for (const auto& [number, lane_inbox] : lane_inboxes_)
    put(*lane_inbox, gone_message(message.from, message.why));
}

LaneDemux::LaneInbox* LaneDemux::put(LaneInbox& lane_inbox, Message message) {
  const std::scoped_lock lock(lane_inbox.mutex);
  if (message.left) lane_inbox.left.insert(message.from);
  lane_inbox.inbox.push(std::move(message));
  return &lane_inbox;
}

bool LaneDemux::idle() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  return lock && real_->idle();
}

base::Result<> LaneDemux::leave() {
  const std::scoped_lock lock(mutex_);
  for (const auto& [number, messages] : kept_) answer_unread(number, messages);
  return real_->leave();
}

bool LaneDemux::has_left(Rank rank) {
  const std::scoped_lock lock(mutex_);
  return real_->has_left(rank);
}

void LaneDemux::blame(Rank rank) {
  const std::scoped_lock lock(mutex_);
  real_->blame(rank);
}

std::uint32_t LaneDemux::local_size() {
  const std::scoped_lock lock(mutex_);
  return real_->local_size();
}

bool LaneDemux::knows(Rank rank) {
  const std::scoped_lock lock(mutex_);
  return real_->knows(rank);
}

std::optional<Address> LaneDemux::met_at(Rank rank) {
  const std::scoped_lock lock(mutex_);
  return real_->met_at(rank);
}

bool LaneDemux::passes_descriptors(Rank rank) {
  const std::scoped_lock lock(mutex_);
  return real_->passes_descriptors(rank);
}

base::Result<Rank> LaneDemux::connect(std::span<const std::byte> address) {
  const std::scoped_lock lock(mutex_);
  return real_->connect(address);
}

template <class Collective>
base::Result<> LaneDemux::collect(Collective collective, const Serve& serve) {
  std::unique_lock lock(mutex_, std::defer_lock);
  const bool is_locked = !real_->collects_alone();
  if (is_locked) lock.lock();
  const auto unlocked = [&](const auto& call) {
    if (is_locked) lock.unlock();
    const auto found = call();
    if (is_locked) lock.lock();
    return found;
  };
  const auto turn = [&] { return unlocked([&] { return serve && serve(); }); };
  const auto arm = [&] { return unlocked([&] { return serve.arm(); }); };
  return collective(*real_, Serve(turn, arm));
}

}  // namespace photon::boot
