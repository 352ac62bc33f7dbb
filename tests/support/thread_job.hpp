// A job whose ranks are threads of this process: how most tests run.
//
//   ThreadJob job(4, {{"shm_cma", "off"}});
//   job.run([](ph_context* context, ph_rank rank) { ... EXPECT_EQ(...); ... });
//
// run() creates one context per thread through ph_bootstrap callbacks, calls the body, waits
// (serving peers) until every body has returned, finalizes and destroys. An exception in a body
// and a status other than PH_OK from create or finalize are failures of the test that name the
// rank; a body may finalize its context itself, but not destroy it. ASSERT_* ends that rank's body.
// A job that is not over at the deadline aborts the process and says which ranks are still busy.
#pragma once

#include <gtest/gtest.h>
#include <photon/photon.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api/handle.hpp"
#include "hosts_boot.hpp"
#include "meeting_point.hpp"
#include "namespaces.hpp"
#include "watchdog.hpp"

namespace photon::test {

using Options = std::vector<std::pair<std::string, std::string>>;

// No setting of the library's: on so many hosts the ranks of the job pretend to be, by turns; where
// there are namespaces() they are in those, as many, nothing is pretended, and run() sees to it
// that the library has found who is where.
inline constexpr const char* kHostsOption = "test_hosts";

// ph_context_create() for a rank that pretends to be on one of so many hosts.
inline ph_status create_on_hosts(std::uint32_t hosts_count, const ph_config& config,
                                 ph_context*& context, ph_error& error) {
  auto made = [&]() -> base::Result<std::unique_ptr<ph_context>> {
    auto settings = base::load_config({config.options, config.options_count});
    if (!settings) return settings.error();
    auto boot = boot::open(config.bootstrap, *settings);
    if (!boot) return boot.error();
    return api::create_over(*settings, std::make_unique<HostsBoot>(std::move(*boot), hosts_count));
  }();
  if (!made) {
    api::fill_error(made.error(), error);
    return error.status;
  }
  context = made->release();
  return PH_OK;
}

class ThreadJob {
 public:
  using Body = std::function<void(ph_context*, ph_rank)>;
  using BareBody = std::function<void(const ph_bootstrap&)>;

  explicit ThreadJob(std::uint32_t ranks_count, Options options = {},
                     std::chrono::milliseconds deadline = std::chrono::seconds(120))
      : options_(std::move(options)), deadline_(deadline), meeting_(ranks_count) {
    for (const auto& [name, value] : options_) {
      is_mixed_ |= name == kHostsOption;
      is_network_ |= name == "transport" && (value == "tcp" || value == "ofi");
    }
    is_on_hosts_ = (is_mixed_ || is_network_) && !namespaces().empty();
    for (ph_rank rank = 0; rank < ranks_count; ++rank) seats_.push_back({this, rank});
    steps_.resize(ranks_count, "not started");
  }

  ThreadJob(const ThreadJob&) = delete;
  ThreadJob& operator=(const ThreadJob&) = delete;

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(seats_.size()); }

  // One running context per thread.
  void run(const Body& body) {
    run_bare([&](const ph_bootstrap& bootstrap) { run_rank(bootstrap, body); });
  }

  // One thread per rank with its bootstrap only: for tests of create, finalize and death.
  void run_bare(const BareBody& body) {
    const Watchdog watchdog(deadline_, [this] { return describe(); });
    std::vector<std::thread> threads;
    for (Seat& seat : seats_) threads.emplace_back([&] { guard(seat, body); });
    for (std::thread& thread : threads) thread.join();
  }

  // Create a context with this job's options; null after recording a failure.
  ph_context* create(const ph_bootstrap& bootstrap) {
    std::vector<ph_option> options;
    std::uint32_t hosts_count = 0;  // 0: none are pretended
    for (const auto& [name, value] : options_) {
      if (name == kHostsOption)
        hosts_count = static_cast<std::uint32_t>(std::stoul(value));
      else
        options.push_back({name.c_str(), value.c_str()});
    }
    if (is_on_hosts_) {
      hosts_count = 0;
      enter_namespace(bootstrap.rank);
      for (ph_option& option : options)
        if (std::string(option.name) == "tcp_interface") option.value = kCable;
    }
    ph_config config = {};
    config.size = sizeof config;
    config.bootstrap = &bootstrap;
    config.options = options.data();
    config.options_count = options.size();
    ph_context* context = nullptr;
    ph_error error = {};
    const ph_status status = hosts_count == 0
                                 ? ph_context_create(&config, &context, &error)
                                 : create_on_hosts(hosts_count, config, context, error);
    if (status == PH_OK) return context;
    ADD_FAILURE() << "rank " << bootstrap.rank << ": ph_context_create: " << error.text;
    meeting_.break_up();
    return nullptr;
  }

  // All ranks wait for all, serving their peers meanwhile; takes no completion.
  void meet(ph_context* context) {
    const std::uint64_t round = meeting_.arrive_only();
    const ph_query any = {PH_ANY_RANK, PH_EITHER, nullptr};
    constexpr std::int64_t kSliceUs = 500;
    while (!meeting_.is_over(round)) {
      // With unprobed completions at hand the wait returns at once: leave the core to the others.
      if (ph_wait(context, any, kSliceUs) != PH_TIMEOUT) std::this_thread::yield();
    }
  }

  // All ranks wait for all; serves nobody.
  void meet() { meeting_.meet(); }

 private:
  struct Seat {
    ThreadJob* job;
    ph_rank rank;
  };

  static int allgather(void* user, const void* mine, void* all, std::size_t size_bytes) {
    const Seat& seat = *static_cast<Seat*>(user);
    return seat.job->meeting_.gather(seat.rank, mine, all, size_bytes) ? 0 : -1;
  }

  static int barrier(void* user) { return static_cast<Seat*>(user)->job->meeting_.meet() ? 0 : -1; }

  void guard(Seat& seat, const BareBody& body) {
    note(seat.rank, "running");
    try {
      body({&seat, seat.rank, size(), &allgather, &barrier});
    } catch (const std::exception& exception) {
      ADD_FAILURE() << "rank " << seat.rank << " threw: " << exception.what();
      meeting_.break_up();
    } catch (...) {
      ADD_FAILURE() << "rank " << seat.rank << " threw something that is no std::exception";
      meeting_.break_up();
    }
    note(seat.rank, "");
  }

  void run_rank(const ph_bootstrap& bootstrap, const Body& body) {
    note(bootstrap.rank, "in ph_context_create");
    ph_context* context = create(bootstrap);
    if (context == nullptr) return;
    const std::unique_ptr<ph_context, void (*)(ph_context*)> owner(context, &ph_context_destroy);
    note(bootstrap.rank, "in the body");
    body(context, bootstrap.rank);
    note(bootstrap.rank, "waiting for the other bodies");
    meet(context);
    if (is_on_hosts_ && is_mixed_) expect_ways(context);
    note(bootstrap.rank, "in ph_finalize");
    const ph_status status = ph_finalize(context);
    if (status == PH_OK || status == PH_ERR_STATE) return;  // the body may have finalized
    ph_error error = {};
    ph_last_error(context, &error);
    ADD_FAILURE() << "rank " << bootstrap.rank << ": ph_finalize: " << ph_status_text(status)
                  << ": " << error.text;
  }

  void note(ph_rank rank, const char* step) {
    const std::scoped_lock lock(steps_mutex_);
    steps_[rank] = step;
  }

  std::string describe() {
    const std::scoped_lock lock(steps_mutex_);
    std::string text;
    for (std::size_t rank = 0; rank < steps_.size(); ++rank) {
      if (steps_[rank].empty()) continue;
      text += "Rank " + std::to_string(rank) + ": " + steps_[rank] + ". ";
    }
    return text;
  }

  const Options options_;
  const std::chrono::milliseconds deadline_;
  bool is_mixed_ = false;    // the library chooses the way to each peer
  bool is_network_ = false;  // it is the same for all
  bool is_on_hosts_ = false;
  MeetingPoint meeting_;
  std::vector<Seat> seats_;
  std::mutex steps_mutex_;
  std::vector<std::string> steps_;
};

}  // namespace photon::test
