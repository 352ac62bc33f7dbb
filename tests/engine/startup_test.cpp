// What ph_context_create asks of the program's bootstrap: as much in a job of 64 ranks as in one of
// two (docs/bootstrap.md).
#include <atomic>

#include "settings.hpp"

namespace photon::test {
namespace {

// Callbacks that count their calls, and the bytes that a rank gives.
struct Counted {
  const ph_bootstrap* real;
  unsigned gathers = 0, barriers = 0;
  std::size_t bytes = 0;

  ph_bootstrap bootstrap() { return {this, real->rank, real->size, &allgather, &barrier}; }
  static int allgather(void* user, const void* mine, void* all, std::size_t size_bytes) {
    Counted& self = *static_cast<Counted*>(user);
    ++self.gathers;
    self.bytes += size_bytes;
    return self.real->allgather(self.real->user, mine, all, size_bytes);
  }
  static int barrier(void* user) {
    Counted& self = *static_cast<Counted*>(user);
    ++self.barriers;
    return self.real->barrier(self.real->user);
  }
};

class Startup : public OverSettings {};

TEST_P(Startup, takes_two_gathers_of_few_bytes_however_many_ranks_there_are) {
  for (const std::uint32_t ranks_count : {2U, 4U, 8U, 16U, 32U, 64U}) {
    ThreadJob job(ranks_count, options());
    std::atomic<unsigned> right_count = 0;
    job.run_bare([&](const ph_bootstrap& bootstrap) {
      Counted counted{&bootstrap};
      const ph_bootstrap counting = counted.bootstrap();
      ph_context* const context = job.create(counting);
      const bool is_right = counted.gathers == 2 && counted.barriers == 0 && counted.bytes < 200;
      right_count += is_right ? 1 : 0;
      EXPECT_TRUE(is_right) << counted.gathers << " gathers of " << counted.bytes << " bytes, "
                            << counted.barriers << " barriers";
      job.meet();
      ph_context_destroy(context);
    });
    EXPECT_EQ(right_count, ranks_count);
  }
}
INSTANTIATE_TEST_SUITE_P(Settings, Startup,
                         testing::Values(Setting{"shm", {{"transport", "shm"}}},
                                         Setting{"tcp", {{"transport", "tcp"}}},
                                         Setting{"mixed_near", {{"transport", "mixed"}}}),
                         setting_name);

}  // namespace
}  // namespace photon::test
