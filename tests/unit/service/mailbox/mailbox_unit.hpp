// For the unit tests of mailboxes: the service alone, on a port that the test controls, and what it
// says in words that a test can compare. Owner: the test. Threads: one.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "service/fake_port.hpp"
#include "service/mailbox/mailboxes.hpp"

namespace photon::service::mailbox::test {

using photon::test::Bytes;
using photon::test::bytes_of;
using photon::test::Coming;
using photon::test::FakePort;
using photon::test::Said;
using photon::test::words_in;
using photon::test::words_of;

using Texts = std::vector<std::string>;

inline constexpr std::uint64_t kBox = 7;  // the address of a mailbox, if nothing else is said
inline constexpr std::uint64_t kNamesEpoch = 1, kAppends = 2, kAsks = 4, kOffers = 8;
inline constexpr std::uint64_t kMailCost = 64;  // of the credit, beside the bytes

class MailPort final : public FakePort {
 public:
  MailPort() : FakePort(wire::Owner::mailbox) {}

  // What its user was told, in order.
  struct Told {
    Rank rank = 0;
    Bytes id;
    bool is_quiet = false;  // PH_NO_LCE: only an error is a completion
    ph_status status = PH_OK;
  };

  const base::Config& config() const noexcept override { return settings; }
  bool may_live(Rank) const noexcept override { return lives; }
  std::int64_t now_ns() noexcept override { return now; }
  void wake() noexcept override { ++woken; }
  void note_dropped() noexcept override { ++dropped; }
  void note_unheard(Rank rank, ph_status status, const char* why) noexcept override {
    EXPECT_NE(why, nullptr);
    unheard.emplace_back(rank, status);
  }
  void cut_off(Rank rank, const char* why) override {
    cut_off_why = why;  // a copy of the words, as the engine makes it
    FakePort::cut_off(rank, why);
  }
  std::uint64_t promise(const UserEnd& end) override {
    if (promises() >= requests) return 0;
    const std::uint64_t made = FakePort::promise(end);
    if (made == 0) return 0;
    const auto* const id = static_cast<const std::byte*>(end.local.data);
    ends_[made] = {end.rank, Bytes(id, id + end.local.size_bytes), (end.flags & PH_NO_LCE) != 0,
                   PH_OK};
    return made;
  }
  void complete(std::uint64_t promise, ph_status status, const char* why) noexcept override {
    FakePort::complete(promise, status, why);
    Told one = ends_.at(promise);
    one.status = status;
    if (!one.is_quiet || status != PH_OK) told_.push_back(one);
  }
  // ---- memory that peers share with us
  ph_status can_store_here(Rank) const noexcept override {
    return is_meeting ? PH_AGAIN : shares_memory ? PH_OK : PH_ERR_NOT_FOUND;
  }
  ph_status store(Rank, const ph_target& at, std::span<const std::byte> bytes) override {
    if (!shares_memory) return PH_AGAIN;
    if (stale.contains(at.key)) return PH_ERR_KEY;
    std::memcpy(reinterpret_cast<void*>(at.address), bytes.data(), bytes.size());
    return PH_OK;
  }
  void revoke(Exposed& exposed) noexcept override {
    stale.insert(exposed.target.key);
    is_fenced = false;
  }
  void fence() noexcept override { is_fenced = true; }
  bool forget(Exposed& exposed, Rank) noexcept override {
    EXPECT_TRUE(is_fenced);
    if (copies_are_stuck) return false;
    conceal(exposed);
    return true;
  }
  void conceal(Exposed& exposed) noexcept override {
    stale.insert(exposed.target.key);
    FakePort::conceal(exposed);
  }

  bool shares_memory = false;
  bool is_meeting = false;
  bool copies_are_stuck = false;
  bool is_fenced = false;
  std::set<std::uint64_t> stale;

  std::vector<Told> take_told() { return std::exchange(told_, {}); }

  base::Config settings;
  std::size_t requests = 1000;  // promises that there may be at a time
  bool lives = true;
  std::string cut_off_why;
  std::int64_t now = 1;
  std::uint64_t woken = 0;
  std::uint64_t dropped = 0;
  std::vector<std::pair<Rank, ph_status>> unheard;

 private:
  std::map<std::uint64_t, Told> ends_;
  std::vector<Told> told_;
};

inline std::string kept(std::uint64_t number) { return "kept " + std::to_string(number); }
inline std::string credit(std::uint64_t number) { return "credit " + std::to_string(number); }
inline std::string verdict(std::uint64_t number, ph_status status) {
  return "verdict " + std::to_string(number) + ": " + std::to_string(status);
}

inline Bytes some(std::size_t size, int first = 1) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(first + i * 7);
  return bytes;
}

struct Mailing {
  Mailing() { port.serve(service); }

  Sender& sender() { return service.sender(); }
  Receiver& receiver() { return service.receiver(); }
  bool is_cut_off(Rank rank) const { return port.state(rank) == PH_ERR_PROTOCOL; }

  // ---- the receiving half
  static ph_mailbox_args box_args(std::uint64_t address = kBox) {
    ph_mailbox_args args{};
    args.size = sizeof args;
    args.address = address;
    args.source = PH_ANY_RANK;
    return args;
  }
  ph_mailbox open(const ph_mailbox_args& args = box_args()) {
    ph_mailbox box{};
    EXPECT_EQ(receiver().open(args, box), PH_OK);
    return box;
  }
  ph_mailbox open_managed(std::uint64_t address = kBox) {
    ph_mailbox_args args = box_args(address);
    args.placing = PH_MAILBOX_MANAGED;
    return open(args);
  }
  ph_status post(ph_mailbox box, std::span<std::byte> memory, std::uint64_t threshold = 0) {
    return receiver().post(box, {sizeof(ph_mailbox_buffer), memory.data(), memory.size(), threshold,
                                 nullptr, reinterpret_cast<std::uint64_t>(memory.data())});
  }
  std::vector<ph_mailbox_event> take(ph_mailbox box = {}) {
    std::vector<ph_mailbox_event> all;
    for (ph_mailbox_event event{}; receiver().take(box, event) == PH_OK;) all.push_back(event);
    return all;
  }

  // ---- what a peer says. Bytes of a mail: in the line, or else in the payload.
  static Coming mail(Rank from, std::uint64_t address, const Bytes& bytes, std::uint64_t flags = 0,
                     std::uint64_t offset = 0) {
    const bool in_line = bytes.size() <= 32;
    const std::uint64_t size = in_line ? bytes.size() : 0;
    Bytes header = words_of({1 | flags << 8 | size << 16, address, offset});
    if (!in_line) return {from, header, bytes, {}, 0, 0};
    header.insert(header.end(), bytes.begin(), bytes.end());
    header.resize((header.size() + 7) / 8 * 8);
    return {from, header, {}, {}, 0, 0};
  }
  // `bytes` stay where they are until the offer is over.
  static Coming offer(Rank from, std::uint64_t address, const Bytes& bytes, std::uint64_t flags = 0,
                      std::uint64_t offset = 0) {
    return {from,
            words_of({1 | (flags | kOffers) << 8, address, offset, bytes.size(),
                      reinterpret_cast<std::uint64_t>(bytes.data()), 77}),
            {},
            {},
            0,
            0};
  }
  bool deliver(const Coming& coming) { return port.deliver(coming); }
  bool reply(Rank from, Op op, std::uint64_t number, ph_status status = PH_OK) {
    std::vector<std::uint64_t> words = {first_word(op, number)};
    if (op == Op::verdict) words.push_back(static_cast<std::uint64_t>(std::int64_t{status}));
    return deliver({from, words_of(words), {}, {}, 0, 0});
  }

  // ---- what was said to that rank; all that was said is taken with that
  Texts said_to(Rank rank) {
    Texts all;
    for (Said said; port.take(said);)
      if (said.to == rank) all.push_back(text_of(said));
    return all;
  }
  static std::string text_of(const Said& said) {
    const auto words = words_in(said.header);
    switch (static_cast<Op>(words[0] & 0xff)) {
      case Op::kept: return kept(words[0] >> 8);
      case Op::credit: return credit(words[0] >> 8);
      case Op::verdict: return verdict(words[0] >> 8, static_cast<ph_status>(words.at(1)));
      case Op::mail: return "mail";
      case Op::grant: return "grant " + std::to_string(words.at(2));
      case Op::ask: return "ask";
      case Op::answer: return "answer " + std::to_string(words.at(1));
      case Op::recall: return "recall " + std::to_string(words[0] >> 8);
    }
    return "?";
  }

  MailPort port;
  Mailboxes service{port};
};

// One that sends, to rank 1 if nothing else is said.
struct Sending : Mailing {
  explicit Sending(std::uint64_t credit_bytes = 1 << 20) {
    port.settings.mailbox_early_bytes = credit_bytes;
    port.settings.max_cid_size = 1024;
  }
  ph_mailbox_put_args args(std::size_t size, std::uint32_t flags = PH_NO_LCE) {
    ph_mailbox_put_args args{};
    args.size = sizeof args;
    args.address = kBox;
    args.source = source.data();
    args.size_bytes = size;
    args.epoch = PH_ANY_EPOCH;
    args.flags = flags;
    return args;
  }
  ph_status put(std::size_t size, Rank to = 1) { return sender().put(to, args(size), false); }
  ph_status ask(std::size_t size = 8, Rank to = 1) {
    ph_mailbox_put_args asking = args(size, 0);
    asking.request = &request;
    return sender().put(to, asking, false);
  }
  ph_status put_with_id(const Bytes& id, std::uint32_t flags = 0) {
    ph_mailbox_put_args named = args(8, flags);
    named.local = {id.data(), static_cast<std::uint32_t>(id.size())};
    return sender().put(1, named, false);
  }
  // Until the credit is used up.
  int put_all(std::size_t size) {
    for (int count = 0;; ++count)
      if (put(size) != PH_OK) return count;
  }
  std::vector<ph_status> told() {
    std::vector<ph_status> all;
    for (const MailPort::Told& one : port.take_told()) all.push_back(one.status);
    return all;
  }
  using Statuses = std::vector<ph_status>;

  Bytes source = some(4000);
  ph_request request = PH_REQUEST_NONE;
};

}  // namespace photon::service::mailbox::test
