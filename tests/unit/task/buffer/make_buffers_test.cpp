#include "task/buffer/make_buffers.hpp"

#include <gtest/gtest.h>

#include "task/buffer/buffer_job.hpp"

namespace photon::task::test {
namespace {

TEST(TaskMakeBuffers, each_pe_has_buffers_of_its_own) {
  TaskJob job(2, 2);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    Pe& own = of(pe);
    EXPECT_EQ(&buffers_of(own).pe, &own);
    for (std::uint32_t rank = 0; rank < place.pes_per_process; ++rank) {
      Pe& sibling = *own.shared().all[rank];
      EXPECT_EQ(&buffers_of(sibling).pe, &sibling);
    }
  });
}

}  // namespace
}  // namespace photon::task::test
