// A job of the classic API whose ranks are threads of this process, each in a process session of
// its own.
//
//   ClassicJob job(2, Ground::shm);
//   job.run([&](int rank) { ... photon_put_with_completion(...) ... });
//
// run() calls photon_init() with the EXTERNAL exchange and a configuration that is garbage but for
// the documented fields, then the body, then meets and calls photon_finalize(). The settings of the
// ground are the process's environment while a job exists, as they would be for a program.
// Where there are namespaces() the ranks of a job that is not simulated are in those, by turns, and
// the library finds who is on which host; run() sees to it that it found right.
// Owner: the test.
#pragma once

#include <gtest/gtest.h>
#include <photon.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "compat/entry.hpp"
#include "meeting_point.hpp"
#include "namespaces.hpp"
#include "pattern.hpp"
#include "variable.hpp"
#include "watchdog.hpp"

namespace photon::test {

enum class Ground { shm, sim };

inline bool is_on_hosts(Ground ground) { return ground == Ground::shm && !namespaces().empty(); }

inline std::string name_of(Ground ground) {
  if (is_on_hosts(ground)) return "hosts";
  return ground == Ground::shm ? "shm" : "sim";
}
inline std::string ground_name(const testing::TestParamInfo<Ground>& one) {
  return name_of(one.param);
}

class OverGrounds : public testing::TestWithParam<Ground> {};

class ClassicJob {
 public:
  using Body = std::function<void(int rank)>;
  using Change = std::function<void(photon_config_t&)>;

  explicit ClassicJob(int ranks_count, Ground ground = Ground::shm, Change change = {})
      : change_(std::move(change)),
        is_on_hosts_(test::is_on_hosts(ground)),
        transport_("PHOTON_TRANSPORT", is_on_hosts_ ? "auto" : name_of(ground).c_str()),
        meeting_(static_cast<std::uint32_t>(ranks_count)),
        ranks_count_(ranks_count) {}

  int size() const { return ranks_count_; }

  void run(const Body& body) {
    run_bare([&](int rank) {
      photon_config_t config = configuration(rank);
      if (photon_init(&config) != PHOTON_OK) {
        ADD_FAILURE() << "rank " << rank << ": photon_init";
        meeting_.break_up();
        return;
      }
      body(rank);
      if (testing::Test::HasFatalFailure()) meeting_.break_up();  // the others wait in their bodies
      meet();
      if (is_on_hosts_ && classic::current() != nullptr) expect_ways(classic::current()->context());
      EXPECT_EQ(photon_finalize(), PHOTON_OK) << "rank " << rank;
    });
  }

  // Threads in sessions of their own, and nothing else.
  void run_bare(const Body& body) {
    const Watchdog watchdog(std::chrono::seconds(120));
    std::vector<std::unique_ptr<classic::ProcessSession>> processes;
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks_count_; ++rank) {
      processes.push_back(std::make_unique<classic::ProcessSession>());
      threads.emplace_back([&, rank, process = processes.back().get()] {
        classic::bind(process);
        here() = {this, rank};
        if (is_on_hosts_) enter_namespace(static_cast<std::uint32_t>(rank));
        body(rank);
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (auto& process : processes) process->clear();
  }

  // What a program does that takes its configuration from the stack.
  photon_config_t configuration(int rank) const {
    photon_config_t config;
    std::memset(&config, 0xa7, sizeof config);
    config.address = rank;
    config.nproc = ranks_count_;
    config.cap = {};
    config.attr.comp_order = PHOTON_ORDER_DEFAULT;
    config.meta_exch = PHOTON_EXCH_EXTERNAL;
    config.exch.allgather = [](void* user, void* mine, void* all, int size_bytes) {
      EXPECT_EQ(user, nullptr);
      return here().job->gather(mine, all, static_cast<std::size_t>(size_bytes)) ? 0 : -1;
    };
    config.exch.barrier = [](void* user) {
      EXPECT_EQ(user, nullptr);
      return here().job->meeting_.meet() ? 0 : -1;
    };
    config.backend = PHOTON_BACKEND_DEFAULT;
    config.coll = PHOTON_COLL_IFACE_DEFAULT;
    if (change_) change_(config);
    return config;
  }

  // All ranks wait for all; peers are served meanwhile, and nothing is taken.
  void meet() {
    const std::uint64_t round = meeting_.arrive_only();
    while (!meeting_.is_over(round)) {
      serve();
      std::this_thread::yield();
    }
  }

  // Collective: what every rank gives, in rank order.
  template <class Card>
  std::vector<Card> exchange(const Card& mine) {
    std::vector<Card> all(static_cast<std::size_t>(ranks_count_));
    Card copy = mine;
    EXPECT_TRUE(gather(&copy, all.data(), sizeof copy));
    return all;
  }

  // Another thread of this rank: its calls are those of the caller's.
  static std::thread in_same_rank(std::function<void()> body) {
    return std::thread(
        [process = classic::current_process, where = here(), body = std::move(body)] {
          classic::bind(process);
          here() = where;
          body();
        });
  }

  static void serve() {
    const classic::Session* session = classic::current();
    if (session == nullptr) return;
    std::size_t count = 0;
    static_cast<void>(
        ph_probe(session->context(), {PH_ANY_RANK, PH_EITHER, nullptr}, nullptr, 0, &count));
  }

 private:
  struct Here {
    ClassicJob* job = nullptr;
    int rank = 0;
  };
  static Here& here() {
    static thread_local Here where;
    return where;
  }

  bool gather(void* mine, void* all, std::size_t size_bytes) {
    return meeting_.gather(static_cast<ph_rank>(here().rank), mine, all, size_bytes);
  }

  const Change change_;
  const bool is_on_hosts_;
  const Variable transport_;
  MeetingPoint meeting_;
  const int ranks_count_;
};

// What one probe said.
struct Probed {
  int status = PHOTON_ERROR;
  int flag = -1;
  int remaining = -1;
  photon_cid id{};
  int source = -7;
};

inline Probed probe(int proc = PHOTON_ANY_SOURCE, int flags = PHOTON_PROBE_ANY) {
  Probed out;
  out.status = photon_probe_completion(proc, &out.flag, &out.remaining, &out.id, &out.source,
                                       nullptr, flags);
  return out;
}

// The next completion there is.
inline Probed take(int proc = PHOTON_ANY_SOURCE, int flags = PHOTON_PROBE_ANY) {
  Probed out = probe(proc, flags);
  while (out.status == PHOTON_OK && out.flag == 0) {
    std::this_thread::yield();
    out = probe(proc, flags);
  }
  return out;
}

inline photon_cid u64(std::uint64_t value) {
  photon_cid id{};
  id.u64 = value;
  return id;
}

inline photon_cid bytes_id(void* data, std::size_t size_bytes) {
  photon_cid id{};
  id.data = data;
  id.size = static_cast<std::uint32_t>(size_bytes);
  return id;
}

// Registered memory of this rank, and as its owner shows it to peers.
class Registered {
 public:
  explicit Registered(std::size_t size_bytes) : bytes_(size_bytes) {
    EXPECT_EQ(photon_register_buffer(bytes_.data(), size_bytes), PHOTON_OK);
    EXPECT_EQ(photon_get_buffer_private(bytes_.data(), size_bytes, &keys_), PHOTON_OK);
  }
  ~Registered() {
    if (photon_initialized() == 0) return;
    EXPECT_EQ(photon_unregister_buffer(bytes_.data(), bytes_.size()), PHOTON_OK);
  }
  Registered(const Registered&) = delete;
  Registered& operator=(const Registered&) = delete;

  unsigned char* data() { return bytes_.data(); }
  std::size_t size() const { return bytes_.size(); }
  photon_buffer_t buffer() {
    return {reinterpret_cast<std::uintptr_t>(bytes_.data()), bytes_.size(), *keys_};
  }

 private:
  std::vector<unsigned char> bytes_;
  const photon_buffer_priv_t* keys_ = nullptr;
};

// `size_bytes` from `offset` on.
inline photon_buffer_t part(photon_buffer_t whole, std::size_t offset, std::size_t size_bytes) {
  return {whole.addr + offset, size_bytes, whole.priv};
}

// Memory that is not registered, with no keys.
inline photon_buffer_t bare(void* data, std::size_t size_bytes) {
  return {reinterpret_cast<std::uintptr_t>(data), size_bytes, {0, 0}};
}

inline unsigned char pattern(std::uint64_t seed, std::size_t i) { return Pattern(seed).at(i); }

inline void fill(unsigned char* data, std::size_t size_bytes, std::uint64_t seed) {
  Pattern(seed).fill(data, size_bytes);
}

// The first byte that does not carry the pattern; size_bytes if all do.
inline std::size_t first_wrong(const unsigned char* data, std::size_t size_bytes,
                               std::uint64_t seed) {
  return Pattern(seed).first_difference(data, size_bytes);
}

}  // namespace photon::test
