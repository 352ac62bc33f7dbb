#include "task/buffer/dones.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace photon::task
