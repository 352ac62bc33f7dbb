#include "task/buffer/new_registration.hpp"

#include <gtest/gtest.h>

#include "shortage.hpp"
#include "task/buffer/buffer_job.hpp"

namespace photon::task::test {
namespace {

// The other side has registered nothing, so it is asked, and the own memory has to be registered.
// Each piece of memory that the call needs is missing once.
TEST(TaskNewRegistration, a_call_that_lacks_memory_leaves_nothing_registered) {
  TaskJob job(2, 1);
  job.settings().arena_bytes = 1;  // so all is of the heap
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    Station station(pe);
    Bytes bytes(5000);
    if (place.pe == 1) {
      fill(bytes, 4);
      station.send(0, station.describe(station.make(bytes, PH_TASK_UNREG)));
      EXPECT_EQ(station.await(1)[0].status, PH_OK);
    } else {
      const ph_task_buffer own = station.make(bytes, PH_TASK_UNREG);
      const ph_task_descriptor other = station.receive();
      int lacked = 0;
      ph_status status = PH_ERR_MEMORY;
      for (int allowed = 0; status == PH_ERR_MEMORY; ++allowed) {
        ASSERT_LT(allowed, 100);
        {
          const photon::test::Shortage shortage(allowed);
          status = ph_task_get(pe, own, &other);
        }
        if (status == PH_OK) break;
        ++lacked;
        EXPECT_FALSE(station.is_registered(bytes)) << allowed;
        EXPECT_FALSE(station.buffers().handles.find(own)->is_in_use());
      }
      EXPECT_EQ(status, PH_OK);
      EXPECT_GT(lacked, 1);
      EXPECT_EQ(station.await(1)[0].status, PH_OK);
      EXPECT_TRUE(is_filled(bytes, bytes.size(), 4));
    }
    station.meet();
  });
}

}  // namespace
}  // namespace photon::task::test
