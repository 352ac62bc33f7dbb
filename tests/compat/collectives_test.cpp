// Collectives against what one loop over the ranks gives: kinds, types, operations, sizes.
#include <atomic>
#include <complex>
#include <functional>

#include "classic_job.hpp"
#include "rounds.hpp"

namespace photon::test {
namespace {

struct Company {
  Ground ground;
  int ranks;
};
std::string company_name(const testing::TestParamInfo<Company>& one) {
  return name_of(one.param.ground) + "_" + std::to_string(one.param.ranks);
}

class Collectives : public testing::TestWithParam<Company> {
 protected:
  ClassicJob job{GetParam().ranks, GetParam().ground};
};
INSTANTIATE_TEST_SUITE_P(companies, Collectives,
                         testing::Values(Company{Ground::shm, 1}, Company{Ground::shm, 2},
                                         Company{Ground::shm, 3}, Company{Ground::shm, 5},
                                         Company{Ground::shm, 8}, Company{Ground::sim, 1},
                                         Company{Ground::sim, 2}, Company{Ground::sim, 3},
                                         Company{Ground::sim, 5}, Company{Ground::sim, 8}),
                         company_name);

constexpr photon_coll kReductions[] = {PHOTON_COLL_REDUCE, PHOTON_COLL_ALLREDUCE, PHOTON_COLL_SCAN,
                                       PHOTON_COLL_IALLREDUCE, PHOTON_COLL_ISCAN};
constexpr std::uint64_t kDone = 4711;

bool returns_at_once(photon_coll kind) { return kind >= PHOTON_COLL_IBARRIER; }

// Waits for the local id of a collective.
void take_id(std::uint64_t id) {
  const Probed found = take(PHOTON_ANY_SOURCE, PHOTON_PROBE_EVQ);
  EXPECT_EQ(found.status, PHOTON_OK);
  EXPECT_EQ(found.id.u64, id);
  EXPECT_EQ(found.id.size, 0u);
}

void barrier_of_all() {
  photon_rid rid = 0;
  ASSERT_EQ(photon_collective_init(PHOTON_COLL_BARRIER, u64(0), &rid, PHOTON_REQ_PWC_NO_LCE),
            PHOTON_OK);
  ASSERT_NE(rid, 0u);
  ASSERT_EQ(photon_collective_join(rid, nullptr, nullptr, 0, PHOTON_INT8, nullptr), PHOTON_OK);
}

template <class T>
struct Elements {
  photon_datatype type;
  photon_coll_op op;
  std::function<T(const T&, const T&)> combine;

  // What a rank brings: no sum or product of these is exact in floating point.
  static T given(int rank, std::size_t i) {
    return static_cast<T>(static_cast<float>((rank * 7 + static_cast<int>(i) * 3) % 5 + 1) * 1.1F);
  }
  // Of ranks 0 to `last`, one after the other.
  T expected(int last, std::size_t i) const {
    T value = given(0, i);
    for (int rank = 1; rank <= last; ++rank) value = combine(value, given(rank, i));
    return value;
  }

  void check(photon_coll kind, int rank, int ranks) const {
    constexpr std::size_t kCount = 5;
    std::vector<T> in, out(kCount);
    for (std::size_t i = 0; i < kCount; ++i) in.push_back(given(rank, i));
    photon_rid rid = 0;
    photon_coll_op what = op;
    ASSERT_EQ(photon_collective_init(kind, u64(kDone), &rid, 0), PHOTON_OK);
    ASSERT_EQ(photon_collective_join(rid, in.data(), out.data(), kCount, type, &what), PHOTON_OK);
    if (returns_at_once(kind)) {
      take_id(kDone);
    } else {
      ASSERT_EQ(probe(PHOTON_ANY_SOURCE, PHOTON_PROBE_EVQ).id.u64, kDone) << "it is there by now";
    }
    const bool is_scan = kind == PHOTON_COLL_SCAN || kind == PHOTON_COLL_ISCAN;
    const bool has_result = kind != PHOTON_COLL_REDUCE || rank == 0;
    for (std::size_t i = 0; i < kCount; ++i) {
      const T wanted = has_result ? expected(is_scan ? rank : ranks - 1, i) : T{};
      ASSERT_EQ(out[i], wanted) << "kind " << kind << " type " << type << " op " << op << " at "
                                << i << " of rank " << rank;
    }
  }
};

template <class T>
void check_type(photon_coll kind, photon_datatype type, int rank, int ranks) {
  using Pair = std::function<T(const T&, const T&)>;
  const Pair sum = [](const T& a, const T& b) { return static_cast<T>(a + b); };
  const Pair product = [](const T& a, const T& b) { return static_cast<T>(a * b); };
  Elements<T>{type, PHOTON_COLL_OP_SUM, sum}.check(kind, rank, ranks);
  Elements<T>{type, PHOTON_COLL_OP_PROD, product}.check(kind, rank, ranks);
  if constexpr (std::totally_ordered<T>) {
    const Pair least = [](const T& a, const T& b) { return std::min(a, b); };
    const Pair most = [](const T& a, const T& b) { return std::max(a, b); };
    Elements<T>{type, PHOTON_COLL_OP_MIN, least}.check(kind, rank, ranks);
    Elements<T>{type, PHOTON_COLL_OP_MAX, most}.check(kind, rank, ranks);
  }
}

template <class... T>
void check_types(photon_coll kind, int rank, int ranks) {
  int type = 0;
  (check_type<T>(kind, static_cast<photon_datatype>(type++), rank, ranks), ...);
  EXPECT_EQ(type, PHOTON_DATATYPE_LAST);
}

TEST_P(Collectives, each_kind_type_and_operation_gives_what_one_loop_over_the_ranks_gives) {
  job.run([&](int rank) {
    for (const photon_coll kind : kReductions)
      check_types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                  std::uint32_t, std::int64_t, std::uint64_t, float, double, std::complex<float>,
                  std::complex<double>, long double, std::complex<long double>>(kind, rank,
                                                                                job.size());
  });
}

TEST_P(Collectives, nobody_leaves_a_barrier_before_all_are_in) {
  constexpr int kRounds = 30;
  std::atomic<int> arrived{0};
  job.run([&](int rank) {
    for (int round = 1; round <= kRounds; ++round) {
      if (rank % 2 == round % 2) std::this_thread::yield();
      ++arrived;
      barrier_of_all();
      EXPECT_GE(arrived, round * job.size());
    }
  });
}

TEST_P(Collectives, an_ibarrier_tells_by_its_id_and_not_before_all_have_joined) {
  std::atomic<int> joined{0};
  job.run([&](int rank) {
    photon_rid rid = 0;
    ASSERT_EQ(photon_collective_init(PHOTON_COLL_IBARRIER, u64(kDone), &rid, 0), PHOTON_OK);
    for (int i = 0; i < 20 * rank; ++i) EXPECT_EQ(probe().flag, 0);
    ++joined;
    ASSERT_EQ(photon_collective_join(rid, nullptr, nullptr, 0, PHOTON_INT8, nullptr), PHOTON_OK);
    take_id(kDone);
    EXPECT_EQ(joined, job.size());
    EXPECT_EQ(probe().flag, 0);
    int flag = 0;
    EXPECT_EQ(photon_test(rid, &flag, nullptr, nullptr), 1) << "the probe has taken it";
  });
}

TEST_P(Collectives, a_million_doubles_are_summed_in_rank_order_in_place) {
  constexpr std::size_t kCount = rounds(1'000'000, 200'000);
  job.run([&](int rank) {
    std::vector<double> data(kCount);
    const auto given = [](int of, std::size_t i) {
      return 0.1 * static_cast<double>(of + 1) + static_cast<double>(i) * 1e-3;
    };
    for (std::size_t i = 0; i < kCount; ++i) data[i] = given(rank, i);
    photon_rid rid = 0;
    photon_coll_op op = PHOTON_COLL_OP_SUM;
    ASSERT_EQ(photon_collective_init(PHOTON_COLL_IALLREDUCE, u64(kDone), &rid, 0), PHOTON_OK);
    ASSERT_EQ(photon_collective_join(rid, data.data(), data.data(), kCount, PHOTON_DOUBLE, &op),
              PHOTON_OK);
    take_id(kDone);
    for (std::size_t i = 0; i < kCount; ++i) {
      double wanted = given(0, i);
      for (int of = 1; of < job.size(); ++of) wanted += given(of, i);
      ASSERT_EQ(data[i], wanted) << i;
    }
  });
}

// Each rank joins them in another order.
TEST_P(Collectives, several_at_once_joined_in_any_order_do_not_mix) {
  constexpr std::size_t kAtOnce = 12;
  constexpr std::size_t kCount = 3000;
  job.run([&](int rank) {
    std::vector<photon_rid> rids(kAtOnce);
    std::vector<std::vector<std::int64_t>> in(kAtOnce), out(kAtOnce);
    for (std::size_t i = 0; i < kAtOnce; ++i) {
      const auto kind = i % 3 == 2 ? PHOTON_COLL_ISCAN : PHOTON_COLL_IALLREDUCE;
      ASSERT_EQ(photon_collective_init(kind, u64(100 + i), &rids[i], 0), PHOTON_OK);
      in[i].assign(i % 2 == 0 ? kCount : 1, rank + static_cast<int>(i));
      out[i].resize(in[i].size());
    }
    photon_coll_op op = PHOTON_COLL_OP_SUM;
    for (std::size_t n = 0; n < kAtOnce; ++n) {
      const std::size_t i = (n * 5 + static_cast<std::size_t>(rank)) % kAtOnce;
      ASSERT_EQ(photon_collective_join(rids[i], in[i].data(), out[i].data(),
                                       static_cast<int>(in[i].size()), PHOTON_INT64, &op),
                PHOTON_OK);
    }
    barrier_of_all();  // drives the others on
    std::vector<int> seen(kAtOnce);
    for (std::size_t n = 0; n < kAtOnce; ++n) {
      const Probed found = take(PHOTON_ANY_SOURCE, PHOTON_PROBE_EVQ);
      ASSERT_LT(found.id.u64 - 100, kAtOnce);
      EXPECT_EQ(++seen[found.id.u64 - 100], 1);
    }
    for (std::size_t i = 0; i < kAtOnce; ++i) {
      const std::int64_t among = i % 3 == 2 ? rank + 1 : job.size();
      const std::int64_t wanted = among * (among - 1) / 2 + among * static_cast<int>(i);
      EXPECT_EQ(out[i].front(), wanted) << i;
      EXPECT_EQ(out[i].back(), wanted) << i;
    }
  });
}

TEST_P(Collectives, their_traffic_shows_in_no_probe_of_the_program) {
  job.run([&](int rank) {
    const int next = (rank + 1) % job.size();
    for (std::uint64_t i = 0; i < 50; ++i) {
      ASSERT_EQ(photon_put_with_completion(next, 0, nullptr, nullptr, u64(0), u64(i),
                                           PHOTON_REQ_PWC_NO_LCE),
                PHOTON_OK);
      if (i % 10 == 0) barrier_of_all();
    }
    for (std::uint64_t i = 0; i < 50; ++i)
      EXPECT_EQ(take(PHOTON_ANY_SOURCE, PHOTON_PROBE_ANY).id.u64, i);
    barrier_of_all();
    EXPECT_EQ(probe().flag, 0);
  });
}

}  // namespace
}  // namespace photon::test
