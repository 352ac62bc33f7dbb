#include <gtest/gtest.h>

#include <functional>
#include <thread>
#include <vector>

#include "task/buffer/buffer_job.hpp"

namespace photon::task::test {
namespace {

ph_task_buffer_args buffer_args_of(Bytes& bytes) {
  ph_task_buffer_args args{};
  args.size = sizeof args;
  args.address = bytes.data();
  args.size_bytes = bytes.size();
  args.source_done = args.destination_done = PH_TASK_NO_HANDLER;
  return args;
}

TEST(TaskBufferApi, bad_arguments_are_refused_with_words) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    Bytes bytes(100);
    struct Bad {
      std::function<void(ph_task_buffer_args&)> spoil;
      ph_status status;
      const char* words;
    };
    const std::vector<Bad> all = {
        {[](auto& args) { args.size = 8; }, PH_ERR_ARGUMENT, "its size is not that of the struct"},
        {[](auto& args) { args.registration = 4; }, PH_ERR_ARGUMENT, "there is no mode"},
        {[](auto& args) { args.deregistration = 2; }, PH_ERR_ARGUMENT, "there is no mode"},
        {[](auto& args) { args.source_done = 0; }, PH_ERR_ARGUMENT, "call ph_task_register()"},
        {[](auto& args) { args.destination_done = 7; }, PH_ERR_ARGUMENT, "ph_task_register()"},
        {[](auto& args) { args.address = nullptr; }, PH_ERR_ARGUMENT, "the memory is null"},
        {[](auto& args) { args.size_bytes = std::uint64_t{1} << 62; }, PH_ERR_RANGE, "2^62"},
        {[](auto& args) { args.address = reinterpret_cast<void*>(~std::uintptr_t{5}); },
         PH_ERR_ARGUMENT, "ends behind the last address"},
        {[](auto& args) { args.registration = PH_TASK_PREREG; }, PH_ERR_NOT_FOUND, "ph_alloc()"}};
    for (const Bad& bad : all) {
      ph_task_buffer_args args = buffer_args_of(bytes);
      bad.spoil(args);
      ph_task_buffer buffer = 5;
      EXPECT_EQ(ph_task_buffer_make(pe, &args, &buffer), bad.status) << bad.words;
      EXPECT_NE(words_of(pe).find(bad.words), std::string::npos) << words_of(pe);
      EXPECT_EQ(buffer, 0u);
    }
    const ph_task_buffer_args args = buffer_args_of(bytes);
    EXPECT_EQ(ph_task_buffer_make(pe, &args, nullptr), PH_ERR_ARGUMENT);
    EXPECT_EQ(ph_task_buffer_make(nullptr, &args, nullptr), PH_ERR_ARGUMENT);
    ph_task_buffer buffer = 0;
    EXPECT_EQ(ph_task_buffer_make(pe, nullptr, &buffer), PH_ERR_ARGUMENT);
  });
}

TEST(TaskBufferApi, a_buffer_that_is_not_there_is_refused_by_all_calls) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    Bytes bytes(100);
    const ph_task_buffer_args args = buffer_args_of(bytes);
    ph_task_buffer gone = 0;
    ASSERT_EQ(ph_task_buffer_make(pe, &args, &gone), PH_OK);
    ph_task_descriptor other{};
    ASSERT_EQ(ph_task_buffer_describe(pe, gone, &other), PH_OK);
    EXPECT_EQ(ph_task_buffer_describe(pe, gone, nullptr), PH_ERR_ARGUMENT);
    EXPECT_EQ(ph_task_get(pe, gone, nullptr), PH_ERR_ARGUMENT);
    ASSERT_EQ(ph_task_buffer_free(pe, gone), PH_OK);
    for (const ph_task_buffer one : {gone, ph_task_buffer{0}, ~ph_task_buffer{0}}) {
      EXPECT_EQ(ph_task_buffer_free(pe, one), PH_ERR_NOT_FOUND);
      EXPECT_NE(words_of(pe).find("ph_task_buffer_free: there is no buffer"), std::string::npos);
      EXPECT_EQ(ph_task_buffer_describe(pe, one, &other), PH_ERR_NOT_FOUND);
      EXPECT_EQ(ph_task_buffer_register(pe, one), PH_ERR_NOT_FOUND);
      EXPECT_EQ(ph_task_buffer_deregister(pe, one), PH_ERR_NOT_FOUND);
      EXPECT_EQ(ph_task_get(pe, one, &other), PH_ERR_NOT_FOUND);
      EXPECT_EQ(ph_task_put(pe, one, &other), PH_ERR_NOT_FOUND);
    }
    EXPECT_EQ(ph_task_buffer_free(nullptr, gone), PH_ERR_ARGUMENT);
    EXPECT_EQ(ph_task_get(nullptr, gone, &other), PH_ERR_ARGUMENT);
  });
}

// On every path the same: also where no registration is needed.
TEST(TaskBufferApi, a_deregistered_or_noreg_end_is_refused) {
  for (const Path& path : {Path{"", 1, 1, 0, {}}, Path{"", 1, 2, 1, {}}, Path{"", 2, 1, 1, {}}})
    run_on(path, [&](Station& station) {
      Bytes bytes(100);
      Bytes own(100);
      if (station.place.pe == path.other) {
        station.send(0, station.describe(station.make(bytes, PH_TASK_NOREG)));
        const ph_task_buffer cut = station.make(bytes);
        ASSERT_EQ(ph_task_buffer_deregister(station.pe, cut), PH_OK);
        EXPECT_EQ(ph_task_buffer_deregister(station.pe, cut), PH_ERR_STATE);
        station.send(0, station.describe(cut));
        station.send(0, station.describe(station.make(bytes)));
      }
      if (station.place.pe != 0) return;
      const ph_task_descriptor never = station.receive();
      const ph_task_descriptor cut = station.receive();
      const ph_task_descriptor good = station.receive();
      const ph_task_buffer buffer = station.make(own);
      const ph_task_buffer own_never = station.make(own, PH_TASK_NOREG);
      for (const auto call : {ph_task_get, ph_task_put}) {
        EXPECT_EQ(call(station.pe, buffer, &never), PH_ERR_ACCESS);
        EXPECT_EQ(call(station.pe, own_never, &good), PH_ERR_ACCESS);
        EXPECT_EQ(call(station.pe, buffer, &cut), PH_ERR_KEY);
      }
      EXPECT_EQ(ph_task_buffer_deregister(station.pe, own_never), PH_ERR_ACCESS);
      EXPECT_EQ(ph_task_buffer_register(station.pe, own_never), PH_ERR_ACCESS);
      ASSERT_EQ(ph_task_buffer_deregister(station.pe, buffer), PH_OK);
      EXPECT_EQ(ph_task_get(station.pe, buffer, &good), PH_ERR_KEY);
      EXPECT_NE(words_of(station.pe).find("ph_task_buffer_register()"), std::string::npos);
      ASSERT_EQ(ph_task_buffer_register(station.pe, buffer), PH_OK);
      EXPECT_TRUE(station.is_registered(own));
    });
}

// What peers reach by a registration that exists stays registered.
TEST(TaskBufferApi, a_preregistered_buffer_is_what_was_registered) {
  run_on({"shm", 2, 1, 1, {{"transport", "shm"}}}, [](Station& station) {
    ph_region region{};
    ASSERT_EQ(ph_alloc(of(station.pe).machine().lane(), 10'000, &region), PH_OK);
    auto* memory = reinterpret_cast<std::byte*>(region.address);
    Bytes own(5000);
    if (station.place.pe == 1) {
      ph_task_buffer_args args = buffer_args_of(own);
      args.address = memory + 1000;
      args.registration = PH_TASK_PREREG;
      ph_task_buffer buffer = 0;
      ASSERT_EQ(ph_task_buffer_make(station.pe, &args, &buffer), PH_OK);
      std::fill(memory, memory + 10'000, std::byte{4});
      EXPECT_EQ(station.describe(buffer).key, region.key);
      EXPECT_EQ(ph_task_buffer_deregister(station.pe, buffer), PH_ERR_ACCESS);
      station.send(0, station.describe(buffer));
      station.receive();
      EXPECT_EQ(station.describe(buffer).key, region.key);
      ASSERT_EQ(ph_task_buffer_free(station.pe, buffer), PH_OK);
    } else {
      const ph_task_descriptor other = station.receive();
      ASSERT_EQ(ph_task_get(station.pe, station.make(own), &other), PH_OK);
      EXPECT_EQ(station.await(1)[0].status, PH_OK);
      EXPECT_TRUE(all_are(own, 0, std::byte{4}));
      station.send(1, other);
    }
    EXPECT_EQ(ph_free(of(station.pe).machine().lane(), memory), PH_OK);
  });
}

// Both the owner and who reads it keep theirs; a range that is taken back is found by nobody.
TEST(TaskBufferApi, registrations_in_kept_ranges_are_used_again) {
  run_on({"shm", 2, 1, 1, {{"transport", "shm"}}}, [](Station& station) {
    constexpr std::uint64_t kRounds = 5;
    Bytes bytes(8000);
    EXPECT_EQ(ph_task_keep(station.pe, nullptr, 1), PH_ERR_ARGUMENT);
    EXPECT_EQ(ph_task_keep(station.pe, bytes.data(), 0), PH_ERR_ARGUMENT);
    ASSERT_EQ(ph_task_keep(station.pe, bytes.data(), bytes.size()), PH_OK);
    for (std::uint64_t i = 0; i < kRounds; ++i) {
      const ph_task_buffer buffer = station.make(bytes);
      if (station.place.pe == 1) {
        fill(bytes, i);
        station.send(0, station.describe(buffer));
      } else {
        const ph_task_descriptor other = station.receive();
        ASSERT_EQ(ph_task_get(station.pe, buffer, &other), PH_OK);
      }
      EXPECT_EQ(station.await(1)[0].status, PH_OK);
      EXPECT_TRUE(station.is_registered(bytes));
      EXPECT_EQ(ph_task_buffer_free(station.pe, buffer), PH_OK);
      EXPECT_TRUE(is_filled(bytes, bytes.size(), i));
    }
    const ph_task_counts counts = counts_of(station.pe);
    EXPECT_EQ(counts.cache_misses, 1u);
    EXPECT_EQ(counts.cache_hits, kRounds - 1);
    EXPECT_EQ(counts.cache_evictions, 0u);
    EXPECT_EQ(counts.operations, station.place.pe == 0 ? kRounds : 0);
    EXPECT_EQ(ph_task_unkeep(station.pe, bytes.data(), 7999), PH_ERR_NOT_FOUND);
    EXPECT_NE(words_of(station.pe).find("name the same range"), std::string::npos);
    ASSERT_EQ(ph_task_unkeep(station.pe, bytes.data(), bytes.size()), PH_OK);
    EXPECT_FALSE(station.is_registered(bytes));
  });
}

// Its done takes the registration back, which a peer would have found stale: without a key the peer
// asks for the bytes.
TEST(TaskBufferApi, what_an_own_operation_has_registered_is_in_no_descriptor) {
  run_on({"shm", 2, 1, 1, {{"transport", "shm"}}}, [](Station& station) {
    Bytes bytes(3000);
    Bytes more(3000);
    if (station.place.pe == 1) {
      station.send(0, station.describe(station.make(bytes, PH_TASK_UNREG)));
      station.await(1);
      const ph_task_descriptor other = station.receive();
      ASSERT_EQ(ph_task_get(station.pe, station.make(more), &other), PH_OK);
      EXPECT_EQ(station.await(1)[0].status, PH_OK);
      EXPECT_TRUE(is_filled(more, more.size(), 8));
      return;
    }
    fill(bytes, 8);
    const ph_task_descriptor other = station.receive();
    const ph_task_buffer buffer = station.make(bytes, PH_TASK_UNREG, PH_TASK_DEREG);
    ASSERT_EQ(ph_task_put(station.pe, buffer, &other), PH_OK);
    EXPECT_TRUE(station.is_registered(bytes)) << "the other side reads it";
    const ph_task_descriptor own = station.describe(buffer);
    EXPECT_EQ(own.key, 0u);
    EXPECT_EQ(station.await(1)[0].status, PH_OK);
    EXPECT_FALSE(station.is_registered(bytes));
    station.send(1, own);
    EXPECT_EQ(station.await(1)[0].status, PH_OK);
  });
}

// The other buffer would give it back, and a peer would find the key stale.
TEST(TaskBufferApi, the_registration_of_another_buffer_is_none_for_a_preregistered_one) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    Bytes bytes(5000);
    ph_task_buffer_args args = buffer_args_of(bytes);
    args.registration = PH_TASK_PREREG;
    ph_task_buffer first = 0;
    ph_task_buffer second = 0;
    const auto expect_refused = [&](const char* why) {
      EXPECT_EQ(ph_task_buffer_make(pe, &args, &second), PH_ERR_NOT_FOUND) << why;
      EXPECT_NE(words_of(pe).find("registration of another buffer"), std::string::npos)
          << words_of(pe);
      EXPECT_EQ(second, 0u);
    };
    ph_task_buffer_args owner = buffer_args_of(bytes);
    ASSERT_EQ(ph_task_buffer_make(pe, &owner, &first), PH_OK);
    expect_refused("it has it");
    ASSERT_EQ(ph_task_buffer_free(pe, first), PH_OK);
    EXPECT_EQ(ph_task_buffer_make(pe, &args, &second), PH_ERR_NOT_FOUND);
    EXPECT_NE(words_of(pe).find("no registration holds"), std::string::npos);
    ASSERT_EQ(ph_task_keep(pe, bytes.data(), bytes.size()), PH_OK);
    ASSERT_EQ(ph_task_buffer_make(pe, &owner, &first), PH_OK);
    expect_refused("it has it, and it is kept");
    ASSERT_EQ(ph_task_buffer_free(pe, first), PH_OK);
    expect_refused("it is kept, and may go at any time");
    ASSERT_EQ(ph_task_unkeep(pe, bytes.data(), bytes.size()), PH_OK);
    // That of the program stays, whatever buffers had it before.
    ph_region region{};
    ph_context* lane = of(pe).machine().lane();
    ASSERT_EQ(ph_register(lane, bytes.data(), bytes.size(), PH_ACCESS_ALL, &region), PH_OK);
    ASSERT_EQ(ph_task_buffer_make(pe, &args, &second), PH_OK) << words_of(pe);
    EXPECT_EQ(ph_task_buffer_free(pe, second), PH_OK);
    EXPECT_EQ(ph_unregister(lane, region.key), PH_OK);
  });
}

// A peer's operation on a buffer that is gone: where the memory stays registered its key is good.
TEST(TaskBufferApi, descriptors_of_kept_memory_are_stale_when_it_is_kept_no_more) {
  run_on({"shm", 2, 1, 1, {{"transport", "shm"}}}, [](Station& station) {
    Bytes bytes(4000);
    if (station.place.pe == 1) {
      fill(bytes, 9);
      ASSERT_EQ(ph_task_keep(station.pe, bytes.data(), bytes.size()), PH_OK);
      const ph_task_buffer buffer = station.make(bytes, PH_TASK_REG, PH_TASK_NODEREG);
      const ph_task_descriptor descriptor = station.describe(buffer);
      ASSERT_EQ(ph_task_buffer_deregister(station.pe, buffer), PH_OK);
      station.send(0, descriptor);
      EXPECT_EQ(station.await(1)[0].status, PH_OK) << "the buffer is there, and hears of it";
      ASSERT_EQ(ph_task_buffer_free(station.pe, buffer), PH_OK);
      station.send(0, descriptor);
      station.receive();
      while (station.buffers().stale_dones == 0) ph_task_run(station.pe, 0, nullptr);
      EXPECT_EQ(counts_of(station.pe).stale_dones, 1u) << "nobody hears of this one";
      ASSERT_EQ(ph_task_unkeep(station.pe, bytes.data(), bytes.size()), PH_OK);
      station.send(0, descriptor);
      station.receive();
      return;
    }
    Bytes own(4000);
    const ph_task_buffer buffer = station.make(own);
    for (const ph_status expected : {PH_OK, PH_OK, PH_ERR_KEY}) {
      const ph_task_descriptor stale = station.receive();
      std::fill(own.begin(), own.end(), std::byte{0});
      ASSERT_EQ(ph_task_get(station.pe, buffer, &stale), PH_OK);
      EXPECT_EQ(station.await(1)[0].status, expected);
      if (expected == PH_OK) {
        EXPECT_TRUE(is_filled(own, own.size(), 9));
      }
      if (counts_of(station.pe).operations > 1) station.send(1, {});
    }
  });
}

TEST(TaskBufferApi, calls_of_a_thread_that_is_no_pes_are_refused) {
  run_on({"", 1, 1, 0, {}}, [](Station& station) {
    Bytes bytes(100);
    const ph_task_buffer buffer = station.make(bytes, PH_TASK_UNREG);
    const ph_task_descriptor other = station.describe(buffer);
    ph_task_pe* pe = station.pe;
    std::thread([&] {
      ph_task_buffer_args args{};
      args.size = sizeof args;
      ph_task_buffer made = 0;
      ph_task_descriptor descriptor{};
      EXPECT_EQ(ph_task_buffer_make(pe, &args, &made), PH_ERR_STATE);
      EXPECT_EQ(ph_task_buffer_describe(pe, buffer, &descriptor), PH_ERR_STATE);
      EXPECT_EQ(ph_task_buffer_register(pe, buffer), PH_ERR_STATE);
      EXPECT_EQ(ph_task_buffer_deregister(pe, buffer), PH_ERR_STATE);
      EXPECT_EQ(ph_task_get(pe, buffer, &other), PH_ERR_STATE);
      EXPECT_EQ(ph_task_put(pe, buffer, &other), PH_ERR_STATE);
      EXPECT_EQ(ph_task_buffer_broadcast(pe, buffer, 0, 0), PH_ERR_STATE);
      EXPECT_EQ(ph_task_land(pe, buffer, nullptr), PH_ERR_STATE);
      EXPECT_EQ(ph_task_keep(pe, bytes.data(), bytes.size()), PH_ERR_STATE);
      EXPECT_EQ(ph_task_unkeep(pe, bytes.data(), bytes.size()), PH_ERR_STATE);
      EXPECT_EQ(ph_task_buffer_free(pe, buffer), PH_ERR_STATE);
      EXPECT_NE(words_of(pe).find("ph_task_buffer_free: this thread is not that of PE 0"),
                std::string::npos)
          << words_of(pe);
    }).join();
    EXPECT_EQ(ph_task_buffer_free(pe, buffer), PH_OK) << "it was ours all the time";
  });
}

}  // namespace
}  // namespace photon::task::test
