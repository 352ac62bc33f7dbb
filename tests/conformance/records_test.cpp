// Records and credits: order, laps, sizes, full rings.
#include "transport_harness.hpp"

namespace photon::test {
namespace {

// Sends all of `records` from rank 0 to rank 1 as room allows; false: something never arrived.
bool carry(TransportHarness& job, const std::vector<Record>& records) {
  std::size_t sent = 0;
  std::size_t received = 0;
  return job.eventually([&] {
    while (sent < records.size() && job[0].to(1).send(records[sent])) ++sent;
    while (auto record = job[1].to(0).receive()) {
      EXPECT_EQ(*record, records[received]) << "record " << received;
      ++received;
    }
    return received == records.size();
  });
}

TEST_P(TransportConformance, records_arrive_in_order_across_many_laps) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  std::vector<Record> records;
  for (std::uint64_t i = 0; i < 50 * job.config().ring_lines; ++i)
    records.push_back(record_of_lines(1, i));
  EXPECT_TRUE(carry(job, records));
}

TEST_P(TransportConformance, records_of_every_size_arrive_whole) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  std::vector<Record> records;
  for (unsigned repeat = 0; repeat < 5; ++repeat) {  // at other places of the ring each time
    for (std::uint32_t lines = 1; lines < wire::kMaxLines; ++lines) {
      records.push_back(record_of_lines(lines, lines));
      ASSERT_EQ(records.back().lines(), lines);
    }
    Record largest;
    largest.id_bytes = wire::kMaxIdBytes;
    largest.payload_bytes = wire::kMaxPackedBytes;
    records.push_back(filled(largest, repeat));
  }
  EXPECT_TRUE(carry(job, records));
}

TEST_P(TransportConformance, records_of_every_kind_arrive_unchanged) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  std::vector<Record> records;
  for (std::uint64_t seed = 0; seed < 2000; ++seed)
    records.push_back(random_record(seed, job.config().bulk_chunk));
  EXPECT_TRUE(carry(job, records));
}

TEST_P(TransportConformance, a_full_ring_accepts_a_prefix_and_loses_nothing) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  constexpr std::uint32_t kLines = 5;  // does not divide the ring
  std::uint64_t sent = 0;
  while (job[0].to(1).send(record_of_lines(kLines, sent))) ++sent;
  EXPECT_EQ(sent, job.config().ring_lines / kLines);
  job.settle();
  EXPECT_FALSE(job[0].to(1).send(record_of_lines(kLines, sent))) << "nobody gave anything back";
  for (std::uint64_t i = 0; i < sent; ++i)
    ASSERT_EQ(job[1].to(0).peek_and_copy(), record_of_lines(kLines, i));
  EXPECT_EQ(job[1].to(0).peek_and_copy(), std::nullopt);
  job[1].to(0).give_back();
  EXPECT_TRUE(job.eventually([&] { return job[0].to(1).send(record_of_lines(kLines, sent)); }));
  ASSERT_TRUE(job.eventually([&] { return job[1].to(0).has_record(); }));
  EXPECT_EQ(job[1].to(0).receive(), record_of_lines(kLines, sent));
}

TEST_P(TransportConformance, line_credit_comes_back_to_the_last_line_and_never_too_much) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  auto& producer = job[0].to(1).producer();
  std::uint64_t consumed = 0;
  for (std::uint32_t lines = 1; lines <= wire::kMaxLines; ++lines) {
    ASSERT_TRUE(job[0].to(1).send(record_of_lines(lines, lines)));
    ASSERT_TRUE(job.eventually([&] { return job[1].to(0).has_record(); }));
    ASSERT_TRUE(job[1].to(0).peek_and_copy());
    job.settle();
    producer.refresh();
    ASSERT_EQ(producer.room(), producer.capacity() - lines);
    job[1].to(0).give_back();
    consumed += lines;
    ASSERT_TRUE(job.eventually([&] {
      const auto& words = *job[0].to(1).link().tx_credits;
      EXPECT_LE(words.lines.load(std::memory_order_acquire), consumed);
      return words.lines.load(std::memory_order_acquire) == consumed;
    }));
    producer.refresh();
    ASSERT_EQ(producer.room(), producer.capacity());
  }
}

TEST_P(TransportConformance, ledger_credit_comes_back_on_its_own) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  const auto& words = *job[0].to(1).link().tx_credits;
  for (const std::uint64_t probed : {1u, 2u, 100u, 70'000u}) {
    job[1].to(0).give_back_ids(probed);
    ASSERT_TRUE(
        job.eventually([&] { return words.ledger.load(std::memory_order_acquire) == probed; }));
  }
  EXPECT_EQ(words.lines.load(std::memory_order_relaxed), 0u);
  EXPECT_EQ(words.bulk.load(std::memory_order_relaxed), 0u);
}

TEST_P(TransportConformance, lines_written_but_not_published_are_not_seen) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  auto& producer = job[0].to(1).producer();
  for (std::uint64_t line = 0; line < 4; ++line)
    for (auto& word : producer.line(line).words) word.set(~std::uint64_t{0});
  job[0].transport().kick(1);
  job.settle();
  EXPECT_FALSE(job[1].to(0).has_record());
  ASSERT_TRUE(job[0].to(1).send(record_of_lines(4, 9)));
  ASSERT_TRUE(job.eventually([&] { return job[1].to(0).has_record(); }));
  EXPECT_EQ(job[1].to(0).receive(), record_of_lines(4, 9));
}

TEST_P(TransportConformance, the_two_directions_do_not_wait_for_each_other) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  while (job[1].to(0).send(record_of_lines(1, 0))) continue;  // never read
  std::vector<Record> records;
  for (std::uint64_t i = 0; i < 10 * job.config().ring_lines; ++i)
    records.push_back(record_of_lines(1, i));
  EXPECT_TRUE(carry(job, records));
}

TEST_P(TransportConformance, the_smallest_and_a_large_ring_both_work) {
  for (const std::uint64_t ring_lines : {64u, 4096u}) {
    base::Config config = small_config();
    config.ring_lines = ring_lines;
    TransportHarness job(GetParam(), 2, config);
    ASSERT_TRUE(job.opened());
    ASSERT_TRUE(job.join(0, 1));
    std::vector<Record> records;
    for (std::uint64_t seed = 0; seed < 3 * ring_lines; ++seed)
      records.push_back(random_record(seed, config.bulk_chunk));
    EXPECT_TRUE(carry(job, records));
  }
}

}  // namespace
}  // namespace photon::test
