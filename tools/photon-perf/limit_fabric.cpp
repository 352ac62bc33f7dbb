#include "limit_fabric.hpp"

#include <algorithm>
#include <cstring>

#include "bare_fabric.hpp"
#include "clock.hpp"
#include "contents.hpp"
#include "failure.hpp"
#include "means.hpp"
#include "ping_pong.hpp"

namespace photon::perf {
namespace {

// Above this a provider may ask before it sends (ofi_rxm: above 16 KiB).
constexpr std::size_t kPieceBytes = 15 * 1024;
constexpr std::size_t kWordBytes = sizeof(std::uint64_t);
constexpr std::size_t kSlots = BareFabric::kReceives;

enum class How : std::uint8_t { send, inject };

// A message, by one call or several.
struct Pieces {
  std::size_t message_bytes;
  std::size_t most_bytes;

  std::size_t count() const noexcept {
    return std::max<std::size_t>((message_bytes + most_bytes - 1) / most_bytes, 1);
  }
  std::size_t at(std::uint64_t piece) const noexcept { return piece % count() * most_bytes; }
  std::size_t bytes(std::uint64_t piece) const noexcept {
    return std::min(most_bytes, message_bytes - at(piece));
  }
};

// What every program has.
struct Ground {
  Team& team;
  BareFabric& fabric;
  const Buffers& buffers;
};

void pass(BareFabric& fabric, How how, const std::byte* from, std::size_t bytes) {
  if (how == How::inject) return fabric.inject(from, bytes);
  fabric.send(from, bytes);
}

// Half a round trip by `send()` and `receive()`, which returns when the bytes are there; `ready()`
// is called before what they answer is under way.
template <class Ready, class Send, class Receive>
Outcome ping_pong(const Ground& ground, std::uint64_t round_trips, Ready ready, Send send,
                  Receive receive) {
  auto& [team, fabric, buffers] = ground;
  Contents contents(buffers, team.index());
  const auto total = batches_for(round_trips).total();
  const bool first = team.index() == 0;
  if (!first) ready();
  begin(team);
  auto outcome = half_trips(team, contents, round_trips,
                            PingPong{[&](std::uint64_t number) {
                                       if (contents.is_fresh()) fabric.await_sends();
                                       contents.write(buffers.source, number);
                                     },
                                     [&](std::uint64_t number) {
                                       if (first || number != total) ready();
                                       send();
                                     },
                                     [&](std::uint64_t number) {
                                       receive();
                                       contents.read(buffers.landing[0], number);
                                     }});
  contents.expect_all(total);
  return outcome;
}

// A provider without progress of its own moves what it has taken only while it is asked.
void part(const Ground& ground) {
  auto& [team, fabric, buffers] = ground;
  fabric.await_sends();
  team.barrier_while([&] { fabric.progress(); });
}

Outcome by_messages(const Ground& ground, Pieces pieces, How how, std::uint64_t round_trips) {
  auto& [team, fabric, buffers] = ground;
  std::memset(buffers.landing[0], 0, buffers.size_bytes);
  std::byte nothing{};
  auto* const landing = buffers.size_bytes == 0 ? &nothing : buffers.landing[0];
  const auto* const source = buffers.size_bytes == 0 ? &nothing : buffers.source;
  const auto outcome = ping_pong(
      ground, round_trips,
      [&] {
        for (std::size_t i = 0; i < pieces.count(); ++i)
          fabric.receive(i, landing + pieces.at(i), pieces.bytes(i));
      },
      [&] {
        for (std::size_t i = 0; i < pieces.count(); ++i)
          pass(fabric, how, source + pieces.at(i), pieces.bytes(i));
      },
      [&] {
        for (std::size_t i = 0; i < pieces.count(); ++i) fabric.await(i);
      });
  part(ground);
  return outcome;
}

Outcome by_writes(const Ground& ground, std::uint64_t round_trips) {
  auto& [team, fabric, buffers] = ground;
  std::memset(buffers.landing[0], 0, buffers.size_bytes);
  const auto outcome = ping_pong(
      ground, round_trips, [] {}, [&] { fabric.write(buffers.source, buffers.size_bytes, 0); },
      [&] { fabric.await_write(0); });
  part(ground);
  return outcome;
}

// Credits from index 1 to index 0, which knows how many will come: one for each `interval` places
// beyond the first `initial`, and a last one that says that all was read.
class Credits {
 public:
  Credits(BareFabric& fabric, std::uint64_t total, std::uint64_t window)
      : fabric_(&fabric),
        total_(total),
        initial_(std::min(total, window)),
        interval_(std::max<std::uint64_t>(window / 4, 1)),
        awaited_((total - initial_ + interval_ - 1) / interval_ + 1) {}

  // Index 0: before the barrier.
  void expect() {
    for (; posted_ < std::min<std::uint64_t>(awaited_, kRoom); ++posted_) post(posted_);
  }
  // Index 0: until it may use that place.
  void await(std::uint64_t place) {
    while (place >= initial_ + came_ * interval_)
      if (fabric_->has_come(came_ % kRoom)) take();
  }
  void await_all() {
    while (came_ < awaited_) {
      fabric_->await(came_ % kRoom);
      take();
    }
  }
  // Index 1: so many places are free or were.
  void grant(std::uint64_t places) {
    while (given_ + 1 < awaited_ && std::min(total_, initial_ + (given_ + 1) * interval_) <= places)
      tell();
  }
  void end() { tell(); }

 private:
  static constexpr std::size_t kRoom = 16;

  void post(std::uint64_t number) {
    fabric_->receive(number % kRoom, fabric_->received_word(number % kRoom), kWordBytes);
  }
  void take() {
    std::uint64_t word = 0;
    std::memcpy(&word, fabric_->received_word(came_ % kRoom), sizeof word);
    if (word != came_) throw Failure("bare libfabric changed a credit, or lost one");
    ++came_;
    if (posted_ < awaited_) post(posted_++);
  }
  void tell() {
    auto* const word = fabric_->sent_word();
    std::memcpy(word, &given_, sizeof given_);
    ++given_;
    fabric_->send(word, kWordBytes);
  }

  BareFabric* fabric_;
  std::uint64_t total_;
  std::uint64_t initial_;
  std::uint64_t interval_;
  std::uint64_t awaited_;
  std::uint64_t posted_ = 0;
  std::uint64_t came_ = 0;
  std::uint64_t given_ = 0;
};

// `send(credits)` and `take(credits)`; figures by messages.
template <class Send, class Take>
Outcome timed_stream(const Ground& ground, Credits credits, std::uint64_t messages, Send send,
                     Take take) {
  auto& team = ground.team;
  Outcome outcome;
  if (team.index() == 0) {
    credits.expect();
    team.barrier();
    const auto start_ns = now_ns();
    send(credits);
    credits.await_all();
    outcome.per_second =
        static_cast<double>(messages) * 1e9 / static_cast<double>(now_ns() - start_ns);
  } else {
    take(credits);
    credits.end();
  }
  part(ground);
  return outcome;
}

// Messages into posted receives: piece p goes into slot p % kSlots, and to its place in landing
// (p / pieces) % kWindow.
Outcome message_stream(const Ground& ground, Pieces pieces, std::uint64_t count) {
  auto& [team, fabric, buffers] = ground;
  const std::uint64_t each = pieces.count();
  const std::uint64_t total = count * each;
  const std::uint64_t window = std::min<std::uint64_t>(kSlots, kWindow * each);
  Contents contents(buffers, team.index());
  const auto send = [&](Credits& credits) {
    for (std::uint64_t piece = 0; piece < total; ++piece) {
      credits.await(piece);
      auto* const source = buffers.source_at(piece / each % kWindow);
      if (piece % each == 0) contents.write(source, piece / each + 1);
      fabric.send(source + pieces.at(piece), pieces.bytes(piece));
    }
  };
  const auto take = [&](Credits& credits) {
    std::uint64_t posted = 0;
    const auto post_until = [&](std::uint64_t end) {
      for (; posted < std::min(end, total); ++posted)
        fabric.receive(posted % kSlots,
                       buffers.landing[posted / each % kWindow] + pieces.at(posted),
                       pieces.bytes(posted));
    };
    post_until(window);
    team.barrier();
    for (std::uint64_t piece = 0; piece < total; ++piece) {
      fabric.await(piece % kSlots);
      const auto done = piece + 1;
      if (done % each == 0) contents.read(buffers.landing[piece / each % kWindow], done / each);
      post_until(std::min(done + kSlots, (done / each + kWindow) * each));
      credits.grant(posted);
    }
    contents.expect_all(count);
  };
  return timed_stream(ground, {fabric, total, window}, count, send, take);
}

Outcome write_stream(const Ground& ground, std::uint64_t count) {
  auto& [team, fabric, buffers] = ground;
  Contents contents(buffers, team.index());
  const auto send = [&](Credits& credits) {
    for (std::uint64_t i = 0; i < count; ++i) {
      credits.await(i);
      auto* const source = buffers.source_at(i % kWindow);
      contents.write(source, i + 1);
      fabric.write(source, buffers.size_bytes, i % kWindow);
    }
  };
  const auto take = [&](Credits& credits) {
    team.barrier();
    for (std::uint64_t i = 0; i < count; ++i) {
      fabric.await_write(i % kWindow);
      contents.read(buffers.landing[i % kWindow], i + 1);
      credits.grant(i + 1 + kWindow);
    }
    contents.expect_all(count);
  };
  return timed_stream(ground, {fabric, count, kWindow}, count, send, take);
}

Outcome word_stream(const Ground& ground, How how, std::uint64_t count) {
  auto& [team, fabric, buffers] = ground;
  const auto send = [&](Credits& credits) {
    for (std::uint64_t i = 0; i < count; ++i) {
      credits.await(i);
      auto* const word = fabric.sent_word();
      std::memcpy(word, &i, sizeof i);
      pass(fabric, how, word, kWordBytes);
    }
  };
  const auto take = [&](Credits& credits) {
    std::uint64_t posted = 0;
    const auto post_until = [&](std::uint64_t end) {
      for (; posted < std::min(end, count); ++posted)
        fabric.receive(posted % kSlots, fabric.received_word(posted % kSlots), kWordBytes);
    };
    post_until(kSlots);
    team.barrier();
    for (std::uint64_t i = 0; i < count; ++i) {
      fabric.await(i % kSlots);
      std::uint64_t word = 0;
      std::memcpy(&word, fabric.received_word(i % kSlots), sizeof word);
      if (word != i) throw Failure("bare libfabric lost or changed a message");
      post_until(i + 1 + kSlots);
      credits.grant(posted);
    }
  };
  return timed_stream(ground, {fabric, count, kSlots}, count, send, take);
}

}  // namespace

FabricLimits::FabricLimits(Team& team, const Buffers& buffers, const FabricNames& names)
    : team_(&team), buffers_(&buffers) {
  BareFabric::Card mine{};
  try {
    fabric_ = std::make_shared<BareFabric>(names, buffers);
    mine = fabric_->card();
  } catch (const Failure& failure) {
    missing_ = failure.what();
    mine.is_open = false;
  }
  team.exchange(mine);
  const auto theirs = team.card_of<BareFabric::Card>(team.other());
  if (missing_.empty() && !theirs.is_open) missing_ = "the other rank has no libfabric endpoint";
  if (missing_.empty()) {
    fabric_->connect(theirs);
  } else {
    fabric_.reset();
  }
}

std::vector<Entry> FabricLimits::latency() const {
  if (fabric_ == nullptr) return {};
  const auto size_bytes = buffers_->size_bytes;
  std::vector<Entry> entries;
  const auto add = [&](Pieces pieces, How how) {
    entries.push_back({"fi_send " + fabric_->provider(), [=, *this](std::uint64_t count) {
                         return by_messages({*team_, *fabric_, *buffers_}, pieces, how, count);
                       }});
  };
  add({size_bytes, std::max<std::size_t>(size_bytes, 1)}, How::send);
  if (size_bytes <= fabric_->inject_bytes())
    add({size_bytes, std::max<std::size_t>(size_bytes, 1)}, How::inject);
  if (size_bytes > kPieceBytes && size_bytes <= kPieceBytes * kSlots)
    add({size_bytes, kPieceBytes}, How::send);
  if (fabric_->writes())
    entries.push_back({"fi_write " + fabric_->provider(), [=, *this](std::uint64_t count) {
                         return by_writes({*team_, *fabric_, *buffers_}, count);
                       }});
  return entries;
}

std::vector<Entry> FabricLimits::rate() const {
  if (fabric_ == nullptr) return {};
  std::vector<Entry> entries;
  for (const auto how : {How::send, How::inject}) {
    if (how == How::inject && kWordBytes > fabric_->inject_bytes()) continue;
    entries.push_back({"fi_send " + fabric_->provider(), [=, *this](std::uint64_t count) {
                         return word_stream({*team_, *fabric_, *buffers_}, how, count);
                       }});
  }
  return entries;
}

std::vector<Entry> FabricLimits::bandwidth() const {
  if (fabric_ == nullptr || buffers_->size_bytes == 0) return {};
  const auto size_bytes = buffers_->size_bytes;
  std::vector<Entry> entries;
  const auto add = [&](Pieces pieces) {
    entries.push_back({"fi_send " + fabric_->provider(), [=, *this](std::uint64_t count) {
                         return message_stream({*team_, *fabric_, *buffers_}, pieces, count);
                       }});
  };
  add({size_bytes, size_bytes});
  if (size_bytes > kPieceBytes) add({size_bytes, kPieceBytes});
  if (fabric_->writes())
    entries.push_back({"fi_write " + fabric_->provider(), [=, *this](std::uint64_t count) {
                         return write_stream({*team_, *fabric_, *buffers_}, count);
                       }});
  return entries;
}

}  // namespace photon::perf
