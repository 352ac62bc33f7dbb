// The making of one window, up to its real one (windows.hpp has the steps).
// Owner: the stack of one call. Threads: that one.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "interop/mpi/window/windows.hpp"

namespace photon::mpi {

// A member says this of itself.
struct Card {
  std::uint32_t unit = 1;
  ph_rank rank = 0;
  Way way = Way::mapped;
  std::uint64_t size_bytes = 0;
  std::uint64_t base = 0;  // in its own address space
  ph_region memory{};      // that the base lies in
  ph_region block{};
  std::uint64_t number = 0;  // that of the first member is the window's
};

// One making of a window. The communicator is a duplicate of the program's, on which errors are
// returned.
class Making {
 public:
  Making(Job& job, const Wish& wish) : job_(job), wish_(wish) {}
  ~Making() {
    if (comm_ != MPI_COMM_NULL) real().Comm_free(&comm_);
  }
  Making(const Making&) = delete;
  Making& operator=(const Making&) = delete;

  bool begin() noexcept;  // false: MPI cannot even give us a communicator of one group
  std::unique_ptr<Holding> run() noexcept;
  void* base() const noexcept { return base_; }
  bool agree(bool mine) noexcept;      // collective; begin() has said yes
  bool say(const char* why) noexcept;  // why MPI has to make it; false

 private:
  bool prepare() noexcept;
  bool make_real() noexcept;
  bool say_error() noexcept;
  bool is_said(char* name, const char* value) const noexcept;
  bool find_ranks();
  bool provide();
  bool provide_memory();
  bool reach(std::uint32_t member);
  ph_status map(ph_rank rank, const ph_region& region, void*& local);
  bool be_asked(Target& target) noexcept;
  bool be_served() noexcept;
  bool is_copied(const Target& target) noexcept;

  Job& job_;
  const Wish& wish_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int own_ = 0;
  int size_ = 0;
  std::unique_ptr<Holding> holding_;
  Card card_;
  std::vector<Card> cards_;
  void* base_ = nullptr;
  bool asks_ = false;  // this rank cannot reach all by itself
};

}  // namespace photon::mpi
