// What ranks of test programs do whatever their bootstrap is: calls that have to succeed, and a job
// of forked ranks in several network namespaces. Fails by ending the process with words.
#pragma once

#include <photon/photon.h>

#include <fcntl.h>
#include <sched.h>
#include <signal.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "forked_job.hpp"

namespace photon::test {

inline constexpr std::int64_t kLongUs = 20'000'000;
inline constexpr std::size_t kBytes = 100'000;  // of a block that one rank puts to another

[[noreturn]] inline void fail(ph_context* context, const char* what, int status) {
  ph_error error{};
  ph_last_error(context, &error);
  std::fprintf(stderr, "rank %u: %s: %s: %s\n", ph_rank_of(context), what,
               ph_status_text(static_cast<ph_status>(status)), error.text);
  std::_Exit(1);
}

inline void require(ph_context* context, ph_status status, const char* what) {
  if (status != PH_OK) fail(context, what, status);
}

// The next completion of a kind, waited for.
inline ph_completion next(ph_context* context, ph_rank peer, std::uint32_t kind) {
  ph_completion found{};
  std::size_t count = 0;
  const ph_query query{peer, kind, nullptr};
  require(context, ph_wait(context, query, kLongUs), "wait");
  require(context, ph_probe(context, query, &found, 1, &count), "probe");
  if (count != 1) fail(context, "no completion where one was announced", PH_ERR_STATE);
  return found;
}

// What a rank puts, byte by byte.
inline unsigned char byte_of(ph_rank from, std::size_t i) {
  return static_cast<unsigned char>(from * 31 + i * 7);
}

inline std::vector<unsigned char> block_of(ph_rank from) {
  std::vector<unsigned char> block(kBytes);
  for (std::size_t i = 0; i < kBytes; ++i) block[i] = byte_of(from, i);
  return block;
}

// Each rank's block in a landing of all.
inline void expect_blocks(ph_context* context, const std::vector<unsigned char>& landing) {
  for (std::size_t i = 0; i < landing.size(); ++i)
    if (landing[i] != byte_of(static_cast<ph_rank>(i / kBytes), i % kBytes))
      fail(context, "a put is damaged", PH_ERR_STATE);
}

// Our own block goes to its place in the landing of a rank; `id`: null for none.
inline void put_block(ph_context* context, ph_rank to, const ph_region& landing,
                      const std::uint64_t* id) {
  const auto source = block_of(ph_rank_of(context));
  ph_request request = PH_REQUEST_NONE;
  ph_put_args put{};
  put.size = sizeof put;
  put.source = source.data();
  put.size_bytes = kBytes;
  put.target = ph_at(&landing, ph_rank_of(context) * kBytes);
  if (id != nullptr) put.remote = {id, sizeof *id};
  put.flags = id == nullptr ? PH_NO_RCE : 0;
  put.request = &request;
  require(context, ph_put(context, to, &put), "put");
  require(context, ph_wait_request(context, &request, nullptr, kLongUs), "the put's end");
  require(context, ph_flush(context, to, kLongUs), "flush");
}

inline void expect_back(ph_context* context, ph_rank from, const ph_region& landing) {
  std::vector<unsigned char> back(kBytes);
  ph_request request = PH_REQUEST_NONE;
  ph_get_args get{};
  get.size = sizeof get;
  get.destination = back.data();
  get.size_bytes = kBytes;
  get.source = ph_at(&landing, ph_rank_of(context) * kBytes);
  get.flags = PH_NO_RCE;
  get.request = &request;
  require(context, ph_get(context, from, &get), "get");
  require(context, ph_wait_request(context, &request, nullptr, kLongUs), "the get's end");
  if (back != block_of(ph_rank_of(context))) fail(context, "other bytes came back", PH_ERR_STATE);
}

// Rank 1, whom we have met, leaves in order; word to it is refused then.
inline void outlive_rank_1(ph_context* context) {
  const ph_query of_1{1, PH_EITHER, nullptr};
  ph_status status = ph_wait(context, of_1, kLongUs);
  if (status == PH_ERR_DEPARTED) status = ph_notify(context, 1, 5);
  if (status != PH_ERR_DEPARTED) fail(context, "word to a rank that has left", status);
  static_cast<void>(ph_finalize(context));
}

// The calling process goes on in that network namespace.
inline void enter(const std::string& name) {
  const int handle = ::open(("/run/netns/" + name).c_str(), O_RDONLY | O_CLOEXEC);
  if (handle < 0 || ::setns(handle, CLONE_NEWNET) != 0) {
    std::perror(name.c_str());
    std::_Exit(1);
  }
  ::close(handle);
}

// Rank r in the namespace r modulo their number, or all here. 0: each rank gave 0, but that rank 1
// was killed where it is a victim.
inline int run_ranks(std::uint32_t ranks_count, const std::vector<std::string>& names,
                     bool has_victim, const std::function<int(const ph_bootstrap&)>& rank_body) {
  const auto statuses = fork_ranks(ranks_count, [&](const ph_bootstrap& bootstrap) {
    if (!names.empty()) enter(names[bootstrap.rank % names.size()]);
    return rank_body(bootstrap);
  });
  for (std::size_t rank = 0; rank < statuses.size(); ++rank)
    if (statuses[rank] != (has_victim && rank == 1 ? SIGKILL : 0)) return 1;
  return 0;
}

}  // namespace photon::test
