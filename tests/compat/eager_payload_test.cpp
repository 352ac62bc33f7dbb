// Small send buffers that came along with their announcement, got by what describes them.
#include <string>
#include <utility>
#include <vector>

#include "classic_job.hpp"

namespace photon::test {
namespace {

class Brought : public OverGrounds {};
INSTANTIATE_TEST_SUITE_P(grounds, Brought, testing::Values(Ground::shm, Ground::sim), ground_name);

// Gets all of `remote`, of rank 0, and waits until it is here.
int get_now(std::vector<unsigned char>& into, photon_buffer_t& remote, photon_rid* rid) {
  const int said = photon_post_os_get_direct(0, into.data(), into.size(), &remote, 0, rid);
  return said == PHOTON_OK ? photon_wait(*rid) : said;
}

// By each call that takes keys. The owner, rank 0, gets the remote id 12.
void get_in_every_way(photon_buffer_t& remote, std::vector<unsigned char>& into,
                      std::uint64_t seed) {
  const std::size_t size = into.size();
  photon_rid rid = 0;
  ASSERT_EQ(get_now(into, remote, &rid), PHOTON_OK);
  EXPECT_EQ(first_wrong(into.data(), size, seed), size);
  into.assign(size, 0);
  photon_buffer_t first = part(remote, 0, size / 2), rest = part(remote, size / 2, size - size / 2);
  void* places[] = {into.data() + size / 2, into.data()};
  std::uint64_t sizes[] = {rest.size, first.size};
  photonBuffer sources[] = {&rest, &first};
  ASSERT_EQ(photon_post_os_getv_direct(0, places, sizes, sources, 2, 0, &rid), PHOTON_OK);
  ASSERT_EQ(photon_wait(rid), PHOTON_OK);
  EXPECT_EQ(first_wrong(into.data(), size, seed), size);
  into.assign(size, 0);
  photon_buffer_t mine = bare(into.data(), size);
  ASSERT_EQ(photon_get_with_completion(0, size, &mine, &remote, u64(11), u64(12), 0), PHOTON_OK);
  EXPECT_EQ(take(PHOTON_ANY_SOURCE, PHOTON_PROBE_EVQ).id.u64, 11u);
  EXPECT_EQ(first_wrong(into.data(), size, seed), size);
}

// A small send buffer comes along by value; what describes it serves all calls that get by key.
TEST_P(Brought, the_remote_buffer_of_a_rid_is_a_source_of_gets_whatever_its_size) {
  ClassicJob job(2, GetParam());
  job.run([&](int rank) {
    for (const std::size_t size : {1U, 64U, 192U, 193U, 1024U, 5000U}) {
      const bool comes_along = size <= 192;
      std::vector<unsigned char> bytes(size);
      photon_rid rid = 0;
      if (rank == 0) {
        fill(bytes.data(), size, size);
        ASSERT_EQ(photon_post_send_buffer_rdma(1, bytes.data(), size, 0, &rid), PHOTON_OK);
        if (comes_along) bytes.assign(size, 0);  // its owner's again: no get may see this
        job.meet();
        ASSERT_EQ(photon_wait(rid), PHOTON_OK);
        EXPECT_EQ(take(PHOTON_ANY_SOURCE, PHOTON_PROBE_LEDGER).id.u64, 12u);
        job.meet();
        continue;
      }
      job.meet();
      photon_buffer_t remote{};
      ASSERT_EQ(photon_wait_send_buffer_rdma(0, size, 0, &rid), PHOTON_OK);
      ASSERT_EQ(photon_get_buffer_remote(rid, &remote), PHOTON_OK);
      EXPECT_EQ(remote.size, size);
      get_in_every_way(remote, bytes, size);
      EXPECT_EQ(photon_send_FIN(rid, 0, PHOTON_REQ_COMPLETED), PHOTON_OK);
      if (comes_along) {
        EXPECT_EQ(get_now(bytes, remote, &rid), PHOTON_ERROR);
      }
      job.meet();
    }
  });
}

// Ids are copied at the call, and not from what the get has put in their place.
TEST_P(Brought, a_get_of_a_small_send_buffer_may_cover_its_own_ids) {
  ClassicJob job(1, GetParam(), [](photon_config_t& c) { c.cap.max_cid_size = 64; });
  job.run([&](int) {
    std::vector<unsigned char> source(100), into(100, 0xaa);
    fill(source.data(), 100, 3);
    photon_rid rid = 0;
    photon_buffer_t remote{}, mine = bare(into.data(), 100);
    ASSERT_EQ(photon_post_send_buffer_rdma(0, source.data(), 100, 0, nullptr), PHOTON_OK);
    ASSERT_EQ(photon_wait_send_buffer_rdma(0, 100, 0, &rid), PHOTON_OK);
    ASSERT_EQ(photon_get_buffer_remote(rid, &remote), PHOTON_OK);
    ASSERT_EQ(photon_get_with_completion(0, 100, &mine, &remote, bytes_id(into.data(), 40),
                                         bytes_id(into.data() + 40, 60), 0),
              PHOTON_OK);
    for (const auto& [kind, size] :
         {std::pair{PHOTON_PROBE_EVQ, 40U}, {PHOTON_PROBE_LEDGER, 60U}}) {
      const Probed found = take(PHOTON_ANY_SOURCE, kind);
      ASSERT_EQ(found.id.size, size);
      EXPECT_EQ(std::string(static_cast<const char*>(found.id.data), size),
                std::string(size, '\xaa'));
    }
    EXPECT_EQ(first_wrong(into.data(), 100, 3), 100u);
    EXPECT_EQ(photon_send_FIN(rid, 0, PHOTON_REQ_NIL), PHOTON_OK);
  });
}

// Of a small send buffer that rank 1 has met. Nothing is written, as nothing is got.
void expect_refusals(photon_buffer_t remote) {
  std::vector<unsigned char> bytes(100);
  unsigned char* data = bytes.data();
  photon_buffer_t mine = bare(data, 2), outside = part(remote, 99, 2), before = part(remote, 0, 2);
  before.addr -= 1;
  std::string id(9, 'x');
  photon_rid none = 0;
  const photon_cid too_long = bytes_id(id.data(), 9);
  EXPECT_EQ(photon_get_with_completion(0, 2, &mine, &outside, u64(1), u64(2), 0), PHOTON_ERROR);
  EXPECT_EQ(photon_get_with_completion(0, 2, &mine, &remote, too_long, u64(2), 0), PHOTON_ERROR);
  EXPECT_EQ(photon_get_with_completion(2, 2, &mine, &remote, u64(1), u64(2), 0), PHOTON_ERROR);
  EXPECT_EQ(photon_post_os_get_direct(0, data, 2, &before, 0, &none), PHOTON_ERROR);
  EXPECT_EQ(photon_post_os_get_direct(2, data, 2, &remote, 0, &none), PHOTON_ERROR);
  EXPECT_EQ(photon_post_os_get_direct(0, nullptr, 2, &remote, 0, &none), PHOTON_ERROR);
  void* places[] = {data, data + 10};
  std::uint64_t sizes[] = {2, 2};
  photonBuffer sources[] = {&remote, &outside};
  EXPECT_EQ(photon_post_os_getv_direct(0, places, sizes, sources, 2, 0, &none), PHOTON_ERROR);
  EXPECT_EQ(bytes, std::vector<unsigned char>(100));
}

TEST_P(Brought, what_describes_a_small_send_buffer_is_refused_where_it_does_not_fit) {
  ClassicJob job(3, GetParam());
  job.run([&](int rank) {
    unsigned char bytes[100] = {};
    photon_rid rid = 0, none = 0;
    photon_buffer_t remote{};
    if (rank == 0) {
      fill(bytes, sizeof bytes, 4);
      ASSERT_EQ(photon_post_send_buffer_rdma(1, bytes, sizeof bytes, 0, nullptr), PHOTON_OK);
      ASSERT_EQ(photon_post_send_buffer_rdma(2, bytes, sizeof bytes, 0, nullptr), PHOTON_OK);
    } else {
      ASSERT_EQ(
          photon_wait_send_buffer_rdma(0, static_cast<std::uint64_t>(PHOTON_ANY_SIZE), 0, &rid),
          PHOTON_OK);
      ASSERT_EQ(photon_get_buffer_remote(rid, &remote), PHOTON_OK);
    }
    if (rank == 1) expect_refusals(remote);
    const auto all = job.exchange(remote);
    photon_buffer_t theirs = all[1];
    if (rank == 2) {  // who has met one of its own
      EXPECT_EQ(photon_post_os_get_direct(0, bytes, 2, &theirs, 0, &none), PHOTON_ERROR);
    }
    // Where there are no bytes to get, no key counts.
    EXPECT_EQ(photon_post_os_get_direct(0, bytes, 0, &theirs, 0, &none), PHOTON_OK);
    EXPECT_EQ(photon_wait(none), PHOTON_OK);
    if (rank != 0) {
      EXPECT_EQ(photon_send_FIN(rid, 0, PHOTON_REQ_NIL), PHOTON_OK);
    }
  });
}
}  // namespace
}  // namespace photon::test
