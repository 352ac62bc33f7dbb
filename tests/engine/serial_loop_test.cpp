// One put at a time, each waited for by its local id alone, to a rank that makes no calls: there is
// back-pressure in place of PH_AGAIN, and next to no memory is used.
#include <semaphore>

#include "settings.hpp"

namespace photon::test {
namespace {

// Rank 1 is silent until rank 0 stands still; then it takes all that was posted to it, and is
// silent again.
class Silence {
 public:
  void stand_still(std::uint64_t posted) {
    posted_ = posted;
    wake_.release();
  }
  // How much was posted when rank 0 stood still.
  std::uint64_t end() {
    wake_.acquire();
    return posted_;
  }

 private:
  std::atomic<std::uint64_t> posted_ = 0;
  std::counting_semaphore<> wake_{0};
};

std::uint64_t counter(ph_context* context, const std::string& name) {
  std::size_t count = 0;
  EXPECT_EQ(ph_counters(context, PH_ANY_RANK, nullptr, 0, &count), PH_OK);
  std::vector<ph_counter> found(count);
  EXPECT_EQ(ph_counters(context, PH_ANY_RANK, found.data(), count, &count), PH_OK);
  for (const ph_counter& one : found)
    if (name == one.name) return one.value;
  throw std::runtime_error("no counter " + name);
}

class SerialLoop : public OverSettings {
 protected:
  // Puts of this size to rank 1, one after the other, by `post(i, source, target)`.
  template <class Post>
  void run(std::size_t size, const Options& more, Post post) {
    const std::uint64_t puts = size > 4096 ? 100 : is_small() ? 60 : 700;
    ThreadJob job(2, options(more));
    Silence silence;
    job.run([&](ph_context* context, ph_rank rank) {
      std::vector<std::byte> memory(rank == 1 ? puts * size : 1);
      ph_region mine{};
      ASSERT_EQ(ph_register(context, memory.data(), memory.size(), PH_ACCESS_ALL, &mine), PH_OK);
      const auto regions = exchange(context, mine);
      std::byte ids[PH_MAX_ID_BYTES];
      if (rank == 1) {
        for (std::uint64_t taken = 0; taken < puts;)
          for (const std::uint64_t posted = silence.end(); taken < posted; ++taken)
            ASSERT_EQ(take(context, PH_REMOTE, 0, ids).id, taken);
        for (std::uint64_t i = 0; i < puts; ++i)
          ASSERT_EQ(first_difference({&memory[i * size], size}, i), size) << "put " << i;
        return;
      }
      std::vector<std::byte> source(size);
      for (std::uint64_t i = 0; i < puts; ++i) {
        fill(source, i);
        ASSERT_EQ(post(context, i, source, ph_at(&regions[1], i * size)), PH_OK) << "put " << i;
        wait_for_local(context, i, silence);
      }
      EXPECT_LE(counter(context, "most_requests"), 1u);
      EXPECT_EQ(counter(context, "refusals"), 0u);
      silence.stand_still(puts);
    });
  }

 private:
  static void wait_for_local(ph_context* context, std::uint64_t id, Silence& silence) {
    constexpr int kStill = 300;  // turns that bring nothing, at which rank 1 is woken
    std::byte ids[PH_MAX_ID_BYTES];
    ph_completion local{};
    std::size_t count = 0;
    for (int turns = 0; count == 0; ++turns) {
      if (turns == kStill) silence.stand_still(id + 1);
      ASSERT_EQ(ph_probe(context, {1, PH_LOCAL, ids}, &local, 1, &count), PH_OK);
      if (count == 0) std::this_thread::yield();
    }
    EXPECT_EQ(local.id, id);
    EXPECT_EQ(local.status, PH_OK);
    EXPECT_EQ(local.outstanding, 0u);
    std::uint64_t outstanding = 0;
    EXPECT_EQ(ph_outstanding(context, PH_ANY_RANK, &outstanding), PH_OK);
    EXPECT_EQ(outstanding, 0u);
  }
};

TEST_P(SerialLoop, of_puts_with_words_for_ids_is_never_refused) {
  for (const std::size_t size : {1, 64, 192, 4096, 65536}) {
    SCOPED_TRACE(size);
    run(size, {}, [](ph_context* context, std::uint64_t id, const auto& source, ph_target target) {
      return ph_put_u64(context, 1, {source.data(), source.size()}, target, {id, id});
    });
  }
}

TEST_P(SerialLoop, of_puts_with_long_ids_is_never_refused) {
  for (const std::size_t size : {1, 4096}) {
    SCOPED_TRACE(size);
    run(size, {{"max_cid_size", "64"}},
        [](ph_context* context, std::uint64_t id, const auto& source, ph_target target) {
          const std::uint64_t local[8] = {id};
          const std::uint64_t remote[8] = {id};
          ph_put_args args = put_args(source, target, id, id);
          args.local = {local, 9};
          args.remote = {remote, 64};
          return ph_put(context, 1, &args);
        });
  }
}

// Half of the bytes each: a vector of two segments.
TEST_P(SerialLoop, of_vectored_puts_is_never_refused) {
  for (const std::size_t size : {64, 65536}) {
    SCOPED_TRACE(size);
    run(size, {}, [](ph_context* context, std::uint64_t id, const auto& source, ph_target target) {
      const std::size_t half = source.size() / 2;
      const ph_put_segment segments[] = {
          {source.data() + half, half, {target.address + half, target.key}},
          {source.data(), half, target}};
      ph_put_vector_args args{};
      args.size = sizeof args;
      args.segments = segments;
      args.segments_count = std::size(segments);
      args.local = args.remote = id_of(id);
      return ph_put_vector(context, 1, &args);
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Transports, SerialLoop, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
