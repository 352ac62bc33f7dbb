// Whatever peers say of collective operations: the whole service behind the seam, as rank 0 of four
// that has some operations under way.
//
// Input, until it ends: [what: the peer in bits 0 and 1, or 0: an act; words of the header in bits
// 2 to 4; a payload in bit 5] header... [size of the payload] payload...
//
// A finding is an abort() here or a report of AddressSanitizer: buffers and parts have exactly
// their size. At the end all peers are lost: then nothing is held any more.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "service/coll/collectives.hpp"

namespace {

using namespace photon::service;
using Bytes = std::vector<std::byte>;
constexpr Rank kRanks = 4;

void require(bool holds) {
  if (!holds) std::abort();
}

// What is sent goes nowhere; what is read has come when the input says so.
class FuzzPort final : public Port {
 public:
  FuzzPort() : Port(photon::wire::Owner::coll) {}
  void serve(Service& service) { service_ = &service; }

  void deliver(Rank from, const Bytes& header, const Bytes& payload) {
    if (lost_[from] != PH_OK) return;
    if (!service_->on_message({from, header, payload})) lose(from, PH_ERR_PROTOCOL);
  }
  void lose(Rank rank, ph_status why) {
    if (lost_[rank] != PH_OK) return;
    lost_[rank] = why;
    service_->on_lost(rank, why);
    for (std::size_t i = 0; i < gets_.size();) {
      if (gets_[i].from == rank)
        end(i, why);
      else
        ++i;
    }
  }
  void end_get() {
    if (gets_.empty()) return;
    std::fill(gets_[0].what.to.begin(), gets_[0].what.to.end(), std::byte{7});
    end(0, PH_OK);
  }
  void turns() {
    for (int i = 0; i < 1000 && service_->turn(); ++i) {
    }
  }
  std::uint64_t exposed() const { return exposed_; }

  ph_status say(const Saying& what, std::uint64_t* ticket) override {
    require(!what.header.empty() && what.to < kRanks);
    if (ticket != nullptr) *ticket = 0;
    return lost_[what.to];
  }
  bool unsay(Rank, std::uint64_t) noexcept override { return false; }
  ph_status say_body(const Saying&, std::span<const std::byte>, std::uint64_t) override {
    return PH_AGAIN;
  }
  void give_back(Rank, std::uint64_t) override {}
  std::uint64_t mark(Rank) noexcept override { return 0; }
  bool was_read(Rank, std::uint64_t) noexcept override { return false; }
  void note_read(Rank, std::uint64_t) noexcept override {}
  ph_status get(Rank from, const Fetch& what, std::uint64_t& handle) override {
    if (lost_[from] != PH_OK) return lost_[from];
    if (gets_.size() == 3) return PH_AGAIN;
    handle = gets_.size() + 1;
    gets_.push_back({from, what});
    return PH_OK;
  }
  bool give_up(std::uint64_t) noexcept override { return false; }
  ph_status contact(Rank rank) override { return rank < kRanks ? lost_[rank] : PH_ERR_RANK; }
  ph_status state(Rank rank) const noexcept override { return lost_[rank]; }
  bool may_live(Rank) const noexcept override { return true; }
  void cut_off(Rank rank, const char*) override { lose(rank, PH_ERR_PROTOCOL); }
  Rank rank() const noexcept override { return 0; }
  std::uint32_t size() const noexcept override { return kRanks; }
  const photon::base::Config& config() const noexcept override { return config_; }
  std::uint64_t promise(const UserEnd&) override { return 1; }
  void complete(std::uint64_t, ph_status, const char*) noexcept override {}
  void release(std::uint64_t) noexcept override {}
  void renounce(std::uint64_t) noexcept override {}
  ph_status again() noexcept override { return PH_AGAIN; }
  void hand_over(std::uint64_t, ph_request*) noexcept override {}
  ph_status expose(std::span<const std::byte>, std::uint32_t, Exposed& exposed) override {
    ++exposed_;
    exposed.is_own = true;
    return PH_OK;
  }
  void conceal(Exposed& exposed) noexcept override {
    if (exposed.is_own) --exposed_;
    exposed.is_own = false;
  }
  void wants_turn() noexcept override {}
  void wants_run() noexcept override {}
  void wake() noexcept override {}
  std::int64_t now_ns() noexcept override { return ++now_ns_; }

 private:
  struct Got {
    Rank from;
    Fetch what;
  };
  void end(std::size_t at, ph_status status) {
    const Got got = gets_[at];
    gets_.erase(gets_.begin() + static_cast<std::ptrdiff_t>(at));
    service_->on_local(got.from, got.what.token, status);
  }
  ph_status say_anyhow(Rank to, std::span<const std::byte>) noexcept override {
    require(to < kRanks);
    return lost_[to];
  }
  void tell(Rank) noexcept override {}

  Service* service_ = nullptr;
  ph_status lost_[kRanks] = {};
  std::vector<Got> gets_;
  std::uint64_t exposed_ = 0;
  std::int64_t now_ns_ = 0;
  const photon::base::Config config_;
};

// The operations of rank 0, with buffers of exactly their size.
class Played {
 public:
  explicit Played(coll::Collectives& all) : all_(all) {
    coll::Team* world = nullptr;
    all.world(world);
    begin(*world, PH_COLL_BCAST, 5, 1);
    begin(*world, PH_COLL_ALLREDUCE, 700, 0);
    begin(*world, PH_COLL_GATHER, 400, 0);
    begin(*world, PH_COLL_SCATTER, 300, 2);
    begin(*world, PH_COLL_ALLTOALL, 9, 0);
    ph_coll_args args = args_of(PH_COLL_ALLGATHER, 40, 0);
    coll::Operation* prepared = nullptr;
    if (all.prepare(*world, args, prepared) == PH_OK) static_cast<void>(all.start(*prepared));
    coll::Team* split = nullptr;
    static_cast<void>(all.split(*world, 0, 0, split));
  }

 private:
  ph_coll_args args_of(ph_coll_kind kind, std::uint64_t count, std::uint32_t root) {
    ph_coll_args args{};
    args.size = sizeof args;
    args.kind = kind;
    args.root = root;
    args.count = count;
    args.type = PH_INT32;
    if (kind == PH_COLL_ALLREDUCE) args.op = PH_OP_ADD;
    args.flags = PH_NO_LCE;
    const std::size_t bytes = 4 * count;
    const bool is_whole = kind == PH_COLL_BCAST || kind == PH_COLL_ALLREDUCE;
    const bool in_is_cut = kind == PH_COLL_ALLTOALL;
    args.in = room(kind == PH_COLL_BCAST ? 0 : in_is_cut ? kRanks * bytes : bytes);
    args.out = room(is_whole || kind == PH_COLL_SCATTER ? bytes : kRanks * bytes);
    return args;
  }
  void begin(coll::Team& team, ph_coll_kind kind, std::uint64_t count, std::uint32_t root) {
    static_cast<void>(all_.begin(team, args_of(kind, count, root)));
  }
  std::byte* room(std::size_t bytes) {
    buffers_.push_back(std::make_unique<std::byte[]>(bytes));
    return buffers_.back().get();
  }

  coll::Collectives& all_;
  std::vector<std::unique_ptr<std::byte[]>> buffers_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size_bytes) {
  std::size_t at = 0;
  const auto part = [&](std::size_t wanted) {
    const std::size_t size = std::min(wanted, size_bytes - at);
    Bytes bytes(size);
    if (size != 0) std::memcpy(bytes.data(), data + at, size);
    at += size;
    return bytes;
  };
  FuzzPort port;
  coll::Collectives all(port);
  port.serve(all);
  const Played played(all);
  while (at < size_bytes) {
    const std::uint8_t what = data[at++];
    if ((what & 3) == 0) {
      if ((what & 4) != 0) port.end_get();
      if ((what & 8) != 0) port.turns();
      if ((what & 16) != 0) port.lose(1 + what / 32 % 3, PH_ERR_DEPARTED);
      continue;
    }
    const Bytes header = part(std::size_t{what >> 2 & 7U} * 8);
    const Bytes size = part((what & 32) != 0 ? 1 : 0);
    const Bytes payload = part(size.empty() ? 0 : std::to_integer<std::size_t>(size[0]));
    port.deliver(what & 3, header, payload);
  }
  port.turns();
  for (Rank rank = 1; rank < kRanks; ++rank) port.lose(rank, PH_ERR_PEER);
  for (int i = 0; i < 8; ++i) port.turns();
  require(all.is_idle() && all.held() == 0 && port.exposed() == 0);
  return 0;
}
