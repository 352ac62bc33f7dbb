// For the unit tests of the sending half of active messages: it alone, on a port that the test
// controls, and what it says in words that a test can compare. Owner: the test. Threads: one.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "service/am/am_sender.hpp"
#include "service/fake_port.hpp"

namespace photon::service::am::sending_test {

using photon::test::Bytes;
using photon::test::bytes_of;
using photon::test::FakePort;
using photon::test::Said;
using photon::test::words_in;

// What its user was told: of what has a local id, its number, which stands in the id.
struct Told {
  std::uint64_t id = 0;
  ph_status status = PH_OK;
  bool operator==(const Told&) const = default;
};
inline void PrintTo(const Told& told, std::ostream* out) { *out << told.id << ": " << told.status; }

class AmPort final : public FakePort {
 public:
  AmPort() : FakePort(wire::Owner::am) {
    ends_.reserve(kMost);
    told.reserve(kMost);
    late.reserve(kMost);
    unheard.reserve(kMost);
  }

  const base::Config& config() const noexcept override { return settings; }
  bool may_live(Rank) const noexcept override { return lives; }
  std::uint64_t promise(const UserEnd& end) override {
    if (!end.is_beyond && promises() >= settings.requests) return 0;
    const std::uint64_t made = FakePort::promise(end);
    if (made == 0) return 0;
    ends_.resize(made + 1);
    ends_[made] = first_bytes_of(end.local);
    return made;
  }
  void complete(std::uint64_t promise, ph_status status, const char* why) noexcept override {
    FakePort::complete(promise, status, why);
    told.push_back({ends_.at(promise), status});
    if (why != nullptr) last_words = why;
  }
  void report_late(Rank, std::uint64_t id, ph_status status, const char* why) noexcept override {
    late.push_back({id, status});
    if (why != nullptr) last_words = why;
  }
  void note_unheard(Rank, ph_status status, const char*) noexcept override {
    unheard.push_back(status);
  }
  void note_lost(Rank) noexcept override { ++lost; }

  ph_status reserve(Rank to, std::uint64_t size_bytes, std::span<std::byte>& room) override {
    EXPECT_LE(size_bytes, settings.bulk_bytes / 4);
    if (const ph_status status = contact(to); status != PH_OK) return status;
    if (!reserves || room_to_ != kNobody || is_refused()) return again_of(to);
    room_.assign(size_bytes, std::byte{0xee});
    room_to_ = to;
    room = room_;
    return PH_OK;
  }
  ph_status commit(const Saying& what, std::uint64_t size_bytes) override {
    EXPECT_EQ(room_to_, what.to) << "committed without a reservation";
    if (is_refused()) return again_of(what.to);
    Said said{what.to, bytes_of(what.header), {}, true, {room_.begin(), room_.end()}, kNever};
    said.body.resize(size_bytes);
    if (const ph_status status = contact(what.to); status != PH_OK) {
      room_to_ = kNobody;
      return status;
    }
    note_said(std::move(said));
    room_to_ = kNobody;
    return PH_OK;
  }
  Written say_chunk_now(Rank to, std::array<std::uint64_t, 2> header,
                        std::span<const std::byte> bytes) noexcept override {
    if (!has_chunks || state(to) != PH_OK) return Written::no;
    note_said(
        {to, photon::test::words_of({header[0], header[1]}), {}, true, bytes_of(bytes), kNever});
    return Written::done;
  }
  void cancel_room(Rank to) noexcept override {
    EXPECT_EQ(room_to_, to) << "cancelled without a reservation";
    room_to_ = kNobody;
  }
  bool is_reserved() const noexcept { return room_to_ != kNobody; }
  std::size_t reserved() const noexcept { return is_reserved() ? room_.size() : 0; }

  base::Config settings;
  bool lives = true;
  bool reserves = false;
  bool has_chunks = false;  // room for them, and lines
  std::vector<Told> told;
  std::vector<Told> late;
  std::vector<ph_status> unheard;
  std::uint64_t lost = 0;  // that nothing names
  std::string last_words;

 private:
  static constexpr std::size_t kMost = 1 << 16;  // so that telling needs no memory

  std::vector<std::uint64_t> ends_;
  Bytes room_;
  Rank room_to_ = kNobody;
};

// A message as its target meets it.
struct Met {
  Word word;
  Bytes header;
  Bytes payload;
  std::uint64_t immediate = 0;
  std::uint64_t token = 0;  // of one that is read
};

inline Bytes some(std::size_t size, std::uint64_t seed = 1) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(seed + i * 7);
  return bytes;
}

// Of one that its target reads: its payload is read here and now.
inline Met met_pull(const Word& word, std::span<const std::byte> rest, const Said& said) {
  Met met;
  met.word = word;
  const Bytes& bytes = said.is_body ? said.body : said.payload;
  const auto words = pull_words_of(word, rest);
  std::vector<SourceBlock> table;
  const bool is_good = words && take_table(*words, word.header_bytes, bytes, table);
  EXPECT_TRUE(is_good) << "a pull that its target takes for malformed";
  if (!is_good) return met;
  for (const SourceBlock& one : table) {
    const auto* const from = reinterpret_cast<const std::byte*>(one.address);
    met.payload.insert(met.payload.end(), from, from + one.size_bytes);
  }
  met.header = {bytes.end() - word.header_bytes, bytes.end()};
  met.immediate = words->immediate;
  met.token = words->token;
  return met;
}

// What was said, taken apart as the receiving half does it.
inline Met met(const Said& said) {
  Met met;
  const std::span<const std::byte> header(said.header);
  const auto word = decode(word_at(header, 0));
  EXPECT_TRUE(word.has_value()) << "a word that its target takes for malformed";
  if (!word) return met;
  met.word = *word;
  const auto rest = header.subspan(sizeof(std::uint64_t));
  if (word->op == Op::line) {
    const auto parts = parts_of_line(*word, rest);
    EXPECT_TRUE(parts.has_value());
    met.payload = bytes_of(parts->payload);
    met.header = bytes_of(parts->header);
    met.immediate = parts->immediate;
    return met;
  }
  if (word->op == Op::pull) return met_pull(*word, rest, said);
  EXPECT_EQ(word->op == Op::body, said.is_body);
  const auto sizes = sizes_of(*word, rest);
  EXPECT_TRUE(sizes.has_value());
  if (!sizes) return met;
  const auto parts = parts_of(*word, *sizes, said.is_body ? said.body : said.payload);
  EXPECT_TRUE(parts.has_value());
  if (!parts) return met;
  met.payload = bytes_of(parts->payload);
  met.header = bytes_of(parts->header);
  met.immediate = parts->immediate;
  return met;
}

// The sending half as a service, which has no other one.
class Half final : public Service {
 public:
  Half(Port& port, Gates& gates) : sender(port, gates) {}
  bool on_message(const Message&) override { return false; }
  void on_local(Rank to, std::uint64_t token, ph_status status) override {
    EXPECT_NE(token & Sender::kToken, 0u);
    sender.on_local(to, token, status);
  }
  void on_room(Rank to) override { sender.on_room(to); }
  void on_lost(Rank rank, ph_status why) noexcept override { sender.on_lost(rank, why); }
  bool turn() override { return sender.turn(); }
  std::int64_t next_turn_ns() const noexcept override { return sender.next_turn_ns(); }
  void before_sleep() override { sender.before_sleep(); }
  void before_flush(Rank rank) override { sender.before_flush(rank); }
  void close() override { sender.close(); }
  bool is_idle() const noexcept override { return sender.is_idle(); }
  std::uint64_t held() const noexcept override { return sender.held(); }

  Sender sender;
};

// One that sends, to rank 1 if nothing else is said.
struct AmSending {
  explicit AmSending(std::uint64_t slots = 8) {
    port.settings.am_slots = slots;
    gates.emplace(port.size(), slots);
    half.emplace(port, *gates);
    port.serve(*half);
  }
  // Settings that the sender reads when it is made.
  void restart() {
    half.emplace(port, *gates);
    port.serve(*half);
  }
  Sender& sender() { return half->sender; }
  Gate& gate(Rank of = 1) { return gates->of(of); }

  static ph_am_args args(std::span<const std::byte> payload, std::uint32_t flags = PH_NO_LCE) {
    ph_am_args args{};
    args.size = sizeof args;
    args.id = 7;
    args.flags = flags;
    args.payload = payload.data();
    args.payload_bytes = payload.size();
    return args;
  }
  // The number stands in the immediate and in the local id.
  ph_status send(std::uint64_t number, std::size_t size, std::uint32_t flags = PH_NO_LCE,
                 Asker asker = Asker::user) {
    const Bytes payload = some(size, number);
    ph_am_args args = AmSending::args(payload, flags);
    args.immediate = number + 1;
    args.local = {&number, sizeof number};
    return sender().send(1, args, asker);
  }
  ph_status send_small(std::uint64_t number, Asker asker = Asker::user) {
    return sender().send_small(1, 7, {&number, sizeof number}, asker);
  }

  // Everything that has gone to rank 1 and was not met before, in order.
  std::vector<Met> meet() {
    std::vector<Met> all;
    for (Said said; port.take(said);) all.push_back(met(said));
    return all;
  }
  // Handlers have run for all that has gone.
  void handle_all() { EXPECT_TRUE(sender().handled(1, gate().sent)); }
  // The numbers of all that arrives until nothing waits any more.
  std::vector<std::uint64_t> run() {
    std::vector<std::uint64_t> numbers;
    for (int idle = 0; idle < 3; ++idle) {
      port.give_room(1);
      port.run_turns();
      for (const Met& one : meet()) {
        numbers.push_back(one.immediate - 1);
        EXPECT_EQ(one.payload, some(one.payload.size(), numbers.back())) << "not its bytes";
        idle = 0;
      }
      if (port.state(1) == PH_OK) handle_all();
    }
    return numbers;
  }
  // So many messages arrive until nothing waits any more.
  std::size_t run_count() {
    std::size_t count = 0;
    for (int i = 0; i < 3; ++i) {
      port.give_room(1);
      port.run_turns();
      count += meet().size();
      handle_all();
    }
    return count;
  }
  void lose(ph_status why = PH_ERR_PEER) { port.lose(1, why); }

  AmPort port;
  std::optional<Gates> gates;
  std::optional<Half> half;
};

}  // namespace photon::service::am::sending_test
