// photon_atomic(): words of a peer that many change at once.
#include "classic_job.hpp"

namespace photon::test {
namespace {

class ClassicAtomic : public OverGrounds {};
INSTANTIATE_TEST_SUITE_P(grounds, ClassicAtomic, testing::Values(Ground::shm, Ground::sim),
                         ground_name);

struct WordAt {
  int proc;
  photon_buffer_t buffer;
};

template <class Word>
int change_word(WordAt place, photon_datatype type, photon_atomic_op op, Word operand,
                int flags = 0) {
  photon_buffer_t from = bare(&operand, sizeof operand);
  return photon_atomic(place.proc, &from, &place.buffer, type, op, 41, 42, flags);
}

// One word of rank 1 through SUM and, for integers, MIN and MAX; what it is after each.
template <class Word>
void change_words(Ground ground, photon_datatype type) {
  ClassicJob job(2, ground);
  job.run([&](int rank) {
    Registered memory(64);
    Word& word = *reinterpret_cast<Word*>(memory.data());
    word = 10;
    auto all = job.exchange(memory.buffer());
    struct Step {
      photon_atomic_op op;
      Word operand, after;
    };
    std::vector<Step> steps{{PHOTON_ATOMIC_SUM, 5, 15}};
    if (std::is_integral_v<Word>) {
      steps.push_back({PHOTON_ATOMIC_MIN, 7, 7});
      steps.push_back({PHOTON_ATOMIC_MAX, 9, 9});
      steps.push_back({PHOTON_ATOMIC_MAX, 3, 9});
    }
    for (const Step& step : steps) {
      if (rank == 0) {
        ASSERT_EQ(change_word({1, all[1]}, type, step.op, step.operand), PHOTON_OK);
        EXPECT_EQ(take(PHOTON_ANY_SOURCE, PHOTON_PROBE_EVQ).id.u64, 41u);
      } else {
        EXPECT_EQ(take(PHOTON_ANY_SOURCE, PHOTON_PROBE_LEDGER).id.u64, 42u);
        EXPECT_EQ(word, step.after);
      }
      job.meet();
    }
  });
}

TEST_P(ClassicAtomic, each_type_that_is_known_has_its_operations_and_both_ids) {
  change_words<std::int32_t>(GetParam(), PHOTON_INT32);
  change_words<std::uint32_t>(GetParam(), PHOTON_UINT32);
  change_words<std::int64_t>(GetParam(), PHOTON_INT64);
  change_words<std::uint64_t>(GetParam(), PHOTON_UINT64);
  change_words<float>(GetParam(), PHOTON_FLOAT);
  change_words<double>(GetParam(), PHOTON_DOUBLE);
}

TEST_P(ClassicAtomic, the_smallest_of_signed_words_is_the_negative_one) {
  ClassicJob job(1, GetParam());
  job.run([&](int) {
    Registered memory(8);
    ASSERT_EQ(change_word<std::int64_t>({0, memory.buffer()}, PHOTON_INT64, PHOTON_ATOMIC_MIN, -3),
              PHOTON_OK);
    EXPECT_EQ(take(PHOTON_ANY_SOURCE, PHOTON_PROBE_LEDGER).id.u64, 42u);
    EXPECT_EQ(*reinterpret_cast<std::int64_t*>(memory.data()), -3);
    EXPECT_EQ(take(PHOTON_ANY_SOURCE, PHOTON_PROBE_EVQ).id.u64, 41u);
  });
}

TEST_P(ClassicAtomic, flags_take_the_ids_away) {
  ClassicJob job(2, GetParam());
  job.run([&](int rank) {
    Registered memory(8);
    auto all = job.exchange(memory.buffer());
    const auto add = [&](int flags) {
      return change_word<std::uint64_t>({1, all[1]}, PHOTON_UINT64, PHOTON_ATOMIC_SUM, 1, flags);
    };
    if (rank == 0) {
      ASSERT_EQ(add(PHOTON_REQ_PWC_NO_LCE | PHOTON_REQ_PWC_NO_RCE), PHOTON_OK);
      ASSERT_EQ(add(PHOTON_REQ_PWC_NO_LCE), PHOTON_OK);
      EXPECT_EQ(ph_flush(classic::current()->context(), 1, PH_FOREVER), PH_OK);
      EXPECT_EQ(probe().flag, 0);
    } else {
      EXPECT_EQ(take().id.u64, 42u);
      EXPECT_EQ(*reinterpret_cast<std::uint64_t*>(memory.data()), 2u);
      EXPECT_EQ(probe().flag, 0);
    }
    job.meet();
  });
}

TEST_P(ClassicAtomic, eight_ranks_that_add_to_one_word_lose_nothing) {
  constexpr std::uint64_t kAdds = 200;
  ClassicJob job(8, GetParam());
  job.run([&](int) {
    Registered memory(8);
    auto all = job.exchange(memory.buffer());
    for (std::uint64_t i = 0; i < kAdds; ++i) {
      int status = PHOTON_ERROR_RESOURCE;
      while (status == PHOTON_ERROR_RESOURCE)
        status = change_word<std::uint64_t>({0, all[0]}, PHOTON_UINT64, PHOTON_ATOMIC_SUM, 1,
                                            PHOTON_REQ_PWC_NO_RCE);
      ASSERT_EQ(status, PHOTON_OK);
      ASSERT_EQ(take(PHOTON_ANY_SOURCE, PHOTON_PROBE_EVQ).id.u64, 41u);
    }
    job.meet();
    std::uint64_t sum = 0;
    photon_rid rid = 0;
    ASSERT_EQ(photon_post_os_get_direct(0, &sum, 8, &all[0], 0, &rid), PHOTON_OK);
    ASSERT_EQ(photon_wait(rid), PHOTON_OK);
    EXPECT_EQ(sum, 8 * kAdds);
    job.meet();
  });
}

TEST_P(ClassicAtomic, what_is_not_known_is_refused_and_changes_nothing) {
  ClassicJob job(2, GetParam());
  job.run([&](int rank) {
    Registered memory(16);
    auto all = job.exchange(memory.buffer());
    std::uint64_t one = 1;
    photon_buffer_t from = bare(&one, 8), to = all[1], odd = part(to, 4, 8);
    for (const photon_datatype type :
         {PHOTON_INT8, PHOTON_UINT8, PHOTON_INT16, PHOTON_UINT16, PHOTON_FLOAT_COMPLEX,
          PHOTON_DOUBLE_COMPLEX, PHOTON_LONG_DOUBLE, PHOTON_LONG_DOUBLE_COMPLEX})
      EXPECT_EQ(photon_atomic(1, &from, &to, type, PHOTON_ATOMIC_SUM, 1, 2, 0), PHOTON_ERROR);
    for (const photon_atomic_op op : {PHOTON_ATOMIC_MIN, PHOTON_ATOMIC_MAX, PHOTON_ATOMIC_LAST})
      EXPECT_EQ(photon_atomic(1, &from, &to, PHOTON_DOUBLE, op, 1, 2, 0), PHOTON_ERROR);
    const auto add = [](int proc, photonBuffer mine, photonBuffer its) {
      return photon_atomic(proc, mine, its, PHOTON_UINT64, PHOTON_ATOMIC_SUM, 1, 2, 0);
    };
    photon_buffer_t longer = bare(&one, 16), place_of_four = part(to, 0, 4);
    EXPECT_EQ(add(1, nullptr, &to), PHOTON_ERROR);
    EXPECT_EQ(add(1, &from, nullptr), PHOTON_ERROR);
    EXPECT_EQ(add(1, &longer, &to), PHOTON_ERROR);
    EXPECT_EQ(add(1, &from, &place_of_four), PHOTON_ERROR);
    EXPECT_EQ(add(1, &from, &odd), PHOTON_ERROR);
    EXPECT_EQ(add(2, &from, &to), PHOTON_ERROR);
    EXPECT_EQ(add(-1, &from, &to), PHOTON_ERROR);
    job.meet();
    EXPECT_EQ(probe().flag, 0);
    EXPECT_TRUE(rank == 0 || *reinterpret_cast<std::uint64_t*>(memory.data()) == 0);
  });
}

}  // namespace
}  // namespace photon::test
