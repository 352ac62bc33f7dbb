// What tests of buffers share: the paths that an operation may take, and a PE that makes buffers,
// hears of descriptors and notes its dones.
#pragma once

#include <gtest/gtest.h>
#include <photon/task.h>

#include <cstdint>
#include <cstring>
#include <deque>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "pattern.hpp"
#include "real_fabric.hpp"
#include "task/api/checks.hpp"
#include "task/buffer/pe_buffers.hpp"
#include "task/task_job.hpp"

namespace photon::task::test {

using Bytes = std::vector<std::byte>;

// PE 0 begins operations; the other side is that PE.
struct Path {
  const char* name;
  std::uint32_t processes;
  std::uint32_t pes;
  std::uint32_t other;
  photon::test::Options options;

  bool is_near() const { return processes == 1; }
};

inline void PrintTo(const Path& path, std::ostream* out) { *out << path.name; }
inline std::string path_name(const testing::TestParamInfo<Path>& one) { return one.param.name; }

// Far ones have another rank, so that an id comes by the lane of its sibling.
inline std::vector<Path> all_paths() {
  return {
      {"same_pe", 1, 1, 0, {}},
      {"same_process", 1, 2, 1, {}},
      {"shm", 2, 2, 3, {{"transport", "shm"}}},
      {"shm_same_rank", 2, 1, 1, {{"transport", "shm"}}},
      {"shm_no_cma", 2, 2, 3, {{"transport", "shm"}, {"shm_cma", "off"}, {"mapped_min", "4096"}}},
      {"shm_few_requests", 2, 2, 3, {{"transport", "shm"}, {"requests", "16"}, {"am_slots", "4"}}},
      {"tcp", 2, 2, 3, {{"transport", "tcp"}}},
      {"mixed", 2, 2, 3, {{photon::test::kHostsOption, "2"}, {"tcp_interface", "127.0.0.1"}}},
      {"ofi", 2, 2, 3, {{"transport", "ofi"}, {"ofi_provider", photon::test::kRxm}}}};
}

// A test that runs on each of them.
class TaskBuffer : public testing::TestWithParam<Path> {
 protected:
  void SetUp() override {
    const bool is_ofi = std::string(GetParam().name) == "ofi";
    if (is_ofi && photon::test::no_real_fabric() != nullptr)
      GTEST_SKIP() << photon::test::no_real_fabric();
  }
};

inline void fill(Bytes& bytes, std::uint64_t seed) {
  photon::test::Pattern(seed).fill(bytes.data(), bytes.size());
}
// The first `count` are of that seed.
inline bool is_filled(const Bytes& bytes, std::size_t count, std::uint64_t seed) {
  const photon::test::Pattern pattern(seed);
  for (std::size_t i = 0; i < count; ++i)
    if (bytes[i] != static_cast<std::byte>(pattern.at(i))) return false;
  return true;
}
inline bool all_are(const Bytes& bytes, std::size_t from, std::byte value) {
  for (std::size_t i = from; i < bytes.size(); ++i)
    if (bytes[i] != value) return false;
  return true;
}

// A PE of a test. All PEs of a job make one, before anything else.
class Station {
 public:
  explicit Station(ph_task_pe* own) : pe(own), place(place_of(own)) {
    on_done_ = [this](ph_task_pe* one, ph_task_message* message) {
      ph_task_done done{};
      EXPECT_EQ(ph_task_size(message), sizeof done);
      std::memcpy(&done, ph_task_body(message), sizeof done);
      EXPECT_EQ(ph_task_source(message), done.other_pe);
      dones.push_back(done);
      if (on_done) on_done(done);
      EXPECT_EQ(ph_task_free(one, message), PH_OK);
    };
    on_descriptor_ = [this](ph_task_pe* one, ph_task_message* message) {
      ph_task_descriptor descriptor{};
      std::memcpy(&descriptor, ph_task_body(message), sizeof descriptor);
      descriptors.push_back(descriptor);
      EXPECT_EQ(ph_task_free(one, message), PH_OK);
    };
    done_number_ = enroll(pe, on_done_);
    descriptor_number_ = enroll(pe, on_descriptor_);
    EXPECT_EQ(ph_task_agree(pe), PH_OK) << words_of(pe);
  }
  Station(const Station&) = delete;
  Station& operator=(const Station&) = delete;

  ph_task_buffer make(Bytes& bytes, std::uint32_t registration = PH_TASK_REG,
                      std::uint32_t deregistration = PH_TASK_DEREG, void* user = nullptr) {
    return make(std::span(bytes), registration, deregistration, user);
  }
  ph_task_buffer make(std::span<std::byte> memory, std::uint32_t registration,
                      std::uint32_t deregistration, void* user = nullptr) {
    const ph_task_buffer_args args{.size = sizeof args,
                                   .address = memory.data(),
                                   .size_bytes = memory.size(),
                                   .registration = registration,
                                   .deregistration = deregistration,
                                   .source_done = done_number_,
                                   .destination_done = done_number_,
                                   .user = user};
    ph_task_buffer buffer = 0;
    EXPECT_EQ(ph_task_buffer_make(pe, &args, &buffer), PH_OK) << words_of(pe);
    return buffer;
  }
  ph_task_descriptor describe(ph_task_buffer buffer) {
    ph_task_descriptor descriptor{};
    EXPECT_EQ(ph_task_buffer_describe(pe, buffer, &descriptor), PH_OK) << words_of(pe);
    return descriptor;
  }
  void send(std::uint32_t to, const ph_task_descriptor& descriptor) {
    ph_task_message* message = nullptr;
    ASSERT_EQ(ph_task_alloc(pe, sizeof descriptor, &message), PH_OK);
    ph_task_set_handler(message, descriptor_number_);
    std::memcpy(ph_task_body(message), &descriptor, sizeof descriptor);
    ASSERT_EQ(ph_task_send(pe, to, message), PH_OK);
  }
  // The next one that comes.
  ph_task_descriptor receive() {
    while (descriptors.empty()) run_one();
    const ph_task_descriptor descriptor = descriptors.front();
    descriptors.pop_front();
    return descriptor;
  }
  // Until so many have been noted; then they are forgotten.
  std::vector<ph_task_done> await(std::size_t count) {
    while (dones.size() < count) run_one();
    EXPECT_EQ(dones.size(), count);
    std::vector<ph_task_done> all;
    all.swap(dones);
    return all;
  }
  // All PEs wait for all, and what has come meanwhile runs.
  void meet() {
    EXPECT_EQ(ph_task_agree(pe), PH_OK);
    EXPECT_EQ(ph_task_run(pe, 0, nullptr), PH_OK);
    EXPECT_EQ(ph_task_agree(pe), PH_OK);
  }
  bool is_registered(const Bytes& bytes) {
    ph_region region{};
    return ph_find_region(of(pe).machine().lane(), bytes.data(), bytes.size(), &region) == PH_OK;
  }
  Buffers& buffers() { return buffers_of(of(pe)); }

  ph_task_pe* const pe;
  const ph_task_place place;
  std::vector<ph_task_done> dones;
  std::deque<ph_task_descriptor> descriptors;
  std::function<void(const ph_task_done&)> on_done;

 private:
  void run_one() { ASSERT_EQ(ph_task_run(pe, 1, nullptr), PH_OK); }

  Function on_done_;
  Function on_descriptor_;
  std::uint32_t done_number_ = 0;
  std::uint32_t descriptor_number_ = 0;
};

// Runs `body` on each PE of a path.
inline void run_on(const Path& path, const std::function<void(Station&)>& body) {
  TaskJob job(path.processes, path.pes, path.options);
  job.run([&](ph_task_pe* pe, const ph_task_place&) {
    Station station(pe);
    body(station);
    station.meet();
  });
}

}  // namespace photon::task::test
