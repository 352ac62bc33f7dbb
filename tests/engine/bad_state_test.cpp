// Every call without a context, after ph_finalize() and in a forked child.
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "asleep.hpp"
#include "settings.hpp"

namespace photon::test {
namespace {

class BadState : public OverSettings {};

struct Call {
  const char* name;
  ph_status (*make)(ph_context*);
};

constexpr std::byte kBytes[64] = {};
constexpr std::uint64_t kId = 3;

std::byte* scratch() {
  static std::byte memory[64];
  return memory;
}

ph_status call_allgather(ph_context* context) {
  std::byte all[64];
  return ph_allgather(context, kBytes, all, 8);
}
ph_status call_probe(ph_context* context) {
  ph_completion one{};
  std::size_t count = 9;
  const ph_status status = ph_probe(context, {PH_ANY_RANK, PH_EITHER, nullptr}, &one, 1, &count);
  return count == 0 ? status : PH_OK;  // nothing may be handed out
}
ph_status call_probe_each(ph_context* context) {
  const auto handler = [](void*, const ph_completion*) {};
  return ph_probe_each(context, {PH_ANY_RANK, PH_EITHER, nullptr}, handler, nullptr, nullptr);
}
ph_status call_path_to(ph_context* context) {
  ph_path path{};
  path.size = sizeof path;
  return ph_path_to(context, 0, &path);
}

ph_status call_map(ph_context* context) {
  const ph_region region{1, 1, 1};
  void* local = nullptr;
  return ph_map(context, 0, &region, &local);
}
ph_status call_peer_state(ph_context* context) {
  ph_contact_state state = PH_PEER_UNKNOWN;
  return ph_peer_state(context, 0, &state);
}

const Call kCalls[] = {
    {"put",
     [](ph_context* c) {
       const ph_put_args args = put_args(kBytes, {1, 1}, kId, kId);
       return ph_put(c, 0, &args);
     }},
    {"put_u64",
     [](ph_context* c) {
       return ph_put_u64(c, 0, {kBytes, 8}, {1, 1}, {1, 1});
     }},
    {"notify", [](ph_context* c) { return ph_notify(c, 0, 1); }},
    {"get",
     [](ph_context* c) {
       const ph_get_args args = get_args({scratch(), 8}, {1, 1}, kId, kId);
       return ph_get(c, 0, &args);
     }},
    {"get_u64",
     [](ph_context* c) {
       return ph_get_u64(c, 0, {scratch(), 8}, {1, 1}, {1, 1});
     }},
    {"probe", &call_probe},
    {"probe_each", &call_probe_each},
    {"wait",
     [](ph_context* c) {
       return ph_wait(c, {PH_ANY_RANK, PH_EITHER, nullptr}, 0);
     }},
    {"fence", [](ph_context* c) { return ph_fence(c, 0); }},
    {"flush", [](ph_context* c) { return ph_flush(c, 0, 0); }},
    {"register",
     [](ph_context* c) {
       ph_region region{};
       return ph_register(c, scratch(), 64, PH_ACCESS_ALL, &region);
     }},
    {"unregister", [](ph_context* c) { return ph_unregister(c, 1); }},
    {"find_region",
     [](ph_context* c) {
       ph_region region{};
       return ph_find_region(c, scratch(), 64, &region);
     }},
    {"alloc",
     [](ph_context* c) {
       ph_region region{};
       return ph_alloc(c, 64, &region);
     }},
    {"free", [](ph_context* c) { return ph_free(c, scratch()); }},
    {"allgather", &call_allgather},
    {"barrier", [](ph_context* c) { return ph_barrier(c); }},
    {"path_to", &call_path_to},
    {"revoke", [](ph_context* c) { return ph_revoke(c, 1); }},
    {"map", &call_map},
    {"unmap", [](ph_context* c) { return ph_unmap(c, scratch()); }},
    {"peer_state", &call_peer_state},
    {"contact", [](ph_context* c) { return ph_contact(c, 0); }},
    {"finalize", [](ph_context* c) { return ph_finalize(c); }},
};

TEST(BadStateAlways, every_call_refuses_a_null_context) {
  for (const Call& call : kCalls) EXPECT_EQ(call.make(nullptr), PH_ERR_STATE) << call.name;
  EXPECT_EQ(ph_rank_of(nullptr), PH_ANY_RANK);
  EXPECT_EQ(ph_size_of(nullptr), 0u);
  ph_context_destroy(nullptr);
  ph_error error{};
  ph_last_error(nullptr, &error);
  EXPECT_EQ(error.status, PH_OK);
}

TEST(BadStateAlways, creating_into_nothing_is_refused_with_words) {
  ph_error error{};
  EXPECT_EQ(ph_context_create(nullptr, nullptr, &error), PH_ERR_ARGUMENT);
  EXPECT_EQ(error.status, PH_ERR_ARGUMENT);
  EXPECT_NE(std::string(error.text).find("context"), std::string::npos) << error.text;
}

TEST_P(BadState, every_call_after_finalize_is_refused_and_says_so) {
  ThreadJob job(1, options());
  job.run([](ph_context* context, ph_rank) {
    ASSERT_EQ(ph_finalize(context), PH_OK);
    for (const Call& call : kCalls) {
      SCOPED_TRACE(call.name);
      expect_error(context, call.make(context), PH_ERR_STATE, "finalize");
    }
    EXPECT_EQ(ph_rank_of(context), 0u);
    EXPECT_EQ(ph_size_of(context), 1u);
    ph_setting setting{};
    setting.size = sizeof setting;
    EXPECT_EQ(ph_setting_at(context, 0, &setting), PH_OK);
  });
}

// Runs `body` in a child; its exit status comes back (128 + signal if it was killed).
template <class Body>
int in_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // if it hangs the watchdog ends both
    ::_exit(body());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// 0: every call said PH_ERR_FORKED, and in words; else the number of the first that did not.
int forked_calls(ph_context* context) {
  int number = 1;
  for (const Call& call : kCalls) {
    if (call.make(context) != PH_ERR_FORKED) return number;
    const ph_error error = last_error(context);
    if (error.status != PH_ERR_FORKED) return 50 + number;
    if (std::string(error.text).find("fork") == std::string::npos) return 100 + number;
    ++number;
  }
  ph_context_destroy(context);
  return 0;
}

TEST_P(BadState, every_call_in_a_forked_child_is_refused_and_the_parent_goes_on) {
  Asleep other;
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    ph_region mine{};
    ASSERT_EQ(ph_alloc(context, 4096, &mine), PH_OK);
    const ph_region target = exchange(context, mine)[1 - rank];
    const auto bytes = filled(4096, rank);
    const auto swap = [&](std::uint64_t id) {
      ASSERT_EQ(ph_put_u64(context, 1 - rank, {bytes.data(), 4096}, ph_at(&target, 0), {id, id}),
                PH_OK);
      EXPECT_EQ(take(context, PH_REMOTE, 1 - rank).id, id);
      EXPECT_EQ(take(context, PH_LOCAL, 1 - rank).id, id);
      EXPECT_EQ(first_difference({reinterpret_cast<std::byte*>(mine.address), 4096}, 1 - rank),
                4096u);
    };
    swap(1);
    job.meet(context);
    if (rank == 0) {
      other.await();
      EXPECT_EQ(in_child([&] { return forked_calls(context); }), 0)
          << "1..: status, 51..: code of the error, 101..: its words, in the order of kCalls";
      other.wake();
    } else {
      other.sleep();
    }
    job.meet(context);
    swap(2);
  });
}

TEST_P(BadState, a_child_may_fork_from_another_thread_and_join_a_job_of_its_own) {
  ThreadJob job(1, options());
  job.run([](ph_context* context, ph_rank) {
    std::thread other([context] {
      EXPECT_EQ(in_child([context] {
                  if (ph_notify(context, 0, 1) != PH_ERR_FORKED) return 1;
                  ph_context_destroy(context);
                  ph_context* own = nullptr;
                  if (ph_context_create(nullptr, &own, nullptr) != PH_OK) return 2;
                  if (ph_notify(own, 0, 5) != PH_OK) return 3;
                  if (take(own, PH_REMOTE).id != 5) return 4;
                  if (ph_finalize(own) != PH_OK) return 5;
                  ph_context_destroy(own);
                  return 0;
                }),
                0);
    });
    other.join();
    ASSERT_EQ(ph_notify(context, 0, 9), PH_OK);
    EXPECT_EQ(take(context, PH_REMOTE).id, 9u);
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, BadState, testing::ValuesIn(both_transports()), setting_name);

}  // namespace
}  // namespace photon::test
