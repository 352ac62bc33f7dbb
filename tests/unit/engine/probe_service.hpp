// A service for the unit tests of the seam: it notes what it is told and does what the test says.
// Owner: the engine that it was made for. Threads: one.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "engine_unit.hpp"
#include "service/service.hpp"

namespace photon::engine::test {

struct ProbeService final : service::Service {
  static constexpr wire::Owner kOwner = wire::Owner::echo;
  static std::unique_ptr<service::Service> make(service::Port& port) {
    return std::make_unique<ProbeService>(port);
  }
  static std::span<const service::Kind> table() {
    static constexpr service::CounterRow kCounters[] = {{"probe_a", "The first."},
                                                        {"probe_b", "The second."}};
    static constexpr service::Kind kTable[] = {{kOwner, "probe", make, kCounters}};
    return kTable;
  }
  // One that runs beside its caller.
  static std::span<const service::Kind> table_beside() {
    static constexpr service::Kind kTable[] = {
        {kOwner, "probe", [](service::Port& port) -> std::unique_ptr<service::Service> {
           auto made = std::make_unique<ProbeService>(port);
           made->beside = true;
           return made;
         }}};
    return kTable;
  }
  static ProbeService& of(Engine& engine) {
    return *static_cast<ProbeService*>(engine.service(kOwner));
  }
  explicit ProbeService(service::Port& its_port) : port(its_port) {}

  bool on_message(const service::Message& message) override {
    if (!is_good) return false;
    at_message();
    heard.push_back(text(message.header) + "|" + text(message.payload));
    if (runs_code) port.wants_run();
    return true;
  }
  service::Verdict on_chunk(const service::Chunk& chunk) override {
    if (chunk.offset == 0) heard.push_back(text(chunk.message.header) + "(");
    if (chunk.bytes.empty()) heard.push_back("cut");
    body.insert(body.end(), chunk.bytes.begin(), chunk.bytes.end());
    if (!chunk.bytes.empty() && chunk.is_last()) heard.push_back(")");
    if (verdict == service::Verdict::kept && !chunk.bytes.empty()) kept.push_back(chunk);
    return verdict;
  }
  void on_local(Rank to, std::uint64_t token, ph_status status) override {
    heard.push_back("local " + std::to_string(to) + " " + std::to_string(token) + " " +
                    std::to_string(status));
  }
  void on_room(Rank to) override { heard.push_back("room " + std::to_string(to)); }
  void on_met(Rank rank) noexcept override { met.push_back(rank); }
  void on_lost(Rank rank, ph_status why) noexcept override { lost.push_back({rank, why}); }
  ph_outcome on_cancel(Rank /*rank*/, std::uint64_t token) override {
    heard.push_back("cancel " + std::to_string(token));
    return outcome;
  }
  bool turn() override { return ++turns < wanted_turns; }
  std::int64_t next_turn_ns() const noexcept override { return next_ns; }
  bool has_news() override { return news; }
  void before_sleep() override { ++sleeps; }
  void before_flush(Rank) override { ++flushes; }
  bool runs_beside_caller() const noexcept override { return beside; }
  bool may_wait() const noexcept override { return waits; }
  bool runs_while_leaving() const noexcept override { return runs_leaving; }
  void collect() override { ++collected; }
  void run() noexcept override {
    ++ran;
    at_run();
  }
  void close() override { closed = true; }
  std::uint64_t counter(Rank rank, std::size_t place) const noexcept override {
    return rank == PH_ANY_RANK ? 100 + place : 10 * rank + place;
  }
  std::string ways(Rank rank) const override {
    return shows_ways ? "by hand to " + std::to_string(rank) : "";
  }
  bool is_idle() const noexcept override { return idle; }
  std::uint64_t held() const noexcept override { return kept.size(); }

  static std::string text(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  static std::span<const std::byte> bytes(const std::string& words) {
    return std::as_bytes(std::span(words));
  }
  ph_status say(Rank to, const std::string& header, const std::string& payload = "",
                bool must_go = false, bool behind_all = false) {
    return port.say({to, bytes(header), bytes(payload), must_go, behind_all}, &ticket);
  }

  service::Port& port;
  std::function<void()> at_message = [] {};
  std::function<void()> at_run = [] {};  // without the lane
  std::vector<std::string> heard;
  std::vector<std::byte> body;
  std::vector<service::Chunk> kept;
  std::vector<Rank> met;
  std::vector<std::pair<Rank, ph_status>> lost;
  std::uint64_t ticket = 0;
  bool is_good = true;
  bool runs_code = false;
  bool runs_leaving = true;
  bool news = false;
  bool waits = true;
  bool beside = false;
  bool closed = false;
  bool shows_ways = false;
  bool idle = true;
  service::Verdict verdict = service::Verdict::taken;
  ph_outcome outcome = PH_TOO_LATE;
  int turns = 0, wanted_turns = 0, sleeps = 0, flushes = 0, collected = 0, ran = 0;
  std::int64_t next_ns = INT64_MAX;
};

// Ranks 0 and 1 that have met, each with one.
struct Probed : Two {
  explicit Probed(const FakeOptions& chosen = options(), Ground ground = Ground::fake,
                  std::span<const service::Kind> services = ProbeService::table())
      : Two(chosen, ground, services) {}
  ProbeService& at(Rank rank) { return ProbeService::of(ranks[rank]); }
  // What rank 1 has heard, once it has heard so much.
  std::vector<std::string> heard(std::size_t count, Rank rank = 1) {
    EXPECT_TRUE(ranks.eventually([&] { return at(rank).heard.size() >= count; }));
    return at(rank).heard;
  }
  // So that rank 0 has no line left, rank 1 standing still; how many puts that took.
  int fill_ring() {
    const std::vector<std::byte> bytes = filled(8, 1);
    int puts = 0;
    while (at(0).say(1, "x") == PH_OK) ++puts;
    return puts;
  }
};

}  // namespace photon::engine::test
