#include "simtest/am_faults.hpp"

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "api/service_table.hpp"
#include "service/am/am.hpp"
#include "simtest/passing_port.hpp"

namespace photon::simtest {

namespace {

using Kind = transport::sim::Fault::Kind;
using service::Port;
using service::am::Am;
using service::am::Op;

// The root of the tree is content with one wave.
class OneWave final : public Am {
 public:
  explicit OneWave(Port& port) : Am(port, 1) {}
};

// A chunk that is lent is given back as soon as another one comes: its room is written anew while
// its handler reads it. The newest of each peer stays lent, and so the memory of the link stays
// there: a fault of this kind shows wrong bytes, and never memory that was freed.
class EarlyReturn final : public Am {
 public:
  explicit EarlyReturn(Port& port) : Am(port), real_(port) {}
  service::Verdict on_chunk(const service::Chunk& chunk) override {
    const service::Verdict verdict = Am::on_chunk(chunk);
    if (verdict == service::Verdict::kept) shown_.push_back({chunk.message.from, chunk.loan});
    return verdict;
  }
  void collect() override {
    Am::collect();
    std::map<transport::Rank, std::uint64_t> newest;
    for (const auto& [from, loan] : shown_) {
      const auto [place, is_first] = newest.try_emplace(from, loan);
      if (!is_first) real_.give_back(from, std::exchange(place->second, loan));
    }
    shown_.assign(newest.begin(), newest.end());
  }

 private:
  Port& real_;
  std::vector<std::pair<transport::Rank, std::uint64_t>> shown_;
};

// What a service says, and what becomes of it.
class FaultyPort final : public PassingPort {
 public:
  FaultyPort(Port& real, Kind fault) noexcept : PassingPort(wire::Owner::am, real), fault_(fault) {}

  ph_status say(const service::Saying& what, std::uint64_t* ticket) override {
    const auto word = service::am::decode(service::am::word_at(what.header, 0));
    if (fault_ == Kind::no_unreplied && word->op == Op::unreplied) return PH_OK;
    if (fault_ != Kind::reorder_am || word->op != Op::line || what.must_go)
      return PassingPort::say(what, ticket);
    return say_reordered(what, ticket);
  }

 private:
  // The first one waits until another one has passed it.
  ph_status say_reordered(const service::Saying& what, std::uint64_t* ticket) {
    if (!has_held_ && held_.empty()) {
      has_held_ = true;
      held_.assign(what.header.begin(), what.header.end());
      held_for_ = what.to;
      return PH_OK;
    }
    const ph_status status = PassingPort::say(what, ticket);
    if (status != PH_OK || held_.empty() || what.to != held_for_) return status;
    service::Saying late;
    late.to = held_for_;
    late.header = held_;
    late.must_go = true;
    static_cast<void>(PassingPort::say(late, nullptr));
    held_.clear();
    return status;
  }

  const Kind fault_;
  bool has_held_ = false;
  std::vector<std::byte> held_;
  Rank held_for_ = 0;
};

// The port comes first: the messages need it from their beginning to their end.
struct HoldsFaultyPort {
  HoldsFaultyPort(Port& real, Kind fault) noexcept : port(real, fault) {}
  FaultyPort port;
};

template <Kind fault>
class Misspoken final : private HoldsFaultyPort, public Am {
 public:
  explicit Misspoken(Port& real) : HoldsFaultyPort(real, fault), Am(HoldsFaultyPort::port) {}
};

template <class Faulty>
std::unique_ptr<service::Service> make_faulty(Port& port) {
  return std::make_unique<Faulty>(port);
}

template <class Faulty>
std::span<const service::Kind> with() {
  static const auto kServices = [] {
    std::vector<service::Kind> all(api::services().begin(), api::services().end());
    for (service::Kind& kind : all)
      if (kind.owner == wire::Owner::am) kind.make = make_faulty<Faulty>;
    return all;
  }();
  return kServices;
}

}  // namespace

std::span<const service::Kind> am_faults(Kind fault) {
  switch (fault) {
    case Kind::one_wave: return with<OneWave>();
    case Kind::early_return: return with<EarlyReturn>();
    case Kind::no_unreplied: return with<Misspoken<Kind::no_unreplied>>();
    case Kind::reorder_am: return with<Misspoken<Kind::reorder_am>>();
    default: return {};
  }
}

}  // namespace photon::simtest
