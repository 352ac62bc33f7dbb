#include "task/machine/rdma.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "take.hpp"
#include "thread_job.hpp"

namespace photon::task {
namespace {

TEST(TaskRdma, an_id_says_what_was_put_into_it_and_is_no_address) {
  const EndName name{
      .slot = 0xabcdef, .generation = 0x123456, .rank = 200, .says = EndName::Says::turned};
  const std::uint64_t id = id_of(name);
  const EndName back = name_of_id(id);
  EXPECT_EQ(back.slot, name.slot);
  EXPECT_EQ(back.generation, name.generation);
  EXPECT_EQ(back.rank, name.rank);
  EXPECT_EQ(back.says, name.says);
  EXPECT_NE(id >> 56, 0u);
}

// The bytes, and one id at either side: of a get and of a put, and of a put that says no remote id.
TEST(TaskRdma, an_operation_moves_its_bytes_and_tells_both_sides) {
  photon::test::ThreadJob job(2);
  std::vector<std::byte> theirs(5000, std::byte{7});
  std::uint64_t key = 0;
  job.run([&](ph_context* context, ph_rank rank) {
    if (rank == 1) {
      ASSERT_EQ(set_rdma_info(context, theirs.data(), theirs.size(), key), PH_OK);
      std::uint64_t same = 0;
      EXPECT_EQ(find_rdma_info(context, theirs.data() + 10, 100, same), PH_OK);
      EXPECT_EQ(same, key);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
    std::vector<std::byte> own(5000, std::byte{1});
    Operation operation{};
    operation.own.address = reinterpret_cast<std::uintptr_t>(own.data());
    operation.other.address = reinterpret_cast<std::uintptr_t>(theirs.data());
    operation.other.key = key;
    operation.moved_bytes = own.size();
    operation.other_process = 1;
    for (std::uint64_t i = 1; i <= 3; ++i) {
      const std::uint64_t id = i << 56 | i;
      if (rank == 1) {
        if (i != 3) {
          EXPECT_EQ(photon::test::take_remote(context).id, id + 1);
        }
        continue;
      }
      operation.local = id;
      operation.remote = id + 1;
      operation.is_told_apart = i == 3;
      ASSERT_EQ(i == 1 ? issue_get(context, operation) : issue_put(context, operation), PH_OK);
      EXPECT_EQ(photon::test::take_local(context).id, id);
      EXPECT_EQ(own, theirs);
      std::fill(own.begin(), own.end(), static_cast<std::byte>(i));
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 1) {
      deregister(context, key);
      std::uint64_t none = 0;
      EXPECT_EQ(find_rdma_info(context, theirs.data(), 1, none), PH_ERR_NOT_FOUND);
      EXPECT_EQ(none, 0u);
      ASSERT_EQ(set_rdma_info(context, theirs.data(), theirs.size(), key), PH_OK);
      deregister_at_end(context, key);
      EXPECT_EQ(find_rdma_info(context, theirs.data(), 1, none), PH_ERR_NOT_FOUND);
    }
  });
}

}  // namespace
}  // namespace photon::task
