#include "netsim/queue/event_queue.hpp"

#include <gtest/gtest.h>

#include <set>

#include "netsim/clock/random.hpp"

namespace photon::netsim {
namespace {

// A delay of many kinds: none, within a bucket, within the ring, far beyond it.
Time delay(Random& random) {
  switch (random.below(6)) {
    case 0: return 0;
    case 1: return random.below(200);
    case 2: return 256 * EventQueue::kBuckets - 3 + random.below(6);
    case 3: return random.below(20'000'000);
    default: return random.below(300'000);
  }
}

TEST(EventQueue, queue_equals_a_sorted_list) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed, 0);
    EventQueue queue;
    std::multiset<Event> list;
    Time now = 0;
    for (int i = 0; i < 20'000; ++i) {
      const bool is_growing = i < 10'000;
      if (list.empty() || random.below(10) < (is_growing ? 6U : 3U)) {
        // Few kinds and indices, so that many events are alike but for one part.
        const Event event = Event::at(now + delay(random), EventKind(random.below(9)),
                                      random.below(3), random.below(2));
        queue.push(event);
        list.insert(event);
      } else {
        ASSERT_EQ(queue.top(), *list.begin());
        const Event event = queue.pop();
        ASSERT_EQ(event, *list.begin()) << "seed " << seed << ", step " << i;
        list.erase(list.begin());
        now = event.time;
      }
      ASSERT_EQ(queue.size(), list.size());
    }
  }
}

TEST(EventQueue, what_is_pushed_before_an_opened_bucket_still_comes_first) {
  EventQueue queue;
  queue.push(Event::at(5'000'000, EventKind::arrival, 1));
  EXPECT_EQ(queue.top().time, 5'000'000U);  // its bucket is open now
  queue.push(Event::at(1000, EventKind::arrival, 2));
  queue.push(Event::at(5'000'000, EventKind::crossbar_edge, 3));
  EXPECT_EQ(queue.pop().index(), 2U);
  EXPECT_EQ(queue.pop().index(), 3U);
  EXPECT_EQ(queue.pop().index(), 1U);
  EXPECT_TRUE(queue.is_empty());
}

}  // namespace
}  // namespace photon::netsim
