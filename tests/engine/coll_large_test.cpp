// Counts that no 32 bits hold. The soak run does it with real memory; plan_test.cpp of
// tests/unit/service/coll has the arithmetic.
#include <gtest/gtest.h>
#include <photon/photon.h>
#include <sys/mman.h>

#include <cstdlib>
#include <vector>

#include "engine/coll_calls.hpp"

namespace photon::test {
namespace {

constexpr std::uint64_t kMany = (std::uint64_t{1} << 31) + 4099;

// Memory of the system's that costs nothing until it is written.
class Pages {
 public:
  explicit Pages(std::uint64_t size_bytes) : size_bytes_(size_bytes) {
    data_ = ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  ~Pages() { ::munmap(data_, size_bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  std::int8_t* data() noexcept { return static_cast<std::int8_t*>(data_); }

 private:
  const std::uint64_t size_bytes_;
  void* data_;
};

class CollLarge : public OverSettings {};

// Values that tell places apart which are 2^31, 2^32 or less than a segment away.
std::int8_t mark_at(std::uint64_t i) { return static_cast<std::int8_t>(i % 119 + i / 4093 % 5); }

TEST_P(CollLarge, more_than_two_to_the_31_elements_and_bytes) {
  if (std::getenv("PHOTON_SOAK") == nullptr)
    GTEST_SKIP() << "it takes 9 GiB of memory: PHOTON_SOAK=1 runs it";
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    ph_team* const team = world_of(context);
    Pages in(kMany), out(kMany);
    ASSERT_NE(in.data(), MAP_FAILED);
    ASSERT_NE(out.data(), MAP_FAILED);
    for (std::uint64_t i = 0; i < kMany; ++i) in.data()[i] = mark_at(i);
    ph_coll_args args{};
    args.size = sizeof args;
    args.kind = PH_COLL_BCAST;
    args.out = rank == 0 ? in.data() : out.data();
    args.count = kMany;
    args.type = PH_INT8;
    ASSERT_EQ(ph_coll_run(team, &args, PH_FOREVER), PH_OK);
    for (std::uint64_t i = 0; rank == 1 && i < kMany; ++i)
      ASSERT_EQ(out.data()[i], mark_at(i)) << i;
    args.kind = PH_COLL_ALLREDUCE;
    args.in = in.data();
    args.out = out.data();
    args.op = PH_OP_XOR;
    ASSERT_EQ(ph_coll_run(team, &args, PH_FOREVER), PH_OK);
    for (std::uint64_t i = 0; i < kMany; ++i) ASSERT_EQ(out.data()[i], 0) << i;
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, CollLarge, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
