// What a failing classic call leaves on stderr: which call, and why; and what it leaves unsaid.
#include <string>

#include "classic_job.hpp"

namespace photon::test {
namespace {

class Complaints : public OverGrounds {};

// What `call` says; it returns `wanted`.
template <class Call>
std::string words_of(int wanted, Call call) {
  testing::internal::CaptureStderr();
  const int said = call();
  std::string words = testing::internal::GetCapturedStderr();
  EXPECT_EQ(said, wanted) << words;
  return words;
}

void expect_words(const std::string& said, std::initializer_list<const char*> parts) {
  for (const char* part : parts)
    EXPECT_NE(said.find(part), std::string::npos) << "no \"" << part << "\" in: " << said;
}

TEST_P(Complaints, name_the_call_and_what_is_wrong_with_it) {
  ClassicJob job(1, GetParam());
  job.run([&](int) {
    unsigned char memory[64] = {};
    photon_buffer_t place = {4096, 64, {77, 0}};
    photon_rid rid = 0;
    expect_words(
        words_of(
            PHOTON_ERROR,
            [&] { return photon_put_with_completion(9, 8, &place, &place, u64(1), u64(2), 0); }),
        {"photon: photon_put_with_completion: ", "rank 9"});
    expect_words(
        words_of(
            PHOTON_ERROR,
            [&] { return photon_get_with_completion(9, 8, &place, &place, u64(1), u64(2), 0); }),
        {"photon: photon_get_with_completion: ", "rank 9"});
    expect_words(
        words_of(PHOTON_ERROR,
                 [&] { return photon_post_os_put_direct(0, memory, 8, nullptr, 0, &rid); }),
        {"photon: photon_post_os_put_direct: ", "rbuf"});
    expect_words(words_of(PHOTON_ERROR, [&] { return photon_unregister_buffer(memory, 8); }),
                 {"photon: photon_unregister_buffer: ", "not registered"});
    expect_words(words_of(PHOTON_ERROR, [&] { return photon_wait(77); }),
                 {"photon: photon_wait: ", "rid"});
    expect_words(words_of(PHOTON_ERROR, [&] { return photon_send_FIN(77, 0, 0); }),
                 {"photon: photon_send_FIN: ", "rid"});
    expect_words(
        words_of(PHOTON_ERROR, [&] { return photon_post_recv_buffer_rdma(9, memory, 8, 1, &rid); }),
        {"photon: photon_post_recv_buffer_rdma: ", "rank 9"});
    expect_words(words_of(PHOTON_ERROR,
                          [&] {
                            return photon_probe_completion(9, nullptr, nullptr, nullptr, nullptr,
                                                           nullptr, PHOTON_PROBE_ANY);
                          }),
                 {"photon: photon_probe_completion: ", "rank 9"});
  });
}

// Programs ask these to learn something, and go on.
TEST_P(Complaints, are_none_about_an_answer) {
  ClassicJob job(1, GetParam());
  job.run([&](int) {
    unsigned char memory[64] = {};
    const photon_buffer_priv_t* keys = nullptr;
    int flag = 0, proc = 0;
    photon_rid rid = 0;
    const std::string said = words_of(PHOTON_ERROR, [&] {
      EXPECT_EQ(photon_get_buffer_private(memory, 8, &keys), PHOTON_ERROR);
      EXPECT_EQ(photon_probe_ledger(0, &flag, PHOTON_RECV_LEDGER, nullptr), PHOTON_ERROR);
      EXPECT_EQ(photon_test(77, &flag, nullptr, nullptr), 1);
      return photon_wait_any(&proc, &rid);
    });
    EXPECT_EQ(said, "");
  });
}

TEST_P(Complaints, about_the_same_again_and_again_end_unless_the_log_is_to_have_them) {
  for (const bool all : {false, true}) {
    if (all) setenv("PHOTON_LOG", "info", 1);
    ClassicJob job(1, GetParam());
    job.run([&](int) {
      const std::string said = words_of(PHOTON_ERROR, [&] {
        for (int i = 0; i < 99; ++i) EXPECT_EQ(photon_wait(77), PHOTON_ERROR);
        return photon_wait(77);
      });
      std::size_t lines = 0;
      for (std::size_t at = said.find("photon_wait: the rid"); at != std::string::npos;
           at = said.find("photon_wait: the rid", at + 1))
        ++lines;
      EXPECT_EQ(lines, all ? 100u : 16u) << said;
      EXPECT_EQ(said.find("PHOTON_LOG=info") != std::string::npos, !all) << said;
    });
    unsetenv("PHOTON_LOG");
  }
}

TEST_P(Complaints, say_where_a_put_went_and_what_there_is_there) {
  ClassicJob job(2, GetParam());
  job.run([&](int rank) {
    std::vector<unsigned char> memory(4096);
    ASSERT_EQ(photon_register_buffer(memory.data(), memory.size()), PHOTON_OK);
    const photon_buffer_priv_t* keys = nullptr;
    ASSERT_EQ(photon_get_buffer_private(memory.data(), memory.size(), &keys), PHOTON_OK);
    const photon_buffer_t mine = {reinterpret_cast<std::uintptr_t>(memory.data()), 4096, *keys};
    const auto all = job.exchange(mine);
    if (rank == 0) {
      photon_buffer_t beyond = all[1];
      beyond.addr += 4090;
      unsigned char source[8] = {};
      photon_rid rid = 0;
      const std::string said = words_of(PHOTON_ERROR, [&] {
        const int status = photon_post_os_put_direct(1, source, 8, &beyond, 0, &rid);
        return status == PHOTON_OK ? photon_wait(rid) : status;
      });
      expect_words(said, {"photon: photon_", "region"});
    }
    job.meet();
    EXPECT_EQ(photon_unregister_buffer(memory.data(), memory.size()), PHOTON_OK);
  });
}

TEST(ComplaintsOfInit, an_exchange_that_there_is_not_is_refused_by_its_number) {
  ClassicJob job(1);
  job.run_bare([&](int rank) {
    for (const int unknown : {3, 16, -1, static_cast<int>(0xa7a7a7a7)}) {
      photon_config_t config = job.configuration(rank);
      config.meta_exch = unknown;
      expect_words(words_of(PHOTON_ERROR, [&] { return photon_init(&config); }),
                   {"photon_init", "meta_exch", std::to_string(unknown).c_str()});
      EXPECT_EQ(photon_initialized(), 0);
    }
  });
}

// What MPI's launchers set, for a program that asks for our launcher's exchange.
std::string words_of_one_alone(const char* size, const char* rank, int meta_exch) {
  const Variable its_size("PMI_SIZE", size), its_rank("PMI_RANK", rank);
  std::string said;
  ClassicJob job(1);
  job.run_bare([&](int own) {
    photon_config_t config = job.configuration(own);
    config.meta_exch = meta_exch;
    said = words_of(PHOTON_OK, [&] { return photon_init(&config); });
    EXPECT_EQ(photon_finalize(), PHOTON_OK);
  });
  return said;
}

TEST(ComplaintsOfInit, a_rank_alone_among_those_that_mpi_has_started_says_so_once) {
  expect_words(words_of_one_alone("4", "0", PHOTON_EXCH_TCP),
               {"photon_init", "PMI_SIZE=4", "photonrun", "PHOTON_EXCH_MPI"});
  EXPECT_EQ(words_of_one_alone("4", "3", PHOTON_EXCH_TCP), "") << "the first one has said it";
  EXPECT_EQ(words_of_one_alone("1", "0", PHOTON_EXCH_PMI), "");
  EXPECT_EQ(words_of_one_alone("4", "0", PHOTON_EXCH_EXTERNAL), "") << "it knows who it is";
}

INSTANTIATE_TEST_SUITE_P(Transports, Complaints, testing::Values(Ground::shm, Ground::sim),
                         ground_name);

}  // namespace
}  // namespace photon::test
