#include "task/collect/reductions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>
#include <vector>

#include "task/task_job.hpp"

namespace photon::task::test {
namespace {

// Parts are lists of numbers; merged, they are one list, in the order of the arguments.
using Numbers = std::vector<std::uint64_t>;

ph_task_message* message_of(ph_task_pe* pe, std::uint32_t handler, const Numbers& numbers) {
  ph_task_message* message = nullptr;
  EXPECT_EQ(ph_task_alloc(pe, numbers.size() * 8, &message), PH_OK);
  ph_task_set_handler(message, handler);
  std::memcpy(ph_task_body(message), numbers.data(), numbers.size() * 8);
  return message;
}

Numbers numbers_of(ph_task_message* message) {
  Numbers numbers(ph_task_size(message) / 8);
  std::memcpy(numbers.data(), ph_task_body(message), numbers.size() * 8);
  return numbers;
}

// A new message, of another size.
ph_task_message* join(ph_task_pe* pe, ph_task_message* own, ph_task_message** others,
                      std::uint32_t count, void* user) {
  Numbers all = numbers_of(own);
  for (std::uint32_t i = 0; i < count; ++i) {
    const Numbers its = numbers_of(others[i]);
    all.insert(all.end(), its.begin(), its.end());
  }
  if (user != nullptr) ++*static_cast<std::atomic<int>*>(user);
  return message_of(pe, ph_task_handler_of(own), all);
}

// The sum, in one of the arguments: which one is another each time.
ph_task_message* add(ph_task_pe*, ph_task_message* own, ph_task_message** others,
                     std::uint32_t count, void*) {
  std::uint64_t sum = value_of(own);
  for (std::uint32_t i = 0; i < count; ++i) sum += value_of(others[i]);
  ph_task_message* result = sum % 2 == 0 ? own : others[sum % count];
  std::memcpy(ph_task_body(result), &sum, sizeof sum);
  return result;
}

ph_task_reduction reduction_of(ph_task_merge merge, std::uint32_t to = 0) {
  ph_task_reduction args{};
  args.size = sizeof args;
  args.merge = merge;
  args.to = to;
  return args;
}

// Over so many processes of so many PEs.
struct Shape {
  std::uint32_t processes, pes;
};
constexpr Shape kShapes[] = {{1, 1}, {1, 3}, {2, 1}, {2, 3}, {3, 1}, {3, 3}, {7, 1}};

// Ends the run of all PEs, from whichever.
std::uint32_t enroll_stop(ph_task_pe* pe, Function& function) {
  function = [](ph_task_pe* one, ph_task_message* message) {
    EXPECT_EQ(ph_task_free(one, message), PH_OK);
    EXPECT_EQ(ph_task_stop(one), PH_OK);
  };
  return enroll(pe, function);
}

TEST(TaskReduce, parts_of_all_pes_come_together_once_on_the_pe_that_was_named) {
  for (const Shape shape : kShapes) {
    std::atomic<int> merges{0};
    TaskJob job(shape.processes, shape.pes);
    job.run([&](ph_task_pe* pe, const ph_task_place& place) {
      const std::uint32_t to = place.pes / 2;
      Function stop;
      const std::uint32_t stop_number = enroll_stop(pe, stop);
      Function take = [&](ph_task_pe* one, ph_task_message* message) {
        EXPECT_EQ(place.pe, to);
        Numbers all = numbers_of(message);
        EXPECT_EQ(ph_task_free(one, message), PH_OK);
        std::ranges::sort(all);
        Numbers expected(place.pes);
        std::iota(expected.begin(), expected.end(), 0);
        EXPECT_EQ(all, expected);
        EXPECT_EQ(ph_task_broadcast(one, make(one, stop_number, 0), PH_TASK_WITH_SELF), PH_OK);
      };
      const std::uint32_t number = enroll(pe, take);
      ASSERT_EQ(ph_task_agree(pe), PH_OK);
      ph_task_reduction args = reduction_of(join, to);
      args.user = &merges;
      ASSERT_EQ(ph_task_reduce(pe, message_of(pe, number, {place.pe}), &args), PH_OK);
      ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
    });
    // Where nothing else comes to a PE there is nothing to merge.
    EXPECT_LE(merges, static_cast<int>(shape.processes));
    EXPECT_EQ(merges == 0, shape.processes * shape.pes == 1);
  }
}

// Many at a time, small and large, whose parts may so overtake each other, and to all.
TEST(TaskReduce, many_that_are_under_way_are_each_of_their_own_calls) {
  constexpr std::uint64_t kCount = 60;
  for (const Shape shape : kShapes) {
    TaskJob job(shape.processes, shape.pes);
    job.run([&](ph_task_pe* pe, const ph_task_place& place) {
      std::map<std::uint64_t, std::uint64_t> sums;
      Function take = [&](ph_task_pe* one, ph_task_message* message) {
        const std::uint64_t sum = value_of(message);
        ++sums[sum];
        EXPECT_EQ(ph_task_free(one, message), PH_OK);
        if (sums.size() == kCount) {
          EXPECT_EQ(ph_task_stop(one), PH_OK);
        }
      };
      const std::uint32_t number = enroll(pe, take);
      ASSERT_EQ(ph_task_agree(pe), PH_OK);
      ph_task_reduction args = reduction_of(add);
      args.flags = PH_TASK_TO_ALL;
      for (std::uint64_t i = 0; i < kCount; ++i) {
        const std::uint64_t size = i % 5 == 0 ? 50'000 : 8;
        ASSERT_EQ(ph_task_reduce(pe, make(pe, number, 1 + i * 1000, size), &args), PH_OK);
      }
      ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
      for (std::uint64_t i = 0; i < kCount; ++i)
        EXPECT_EQ(sums[place.pes * (1 + i * 1000)], 1u) << i;
      ASSERT_EQ(ph_task_barrier(pe), PH_OK);
    });
  }
}

// Of other names, in another order on each PE.
TEST(TaskReduce, of_names_may_be_called_in_any_order) {
  constexpr std::uint64_t kNames = 5, kEach = 3;
  TaskJob job(3, 2);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    std::map<std::uint64_t, int> seen;
    Function take = [&](ph_task_pe* one, ph_task_message* message) {
      ++seen[value_of(message)];
      EXPECT_EQ(ph_task_free(one, message), PH_OK);
      if (seen.size() == kNames * kEach) {
        EXPECT_EQ(ph_task_stop(one), PH_OK);
      }
    };
    const std::uint32_t number = enroll(pe, take);
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    for (std::uint64_t i = 0; i < kNames * kEach; ++i) {
      ph_task_reduction args = reduction_of(add);
      args.flags = PH_TASK_TO_ALL;
      args.name = (i + place.pe) % kNames;
      const std::uint64_t round = i / kNames;
      ASSERT_EQ(ph_task_reduce(pe, make(pe, number, 1 + args.name * 100 + round * 1000), &args),
                PH_OK);
    }
    ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
    for (std::uint64_t name = 0; name < kNames; ++name)
      for (std::uint64_t round = 0; round < kEach; ++round)
        EXPECT_EQ(seen[place.pes * (1 + name * 100 + round * 1000)], 1);
    ASSERT_EQ(ph_task_barrier(pe), PH_OK);
  });
}

// Another PE of each process calls each time.
TEST(TaskReduce, over_processes_takes_one_part_of_each_whichever_pe_calls) {
  for (const Shape shape : kShapes) {
    constexpr std::uint32_t kCalls = 6;
    std::atomic<std::uint32_t> results{0};
    TaskJob job(shape.processes, shape.pes);
    job.run([&](ph_task_pe* pe, const ph_task_place& place) {
      Function stop;
      const std::uint32_t stop_number = enroll_stop(pe, stop);
      Function take = [&](ph_task_pe* one, ph_task_message* message) {
        const std::uint64_t call = value_of(message) / 1000 / place.processes;
        EXPECT_EQ(value_of(message), place.processes * (1 + call * 1000));
        EXPECT_EQ(place.pe, call % place.pes);
        EXPECT_EQ(ph_task_free(one, message), PH_OK);
        if (++results == kCalls) {
          EXPECT_EQ(ph_task_broadcast(one, make(one, stop_number, 0), PH_TASK_WITH_SELF), PH_OK);
        }
      };
      const std::uint32_t number = enroll(pe, take);
      ASSERT_EQ(ph_task_agree(pe), PH_OK);
      for (std::uint32_t call = 0; call < kCalls; ++call) {
        const ph_task_reduction args = reduction_of(add, call % place.pes);
        if ((call + place.process) % place.pes_per_process == place.rank) {
          ASSERT_EQ(ph_task_reduce_node(pe, make(pe, number, 1 + call * 1000), &args), PH_OK);
        }
        ASSERT_EQ(ph_task_node_barrier(pe), PH_OK);
      }
      ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
    });
    EXPECT_EQ(results, kCalls);
  }
}

TEST(TaskReduce, of_processes_to_all_comes_once_to_each_process) {
  std::atomic<int> results{0};
  TaskJob job(3, 2);
  job.run([&](ph_task_pe* pe, const ph_task_place& place) {
    Function stop;
    const std::uint32_t stop_number = enroll_stop(pe, stop);
    Function take = [&](ph_task_pe* one, ph_task_message* message) {
      EXPECT_EQ(value_of(message), 30u);
      EXPECT_EQ(ph_task_free(one, message), PH_OK);
      if (++results == 3) {
        EXPECT_EQ(ph_task_broadcast(one, make(one, stop_number, 0), PH_TASK_WITH_SELF), PH_OK);
      }
    };
    const std::uint32_t number = enroll(pe, take);
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    ph_task_reduction args = reduction_of(add);
    args.flags = PH_TASK_TO_ALL;
    if (place.rank == 1) {
      ASSERT_EQ(ph_task_reduce_node(pe, make(pe, number, 10), &args), PH_OK);
    }
    ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
  });
  EXPECT_EQ(results, 3);
}

TEST(TaskReduce, a_structure_is_copied_at_the_call) {
  struct Extent {
    std::int64_t least, most;
  };
  const ph_task_merge widen = [](ph_task_pe*, ph_task_message* own, ph_task_message** others,
                                 std::uint32_t count, void*) {
    auto* mine = static_cast<Extent*>(ph_task_body(own));
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto* its = static_cast<const Extent*>(ph_task_body(others[i]));
      mine->least = std::min(mine->least, its->least);
      mine->most = std::max(mine->most, its->most);
    }
    return own;
  };
  for (const Shape shape : kShapes) {
    TaskJob job(shape.processes, shape.pes);
    job.run([&](ph_task_pe* pe, const ph_task_place& place) {
      Function take = [&](ph_task_pe* one, ph_task_message* message) {
        ASSERT_EQ(ph_task_size(message), sizeof(Extent));
        const auto* all = static_cast<const Extent*>(ph_task_body(message));
        EXPECT_EQ(all->least, -static_cast<std::int64_t>(place.pes) + 1);
        EXPECT_EQ(all->most, static_cast<std::int64_t>(place.pes) - 1);
        EXPECT_EQ(ph_task_free(one, message), PH_OK);
        EXPECT_EQ(ph_task_stop(one), PH_OK);
      };
      const std::uint32_t number = enroll(pe, take);
      ASSERT_EQ(ph_task_agree(pe), PH_OK);
      const auto mine = static_cast<std::int64_t>(place.pe);
      Extent extent{-mine, mine};
      const ph_task_structure structure{&extent, sizeof extent, number};
      ph_task_reduction args = reduction_of(widen);
      args.flags = PH_TASK_TO_ALL;
      ASSERT_EQ(ph_task_reduce_struct(pe, &structure, &args), PH_OK);
      extent = {};
      ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
      ASSERT_EQ(ph_task_barrier(pe), PH_OK);
    });
  }
}

// What a peer sends fills no place but its own, and no place twice.
TEST(TaskReduce, forged_parts_are_freed) {
  TaskJob job(1, 2);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    Function take = [](ph_task_pe* one, ph_task_message* message) {
      EXPECT_EQ(value_of(message), 2u);
      EXPECT_EQ(ph_task_free(one, message), PH_OK);
      EXPECT_EQ(ph_task_stop(one), PH_OK);
    };
    const std::uint32_t number = enroll(pe, take);
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    for (const std::uint64_t scope : {0U, 1U, 9U})
      for (const std::uint32_t source : {1U, 2U, 77U})
        for (const std::uint64_t size : {8U, 63U, 64U, 72U}) {
          if (scope < 2 && source < 2 && size >= 64) continue;  // that would be none
          ph_task_message* forged = make(pe, number, scope, size);
          Message& message = *reinterpret_cast<Message*>(forged);
          message.wire.kind = Kind::part;
          message.source = source;
          reinterpret_cast<Pe*>(pe)->push_own(message);
        }
    ph_task_reduction args = reduction_of(add);
    args.flags = PH_TASK_TO_ALL;
    ASSERT_EQ(ph_task_reduce(pe, make(pe, number, 1), &args), PH_OK);
    ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
    static_cast<void>(place);
    ASSERT_EQ(ph_task_barrier(pe), PH_OK);
  });
}

TEST(TaskReduce, parts_that_were_not_merged_are_freed_at_the_end) {
  TaskJob job(2, 2);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    const ph_task_reduction args = reduction_of(add);
    if (place.pe != 3) {
      ASSERT_EQ(ph_task_reduce(pe, make(pe, 0, 1), &args), PH_OK);
    }
    ASSERT_EQ(ph_task_run(pe, 0, nullptr), PH_OK);
    ASSERT_EQ(ph_task_barrier(pe), PH_OK);
  });
}

// One PE, alone: it gives the words before it could merge.
void reduce_structures(std::uint64_t other_bytes, ph_task_merge merge) {
  TaskJob job(1, 2);
  job.run([&](ph_task_pe* pe, const ph_task_place& place) {
    const std::uint64_t data[4] = {};
    const ph_task_structure structure{data, place.pe == 0 ? 8 : other_bytes, 0};
    const ph_task_reduction args = reduction_of(merge);
    ph_task_reduce_struct(pe, &structure, &args);
    ph_task_run(pe, -1, nullptr);
  });
}

TEST(TaskReduceDeathTest, a_merge_that_changes_the_size_of_structures_ends_with_words) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_DEATH(reduce_structures(8, join),
               "PE 0 reduces structures of 8 bytes, and has one of 16: give all the same size");
}

TEST(TaskReduceDeathTest, a_structure_of_another_size_ends_with_words) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_DEATH(reduce_structures(32, add),
               "PE 0 reduces structures of 8 bytes, and has one of 32: give all the same size");
}

TEST(TaskReduceDeathTest, a_merge_that_returns_null_ends_with_words) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_DEATH(reduce_structures(8,
                                 [](ph_task_pe*, ph_task_message*, ph_task_message**, std::uint32_t,
                                    void*) -> ph_task_message* { return nullptr; }),
               "PE 0: the merge function of reduction 0 of name 0 has returned null");
}

ph_task_message* no_message(ph_task_pe*, ph_task_message*, ph_task_message**, std::uint32_t,
                            void*) {
  static std::uint64_t words[16] = {};
  return reinterpret_cast<ph_task_message*>(words + 8);
}
ph_task_message* free_one(ph_task_pe* pe, ph_task_message* own, ph_task_message** others,
                          std::uint32_t, void*) {
  ph_task_free(pe, others[0]);
  return own;
}
ph_task_message* give_away(ph_task_pe* pe, ph_task_message*, ph_task_message**, std::uint32_t,
                           void*) {
  ph_task_message* result = make(pe, 0, 0);
  ph_task_send(pe, 0, result);
  return result;
}
ph_task_message* stretch(ph_task_pe* pe, ph_task_message*, ph_task_message**, std::uint32_t,
                         void*) {
  ph_task_message* result = make(pe, 0, 0);
  reinterpret_cast<Message*>(result)->size_bytes = 1 << 20;
  return result;
}

TEST(TaskReduceDeathTest, a_merge_that_returns_no_message_of_its_own_ends_with_words) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_DEATH(reduce_structures(8, no_message),
               "PE 0: the merge function of reduction 0 of name 0 has returned what is no message");
  EXPECT_DEATH(reduce_structures(8, give_away), "is no message, or is free, or was given away");
  EXPECT_DEATH(reduce_structures(8, stretch), "has returned a message that says more bytes than");
}

TEST(TaskReduceDeathTest, a_merge_that_frees_an_argument_ends_with_words) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_DEATH(reduce_structures(8, free_one),
               "the merge function of reduction 0 of name 0 has freed or given away one of its "
               "arguments: the library frees them");
}

}  // namespace
}  // namespace photon::task::test
