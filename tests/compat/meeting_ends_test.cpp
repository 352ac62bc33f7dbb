// Rendezvous with a peer that has left, and what is refused for want of room.
#include "classic_job.hpp"

namespace photon::test {
namespace {

class MeetingEnds : public OverGrounds {};
INSTANTIATE_TEST_SUITE_P(grounds, MeetingEnds, testing::Values(Ground::shm, Ground::sim),
                         ground_name);

constexpr std::uint64_t kWhateverSize = static_cast<std::uint64_t>(PHOTON_ANY_SIZE);

// Rank 1 announces a small send buffer and is gone when rank 0 looks at it.
TEST_P(MeetingEnds, a_small_send_buffer_is_read_after_its_owner_has_left) {
  ClassicJob job(2, GetParam());
  for (const bool meets_before : {false, true}) {
    job.run_bare([&](int rank) {
      photon_config_t config = job.configuration(rank);
      ASSERT_EQ(photon_init(&config), PHOTON_OK);
      unsigned char bytes[100] = {};
      photon_rid rid = 0;
      if (rank == 1) {
        fill(bytes, sizeof bytes, 5);
        ASSERT_EQ(photon_post_send_buffer_rdma(0, bytes, sizeof bytes, 3, &rid), PHOTON_OK);
        EXPECT_EQ(photon_wait(rid), PHOTON_OK);
        job.meet();
        if (meets_before) job.meet();
        EXPECT_EQ(photon_finalize(), PHOTON_OK);
        job.meet();
        return;
      }
      job.meet();
      if (meets_before) {
        ASSERT_EQ(photon_wait_send_buffer_rdma(1, kWhateverSize, 3, &rid), PHOTON_OK);
        job.meet();
      }
      job.meet();  // it has left
      photon_rid other = 0;
      EXPECT_EQ(photon_wait_recv_buffer_rdma(1, kWhateverSize, 3, &other), PHOTON_ERROR);
      if (!meets_before) {
        ASSERT_EQ(photon_wait_send_buffer_rdma(1, kWhateverSize, 3, &rid), PHOTON_OK);
      }
      EXPECT_EQ(photon_post_os_get(rid, 1, bytes, 2, 3, 99), PHOTON_ERROR);  // it leaves the buffer
      EXPECT_EQ(photon_post_os_get(rid, 1, bytes, 60, 3, 0), PHOTON_OK);
      EXPECT_EQ(photon_post_os_get(rid, 1, bytes + 60, 40, 3, 60), PHOTON_OK);
      EXPECT_EQ(photon_wait(rid), PHOTON_OK);
      EXPECT_EQ(first_wrong(bytes, sizeof bytes, 5), sizeof bytes);
      EXPECT_EQ(photon_send_FIN(rid, 1, PHOTON_REQ_NIL), PHOTON_OK);
      EXPECT_EQ(photon_post_os_get(rid, 1, bytes, 1, 3, 0), PHOTON_ERROR);  // and that was the end
      EXPECT_EQ(photon_finalize(), PHOTON_OK);
    });
  }
}

}  // namespace
}  // namespace photon::test
