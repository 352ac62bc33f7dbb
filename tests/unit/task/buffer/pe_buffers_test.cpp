#include "task/buffer/pe_buffers.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "task/buffer/buffer_job.hpp"

namespace photon::task::test {
namespace {

using Forge = std::function<void(ph_task_descriptor&)>;
struct Forged {
  const char* what;
  Forge forge;
  ph_status at_call;  // PH_OK: it is known at the other side, and is the status of the done
  ph_status done;
};

std::vector<Forged> all_forged() {
  return {
      {"address 0", [](auto& one) { one.address = 0; }, PH_ERR_ARGUMENT, PH_OK},
      {"it wraps", [](auto& one) { one.address = ~std::uint64_t{0} - 10; }, PH_ERR_ARGUMENT, PH_OK},
      {"another address", [](auto& one) { one.address += 8; }, PH_OK, PH_ERR_RANGE},
      {"far away", [](auto& one) { one.address = 4096; }, PH_OK, PH_ERR_RANGE},
      {"larger", [](auto& one) { one.size_bytes += 1; }, PH_OK, PH_ERR_RANGE},
      {"huge", [](auto& one) { one.size_bytes = std::uint64_t{1} << 62; }, PH_ERR_RANGE, PH_OK},
      {"another key", [](auto& one) { one.key ^= std::uint64_t{1} << 50; }, PH_OK, PH_ERR_KEY},
      {"no key", [](auto& one) { one.key = 0; }, PH_ERR_KEY, PH_OK},
      {"no such PE", [](auto& one) { one.pe = 1000; }, PH_ERR_RANK, PH_OK},
      {"no such slot", [](auto& one) { one.slot = ~0U; }, PH_ERR_ARGUMENT, PH_OK},
      {"generation 0", [](auto& one) { one.generation = 0; }, PH_ERR_ARGUMENT, PH_OK},
      {"large generation", [](auto& one) { one.generation = ~0U; }, PH_ERR_ARGUMENT, PH_OK},
      {"no such mode", [](auto& one) { one.registration = 4; }, PH_ERR_ARGUMENT, PH_OK},
      {"not to be used", [](auto& one) { one.registration = PH_TASK_NOREG; }, PH_ERR_ACCESS, PH_OK},
      {"no such end", [](auto& one) { one.deregistration = 2; }, PH_ERR_ARGUMENT, PH_OK},
      {"another version", [](auto& one) { one.version = 2; }, PH_ERR_ARGUMENT, PH_OK},
      {"a byte", [](auto& one) { one.zero = 1; }, PH_ERR_ARGUMENT, PH_OK},
      {"a word", [](auto& one) { one.reserved = 1; }, PH_ERR_ARGUMENT, PH_OK}};
}

class TaskForged : public testing::TestWithParam<Path> {};
INSTANTIATE_TEST_SUITE_P(Paths, TaskForged,
                         testing::Values(Path{"same_pe", 1, 1, 0, {}},
                                         Path{"same_process", 1, 2, 1, {}},
                                         Path{"shm", 2, 2, 3, {{"transport", "shm"}}},
                                         Path{"tcp", 2, 2, 3, {{"transport", "tcp"}}}),
                         path_name);

// What a call of this path says: within a process all is known at the call.
ph_status expected(const Path& path, const Forged& one) {
  if (one.at_call == PH_ERR_KEY && path.is_near()) return PH_OK;  // no key is needed
  return one.at_call != PH_OK || !path.is_near() || one.done == PH_ERR_KEY ? one.at_call
                                                                           : PH_ERR_KEY;
}

TEST_P(TaskForged, each_field_is_checked_and_no_byte_moves) {
  const Path& path = GetParam();
  run_on(path, [&](Station& station) {
    Bytes bytes(4000, std::byte{7});
    Bytes own(4100, std::byte{1});
    if (station.place.pe == path.other) {
      station.send(0, station.describe(station.make(bytes, PH_TASK_REG, PH_TASK_NODEREG)));
    }
    if (station.place.pe == 0) {
      const ph_task_descriptor good = station.receive();
      const ph_task_buffer buffer = station.make(own, PH_TASK_REG, PH_TASK_NODEREG);
      for (const Forged& one : all_forged()) {
        SCOPED_TRACE(one.what);
        if (path.is_near() && (one.done == PH_ERR_KEY || one.at_call == PH_ERR_KEY)) continue;
        ph_task_descriptor forged = good;
        one.forge(forged);
        ASSERT_EQ(ph_task_get(station.pe, buffer, &forged), expected(path, one))
            << words_of(station.pe);
        if (expected(path, one) != PH_OK) continue;
        const ph_task_done done = station.await(1)[0];
        EXPECT_EQ(done.status, one.done);
        EXPECT_EQ(done.moved_bytes, 0u);
      }
      EXPECT_TRUE(all_are(own, 0, std::byte{1}));
      station.send(path.other, good);
    }
    if (station.place.pe == path.other) station.receive();
    station.meet();
    for (const ph_task_done& done : station.dones) EXPECT_NE(done.status, PH_OK);
    EXPECT_TRUE(all_are(bytes, 0, std::byte{7}));
  });
}

TEST(TaskBuffers, a_descriptor_that_was_made_here_can_be_one) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    Station station(pe);
    Bytes bytes(100);
    Bytes none;
    for (Bytes* one : {&bytes, &none}) {
      const ph_task_descriptor descriptor = station.describe(station.make(*one));
      EXPECT_TRUE(is_sound(descriptor, 1));
      EXPECT_FALSE(is_sound(descriptor, 0));
    }
  });
}

// Registrations, buffers and operations that the program leaves behind are given back.
TEST(TaskBuffers, what_is_left_at_the_end_is_given_back) {
  photon::test::ThreadJob job(1);
  Bytes bytes(1000);
  job.run([&](ph_context* context, ph_rank) {
    ph_task_config config{};
    config.size = sizeof config;
    config.context = context;
    ph_task_pe* pe = nullptr;
    ASSERT_EQ(ph_task_start(&config, &pe, nullptr), PH_OK);
    {
      Station station(pe);
      const ph_task_descriptor other = station.describe(station.make(bytes));
      Bytes own(1000);
      ASSERT_EQ(ph_task_get(pe, station.make(own), &other), PH_OK);
      EXPECT_TRUE(station.is_registered(bytes));
    }
    ASSERT_EQ(ph_task_end(pe), PH_OK);
    ph_region region{};
    EXPECT_EQ(ph_find_region(context, bytes.data(), 1, &region), PH_ERR_NOT_FOUND);
  });
}

}  // namespace
}  // namespace photon::task::test
