#include "transport/sim/sim_link.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "wire/bulk_place.hpp"
#include "wire/record.hpp"

namespace photon::transport::sim {
namespace {

constexpr std::size_t kLineBytes = 64;

void require(bool holds, const char* invariant) noexcept {
  if (holds) return;
  std::fprintf(stderr, "photon: sim: broken invariant: %s\n", invariant);
  std::abort();
}

// Of megabytes most links touch few: pages that the heap has as zeros are not written for it, and
// under the thread sanitizer no byte is by itself. There is room to begin at a whole line.
std::byte* zeros(std::size_t size_bytes) {
  void* memory = std::calloc(size_bytes + kLineBytes - 1, 1);
  if (memory == nullptr) throw std::bad_alloc();
  return static_cast<std::byte*>(memory);
}

}  // namespace

SimLink::Half::Half(const Geometry& geometry)
    : lines(std::make_unique<Line[]>(std::size_t{1} << geometry.lines_log2)),
      credits(std::make_unique<Credits>()),
      memory(zeros(geometry.bulk_bytes)),
      bulk(memory.get() + (-reinterpret_cast<std::uintptr_t>(memory.get()) & (kLineBytes - 1))) {}

SimLink::SimLink(Rank me, const Geometry& geometry)
    : me_(me),
      geometry_(geometry),
      sending_(geometry),
      receiving_(geometry),
      reader_(sending_.lines.get(), nullptr, geometry.lines_log2) {
  view_.tx_lines = sending_.lines.get();
  view_.tx_credits = sending_.credits.get();
  view_.tx_bulk = sending_.bulk;
  view_.kick_always = true;
}

void SimLink::set_answered() noexcept {
  view_.rx_lines = receiving_.lines.get();
  view_.rx_credits = receiving_.credits.get();
  view_.rx_bulk = receiving_.bulk;
}

void SimLink::share(const Shared& shared) noexcept {
  view_.tx_intent = shared.mine;
  view_.rx_intent = shared.theirs;
  view_.peer_regions = shared.regions;
  view_.fenced = shared.fenced;
  view_.rx_overflow = shared.overflow;
  view_.tx_holds = shared.held_of_them;
  view_.rx_holds = shared.held_of_us;
  receiving_.credits->set_met();
}

std::optional<Packet> SimLink::next_record() {
  using State = sync::LineConsumer<Policy>::State;
  if (broken_) return std::nullopt;
  const State state = reader_.peek();
  if (state == State::empty) return std::nullopt;
  const auto header =
      state == State::record ? wire::decode(reader_.header()) : std::optional<wire::Header>();
  if (!header) {
    broken_ = true;
    return image(1);
  }
  Packet packet = image(header->lines);
  reader_.pop(header->lines);
  if (wire::announces_bulk(header->kind)) broken_ = !take_bulk(packet);
  return packet;
}

Packet SimLink::image(std::uint64_t lines_count) const {
  Packet packet{.kind = Packet::Kind::record, .from = me_, .position = reader_.head()};
  packet.lines.resize(lines_count);
  for (std::uint64_t i = 0; i < lines_count; ++i) {
    const Line& line = reader_.line(i);
    packet.lines[i][0] = line.tag_word();
    for (unsigned word = 0; word < sync::kWordsPerLine; ++word)
      packet.lines[i][word + 1] = line.words[word].get();
  }
  return packet;
}

// The chunk that the record announces; false if no bulk ring can hold it.
bool SimLink::take_bulk(Packet& packet) {
  const std::uint64_t size_bytes = wire::bulk_size(packet.lines[0][wire::kBulkSizeWord + 1]);
  if (size_bytes > geometry_.bulk_bytes) return false;
  packet.bulk_position = wire::bulk_begin(bulk_taken_, size_bytes, geometry_.bulk_bytes);
  bulk_taken_ = wire::bulk_end(packet.bulk_position, size_bytes);
  const std::byte* from = sending_.bulk + (packet.bulk_position & (geometry_.bulk_bytes - 1));
  packet.bulk.assign(from, from + size_bytes);
  return true;
}

CreditValues SimLink::values_of(const Credits& words) noexcept {
  return {words.lines_given(), words.ledger_given(), words.bulk_given(), words.has_met()};
}

CreditValues SimLink::given() const noexcept { return values_of(*receiving_.credits); }

CreditValues SimLink::told() const noexcept { return values_of(*sending_.credits); }

std::optional<Packet> SimLink::changed_credits() {
  const CreditValues now = given();
  const auto* const overflow_taken = view_.rx_overflow.taken;
  const std::uint64_t taken = overflow_taken == nullptr ? 0 : overflow_taken->glance();
  if (now == sent_credits_ && taken == told_taken_) return std::nullopt;
  sent_credits_ = now;
  told_taken_ = taken;
  return Packet{.kind = Packet::Kind::credits, .from = me_, .credits = now};
}

void SimLink::deliver(const Packet& packet) noexcept {
  if (packet.kind == Packet::Kind::record) return deliver_record(packet);
  // Older news that come later change nothing.
  Credits& words = *sending_.credits;
  words.give_bulk(std::max(words.bulk_given(), packet.credits.bulk));
  words.give_ledger(std::max(words.ledger_given(), packet.credits.ledger));
  words.give_lines(std::max(words.lines_given(), packet.credits.lines));
  if (packet.credits.met) sending_.credits->set_met();
}

void SimLink::deliver_record(const Packet& packet) noexcept {
  check_room(packet);
  const std::uint64_t mask = (std::uint64_t{1} << geometry_.lines_log2) - 1;
  if (!packet.bulk.empty()) {
    std::memcpy(receiving_.bulk + (packet.bulk_position & (geometry_.bulk_bytes - 1)),
                packet.bulk.data(), packet.bulk.size());
  }
  // Backwards: a record is there when its first tag is.
  for (std::uint64_t i = packet.lines.size(); i-- > 0;) {
    Line& line = receiving_.lines[(packet.position + i) & mask];
    for (unsigned word = 0; word < sync::kWordsPerLine; ++word)
      line.words[word].set(packet.lines[i][word + 1]);
    line.arrive(packet.lines[i][0]);
  }
}

void SimLink::check_room(const Packet& packet) const noexcept {
  require(answered(), "no record arrives before the hello of its link");
  const auto used = [](std::uint64_t end, std::uint64_t given_back) {
    return given_back > end ? 0 : end - given_back;  // beyond: nonsense that the sender ignored
  };
  const std::uint64_t end = packet.position + packet.lines.size();
  require(used(end, receiving_.credits->lines_given()) <= std::uint64_t{1} << geometry_.lines_log2,
          "a sender writes no line that its peer has not given back");
  if (packet.bulk.empty()) return;
  const std::uint64_t bulk_end = wire::bulk_end(packet.bulk_position, packet.bulk.size());
  require(used(bulk_end, receiving_.credits->bulk_given()) <= geometry_.bulk_bytes,
          "a sender writes no bulk bytes that its peer has not given back");
}

}  // namespace photon::transport::sim
