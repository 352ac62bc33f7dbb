// Atomic folds: alone they are what plain ones are; of several threads on one element no change is
// lost, and what each found there was there.
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "interop/mpi/fold/fold.hpp"
#include "reference.hpp"
#include "rounds.hpp"

namespace photon::mpi::test {
namespace {

constexpr std::size_t kThreads = 4;
constexpr std::uint64_t kRounds = photon::test::rounds(16'000);

// body(which) on each of the threads, once all of them run.
template <class Body>
void together(Body body) {
  std::vector<std::thread> threads;
  std::atomic<std::size_t> running = 0;
  for (std::size_t which = 0; which < kThreads; ++which)
    threads.emplace_back([&, which] {
      running.fetch_add(1);
      while (running.load() != kThreads) std::this_thread::yield();
      body(which);
    });
  for (std::thread& thread : threads) thread.join();
}

template <class T>
T fetched(FoldKind kind, T* target, T source) {
  T before;
  fold_atomic(kind, target, &source, &before, 1);
  return before;
}
template <class T>
void changed(FoldKind kind, T* target, T source) {
  fold_atomic(kind, target, &source, nullptr, 1);
}

// body.operator()<T>(basic) for integers of each width and sign.
template <class Body>
void with_integers(Body body) {
  for (const Basic basic : all_basics())
    if (family_of(basic) == Family::integer)
      with_type(basic, [&]<class T>() {
        if constexpr (std::is_integral_v<T>) body.template operator()<T>(basic);
      });
}

// Source and result lie at odd addresses, and the target beside what stays as it is.
void check_alone(FoldKind kind, const Bytes& target, const Bytes& source, bool is_fetched) {
  const std::size_t size = bytes_of(kind.basic);
  std::vector<std::uint64_t> memory(target.size() / 8 + 3, 0xa5a5a5a5a5a5a5a5);
  auto* at = reinterpret_cast<unsigned char*>(memory.data()) + size;
  std::copy(target.begin(), target.end(), at);
  Bytes from(1), result(target.size() + 1);
  from.insert(from.end(), source.begin(), source.end());
  fold_atomic(kind, at, kind.op == Op::no_op ? nullptr : from.data() + 1,
              is_fetched ? result.data() + 1 : nullptr, target.size() / size);
  ASSERT_EQ(difference(kind, at, folded(kind, target, source)), "");
  if (is_fetched) {
    ASSERT_EQ(difference({Op::replace, kind.basic}, result.data() + 1, target), "");
  }
  ASSERT_TRUE(at[-1] == 0xa5 && at[target.size()] == 0xa5) << name_of(kind.op, kind.basic);
}

TEST(MpiFoldAtomic, alone_it_is_what_a_plain_one_is) {
  Elements elements(3);
  for (const Basic basic : all_basics())
    for (const Op op : all_ops())
      for (const std::size_t count : {0, 1, 2, 200}) {
        if (!takes(op, basic) || !is_atomic(basic)) continue;
        const Bytes target = elements.draw(basic, count), source = elements.draw(basic, count);
        for (const bool is_fetched : {false, true}) {
          check_alone({op, basic}, target, source, is_fetched);
          if (HasFatalFailure()) return;
        }
      }
}

TEST(MpiFoldAtomic, sums_of_several_threads_are_complete) {
  with_integers([]<class T>(Basic basic) {
    alignas(8) T element = 0;
    together([&](std::size_t) {
      for (std::uint64_t i = 0; i < kRounds; ++i) changed<T>({Op::sum, basic}, &element, 3);
    });
    EXPECT_EQ(element, static_cast<T>(3 * kThreads * kRounds));
  });
  alignas(8) float element = 0;
  double wide = 0;
  alignas(8) std::complex<float> complex = 0;
  together([&](std::size_t) {
    for (std::uint64_t i = 0; i < kRounds; ++i) {
      changed<float>({Op::sum, Basic::float32}, &element, 1);
      changed<double>({Op::sum, Basic::float64}, &wide, 0.5);
      changed<std::complex<float>>({Op::sum, Basic::complex32}, &complex, {1, -2});
    }
  });
  constexpr float kAll = kThreads * kRounds;
  EXPECT_EQ(element, kAll);
  EXPECT_EQ(wide, kAll / 2);
  EXPECT_EQ(complex, std::complex<float>(kAll, -2 * kAll));
}

TEST(MpiFoldAtomic, each_sum_finds_another_number) {
  std::uint64_t element = 0;
  double wide = 0;
  std::vector<std::vector<std::uint64_t>> found(kThreads);
  std::vector<std::vector<double>> found_wide(kThreads);
  together([&](std::size_t which) {
    for (std::uint64_t i = 0; i < kRounds; ++i) {
      found[which].push_back(fetched<std::uint64_t>({Op::sum, Basic::uint64}, &element, 1));
      found_wide[which].push_back(fetched<double>({Op::sum, Basic::float64}, &wide, 1));
    }
  });
  std::set<std::uint64_t> all;
  std::set<double> all_wide;
  for (std::size_t which = 0; which < kThreads; ++which) {
    EXPECT_TRUE(std::is_sorted(found[which].begin(), found[which].end()));
    EXPECT_TRUE(std::is_sorted(found_wide[which].begin(), found_wide[which].end()));
    all.insert(found[which].begin(), found[which].end());
    all_wide.insert(found_wide[which].begin(), found_wide[which].end());
  }
  EXPECT_EQ(all.size(), kThreads * kRounds);
  EXPECT_EQ(*all.rbegin(), kThreads * kRounds - 1);
  EXPECT_EQ(all_wide.size(), kThreads * kRounds);
}

TEST(MpiFoldAtomic, products_of_several_threads_are_complete) {
  with_integers([]<class T>(Basic basic) {
    alignas(8) T element = 1;
    together([&](std::size_t) {
      for (std::uint64_t i = 0; i < kRounds; ++i) changed<T>({Op::prod, basic}, &element, 3);
    });
    std::uint64_t power = 1;
    for (std::uint64_t i = 0; i < kThreads * kRounds; ++i) power *= 3;
    EXPECT_EQ(element, static_cast<T>(power));
  });
  float element = 1;
  double wide = 1;
  alignas(8) std::complex<float> complex = 1;
  together([&](std::size_t) {
    for (std::uint64_t i = 0; i < kRounds; ++i) {
      changed<float>({Op::prod, Basic::float32}, &element, -1);
      changed<double>({Op::prod, Basic::float64}, &wide, i % 2 == 0 ? 2 : 0.5);
      changed<std::complex<float>>({Op::prod, Basic::complex32}, &complex, {0, 1});
    }
    changed<float>({Op::prod, Basic::float32}, &element, 3);
  });
  static_assert(kThreads * kRounds % 4 == 0 && kRounds % 2 == 0);
  EXPECT_EQ(element, 81);
  EXPECT_EQ(wide, 1);
  EXPECT_EQ(complex, std::complex<float>(1));
}

// Each thread goes its own way up, or down; who fetches sees the element go one way alone.
template <class T>
void check_extreme(FoldKind kind, T step) {
  alignas(8) T element = 0;
  std::array<bool, kThreads> went_back = {};
  together([&](std::size_t which) {
    T last = 0;
    for (int i = 0; i <= 100; ++i) {
      const T mine = static_cast<T>(step * static_cast<T>((i + static_cast<int>(which)) % 101));
      const T before = fetched<T>(kind, &element, mine);
      went_back[which] |= kind.op == Op::max ? before < last : before > last;
      last = kind.op == Op::max ? std::max(before, mine) : std::min(before, mine);
    }
  });
  EXPECT_EQ(element, static_cast<T>(step * 100)) << name_of(kind.op, kind.basic);
  for (const bool is : went_back) EXPECT_FALSE(is) << name_of(kind.op, kind.basic);
}

TEST(MpiFoldAtomic, the_extreme_of_several_threads_stays) {
  for (std::uint64_t i = 0; i < kRounds / 100; ++i) {
    with_integers([]<class T>(Basic basic) {
      check_extreme<T>({Op::max, basic}, 1);
      if constexpr (std::is_signed_v<T>) check_extreme<T>({Op::min, basic}, -1);
    });
    check_extreme<float>({Op::max, Basic::float32}, 0.5F);
    check_extreme<float>({Op::min, Basic::float32}, -0.5F);
    check_extreme<double>({Op::max, Basic::float64}, 0.5);
    check_extreme<double>({Op::min, Basic::float64}, -0.5);
    if (HasFailure()) return;
  }
}

// Each thread has bits of its own, which only it sets, clears and turns.
template <class T>
void check_bits(Basic basic) {
  constexpr unsigned kShare = sizeof(T) * 8 / kThreads;
  alignas(8) T element = 0;
  std::array<bool, kThreads> was_other = {};
  together([&](std::size_t which) {
    const T mine = static_cast<T>(((T{1} << kShare) - 1) << (which * kShare));
    const T others = static_cast<T>(~mine);
    for (std::uint64_t i = 0; i < kRounds; ++i) {
      was_other[which] |= (fetched<T>({Op::bor, basic}, &element, mine) & mine) != 0;
      was_other[which] |= (fetched<T>({Op::band, basic}, &element, others) & mine) != mine;
      changed<T>({Op::bxor, basic}, &element, mine);
      was_other[which] |= (fetched<T>({Op::bxor, basic}, &element, mine) & mine) != mine;
      changed<T>({Op::bor, basic}, &element, mine);
      if (i + 1 < kRounds) changed<T>({Op::band, basic}, &element, others);
    }
  });
  EXPECT_EQ(element, static_cast<T>(~T{0})) << name_of(Op::bor, basic);
  for (const bool is : was_other) EXPECT_FALSE(is) << name_of(Op::bor, basic);
}

TEST(MpiFoldAtomic, bits_of_one_thread_are_changed_by_no_other) {
  check_bits<std::uint8_t>(Basic::int8);
  check_bits<std::uint8_t>(Basic::byte);
  check_bits<std::uint16_t>(Basic::int16);
  check_bits<std::uint32_t>(Basic::uint32);
  check_bits<std::uint64_t>(Basic::int64);
}

TEST(MpiFoldAtomic, logical_changes_of_several_threads_are_complete) {
  for (const Basic basic : {Basic::logical8, Basic::logical32, Basic::int16, Basic::int64})
    with_type(basic, [&]<class T>() {
      if constexpr (std::is_integral_v<T>) {
        alignas(8) T turned = 0, kept = 7, any = 0;
        std::array<bool, kThreads> was_false = {};
        together([&](std::size_t which) {
          for (std::uint64_t i = 0; i < kRounds; ++i) {
            changed<T>({Op::lxor, basic}, &turned, 2);
            changed<T>({Op::land, basic}, &kept,
                       static_cast<T>(i + 1 == kRounds && which == 0 ? 0 : 5));
            changed<T>({Op::lor, basic}, &any, static_cast<T>(which == 1 ? 4 : 0));
            was_false[which] |= which == 1 && fetched<T>({Op::lor, basic}, &any, 0) != 1;
          }
          if (which == 0) changed<T>({Op::lxor, basic}, &turned, 1);
        });
        EXPECT_EQ(turned, 1) << name_of(Op::lxor, basic);
        EXPECT_EQ(kept, 0) << name_of(Op::land, basic);
        EXPECT_EQ(any, 1) << name_of(Op::lor, basic);
        EXPECT_FALSE(was_false[1]) << name_of(Op::lor, basic);
      }
    });
}

// What is put there is found once, or stands there at the end.
template <class T>
void check_replace(Basic basic, std::uint64_t rounds) {
  alignas(8) T element = 0;
  std::vector<T> found(kThreads * rounds);
  together([&](std::size_t which) {
    for (std::uint64_t i = which * rounds; i < (which + 1) * rounds; ++i)
      found[i] = fetched<T>({Op::replace, basic}, &element, static_cast<T>(i + 1));
  });
  found.push_back(element);
  std::sort(found.begin(), found.end());
  for (std::uint64_t i = 0; i < found.size(); ++i)
    ASSERT_EQ(found[i], static_cast<T>(i)) << name_of(Op::replace, basic);
}

TEST(MpiFoldAtomic, of_what_replaces_nothing_is_lost_or_found_twice) {
  static_assert(kThreads * kRounds < 65536);
  check_replace<std::uint16_t>(Basic::uint16, kRounds);
  check_replace<std::uint32_t>(Basic::opaque32, 20 * kRounds);
  check_replace<std::uint64_t>(Basic::int64, 20 * kRounds);
  check_replace<double>(Basic::float64, 20 * kRounds);
}

TEST(MpiFoldAtomic, what_is_read_was_put_there_as_a_whole) {
  alignas(8) std::complex<float> element = 0;
  std::array<bool, kThreads> was_torn = {};
  together([&](std::size_t which) {
    for (std::uint64_t i = 0; i < kRounds; ++i) {
      const auto part = static_cast<float>(which * kRounds + i);
      changed<std::complex<float>>({Op::replace, Basic::complex32}, &element, {part, -part});
      const auto read = fetched<std::complex<float>>({Op::no_op, Basic::complex32}, &element, {});
      was_torn[which] |= read.real() != -read.imag();
    }
  });
  for (const bool is : was_torn) EXPECT_FALSE(is);
}

// Eight bytes of neighbours, of each of which one thread alone knows what stands there.
template <class T>
void check_neighbours(Basic basic) {
  constexpr std::size_t kCount = 8 / sizeof(T);
  alignas(8) T elements[kCount] = {};
  std::array<bool, kThreads> was_other = {};
  together([&](std::size_t which) {
    for (std::size_t place = which; place < kCount; place += kThreads) {
      T mine = 0;
      for (std::uint64_t i = 0; i < kRounds; ++i) {
        T before = fetched<T>({Op::sum, basic}, &elements[place], 3);
        was_other[which] |= before != mine;
        mine = static_cast<T>(mine + 3);
        before = fetched<T>({Op::prod, basic}, &elements[place], 5);
        was_other[which] |= before != mine;
        mine = static_cast<T>(mine * 5);
        const T next = static_cast<T>(mine ^ 0x55);
        swap_atomic(basic, &elements[place], &next, &mine, &before);
        was_other[which] |= before != mine;
        mine = next;
      }
    }
  });
  for (const bool is : was_other) EXPECT_FALSE(is) << name_of(Op::sum, basic);
}

TEST(MpiFoldAtomic, neighbours_of_small_elements_stay_as_they_are) {
  check_neighbours<std::uint8_t>(Basic::uint8);
  check_neighbours<std::uint16_t>(Basic::uint16);
  check_neighbours<std::int8_t>(Basic::int8);
  check_neighbours<std::int16_t>(Basic::int16);
}

TEST(MpiFoldAtomic, swaps_where_the_bytes_are_equal) {
  Elements elements(4);
  for (const Basic basic : all_basics()) {
    if (!takes_swap(basic)) continue;
    const std::size_t size = bytes_of(basic);
    for (std::size_t differing = 0; differing <= size; ++differing) {  // which byte; size: none
      const Bytes old = elements.draw(basic, 1), source = elements.draw(basic, 1);
      Bytes compare = old, result(size);
      if (differing < size) compare[differing] ^= 0x10;
      alignas(8) std::array<unsigned char, 24> memory;
      memory.fill(0xa5);
      std::copy(old.begin(), old.end(), &memory[8]);
      auto wanted = memory;
      if (differing == size) std::copy(source.begin(), source.end(), &wanted[8]);
      swap_atomic(basic, &memory[8], source.data(), compare.data(), result.data());
      EXPECT_EQ(memory, wanted) << name_of(Op::replace, basic);
      EXPECT_EQ(result, old) << name_of(Op::replace, basic);
    }
  }
}

TEST(MpiFoldAtomic, each_swap_of_several_threads_counts_once) {
  with_integers([]<class T>(Basic basic) {
    alignas(8) T element = 0;
    together([&](std::size_t) {
      for (std::uint64_t i = 0; i < kRounds; ++i) {
        T expected = 0, found = fetched<T>({Op::no_op, basic}, &element, 0);
        do {
          expected = found;
          const T next = static_cast<T>(expected + 1);
          swap_atomic(basic, &element, &next, &expected, &found);
        } while (found != expected);
      }
    });
    EXPECT_EQ(element, static_cast<T>(kThreads * kRounds));
  });
}

}  // namespace
}  // namespace photon::mpi::test
