// Ids of every size, as callbacks and *comp show them.
#include <string>

#include "classic_job.hpp"

namespace photon::test {
namespace {

class Ids : public OverGrounds {};
INSTANTIATE_TEST_SUITE_P(grounds, Ids, testing::Values(Ground::shm, Ground::sim), ground_name);

void long_ids(photon_config_t& config) { config.cap.max_cid_size = 1024; }

// What the latest callback of this thread got.
struct Got {
  int calls = 0;
  photon_cid id{};
  std::string bytes;
};
Got& got() {
  static thread_local Got latest;
  return latest;
}
void remember(photon_cid id) {
  ++got().calls;
  got().id = id;
  got().bytes =
      id.size == 0 ? std::string() : std::string(static_cast<const char*>(id.data), id.size);
}

// Probes until one callback came.
void take_by_callback(int flags, photon_cid* comp = nullptr) {
  got() = {};
  int flag = 0;
  while (flag == 0) {
    ASSERT_EQ(
        photon_probe_completion(PHOTON_ANY_SOURCE, &flag, nullptr, comp, nullptr, remember, flags),
        PHOTON_OK);
    std::this_thread::yield();
  }
  EXPECT_EQ(got().calls, 1);
}

std::string text_of(std::size_t size_bytes, char first) {
  std::string text(size_bytes, first);
  for (std::size_t i = 0; i < size_bytes; ++i) text[i] = static_cast<char>(first + i % 23);
  return text;
}

TEST_P(Ids, a_remote_u64_is_8_bytes_to_a_callback_and_a_u64_in_comp) {
  ClassicJob job(1, GetParam());
  job.run([&](int) {
    ASSERT_EQ(photon_put_with_completion(0, 0, nullptr, nullptr, u64(1), u64(0x1122334455667788),
                                         PHOTON_REQ_PWC_NO_LCE),
              PHOTON_OK);
    photon_cid comp = bytes_id(nullptr, 77);
    take_by_callback(PHOTON_PROBE_LEDGER, &comp);
    ASSERT_EQ(got().id.size, 8u);
    std::uint64_t value = 0;
    std::memcpy(&value, got().bytes.data(), 8);
    EXPECT_EQ(value, 0x1122334455667788u);
    EXPECT_EQ(comp.u64, 0x1122334455667788u);
    EXPECT_EQ(comp.size, 0u);
  });
}

TEST_P(Ids, a_local_u64_is_a_u64_to_a_callback) {
  ClassicJob job(1, GetParam());
  job.run([&](int) {
    ASSERT_EQ(
        photon_put_with_completion(0, 0, nullptr, nullptr, u64(41), u64(0), PHOTON_REQ_PWC_NO_RCE),
        PHOTON_OK);
    take_by_callback(PHOTON_PROBE_EVQ);
    EXPECT_EQ(got().id.u64, 41u);
    EXPECT_EQ(got().id.size, 0u);
  });
}

// A defect of the original: remote ids of variable size were not copied.
TEST_P(Ids, of_1_to_1024_bytes_are_copied_at_the_call_and_arrive_whole_on_both_sides) {
  ClassicJob job(2, GetParam(), long_ids);
  job.run([&](int rank) {
    for (std::size_t size = 1; size <= 1024; size = size < 17 ? size + 1 : size * 3 / 2 + 1) {
      const std::string local = text_of(size, 'a'), remote = text_of(size, 'A');
      if (rank == 0) {
        std::string mine = local, theirs = remote;
        ASSERT_EQ(photon_put_with_completion(1, 0, nullptr, nullptr, bytes_id(mine.data(), size),
                                             bytes_id(theirs.data(), size), 0),
                  PHOTON_OK);
        mine.assign(size, '#');
        theirs.assign(size, '#');
        take_by_callback(PHOTON_PROBE_EVQ);
        ASSERT_EQ(got().bytes, local) << size;
      } else {
        take_by_callback(PHOTON_PROBE_LEDGER);
        ASSERT_EQ(got().bytes, remote) << size;
      }
      job.meet();
    }
    // The largest there is.
    std::string largest = text_of(1024, 'z');
    if (rank == 0) {
      ASSERT_EQ(photon_put_with_completion(1, 0, nullptr, nullptr, u64(1),
                                           bytes_id(largest.data(), 1024), 0),
                PHOTON_OK);
    } else {
      take_by_callback(PHOTON_PROBE_LEDGER);
      EXPECT_EQ(got().bytes, largest);
    }
  });
}

TEST_P(Ids, that_are_too_long_are_refused_by_puts_and_gets_whatever_would_become_of_them) {
  for (const int limit : {0, 1024}) {
    const ClassicJob::Change change = [limit](photon_config_t& c) { c.cap.max_cid_size = limit; };
    ClassicJob job(1, GetParam(), change);
    job.run([&](int) {
      Registered memory(64);
      photon_buffer_t mine = memory.buffer(), theirs = memory.buffer();
      std::string bytes(1025, 'l');
      const photon_cid fits = u64(1), over = bytes_id(bytes.data(), limit == 0 ? 9 : 1025);
      for (const int flags : {0, PHOTON_REQ_PWC_NO_LCE, PHOTON_REQ_PWC_NO_RCE})
        for (const std::uint64_t size : {0U, 64U})
          for (const auto& [local, remote] : {std::pair{over, fits}, std::pair{fits, over}}) {
            EXPECT_EQ(photon_put_with_completion(0, size, &mine, &theirs, local, remote, flags),
                      PHOTON_ERROR);
            EXPECT_EQ(photon_get_with_completion(0, size, &mine, &theirs, local, remote, flags),
                      PHOTON_ERROR);
          }
      EXPECT_EQ(probe().flag, 0);  // nothing of them went
    });
  }
}

// Their length counts, as above; their bytes need not be there.
TEST_P(Ids, that_nobody_is_to_get_are_not_read) {
  ClassicJob job(1, GetParam());
  job.run([&](int) {
    photon_cid garbage = bytes_id(reinterpret_cast<void*>(16), 8);
    for (int i = 0; i < 2000; ++i) {  // also those that are queued
      ASSERT_EQ(photon_put_with_completion(0, 0, nullptr, nullptr, garbage, u64(5),
                                           PHOTON_REQ_PWC_NO_LCE),
                PHOTON_OK);
      ASSERT_EQ(photon_put_with_completion(0, 0, nullptr, nullptr, u64(6), garbage,
                                           PHOTON_REQ_PWC_NO_RCE),
                PHOTON_OK);
      EXPECT_EQ(take(PHOTON_ANY_SOURCE, PHOTON_PROBE_EVQ).id.u64, 6u);
      if (i % 2 == 1) {
        EXPECT_EQ(take(PHOTON_ANY_SOURCE, PHOTON_PROBE_LEDGER).id.u64, 5u);
      }
    }
    for (int i = 0; i < 1000; ++i) take(PHOTON_ANY_SOURCE, PHOTON_PROBE_LEDGER);
  });
}

TEST_P(Ids, comp_points_to_a_long_id_until_the_next_probe_of_that_thread) {
  ClassicJob job(1, GetParam(), long_ids);
  job.run([&](int) {
    const std::string text = text_of(300, 'k');
    std::string id = text;
    ASSERT_EQ(photon_put_with_completion(0, 0, nullptr, nullptr, u64(0), bytes_id(id.data(), 300),
                                         PHOTON_REQ_PWC_NO_LCE),
              PHOTON_OK);
    ASSERT_EQ(
        photon_put_with_completion(0, 0, nullptr, nullptr, u64(0), u64(5), PHOTON_REQ_PWC_NO_LCE),
        PHOTON_OK);
    const Probed mine = take(PHOTON_ANY_SOURCE, PHOTON_PROBE_LEDGER);
    ClassicJob::in_same_rank([] {
      EXPECT_EQ(take(PHOTON_ANY_SOURCE, PHOTON_PROBE_LEDGER).id.u64, 5u);
    }).join();
    ASSERT_EQ(mine.id.size, 300u);
    EXPECT_EQ(std::string(static_cast<const char*>(mine.id.data), 300), text);
  });
}

TEST_P(Ids, a_short_one_points_to_its_bytes_too) {
  ClassicJob job(1, GetParam());
  job.run([&](int) {
    std::string id = "abc";
    ASSERT_EQ(photon_put_with_completion(0, 0, nullptr, nullptr, bytes_id(id.data(), 3),
                                         bytes_id(id.data(), 3), 0),
              PHOTON_OK);
    for (const int flags : {PHOTON_PROBE_EVQ, PHOTON_PROBE_LEDGER}) {
      photon_cid comp{};
      int flag = 0;
      while (flag == 0)
        ASSERT_EQ(photon_probe_completion(0, &flag, nullptr, &comp, nullptr, nullptr, flags),
                  PHOTON_OK);
      ASSERT_EQ(comp.size, 3u);
      EXPECT_EQ(std::string(static_cast<const char*>(comp.data), 3), id);
    }
  });
}

TEST_P(Ids, of_8_local_bytes_come_back_as_bytes_and_u64s_as_u64s) {
  ClassicJob job(1, GetParam());
  job.run([&](int) {
    std::string id = "8 bytes.";
    for (int i = 0; i < 3; ++i) {
      ASSERT_EQ(photon_put_with_completion(0, 0, nullptr, nullptr, bytes_id(id.data(), 8), u64(0),
                                           PHOTON_REQ_PWC_NO_RCE),
                PHOTON_OK);
      ASSERT_EQ(photon_put_with_completion(0, 0, nullptr, nullptr, u64(99), u64(0),
                                           PHOTON_REQ_PWC_NO_RCE),
                PHOTON_OK);
      take_by_callback(PHOTON_PROBE_EVQ);
      EXPECT_EQ(got().bytes, id);
      take_by_callback(PHOTON_PROBE_EVQ);
      EXPECT_EQ(got().id.size, 0u);
      EXPECT_EQ(got().id.u64, 99u);
    }
  });
}

}  // namespace
}  // namespace photon::test
