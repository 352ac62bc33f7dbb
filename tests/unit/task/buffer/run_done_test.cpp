#include "task/buffer/run_done.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "task/buffer/buffer_job.hpp"
#include "task/buffer/dones.hpp"

namespace photon::task::test {
namespace {

using Says = EndName::Says;

// A done as a peer may send it, to PE 0.
void forge(Station& station, std::uint32_t form, const void* body, std::uint64_t size_bytes) {
  Pe& pe = of(station.pe);
  Message* message = pe.pool().alloc(size_bytes);
  std::memcpy(body_of(*message), body, size_bytes);
  message->wire = {.handler = form, .target = 0, .source = 0, .kind = Kind::done, .zero = 0};
  ASSERT_EQ(pe.machine().send(*message, 0), PH_OK);
}
void forge(Station& station, const EndName& name, std::int32_t status) {
  const Told told{.id = id_of(name), .moved_bytes = 5, .status = status, .zero = 0};
  forge(station, 0, &told, sizeof told);
}

// None is believed that names nothing; and none ends an operation that was issued here.
TEST(TaskDones, what_a_peer_makes_up_ends_nothing) {
  run_on({"shm", 2, 1, 1, {}}, [](Station& station) {
    Bytes bytes(100);
    Buffers& buffers = station.buffers();
    if (station.place.pe == 0) {
      const ph_task_buffer buffer = station.make(bytes, PH_TASK_REG, PH_TASK_NODEREG);
      station.send(1, station.describe(buffer));
      Message& record = *of(station.pe).pool().alloc(sizeof(Operation));
      EndName issued{};
      EndName turned{};
      ASSERT_TRUE(buffers.underway.add(record, Says::issued, issued));
      new (body_of(record)) Operation{};
      operation_of(record).other.pe = 0;  // the one that is asked is not the one that forges
      ASSERT_TRUE(buffers.underway.add(record, Says::turned, turned));
      const std::vector<ph_task_done> dones = station.await(2);
      EXPECT_EQ(dones[0].status, PH_ERR_PROTOCOL) << "a status that there is not";
      EXPECT_EQ(dones[0].moved_bytes, 5u);
      EXPECT_EQ(dones[1].status, PH_ERR_KEY) << "a peer may say so of a buffer that it knows";
      EXPECT_NE(buffers.underway.take(issued), nullptr);
      EXPECT_NE(buffers.underway.take(turned), nullptr);
      EXPECT_EQ(buffers.stale_dones, 6u);
      of(station.pe).pool().free(record);
      return;
    }
    const ph_task_descriptor theirs = station.receive();
    const EndName real{theirs.slot, theirs.generation, 0, Says::read};
    EndName name = real;
    const std::vector<std::byte> junk(sizeof(Operation), std::byte{1});
    forge(station, 0, junk.data(), 3);
    forge(station, 0, junk.data(), junk.size());
    forge(station, 1, junk.data(), junk.size());
    forge(station, 77, junk.data(), sizeof(Told));
    name.generation += 1;
    forge(station, name, PH_OK);
    name = real;
    name.slot = kMostSlots;
    forge(station, name, PH_OK);
    for (const std::uint32_t slot : {0U, 1U}) {
      forge(station, {slot, 1, 0, Says::issued}, PH_OK);
      forge(station, {slot, 1, 0, Says::turned}, PH_OK);
      forge(station, {slot, 1, 0, Says::fed}, PH_OK);
    }
    forge(station, {0, 1, 0, static_cast<Says>(99)}, PH_OK);
    // Ids of the lane, too.
    ph_context* lane = of(station.pe).machine().lane();
    for (const std::uint64_t id :
         {std::uint64_t{0}, ~std::uint64_t{0}, id_of(EndName{0, 1, 200, Says::read}),
          id_of(EndName{0, 1, 0, Says::issued})}) {
      while (ph_notify(lane, 0, id) == PH_AGAIN) of(station.pe).machine().progress();
    }
    forge(station, real, 1);
    forge(station, real, PH_ERR_KEY);
  });
}

TEST(TaskDones, a_buffer_without_a_handler_still_has_its_dones) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    Station station(pe);
    Bytes bytes(100);
    Bytes own(100);
    ph_task_buffer_args args{};
    args.size = sizeof args;
    args.address = own.data();
    args.size_bytes = own.size();
    args.source_done = args.destination_done = PH_TASK_NO_HANDLER;
    ph_task_buffer buffer = 0;
    ASSERT_EQ(ph_task_buffer_make(pe, &args, &buffer), PH_OK);
    const ph_task_descriptor other = station.describe(station.make(bytes));
    ASSERT_EQ(ph_task_get(pe, buffer, &other), PH_OK);
    EXPECT_EQ(ph_task_buffer_free(pe, buffer), PH_ERR_STATE);
    station.await(1);
    EXPECT_EQ(ph_task_run(pe, 0, nullptr), PH_OK);
    EXPECT_EQ(ph_task_buffer_free(pe, buffer), PH_OK);
  });
}

// In its done-handler a buffer is ready again: it is used, or freed.
TEST(TaskDones, the_handler_uses_and_frees_its_buffer) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    Station station(pe);
    Bytes bytes(100);
    Bytes own(100);
    const ph_task_buffer source = station.make(bytes);
    const ph_task_descriptor other = station.describe(source);
    int user = 0;
    const ph_task_buffer buffer = station.make(own, PH_TASK_REG, PH_TASK_DEREG, &user);
    unsigned rounds = 0;
    station.on_done = [&](const ph_task_done& done) {
      if (done.side == PH_TASK_SOURCE) return;
      EXPECT_EQ(done.user, &user);
      EXPECT_EQ(done.buffer, buffer);
      EXPECT_EQ(std::memcmp(&done.other, &other, sizeof other), 0);
      if (++rounds < 5)
        EXPECT_EQ(ph_task_get(pe, buffer, &other), PH_OK) << words_of(pe);
      else
        EXPECT_EQ(ph_task_buffer_free(pe, buffer), PH_OK);
    };
    ASSERT_EQ(ph_task_get(pe, buffer, &other), PH_OK);
    station.await(10);
    EXPECT_EQ(ph_task_buffer_free(pe, buffer), PH_ERR_NOT_FOUND);
    EXPECT_EQ(ph_task_buffer_free(pe, source), PH_OK);
  });
}

// The owner of the source frees it before its done has its turn.
TEST(TaskDones, a_done_of_a_buffer_that_is_gone_is_counted_and_dropped) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    Station station(pe);
    Bytes bytes(100);
    Bytes own(100);
    const ph_task_buffer source = station.make(bytes);
    const ph_task_descriptor other = station.describe(source);
    ASSERT_EQ(ph_task_get(pe, station.make(own), &other), PH_OK);
    ASSERT_EQ(ph_task_buffer_free(pe, source), PH_OK);
    station.await(1);
    EXPECT_EQ(ph_task_run(pe, 0, nullptr), PH_OK);
    EXPECT_EQ(station.buffers().stale_dones, 1u);
    EXPECT_EQ(of(pe).balance().created, of(pe).balance().processed);
  });
}

}  // namespace
}  // namespace photon::task::test
