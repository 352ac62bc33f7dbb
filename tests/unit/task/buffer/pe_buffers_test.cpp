#include "task/buffer/pe_buffers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <span>
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

// The message that brought the descriptor is free before the operation begins, and the one in whose
// body the data lies before its buffer is: what is given back is known to the handle.
void free_messages_first(Station& station, const Path& path) {
  constexpr std::uint64_t kBytes = 50'000;
  const bool is_owner = station.place.pe == path.other;
  Bytes own(kBytes);
  ph_task_message* data = nullptr;
  station.on_done = [&](const ph_task_done& done) {
    if (is_owner && done.side == PH_TASK_SOURCE) {
      EXPECT_EQ(ph_task_free(station.pe, data), PH_OK);
    }
  };
  const auto body = [&] { return std::span(static_cast<std::byte*>(ph_task_body(data)), kBytes); };
  ph_task_buffer buffer = 0;
  if (is_owner) {
    ASSERT_EQ(ph_task_alloc(station.pe, kBytes, &data), PH_OK);
    photon::test::Pattern(4).fill(body().data(), kBytes);
    buffer = station.make(body(), PH_TASK_REG, PH_TASK_NODEREG);
    station.send(0, station.describe(buffer));
  }
  ph_task_buffer landing = 0;
  if (station.place.pe == 0) {
    const ph_task_descriptor other = station.receive();  // the message is free now
    landing = station.make(own);
    ASSERT_EQ(ph_task_get(station.pe, landing, &other), PH_OK);
  }
  if (is_owner || station.place.pe == 0) station.await(path.other == 0 ? 2 : 1);
  if (is_owner) {  // the block serves another message, and the registration goes without it
    const ph_task_descriptor stale = station.describe(buffer);
    ASSERT_EQ(ph_task_alloc(station.pe, kBytes, &data), PH_OK);
    std::ranges::fill(body(), std::byte{0xa5});
    ASSERT_EQ(ph_task_buffer_free(station.pe, buffer), PH_OK);
    station.send(0, stale);
  }
  if (station.place.pe == 0) {
    EXPECT_TRUE(is_filled(own, kBytes, 4));
    const ph_task_descriptor stale = station.receive();
    const ph_status status = ph_task_put(station.pe, landing, &stale);
    EXPECT_EQ(status, path.is_near() ? PH_ERR_KEY : PH_OK);
    if (status == PH_OK) {
      EXPECT_EQ(station.await(1)[0].status, PH_ERR_KEY);
    }
    station.send(path.other, stale);
  }
  if (!is_owner) return;
  station.receive();
  EXPECT_TRUE(std::ranges::all_of(body(), [](std::byte one) { return one == std::byte{0xa5}; }));
  EXPECT_EQ(ph_task_free(station.pe, data), PH_OK);
}

TEST_P(TaskBuffer, MessageFreedBeforeDeregistration) {
  run_on(GetParam(), [&](Station& station) {
    free_messages_first(station, GetParam());
    station.on_done = {};
  });
}

}  // namespace
}  // namespace photon::task::test
