// Engines of several ranks in one thread, with the insides of their links within reach: over a fake
// transport or over a real one.
//
//   EngineGroup ranks(2, Ground::shm);
//   ranks[0].put_u64(...); ranks.turn(); ranks.probe(1, PH_REMOTE);
//
// Owner: the test. Threads: one.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api/rendezvous_calls.hpp"
#include "api/service_table.hpp"
#include "engine/engine.hpp"
#include "fake_transport.hpp"
#include "memory_boot.hpp"
#include "transport/shm/shm_transport.hpp"
#include "transport/sim/sim_transport.hpp"
#include "watchdog.hpp"

namespace photon::test {

// shm_two: the ranks believe that they are two processes, so that each byte is mapped twice.
enum class Ground { fake, shm, shm_two, sim };

inline const char* name_of(Ground ground) {
  constexpr const char* kNames[] = {"fake", "shm", "shm_two_mappings", "sim"};
  return kNames[static_cast<std::size_t>(ground)];
}
inline void PrintTo(Ground ground, std::ostream* out) { *out << name_of(ground); }
inline std::string ground_name(const testing::TestParamInfo<Ground>& one) {
  return name_of(one.param);
}

// A put of nothing, with an empty id: no more than a sign of life.
inline ph_put_args notice() {
  ph_put_args args{};
  args.size = sizeof args;
  args.flags = PH_NO_LCE;
  return args;
}

// ph_unregister() and ph_free() of a context without other lanes.
inline ph_status take_back(engine::Engine& engine, engine::Removal& removal) {
  if (!removal.is_due) return PH_OK;
  const bool let_go = engine.let_go_of(removal);
  return engine.end_removal(removal, let_go);
}
inline ph_status remove_region(engine::Engine& engine, std::uint64_t key) {
  engine::Removal removal;
  const ph_status status = engine.begin_removal(key, removal);
  return status == PH_OK ? take_back(engine, removal) : status;
}
inline ph_status free_memory(engine::Engine& engine, void* base) {
  engine::Removal removal;
  const ph_status status = engine.begin_freeing(base, removal);
  return status == PH_OK ? take_back(engine, removal) : status;
}

class EngineGroup {
 public:
  EngineGroup(std::uint32_t ranks_count, Ground ground, const FakeOptions& options = {},
              std::span<const service::Kind> services = api::services())
      : options_(options),
        services_(services),
        job_(ranks_count),
        net_(ranks_count, options),
        members_(ranks_count) {
    // Opening sim is collective, so each rank opens in a thread of its own.
    std::vector<std::thread> threads;
    for (Rank rank = 0; rank < ranks_count; ++rank)
      threads.emplace_back([this, rank, ground] { open(rank, ground); });
    for (std::thread& thread : threads) thread.join();
    for (const Member& member : members_)
      if (member.engine == nullptr) throw std::runtime_error("cannot open: " + member.why);
  }
  explicit EngineGroup(const FakeOptions& options) : EngineGroup(2, Ground::fake, options) {}

  engine::Engine& operator[](Rank rank) { return *members_[rank].engine; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(members_.size()); }
  FakeNet& net() { return net_; }
  FakeTransport& fake(Rank rank) { return dynamic_cast<FakeTransport&>(*members_[rank].transport); }
  transport::Link& link(Rank me, Rank rank) { return **members_[me].transport->connect(rank); }
  engine::Lane& lane(Rank rank) { return *members_[rank].lane; }
  void end(Rank rank) { members_[rank].engine.reset(); }

  // One turn of progress on every rank that lives.
  void turn() {
    for (Member& member : members_)
      if (member.engine != nullptr) member.engine->serve();
  }
  template <class Done>
  bool eventually(Done done) {
    for (int round = 0; round < 200'000; ++round) {
      if (done()) return true;
      turn();
    }
    return false;
  }

  std::vector<ph_completion> probe(Rank rank, std::uint32_t kinds, std::size_t capacity = 64,
                                   ph_rank peer = PH_ANY_RANK) {
    std::vector<ph_completion> found(capacity);
    ids_.resize(64 * std::size_t{PH_MAX_ID_BYTES});
    engine::CompletionSink sink{{peer, kinds, ids_.data()}, found.data(), capacity};
    EXPECT_EQ((*this)[rank].probe(sink), PH_OK);
    found.resize(sink.count);
    return found;
  }
  // The next completion of these kinds, everybody making progress; throws if there is none.
  ph_completion take(Rank rank, std::uint32_t kinds, ph_rank peer = PH_ANY_RANK) {
    std::vector<ph_completion> found;
    if (!eventually([&] { return !(found = probe(rank, kinds, 1, peer)).empty(); }))
      throw std::runtime_error("no completion at rank " + std::to_string(rank));
    return found.front();
  }

  // Both directions of two ranks stand and have been used.
  void meet(Rank a, Rank b) {
    for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
      EXPECT_EQ((*this)[from].put(to, notice()), PH_OK);
      take(to, PH_REMOTE, from);
    }
    // The owner's region table is visible once its answer is here.
    turn();
  }

  ph_region add(Rank rank, std::span<std::byte> bytes, std::uint32_t access = PH_ACCESS_ALL) {
    ph_region region{};
    EXPECT_EQ((*this)[rank].add_region(
                  {reinterpret_cast<std::uint64_t>(bytes.data()), bytes.size(), 0}, access, region),
              PH_OK);
    return region;
  }

 private:
  struct Member {
    std::unique_ptr<engine::Lane> lane;
    transport::Transport* transport = nullptr;  // the engine's
    std::unique_ptr<engine::Engine> engine;
    std::string why;
  };

  void open(Rank rank, Ground ground) {
    auto boot = job_.boot(rank);
    auto opened = open_transport(rank, ground, *boot);
    if (!opened) {
      members_[rank].why = opened.error().what;
      job_.meeting().break_up();
      return;
    }
    members_[rank].transport = opened->get();
    members_[rank].lane = std::move(*engine::Lane::create(false));
    members_[rank].engine = std::make_unique<engine::Engine>(engine::Engine::Parts{
        options_.config, std::move(boot), std::move(*opened), engine::seeded_keys(rank + 1),
        nullptr, options_.services.empty() ? services_ : options_.services});
  }

  base::Result<std::unique_ptr<transport::Transport>> open_transport(Rank rank, Ground ground,
                                                                     boot::Boot& boot) {
    if (ground == Ground::fake)
      return std::unique_ptr<transport::Transport>(std::make_unique<FakeTransport>(net_, rank));
    if (ground == Ground::sim) return transport::sim::open_sim(options_.config, boot);
    transport::shm::ShmOptions options;
    if (ground == Ground::shm_two) options.token = transport::shm::ProcessToken{rank, 17};
    return transport::shm::open_shm(options_.config, boot, options);
  }

  Watchdog watchdog_{std::chrono::seconds(120)};
  FakeOptions options_;
  std::span<const service::Kind> services_;
  MemoryJob job_;
  FakeNet net_;
  std::vector<Member> members_;
  std::vector<std::byte> ids_;
};

}  // namespace photon::test
