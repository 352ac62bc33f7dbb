// A job of two in which rank 1, which sends bodies of messages, is killed by rank 0, which receives
// them:
//
//   lender kept    rank 0 keeps all chunks: they stay readable, and the link stays, until the last
//                  one is given back
//   lender half    rank 1 dies with a body half sent: rank 0 hears on_lost(), and no last chunk
//   lender echo    the same with echo, by its public calls: nothing half is answered
//
// The setting PHOTON_TRANSPORT says over what. "kept" and "half" run a service of this program's
// own. Exit status 0: so it was; rank 1 has its own.
#include <photon/photon.h>

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/open_transport.hpp"
#include "base/clock.hpp"
#include "boot/callback_boot.hpp"
#include "boot/lane_demux.hpp"
#include "engine/engine.hpp"
#include "rank_calls.hpp"
#include "service/service.hpp"

namespace photon::test {
namespace {

using service::Chunk;
using service::Message;
using service::Verdict;
using Bytes = std::vector<std::byte>;

constexpr std::int64_t kLimitNs = 20'000'000'000;
constexpr std::size_t kKeptBytes = 300'000;     // goes into the bulk ring at once
constexpr std::size_t kHalfBytes = 64ul << 20;  // many times what the ring holds

Bytes pattern(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = std::byte(i * 7 + (i >> 8) + (i >> 16));
  return bytes;
}

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "lender: %s\n", why.c_str());
  std::_Exit(1);
}

void demand(bool is_so, const std::string& what) {
  if (!is_so) give_up(what);
}

// Notes what it is shown of bodies, and keeps chunks or not.
class Taking final : public service::Service {
 public:
  static inline Taking* made = nullptr;  // NOLINT: one rank a process, one thread a rank
  static inline Verdict verdict = Verdict::kept;

  explicit Taking(service::Port& its_port) : port(its_port) { made = this; }
  static std::unique_ptr<service::Service> make(service::Port& port) {
    return std::make_unique<Taking>(port);
  }
  bool on_message(const Message&) override { return false; }
  Verdict on_chunk(const Chunk& chunk) override {
    demand(!lost, "a chunk was shown after on_lost()");
    demand(!chunk.bytes.empty(), "a body that was not cut short ended so");
    bytes_count += chunk.bytes.size();
    has_ended = chunk.is_last();
    if (verdict == Verdict::kept) chunks.push_back(chunk);
    return verdict;
  }
  void on_lost(service::Rank rank, ph_status status) noexcept override {
    demand(rank == 1 && !std::exchange(lost, true), "another rank, or the same once more, is lost");
    why = status;
  }

  service::Port& port;
  std::vector<Chunk> chunks;
  std::uint64_t bytes_count = 0;
  bool has_ended = false;
  bool lost = false;
  ph_status why = PH_OK;
};

constexpr service::Kind kTaking[] = {{wire::Owner::echo, "taking", Taking::make}};

// An engine with that service alone.
struct OwnRank {
  explicit OwnRank(const ph_bootstrap& bootstrap) {
    auto settings = base::load_config({});
    demand(static_cast<bool>(settings), "settings");
    auto real = boot::CallbackBoot::open(bootstrap, *settings);
    demand(static_cast<bool>(real), "boot");
    auto boot = boot::LaneDemux::front(std::move(*real));
    demand(static_cast<bool>(boot), "lanes");
    auto opened = api::open_transport(*settings, **boot);
    demand(static_cast<bool>(opened), "transport");
    transport = opened->get();
    lane = std::move(*engine::Lane::create(false));
    engine = std::make_unique<engine::Engine>(
        engine::Engine::Parts{*settings, std::move(*boot), std::move(*opened),
                              engine::seeded_keys(bootstrap.rank + 1), nullptr, kTaking});
    static_cast<void>(engine->service(wire::Owner::echo));
  }
  void serve_until(const char* what, const std::function<bool()>& done) {
    const std::int64_t limit_ns = base::now_ns() + kLimitNs;
    while (!done()) {
      engine->serve();
      if (base::now_ns() > limit_ns) give_up(std::string("in vain: ") + what);
    }
  }

  transport::Transport* transport = nullptr;  // the engine's
  std::unique_ptr<engine::Lane> lane;
  std::unique_ptr<engine::Engine> engine;
};

// Sends a body to rank 0, and makes progress until it is killed.
[[noreturn]] void be_killed(OwnRank& rank, std::size_t size) {
  const Bytes header(8, std::byte{1}), body = pattern(size);
  service::Saying what;
  what.to = 0;
  what.header = header;
  demand(Taking::made->port.say_body(what, body, 1) == PH_OK, "say_body");
  rank.serve_until("the end of rank 1", [] { return false; });
  give_up("rank 1 lives");
}

void expect_whole(const std::vector<Chunk>& chunks) {
  const Bytes body = pattern(kKeptBytes);
  std::size_t at = 0;
  for (const Chunk& chunk : chunks) {
    demand(chunk.offset == at, "a chunk stands elsewhere");
    for (const std::byte byte : chunk.bytes) demand(byte == body[at++], "a chunk has changed");
  }
  demand(at == kKeptBytes, "chunks are missing");
}

int keep(OwnRank& rank, pid_t victim) {
  Taking& taking = *Taking::made;
  rank.serve_until("the body", [&] { return taking.has_ended; });
  demand(taking.chunks.size() > 2, "the body came in few chunks");
  ::kill(victim, SIGKILL);
  rank.serve_until("on_lost()", [&] { return taking.lost; });
  demand(taking.why == PH_ERR_PEER, "it left in order");
  for (int i = 0; i < 1000; ++i) rank.engine->serve();
  expect_whole(taking.chunks);
  const std::vector<Chunk> kept = std::exchange(taking.chunks, {});
  for (std::size_t i = 0; i < kept.size(); ++i) {
    demand(static_cast<bool>(rank.transport->connect(1)), "its link has gone before its chunks");
    taking.port.give_back(1, kept[(i + 1) % kept.size()].loan);  // the first one last
    rank.engine->serve();
  }
  demand(!rank.transport->connect(1), "its link is still there");
  return 0;
}

int hear_half(OwnRank& rank, pid_t victim) {
  Taking& taking = *Taking::made;
  rank.serve_until("the first chunk", [&] { return taking.bytes_count != 0; });
  ::kill(victim, SIGKILL);
  rank.serve_until("on_lost()", [&] { return taking.lost; });
  demand(taking.why == PH_ERR_PEER, "it left in order");
  for (int i = 0; i < 1000; ++i) rank.engine->serve();
  demand(taking.bytes_count < kHalfBytes && !taking.has_ended, "a partial body was told as whole");
  demand(!rank.transport->connect(1), "its link is still there");
  return 0;
}

int with_service(const std::string& how, const ph_bootstrap& bootstrap) {
  if (how == "half") Taking::verdict = Verdict::taken;
  pid_t pids[2] = {};
  const pid_t mine = ::getpid();
  OwnRank rank(bootstrap);
  demand(bootstrap.allgather(bootstrap.user, &mine, pids, sizeof mine) == 0, "allgather");
  if (bootstrap.rank == 1) be_killed(rank, how == "half" ? kHalfBytes : kKeptBytes);
  return how == "half" ? hear_half(rank, pids[1]) : keep(rank, pids[1]);
}

// Both have a body under way to the other one. Rank 0 hears a word that went before rank 1's.
int with_echo(const ph_bootstrap& bootstrap) {
  const ph_config config{sizeof config, &bootstrap, nullptr, 0};
  ph_context* context = nullptr;
  demand(ph_context_create(&config, &context, nullptr) == PH_OK, "create");
  pid_t pids[2] = {};
  const pid_t mine = ::getpid();
  require(context, ph_allgather(context, &mine, pids, sizeof mine), "allgather");
  const Bytes body = pattern(kHalfBytes);
  if (bootstrap.rank == 1) {
    require(context, ph_notify(context, 0, 1), "notify");
    require(context, ph_echo_body(context, 0, {body.data(), body.size()}, 7), "echo_body");
    ph_echo_result result{};
    fail(context, "rank 1 lives", ph_echo_wait(context, &result, kLongUs));
  }
  next(context, 1, PH_REMOTE);
  require(context, ph_echo_body(context, 1, {body.data(), body.size()}, 8), "echo_body");
  ::kill(pids[1], SIGKILL);
  ph_echo_result result{};
  require(context, ph_echo_wait(context, &result, kLongUs), "the answer");
  if (result.status != PH_ERR_PEER || result.value != 8 || result.rank != 1)
    fail(context, "a partial body was answered", result.status);
  // What is half here disturbs nobody: we answer ourselves.
  require(context, ph_echo_body(context, 0, {body.data(), body.size()}, 9), "echo_body");
  require(context, ph_echo_wait(context, &result, kLongUs), "our own answer");
  if (result.status != PH_OK || result.value != 9 ||
      result.sum != ph_echo_sum({body.data(), body.size()}))
    fail(context, "our own body", result.status);
  const ph_status status = ph_finalize(context);
  ph_context_destroy(context);
  return status == PH_OK || status == PH_ERR_PEER ? 0 : 1;
}

}  // namespace
}  // namespace photon::test

int main(int count, char** arguments) {
  const std::string how = count == 2 ? arguments[1] : "";
  if (how != "kept" && how != "half" && how != "echo") return 2;
  return photon::test::run_ranks(2, {}, true, [&how](const ph_bootstrap& bootstrap) {
    return how == "echo" ? photon::test::with_echo(bootstrap)
                         : photon::test::with_service(how, bootstrap);
  });
}
