#include "task/buffer/dones.hpp"

#include <gtest/gtest.h>

#include "task/buffer/buffer_job.hpp"

namespace photon::task {
namespace {

TEST(TaskDones, a_status_that_there_is_not_is_an_error) {
  const auto of = [](std::int32_t status) {
    return status_of({.id = 0, .moved_bytes = 0, .status = status, .zero = 0});
  };
  EXPECT_EQ(of(PH_OK), PH_OK);
  for (int status = PH_ERR_NO_BUFFER; status < PH_OK; ++status) EXPECT_EQ(of(status), status);
  for (const int status : {1, 1000, PH_ERR_NO_BUFFER - 1, INT32_MIN})
    EXPECT_EQ(of(status), PH_ERR_PROTOCOL);
}

TEST(TaskDones, the_id_of_a_done_names_the_buffer_its_side_and_its_rank) {
  ph_task_descriptor end{};
  end.pe = 7;
  end.slot = 5;
  end.generation = 9;
  const EndName name = name_of_id(id_of(end, PH_TASK_DESTINATION, 4));
  EXPECT_EQ(name.slot, 5u);
  EXPECT_EQ(name.generation, 9u);
  EXPECT_EQ(name.rank, 3);
  EXPECT_EQ(name.says, EndName::Says::written);
  EXPECT_EQ(name_of_id(id_of(end, PH_TASK_SOURCE, 4)).says, EndName::Says::read);
}

// The program has ended its context under the PEs: nothing can be sent, and no peer is lost.
TEST(TaskDones, one_that_cannot_be_sent_to_a_living_process_counts_as_returned) {
  photon::test::ThreadJob job(2);
  job.run([](ph_context* context, ph_rank rank) {
    ph_task_config config{};
    config.size = sizeof config;
    config.context = context;
    ph_task_pe* pe = nullptr;
    ASSERT_EQ(ph_task_start(&config, &pe, nullptr), PH_OK);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    ASSERT_EQ(ph_finalize(context), PH_OK);
    Pe& one = of(pe);
    Flow& flow = one.machine().flow(1 - rank);
    ++flow.sent;
    const Flow before = flow;
    tell_far(buffers_of(one), 1 - rank, {.id = 1, .moved_bytes = 0, .status = PH_OK, .zero = 0});
    EXPECT_EQ(flow.sent, before.sent);
    EXPECT_EQ(flow.returned, before.returned + 1);
    EXPECT_EQ(one.machine().losses().dropped, 0u);
    static_cast<void>(ph_task_end(pe));
  });
}

}  // namespace
}  // namespace photon::task
