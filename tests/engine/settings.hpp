// What the engine's tests share: the settings they run under, bytes that tell where they belong,
// memory between guards, and the words of the latest error.
//
// Each operation under way has bytes of its own at its target, also where a test is about ids only:
// bytes of overlapping operations are unordered (docs/memory-model.md, promise 3), which
// ThreadSanitizer reports, rightly.
#pragma once

#include <gtest/gtest.h>
#include <photon/photon.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "support/pattern.hpp"
#include "support/real_fabric.hpp"
#include "support/rounds.hpp"
#include "support/take.hpp"
#include "support/thread_job.hpp"

namespace photon::test {

struct Setting {
  const char* name;
  Options options;
};

inline void PrintTo(const Setting& setting, std::ostream* out) { *out << setting.name; }

inline constexpr ph_query kAnyRemote = {PH_ANY_RANK, PH_REMOTE, nullptr};
inline constexpr ph_query kAnyLocal = {PH_ANY_RANK, PH_LOCAL, nullptr};

inline Options with(Options options, const Options& more) {
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

// Rings, ledgers and request queues as small as they may be.
inline Options scarce(Options options) {
  return with(std::move(options), {{"ledger_slots", "2"},
                                   {"ring_lines", "64"},
                                   {"bulk_bytes", "8192"},
                                   {"bulk_chunk", "1024"},
                                   {"requests", "64"}});
}

// The same, and what ranks of one process put to each other does not go straight to its place:
// records carry it up to 4 KiB.
inline Options small(Options options) {
  return scarce(with(std::move(options), {{"mapped_min", "4096"}}));
}

inline const std::vector<Setting>& all_settings() {
  static const std::vector<Setting> settings = {
      {"shm", {{"transport", "shm"}}},
      {"shm_no_cma", {{"transport", "shm"}, {"shm_cma", "off"}, {"mapped_min", "4096"}}},
      {"shm_small", small({{"transport", "shm"}})},
      {"shm_scarce", scarce({{"transport", "shm"}})},
      {"sim", {{"transport", "sim"}}},
      {"sim_small", small({{"transport", "sim"}})},
      {"sim_mapped", {{"transport", "sim"}, {"sim_profile", "mapped"}}},
      {"sim_rc", {{"transport", "sim"}, {"sim_profile", "rc"}}},
      {"sim_srd", {{"transport", "sim"}, {"sim_profile", "srd"}}},
      {"sim_unnamed", {{"transport", "sim"}, {"sim_profile", "unnamed"}}},
      {"tcp", {{"transport", "tcp"}}},
      {"tcp_small", small({{"transport", "tcp"}})},
      // Ranks 0, 2, 4... on one host, 1, 3, 5... on another one.
      {"mixed", {{kHostsOption, "2"}, {"tcp_interface", "127.0.0.1"}}},
      {"mixed_small", small({{kHostsOption, "2"}, {"tcp_interface", "127.0.0.1"}})},
      {"mixed_near", {{"transport", "mixed"}}},
      {"ofi", {{"transport", "ofi"}, {"ofi_provider", kRxm}}},
      {"ofi_small", small({{"transport", "ofi"}, {"ofi_provider", kRxm}})},
      {"ofi_net", {{"transport", "ofi"}, {"ofi_provider", "net"}}},
      {"ofi_rxd", {{"transport", "ofi"}, {"ofi_provider", "udp;ofi_rxd"}}},
      {"ofi_mixed", {{kHostsOption, "2"}, {"network", "ofi"}, {"ofi_provider", kRxm}}},
  };
  return settings;
}

inline const std::vector<Setting>& both_transports() {
  static const std::vector<Setting> settings = {{"shm", {{"transport", "shm"}}},
                                                {"sim", {{"transport", "sim"}}}};
  return settings;
}

// A test over settings; the job of `ranks` ranks has them and what the test adds.
class OverSettings : public testing::TestWithParam<Setting> {
 protected:
  static Options options(const Options& more = {}) { return with(GetParam().options, more); }
  static bool is_sim() { return std::string(GetParam().name).starts_with("sim"); }
  static bool is_small() {
    const std::string name = GetParam().name;
    return name.ends_with("_small") || name.ends_with("_scarce");
  }
  static bool is_ofi() { return std::string(GetParam().name).starts_with("ofi"); }

  void SetUp() override {
    if (is_ofi() && no_real_fabric() != nullptr) GTEST_SKIP() << no_real_fabric();
  }
};

inline std::string setting_name(const testing::TestParamInfo<Setting>& one) {
  return one.param.name;
}

inline std::byte pattern(std::uint64_t seed, std::size_t i) {
  return static_cast<std::byte>(Pattern(seed).at(i));
}

inline void fill(std::span<std::byte> bytes, std::uint64_t seed) {
  Pattern(seed).fill(bytes.data(), bytes.size());
}

inline std::vector<std::byte> filled(std::size_t size_bytes, std::uint64_t seed) {
  std::vector<std::byte> bytes(size_bytes);
  fill(bytes, seed);
  return bytes;
}

// The first index that does not carry the pattern; the size if all do.
inline std::size_t first_difference(std::span<const std::byte> bytes, std::uint64_t seed) {
  return Pattern(seed).first_difference(bytes.data(), bytes.size());
}

// Collective: every rank's region, in rank order.
inline std::vector<ph_region> exchange(ph_context* context, const ph_region& mine) {
  std::vector<ph_region> all(ph_size_of(context));
  EXPECT_EQ(ph_allgather(context, &mine, all.data(), sizeof mine), PH_OK);
  return all;
}

// Memory with guard bytes on both sides, which nobody may write.
class Guarded {
 public:
  explicit Guarded(std::size_t size_bytes)
      : memory_(size_bytes + 2 * kGuardBytes, kGuard), size_bytes_(size_bytes) {
    std::fill_n(data(), size_bytes, std::byte{0});
  }
  std::byte* data() { return memory_.data() + kGuardBytes; }
  std::span<std::byte> bytes() { return {data(), size_bytes_}; }
  std::uint64_t address() { return reinterpret_cast<std::uint64_t>(data()); }

  bool guards_whole() const {
    const auto good = [](std::byte one) { return one == kGuard; };
    return std::all_of(memory_.begin(), memory_.begin() + kGuardBytes, good) &&
           std::all_of(memory_.end() - kGuardBytes, memory_.end(), good);
  }
  bool untouched() const {
    return guards_whole() && std::all_of(memory_.begin() + kGuardBytes, memory_.end() - kGuardBytes,
                                         [](std::byte one) { return one == std::byte{0}; });
  }

 private:
  static constexpr std::byte kGuard{0xa5};
  static constexpr std::ptrdiff_t kGuardBytes = 256;
  std::vector<std::byte> memory_;
  std::size_t size_bytes_;
};

inline ph_error last_error(const ph_context* context) {
  ph_error error{};
  ph_last_error(context, &error);
  return error;
}

inline ph_context* open_lane(ph_context* context, std::uint32_t number) {
  ph_context* lane = nullptr;
  EXPECT_EQ(ph_lane_open(context, number, &lane), PH_OK) << last_error(context).text;
  return lane;
}

// The call returned this status, and the context says so in words that hold `part`.
inline void expect_error(const ph_context* context, ph_status got, ph_status wanted,
                         const std::string& part) {
  EXPECT_EQ(got, wanted) << ph_status_text(got);
  const ph_error error = last_error(context);
  EXPECT_EQ(error.status, wanted) << error.text;
  EXPECT_NE(std::string(error.text).find(part), std::string::npos)
      << "\"" << error.text << "\" does not say \"" << part << "\"";
}

inline ph_id id_of(const std::uint64_t& value) { return {&value, sizeof value}; }

inline ph_put_args put_args(std::span<const std::byte> source, ph_target target,
                            const std::uint64_t& local, const std::uint64_t& remote) {
  return {
      sizeof(ph_put_args), source.data(), source.size(), target, id_of(local), id_of(remote), 0};
}

inline ph_get_args get_args(std::span<std::byte> destination, ph_target source,
                            const std::uint64_t& local, const std::uint64_t& remote) {
  return {sizeof(ph_get_args),
          destination.data(),
          destination.size(),
          source,
          id_of(local),
          id_of(remote),
          0};
}

// Nothing of these kinds is there, also after everybody served everybody.
inline std::size_t count_now(ph_context* context, std::uint32_t kinds, ph_rank peer = PH_ANY_RANK) {
  constexpr std::size_t kMost = 16;
  ph_completion found[kMost];
  std::byte ids[kMost * PH_MAX_ID_BYTES];
  std::size_t count = 0;
  EXPECT_EQ(ph_probe(context, {peer, kinds, ids}, found, kMost, &count), PH_OK);
  return count;
}

// All ranks wait for all; meanwhile this one makes progress and throws away what it finds.
inline void drain_until_met(ThreadJob& job, ph_context* context) {
  std::atomic<bool> met = false;
  std::thread meeting([&] {
    job.meet();
    met = true;
  });
  while (!met) {
    if (count_now(context, PH_EITHER) == 0) std::this_thread::yield();
  }
  meeting.join();
  while (count_now(context, PH_EITHER) != 0) {
  }
}

// The same, but it takes nothing.
inline void serve_until_met(ThreadJob& job, ph_context* context) {
  std::atomic<bool> met = false;
  std::thread meeting([&] {
    job.meet();
    met = true;
  });
  const ph_query any = {PH_ANY_RANK, PH_EITHER, nullptr};
  constexpr std::int64_t kSliceUs = 500;
  while (!met) {
    if (ph_wait(context, any, kSliceUs) != PH_TIMEOUT) std::this_thread::yield();
  }
  meeting.join();
}

// Post again until it is accepted, probing for nothing meanwhile but making progress.
template <class Post>
ph_status insist(ph_context* context, Post post) {
  for (;;) {
    const ph_status status = post();
    if (status != PH_AGAIN) return status;
    std::size_t count = 0;
    const ph_status probed =
        ph_probe(context, {PH_ANY_RANK, PH_EITHER, nullptr}, nullptr, 0, &count);
    if (probed != PH_OK) return probed;
    std::this_thread::yield();  // the peer may need this core to make room
  }
}

}  // namespace photon::test
