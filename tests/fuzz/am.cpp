// Whatever peers say of active messages: the decoders of their words, and the whole service behind
// the seam, as rank 0 of four that has sent some itself.
//
// Input, until it ends: [what: the peer in bits 0 and 1, or 0: an act; words of the header in bits
// 2 to 4; a payload in bit 5; a body in bit 6] header... [size by 8] payload... [size by 64, part
// of it] body...
//
// A finding is an abort() here or a report of AddressSanitizer: all parts have exactly their size.
// At the end all peers are lost and the lane closes: then nothing is held any more.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "service/am/am.hpp"

namespace {

using namespace photon::service;
using Bytes = std::vector<std::byte>;
constexpr Rank kRanks = 4;

void require(bool holds) {
  if (!holds) std::abort();
}

// What is sent goes nowhere; a chunk that is kept lies in memory of its own.
class FuzzPort final : public Port {
 public:
  FuzzPort() : Port(photon::wire::Owner::am) {
    config_.am_slots = 8;
    config_.am_queue_bytes = 1 << 16;
  }
  void serve(Service& service) { service_ = &service; }

  void deliver(Rank from, const Bytes& header, const Bytes& payload) {
    if (lost_[from] != PH_OK) return;
    if (!service_->on_message({from, header, payload})) lose(from, PH_ERR_PROTOCOL);
  }
  // The next part of a body, as the engine checks them: without a gap, one body after the other.
  void deliver(Rank from, const Bytes& header, const Bytes& part, std::uint64_t size_bytes) {
    if (lost_[from] != PH_OK) return;
    Coming& coming = coming_[from];
    if (coming.done == coming.size_bytes) coming = {0, size_bytes};
    if (part.size() > coming.size_bytes - coming.done) return;
    auto bytes = std::make_unique<std::byte[]>(std::max<std::size_t>(1, part.size()));
    std::copy(part.begin(), part.end(), bytes.get());
    Chunk chunk{{from, {}, {}}, coming.size_bytes, coming.done, {bytes.get(), part.size()}, loans_};
    if (coming.done == 0) chunk.message.header = header;
    coming.done = part.empty() ? coming.size_bytes : coming.done + part.size();
    const Verdict verdict = service_->on_chunk(chunk);
    require(verdict != Verdict::kept || !part.empty());
    if (verdict == Verdict::kept) kept_.push_back({from, loans_, std::move(bytes)});
    ++loans_;
    if (verdict == Verdict::malformed) lose(from, PH_ERR_PROTOCOL);
  }
  void lose(Rank rank, ph_status why) {
    if (lost_[rank] != PH_OK) return;
    lost_[rank] = why;
    coming_[rank] = {};
    service_->on_lost(rank, why);
  }
  void turns() {
    for (std::size_t left = ends_.size(); left > 0; --left) {
      const auto [to, token] = ends_.front();
      ends_.erase(ends_.begin());
      service_->on_local(to, token, lost_[to]);
    }
    for (int i = 0; i < 1000 && service_->turn(); ++i) {
    }
    for (Rank rank = 1; rank < kRanks; ++rank)
      if (lost_[rank] == PH_OK) service_->on_room(rank);
  }
  void run() {
    service_->collect();
    service_->run();
    service_->ran();
  }
  bool is_full = false;
  bool runs = false;
  std::size_t kept() const { return kept_.size(); }

  ph_status say(const Saying& what, std::uint64_t* ticket) override {
    require(!what.header.empty() && what.to < kRanks);
    if (ticket != nullptr) *ticket = 0;
    return lost_[what.to] == PH_OK && is_full && !what.must_go ? PH_AGAIN : lost_[what.to];
  }
  bool unsay(Rank, std::uint64_t) noexcept override { return false; }
  ph_status say_body(const Saying& what, std::span<const std::byte>, std::uint64_t token) override {
    if (lost_[what.to] != PH_OK) return lost_[what.to];
    if (is_full) return PH_AGAIN;
    ends_.push_back({what.to, token});
    return PH_OK;
  }
  void give_back(Rank from, std::uint64_t loan) override {
    require(std::erase_if(
                kept_, [&](const Kept& one) { return one.from == from && one.loan == loan; }) == 1);
  }
  std::uint64_t mark(Rank) noexcept override { return 0; }
  bool was_read(Rank, std::uint64_t) noexcept override { return false; }
  void note_read(Rank, std::uint64_t) noexcept override {}
  ph_status get(Rank from, const Fetch&, std::uint64_t&) override {
    return lost_[from] == PH_OK ? PH_AGAIN : lost_[from];
  }
  bool give_up(std::uint64_t) noexcept override { return true; }
  ph_status contact(Rank rank) override { return rank < kRanks ? lost_[rank] : PH_ERR_RANK; }
  ph_status state(Rank rank) const noexcept override { return lost_[rank]; }
  bool may_live(Rank) const noexcept override { return true; }
  void cut_off(Rank rank, const char*) override { lose(rank, PH_ERR_PROTOCOL); }
  Rank rank() const noexcept override { return 0; }
  std::uint32_t size() const noexcept override { return kRanks; }
  const photon::base::Config& config() const noexcept override { return config_; }
  std::uint64_t promise(const UserEnd&) override { return ++promises_; }
  void complete(std::uint64_t, ph_status, const char*) noexcept override {}
  void release(std::uint64_t) noexcept override {}
  void renounce(std::uint64_t) noexcept override {}
  ph_status again() noexcept override { return PH_AGAIN; }
  void hand_over(std::uint64_t, ph_request*) noexcept override {}
  ph_status expose(std::span<const std::byte>, std::uint32_t, Exposed& exposed) override {
    exposed.is_own = true;
    return PH_OK;
  }
  void conceal(Exposed& exposed) noexcept override { exposed.is_own = false; }
  void wants_turn() noexcept override {}
  void wants_run() noexcept override {}
  bool runs_now() const noexcept override { return runs; }
  bool is_in_run() const noexcept override { return is_inside; }
  void wake() noexcept override {}
  std::int64_t now_ns() noexcept override { return ++now_ns_; }
  bool is_inside = false;

 private:
  struct Kept {
    Rank from;
    std::uint64_t loan;
    std::unique_ptr<std::byte[]> bytes;
  };
  struct Coming {
    std::uint64_t done = 0;
    std::uint64_t size_bytes = 0;
  };
  ph_status say_anyhow(Rank to, std::span<const std::byte>) noexcept override {
    if (to >= kRanks) return PH_ERR_RANK;
    return lost_[to] == PH_OK && is_full ? PH_AGAIN : lost_[to];
  }
  void tell(Rank) noexcept override {}

  Service* service_ = nullptr;
  ph_status lost_[kRanks] = {};
  Coming coming_[kRanks];
  std::vector<Kept> kept_;
  std::vector<std::pair<Rank, std::uint64_t>> ends_;
  std::uint64_t loans_ = 0;
  std::uint64_t promises_ = 0;
  std::int64_t now_ns_ = 0;
  photon::base::Config config_;
};

// Reads all that it is shown, answers, lands and fails by turns.
struct Handler {
  FuzzPort& port;
  am::Am& am;
  std::uint64_t sum = 0;
  unsigned calls = 0;
  std::byte memory[256];

  static ph_status run(void* user, const ph_am_message* message, ph_am_landing* landing) {
    return static_cast<Handler*>(user)->handle(*message, *landing);
  }
  static ph_status landed(void* user, const ph_am_message*, const ph_am_part* part) {
    const auto* const bytes = static_cast<const std::byte*>(part->data);
    for (std::uint64_t i = 0; bytes != nullptr && i < part->size_bytes; ++i)
      static_cast<Handler*>(user)->sum += std::to_integer<std::uint64_t>(bytes[i]);
    return part->offset > 64 ? PH_ERR_RANGE : PH_OK;
  }
  ph_status handle(const ph_am_message& message, ph_am_landing& landing) {
    const auto* const payload = static_cast<const std::byte*>(message.payload);
    const auto* const header = static_cast<const std::byte*>(message.header);
    for (std::uint64_t i = 0; payload != nullptr && i < message.payload_bytes; ++i)
      sum += std::to_integer<std::uint64_t>(payload[i]);
    for (std::uint64_t i = 0; i < message.header_bytes; ++i)
      sum += std::to_integer<std::uint64_t>(header[i]);
    port.is_inside = true;
    if ((message.flags & PH_AM_REPLY) != 0 && calls % 2 == 0) {
      ph_am_args args{};
      args.size = sizeof args;
      args.flags = PH_NO_LCE;
      static_cast<void>(am.reply(&message, args));
    }
    port.is_inside = false;
    if (calls % 3 == 1) {
      landing.buffer = memory;
      landing.buffer_bytes = sizeof memory;
      landing.chunk_bytes = 32;
      landing.done = landed;
      landing.argument = this;
    }
    return ++calls % 5 == 0 ? PH_ERR_STATE : PH_OK;
  }
};

// What is taken for a word is what its own encoding says, and parts lie inside what came.
void check_words(const Bytes& header, const Bytes& payload) {
  if (header.size() < sizeof(std::uint64_t)) return;
  const std::uint64_t bits = am::word_at(header, 0);
  const auto word = am::decode(bits);
  if (!word) return;
  require(am::encode(*word) == bits);
  const auto rest = std::span(header).subspan(sizeof bits);
  if (const auto parts = am::parts_of_line(*word, rest))
    require(parts->header.size() == word->header_bytes &&
            parts->header.size() + parts->payload.size() <= rest.size());
  const auto sizes = am::sizes_of(*word, rest);
  if (!sizes) return;
  if (const auto parts = am::parts_of(*word, *sizes, payload))
    require(parts->payload.size() == sizes->payload_bytes &&
            parts->payload.size() + parts->header.size() <= payload.size());
}

void send(am::Am& am, std::uint8_t what) {
  static const std::byte bytes[300] = {};
  const Rank to = 1 + what % 3;
  ph_am_args args{};
  args.size = sizeof args;
  args.flags = PH_NO_LCE | ((what & 64) != 0 ? PH_AM_REPLY : 0U);
  args.payload = bytes;
  args.payload_bytes = (what & 128) != 0 ? sizeof bytes : 8;
  static_cast<void>(am.send(to, args));
  static_cast<void>(am.send_small(to, 1, {bytes, 8}));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size_bytes) {
  std::size_t at = 0;
  const auto byte = [&] { return at < size_bytes ? data[at++] : std::uint8_t{0}; };
  const auto part = [&](std::size_t wanted) {
    const std::size_t size = std::min(wanted, size_bytes - at);
    Bytes bytes(size);
    if (size != 0) std::memcpy(bytes.data(), data + at, size);
    at += size;
    return bytes;
  };
  FuzzPort port;
  am::Am all(port);
  port.serve(all);
  Handler handler{port, all};
  require(all.enroll(0, Handler::run, &handler) == PH_OK);
  require(all.enroll(1, Handler::run, &handler) == PH_OK);
  while (at < size_bytes) {
    const std::uint8_t what = byte();
    if ((what & 3) == 0) {
      if ((what & 4) != 0) port.run();
      if ((what & 8) != 0) port.turns();
      if ((what & 16) != 0) send(all, byte());
      if ((what & 32) != 0) port.is_full = !port.is_full;
      if ((what & 64) != 0) port.runs = !port.runs;
      if ((what & 128) != 0) port.lose(1 + byte() % 3, PH_ERR_DEPARTED);
      continue;
    }
    const Bytes header = part(std::size_t{what >> 2 & 7U} * 8);
    if ((what & 64) == 0) {
      const Bytes payload = part((what & 32) != 0 ? std::size_t{byte()} * 8 : 0);
      check_words(header, payload);
      port.deliver(what & 3, header, payload);
      continue;
    }
    const std::uint64_t size = 1 + std::uint64_t{byte()} * 64;
    port.deliver(what & 3, header, part(byte()), size);
  }
  port.is_full = false;
  port.run();
  for (int i = 0; i < 8; ++i) port.turns();
  for (Rank rank = 1; rank < kRanks; ++rank) port.lose(rank, PH_ERR_PEER);
  for (int i = 0; i < 8; ++i) port.turns();
  all.close();
  require(all.is_idle() && all.held() == 0 && port.kept() == 0);
  return 0;
}
