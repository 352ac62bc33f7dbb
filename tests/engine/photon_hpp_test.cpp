// The C++ face: that each function is its C function, and what it adds (ownership, exceptions).
#include <gtest/gtest.h>
#include <photon/photon.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "thread_job.hpp"

namespace photon::test {
namespace {

using std::chrono::milliseconds;

// The status of the photon::Error that `call` throws; PH_OK if it throws none.
template <class F>
ph_status status_of(F&& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_STRNE(error.what(), "");
    return error.status();
  }
  return PH_OK;
}

// Runs `body(Context&)` on each rank of a job of threads.
template <class F>
void on_ranks(std::uint32_t ranks_count, F&& body, const Config& config = {}) {
  ThreadJob job(ranks_count);
  job.run_bare([&](const ph_bootstrap& bootstrap) {
    Context context({config.options, &bootstrap});
    body(context);
    job.meet(context.c_context());
  });
}

Completion next(Context& context, const Query& query) {
  while (true) {
    if (const auto completion = context.probe_one(query)) return *completion;
    if (!context.wait_for(std::chrono::seconds(20), query))
      throw std::runtime_error("no completion in 20 s");
  }
}

TEST(PhotonHpp, a_context_without_launcher_is_a_job_of_one_rank) {
  const Context context;
  EXPECT_EQ(context.rank(), 0u);
  EXPECT_EQ(context.size(), 1u);
}

TEST(PhotonHpp, a_wrong_option_is_an_error_that_names_it) {
  try {
    const Context context({.options = {{"ledger_slots", "many"}}});
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), PH_ERR_CONFIG);
    EXPECT_NE(std::string(error.what()).find("ledger_slots"), std::string::npos) << error.what();
  }
}

TEST(PhotonHpp, put_with_numbers_completes_on_both_sides) {
  on_ranks(2, [](Context& context) {
    auto memory = context.allocate<int>(100);
    const auto regions = context.allgather(memory.region());
    const Rank peer = 1 - context.rank();
    std::vector<int> source(50);
    std::iota(source.begin(), source.end(), 1000 * static_cast<int>(context.rank()));
    ASSERT_TRUE(context.put(peer, source, at<int>(regions[peer], 10), {.local = 5, .remote = 6}));
    const Completion remote = next(context, kRemote);
    EXPECT_EQ(remote.id, 6u);
    EXPECT_EQ(remote.peer, peer);
    EXPECT_TRUE(is_remote(remote));
    const Completion local = next(context, kLocal);
    EXPECT_EQ(local.id, 5u);
    EXPECT_TRUE(is_local(local));
    EXPECT_EQ(memory[9], 0);
    EXPECT_EQ(memory[10], 1000 * static_cast<int>(peer));
    EXPECT_EQ(memory[59], 1000 * static_cast<int>(peer) + 49);
    EXPECT_EQ(memory[60], 0);
  });
}

TEST(PhotonHpp, an_id_left_out_makes_no_event) {
  on_ranks(1, [](Context& context) {
    auto memory = context.allocate<std::uint64_t>(4);
    const std::array<std::uint64_t, 1> source = {77};
    ASSERT_TRUE(context.put(0, source, at<std::uint64_t>(memory.region(), 1), {.remote = 1}));
    EXPECT_EQ(next(context, {}).kind, static_cast<std::uint32_t>(PH_REMOTE));
    ASSERT_TRUE(context.put(0, source, at<std::uint64_t>(memory.region(), 2), {.local = 2}));
    EXPECT_EQ(next(context, {}).kind, static_cast<std::uint32_t>(PH_LOCAL));
    EXPECT_FALSE(context.probe_one());
    EXPECT_EQ(memory[1], 77u);
    EXPECT_EQ(memory[2], 77u);
  });
}

TEST(PhotonHpp, long_ids_arrive_whole) {
  const auto body = [](Context& context) {
    const std::string text = "an id of more than eight bytes";
    const Rank peer = 1 - context.rank();
    ASSERT_TRUE(context.notify(peer, Id(std::as_bytes(std::span(text)))));
    std::array<std::byte, 64> buffer;
    const Completion completion = next(context, {kAnyRank, PH_REMOTE, buffer});
    const auto id = id_bytes(completion);
    ASSERT_EQ(id.size(), text.size());
    EXPECT_EQ(std::memcmp(id.data(), text.data(), id.size()), 0);
  };
  on_ranks(2, body, {.options = {{"max_cid_size", "64"}}});
}

TEST(PhotonHpp, an_over_long_id_is_refused) {
  on_ranks(1, [](Context& context) {
    const std::array<std::byte, 16> id = {};
    EXPECT_EQ(status_of([&] { (void)context.notify(0, Id(id)); }), PH_ERR_ID_SIZE);
  });
}

TEST(PhotonHpp, get_reads_registered_memory_of_the_caller) {
  on_ranks(2, [](Context& context) {
    std::vector<double> mine(1000, 0.5 + context.rank());
    auto registration = context.register_memory(mine, PH_ACCESS_READ);
    const auto regions = context.allgather(registration.region());
    const Rank peer = 1 - context.rank();
    std::vector<double> copy(10);
    ASSERT_TRUE(context.get(peer, copy, at<double>(regions[peer], 990), {.local = 1, .remote = 2}));
    EXPECT_EQ(next(context, kLocal).status, PH_OK);
    EXPECT_EQ(copy, std::vector<double>(10, 0.5 + peer));
    EXPECT_EQ(next(context, kRemote).id, 2u);  // the peer has read: the memory may go
    EXPECT_TRUE(registration.release());
    EXPECT_TRUE(registration.release()) << "a second release has nothing to do";
  });
}

TEST(PhotonHpp, probe_each_hands_everything_over_and_passes_an_exception_on) {
  on_ranks(1, [](Context& context) {
    for (int id = 0; id < 3; ++id) ASSERT_TRUE(context.notify(0, id));
    std::vector<std::uint64_t> seen;
    const auto handler = [&](const Completion& completion) {
      seen.push_back(completion.id);
      if (completion.id == 1) throw std::logic_error("from the handler");
    };
    bool was_thrown = false;
    for (int attempt = 0; attempt < 1000 && seen.size() < 3; ++attempt) {
      try {
        context.probe_each(handler);
      } catch (const std::logic_error& error) {
        EXPECT_STREQ(error.what(), "from the handler");
        was_thrown = true;
      }
    }
    EXPECT_EQ(seen, (std::vector<std::uint64_t>{0, 1, 2}));
    EXPECT_TRUE(was_thrown);
  });
}

TEST(PhotonHpp, a_handler_may_post) {
  on_ranks(1, [](Context& context) {
    ASSERT_TRUE(context.notify(0, 3));
    int handled_count = 0;
    const auto count_down = [&](const Completion& completion) {
      ++handled_count;
      const bool is_posted = completion.id == 0 || context.notify(0, completion.id - 1);
      EXPECT_TRUE(is_posted);
    };
    while (handled_count < 4) {
      ASSERT_TRUE(context.wait_for(std::chrono::seconds(20)));
      context.probe_each(count_down);
    }
    EXPECT_FALSE(context.probe_one());
  });
}

TEST(PhotonHpp, back_pressure_is_false_and_nothing_was_sent) {
  const auto body = [](Context& context) {
    std::uint64_t accepted_count = 0;
    auto memory = context.allocate<std::byte>(1);
    const Target target = at(memory.region(), 0);
    while (accepted_count < 1000 && context.put(0, memory, target, {.local = 1, .remote = 2}))
      ++accepted_count;
    EXPECT_EQ(accepted_count, 16u);
    std::uint64_t completions_count = 0;
    while (completions_count < 2 * accepted_count) {
      (void)next(context, {});
      ++completions_count;
    }
    EXPECT_FALSE(context.probe_one());
    EXPECT_TRUE(context.put(0, memory, target, {.remote = 2}));
  };
  on_ranks(1, body, {.options = {{"requests", "16"}}});
}

TEST(PhotonHpp, a_wait_that_runs_out_is_false) {
  on_ranks(1, [](Context& context) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_FALSE(context.wait_for(milliseconds(20)));
    EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds(20));
    EXPECT_FALSE(context.wait_for(milliseconds(0)));
    EXPECT_FALSE(context.wait_for(milliseconds(-5)));
  });
}

TEST(PhotonHpp, errors_are_thrown_with_their_status) {
  on_ranks(2, [](Context& context) {
    EXPECT_EQ(status_of([&] { (void)context.notify(2, 1); }), PH_ERR_RANK);
    EXPECT_EQ(status_of([&] { (void)context.fence(99); }), PH_ERR_RANK);
    EXPECT_EQ(status_of([&] { (void)context.allocate<int>(0); }), PH_ERR_ARGUMENT);
    EXPECT_EQ(status_of([&] { (void)context.allocate<int>(SIZE_MAX / 2); }), PH_ERR_MEMORY);
  });
}

TEST(PhotonHpp, fence_and_flush_return_when_the_bytes_are_there) {
  on_ranks(2, [](Context& context) {
    auto memory = context.allocate<char>(1 << 20);
    const auto regions = context.allgather(memory.region());
    const Rank peer = 1 - context.rank();
    const std::vector<char> source(1 << 20, 'x');
    while (!context.put(peer, source, at(regions[peer], 0), {})) continue;
    while (!context.fence(peer)) continue;
    while (!context.flush(peer, std::chrono::seconds(20))) continue;
    while (!context.notify(peer, 1)) continue;
    (void)next(context, kRemote);
    EXPECT_EQ(std::count(memory.begin(), memory.end(), 'x'), 1 << 20);
  });
}

TEST(PhotonHpp, objects_move_and_the_moved_from_are_empty) {
  on_ranks(1, [](Context& context) {
    auto first = context.allocate<int>(4);
    first[0] = 7;
    auto second = std::move(first);
    EXPECT_EQ(second[0], 7);
    EXPECT_EQ(second.size(), 4u);
    second = context.allocate<int>(8);
    EXPECT_EQ(second.size(), 8u);
    std::vector<int> own(4);
    auto registration = context.register_memory(own);
    Registration other = std::move(registration);
    EXPECT_TRUE(other.release());
  });
}

TEST(PhotonHpp, a_request_is_tested_waited_for_and_cancelled) {
  on_ranks(2, [](Context& context) {
    const auto memory = context.allocate<int>(1 << 20);
    const auto regions = context.allgather(memory.region());
    const Rank peer = 1 - context.rank();
    const std::vector<int> source(1 << 20, 7);
    ph_request request = 99;
    while (
        !context.put(peer, source, at<int>(regions[peer], 0), {.remote = 5, .request = &request}))
      (void)context.probe_one(kLocal);
    context.wait(request);
    EXPECT_EQ(request, PH_REQUEST_NONE);
    EXPECT_TRUE(context.test(request)) << "none is over";
    EXPECT_EQ(next(context, kRemote).id, 5u);
    EXPECT_FALSE(context.probe_one(kLocal)) << "the request was the local completion";
    std::vector<int> back(10);
    ASSERT_TRUE(context.get(peer, back, at<int>(regions[peer], 0), {.request = &request}));
    EXPECT_TRUE(context.wait_for(std::chrono::seconds(20), request));
    EXPECT_EQ(back, std::vector<int>(10, 7));
    ASSERT_TRUE(context.notify(peer, 6));
    EXPECT_EQ(next(context, kRemote).id, 6u) << "it has read what goes with this scope";
    request = 12345;
    EXPECT_EQ(status_of([&] { (void)context.cancel(request); }), PH_ERR_NOT_FOUND);
  });
}

TEST(PhotonHpp, an_atomic_changes_a_word_of_its_type) {
  on_ranks(2, [](Context& context) {
    const auto memory = context.allocate<double>(8);
    const auto regions = context.allgather(memory.region());
    const Rank peer = 1 - context.rank();
    double before = -1;
    ph_request request = 0;
    for (const double expected : {0.0, 1.5}) {
      ASSERT_TRUE(context.atomic<double>(
          peer, {.target = at<double>(regions[peer], 3), .operand = 1.5, .fetched = &before},
          {.request = &request}));
      context.wait(request);
      EXPECT_EQ(before, expected);
    }
    ASSERT_TRUE(context.notify(peer, 7));
    EXPECT_EQ(next(context, kRemote).id, 7u) << "its own are carried out";
    EXPECT_EQ(memory.span()[3], 3.0);
  });
}

TEST(PhotonHpp, vectored_operations_are_their_c_functions) {
  on_ranks(2, [](Context& context) {
    const auto memory = context.allocate<int>(100);
    const auto regions = context.allgather(memory.region());
    const Rank peer = 1 - context.rank();
    std::vector<int> own(20), back(20);
    std::iota(own.begin(), own.end(), 1);
    ph_request request = 0;
    const ph_put_segment puts[] = {{&own[0], 8, at<int>(regions[peer], 50)},
                                   {&own[4], 4, at<int>(regions[peer], 40)}};
    ASSERT_TRUE(context.put_vector(peer, puts, {.remote = 5, .request = &request}));
    context.wait(request);
    const ph_dimension rows[] = {{5, 16, 8}};
    ASSERT_TRUE(context.put_strided(peer, {own.data(), at<int>(regions[peer], 0), 4, rows},
                                    {.remote = 6, .request = &request}));
    context.wait(request);
    const ph_get_segment gets[] = {{&back[10], 8, at<int>(regions[peer], 50)},
                                   {&back[0], 4, at<int>(regions[peer], 40)}};
    EXPECT_EQ(next(context, kRemote).id, 5u);
    EXPECT_EQ(next(context, kRemote).id, 6u);
    ASSERT_TRUE(context.flush(peer, std::chrono::seconds(20)));  // our own puts are there, too
    for (int i = 0; i < 5; ++i) EXPECT_EQ(memory.span()[2 * i], own[4 * i]);
    ASSERT_TRUE(context.get_vector(peer, gets, {.request = &request}));
    context.wait(request);
    EXPECT_EQ(back[10], 1);
    EXPECT_EQ(back[11], 2);
    EXPECT_EQ(back[0], 5);
    const ph_dimension dense[] = {{5, 4, 8}};
    ASSERT_TRUE(context.get_strided(peer, {&back[15], at<int>(regions[peer], 0), 4, dense},
                                    {.request = &request}));
    context.wait(request);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(back[15 + i], own[4 * i]);
    const std::vector<ph_dimension> nine(9, {1, 0, 0});
    EXPECT_EQ(status_of([&] {
                (void)context.get_strided(peer, {back.data(), {}, 4, nine}, {.request = &request});
              }),
              PH_ERR_ARGUMENT);
    context.barrier();
  });
}

TEST(PhotonHpp, a_buffer_is_lent_filled_read_and_finished) {
  on_ranks(2, [](Context& context) {
    const Rank peer = 1 - context.rank();
    std::vector<int> wanted(1000), offered(1000, 5);
    ph_request filled = 0, read = 0;
    ASSERT_TRUE(context.announce_recv(peer, wanted, {.tag = 1, .request = &filled}));
    ASSERT_TRUE(context.announce_send(peer, std::as_const(offered), {.tag = 2, .request = &read}));
    ASSERT_TRUE(context.announce_request(peer, 77, {.tag = 3}));
    const ph_buffer wish = context.wait_buffer({.kind = PH_SEND_REQUEST, .rank = peer});
    EXPECT_EQ(wish.size_bytes, 77u);
    EXPECT_FALSE(context.test_buffer({.kind = PH_SEND_REQUEST}));
    EXPECT_FALSE(context.wait_buffer_for(milliseconds(1), {.kind = PH_SEND_REQUEST}));
    const ph_buffer in = context.wait_buffer({.kind = PH_RECV_BUFFER, .tag = 1});
    const auto out = context.wait_buffer_for(std::chrono::seconds(20),
                                             {.kind = PH_SEND_BUFFER, .size_bytes = 4000});
    ASSERT_TRUE(out);
    std::vector<int> own(500, 7), back(10);
    ph_request sent = 0, got = 0;
    ASSERT_TRUE(context.put(in, 2000, own, {.request = &sent}));
    ASSERT_TRUE(context.finish(in));
    ASSERT_TRUE(context.get(*out, 400, back, {.request = &got}));
    ASSERT_TRUE(context.finish(*out));
    EXPECT_EQ(status_of([&] { (void)context.finish(*out); }), PH_ERR_NOT_FOUND);
    for (ph_request* one : {&sent, &got, &filled, &read}) context.wait(*one);
    EXPECT_EQ(back, std::vector<int>(10, 5));
    EXPECT_EQ(std::count(wanted.begin(), wanted.end(), 7), 500);
    EXPECT_EQ(wanted[499], 0);
    EXPECT_EQ(wanted[500], 7);
  });
}

TEST(PhotonHpp, memory_may_outlive_its_context) {
  auto context = std::make_unique<Context>();
  std::vector<int> own(4);
  auto registration = context->register_memory(own);
  auto memory = context->allocate<int>(4);
  context.reset();
  EXPECT_NE(status_of([&] { (void)registration.release(); }), PH_OK);
}

TEST(PhotonHpp, finalize_says_its_outcome_and_a_second_one_is_an_error) {
  Context context;
  EXPECT_TRUE(context.finalize());
  EXPECT_EQ(status_of([&] { context.finalize(); }), PH_ERR_STATE);
  EXPECT_EQ(status_of([&] { (void)context.notify(0, 1); }), PH_ERR_STATE);
}

TEST(PhotonHpp, allgather_and_barrier_are_collective) {
  on_ranks(5, [](Context& context) {
    const auto ranks = context.allgather(context.rank());
    std::vector<Rank> expected(5);
    std::iota(expected.begin(), expected.end(), 0u);
    EXPECT_EQ(ranks, expected);
    context.barrier();
  });
}

}  // namespace
}  // namespace photon::test
