// This rank's context and its memory, with status codes turned into Failures.
// Invariant: every call that fails says the operation and the library's own text.
// Owner: main owns the Job; a Memory must not outlive it.
#pragma once

#include <photon/photon.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "options.hpp"

namespace photon::perf {

class Job {
 public:
  explicit Job(const Options& options);
  // Another one of the same ranks, which meet in `first`; it has one setting more,
  // and says no more than errors.
  Job(const Job& first, const Options& options, ph_option setting);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  ~Job();

  ph_context* context() const noexcept { return context_; }
  ph_rank rank() const noexcept { return ph_rank_of(context_); }
  std::uint32_t size() const noexcept { return ph_size_of(context_); }

  // Throws Failure unless `status` is PH_OK; `doing` completes "while ...".
  void check(ph_status status, const char* doing) const {
    if (status != PH_OK) fail(status, doing);
  }
  [[noreturn]] void fail(ph_status status, const char* doing) const;

  // When ph_context_create was called, and when it returned.
  struct Created {
    std::uint64_t begun_ns;
    std::uint64_t ready_ns;
  };
  const Created& created() const noexcept { return created_; }

  // How `rank` is reached. `path_to(rank).reason` says why in words.
  ph_path path_to(ph_rank rank) const;

  // Throws Failure if a peer is dead: who waits for its answer would wait for ever.
  void check_peers() const;

  // A setting in force, or `otherwise` if this library has no such setting.
  std::string setting(std::string_view name, std::string_view otherwise) const;

  // Leave together.
  void finish();

 private:
  void create(const Options& options, std::vector<ph_option> settings);
  static int gather(void* user, const void* mine, void* all, std::size_t size_bytes) noexcept;
  static int meet(void* user) noexcept;

  ph_context* context_ = nullptr;
  ph_bootstrap bootstrap_{};  // of another job
  Created created_{};
};

// Memory that peers may access: from ph_alloc, or from the heap and registered. Touched, so that
// no page fault falls into a measurement.
class Memory {
 public:
  Memory(Job& job, MemoryKind kind, std::size_t size_bytes);
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory();

  std::byte* data() const noexcept { return data_; }
  std::size_t size_bytes() const noexcept { return region_.size_bytes; }
  const ph_region& region() const noexcept { return region_; }

 private:
  Job* job_;
  MemoryKind kind_;
  std::byte* data_ = nullptr;
  ph_region region_{};
};

}  // namespace photon::perf
