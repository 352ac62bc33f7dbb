// Bulk bytes: there no later than the record that announces them, at the place both sides compute.
#include "transport_harness.hpp"

namespace photon::test {
namespace {

bool carry_chunks(TransportHarness& job, const std::vector<std::uint64_t>& sizes) {
  std::size_t sent = 0;
  std::size_t received = 0;
  return job.eventually([&] {
    while (sent < sizes.size() && job[0].to(1).send(bulk_record(sizes[sent], sent))) ++sent;
    while (auto record = job[1].to(0).receive()) {
      EXPECT_EQ(*record, bulk_record(sizes[received], received)) << "chunk " << received;
      ++received;
    }
    return received == sizes.size();
  });
}

TEST_P(TransportConformance, a_chunk_is_there_when_its_record_is) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  ASSERT_TRUE(job[0].to(1).send(bulk_record(2048, 5)));
  ASSERT_TRUE(job.eventually([&] { return job[1].to(0).has_record(); }));
  EXPECT_EQ(job[1].to(0).receive(), bulk_record(2048, 5));
}

TEST_P(TransportConformance, chunks_of_every_small_size_survive_many_laps) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t size = 0; size <= 260; ++size) sizes.push_back(size);
  for (const std::uint64_t size : {511u, 512u, 513u, 2047u, 2048u, 1u, 63u, 64u, 65u})
    sizes.push_back(size);
  EXPECT_TRUE(carry_chunks(job, sizes));
}

TEST_P(TransportConformance, chunks_that_skip_the_rings_end_arrive_whole) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  Random random(11);
  std::vector<std::uint64_t> sizes;
  for (unsigned i = 0; i < 1000; ++i) sizes.push_back(random.up_to(job.config().bulk_chunk));
  EXPECT_TRUE(carry_chunks(job, sizes));
}

TEST_P(TransportConformance, a_chunk_as_large_as_the_bulk_ring_arrives) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  EXPECT_TRUE(carry_chunks(job, std::vector<std::uint64_t>(5, job.config().bulk_bytes)));
}

TEST_P(TransportConformance, bulk_credit_comes_back_and_a_full_bulk_ring_stops_chunks_only) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  const std::uint64_t size = job.config().bulk_chunk;
  std::uint64_t sent = 0;
  while (job[0].to(1).send(bulk_record(size, sent))) ++sent;
  EXPECT_EQ(sent, job.config().bulk_bytes / size);
  EXPECT_TRUE(job[0].to(1).send(record_of_lines(1, 99)));
  job.settle();
  EXPECT_FALSE(job[0].to(1).send(bulk_record(size, sent)));
  for (std::uint64_t i = 0; i < sent; ++i)
    ASSERT_EQ(job[1].to(0).peek_and_copy(), bulk_record(size, i));
  EXPECT_EQ(job[1].to(0).peek_and_copy(), record_of_lines(1, 99));
  job[1].to(0).give_back();
  ASSERT_TRUE(job.eventually([&] { return job[0].to(1).send(bulk_record(size, sent)); }));
  ASSERT_TRUE(job.eventually([&] { return job[1].to(0).has_record(); }));
  EXPECT_EQ(job[1].to(0).receive(), bulk_record(size, sent));
}

}  // namespace
}  // namespace photon::test
