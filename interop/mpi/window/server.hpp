// Serves origins that cannot reach this rank's memory by themselves, and asks such targets. It has
// a lane of its own, and a thread that looks after it while the program computes.
//
//   a request here:  arrived -- its bytes are there, those before it are done --> done, answered
//                    a lock: arrived --> waits -- it can be had --> done, answered
//
// Requests of one origin are done in the order in which it has sent them; locks that wait hold up
// nobody, since other threads of that origin may go on. The thread waits for no lock: it looks
// again each millisecond, or when it is poked. It makes no call of MPI's.
// Invariants: a window that leaves is in nobody's hands any more. A request that is not done is
// told of: by its answer, else by that of the next flush of its origin. Owner: the job; it begins
// with the first window that needs it, at all its members. Threads: asker() any; enter() and
// leave() as MPI_Win_create(); the handlers run in whichever thread makes progress on the lane.
#pragma once

#include <photon/photon.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "interop/mpi/window/asker.hpp"
#include "interop/mpi/window/board.hpp"
#include "interop/mpi/window/request.hpp"

namespace photon::mpi {

class Job;
class Window;

class Server {
 public:
  // Null: there is no lane or no thread to be had; `why` has room for the words.
  static std::unique_ptr<Server> open(Job& job, ph_error& why);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  ph_context* lane() const noexcept { return lane_; }
  Asker& asker() noexcept { return asker_; }

  // Requests name windows by these numbers from now on, until leave(), which waits for whoever is
  // at the window. False: the number is taken.
  bool enter(std::uint64_t number, Window& window);
  void leave(std::uint64_t number) noexcept;

  // The thread looks at the locks that wait.
  void look() noexcept { ph_wake(lane_); }

 private:
  // A request that has arrived.
  struct Asked {
    Server* server = nullptr;
    Request request;
    ph_rank from = 0;
    std::vector<std::byte> payload;
    bool is_whole = false;
    bool has_named = false;  // of a lock: the owner's word is the asker's, and it waits for sharers
    bool has_claimed = false;  // and the claim's word
    bool is_watched = false;   // the doorbell calls the thread
    std::int64_t since_ns = 0;
  };
  // An answer that is lent to the library.
  struct Lent {
    ph_request request = PH_REQUEST_NONE;
    std::vector<std::byte> bytes;
  };

  // Requests of one origin, and how the first of each window ended that was not done.
  struct Queue {
    std::deque<std::unique_ptr<Asked>> asked;
    std::map<std::uint64_t, ph_status> failed;
  };
  // A window that somebody is at.
  struct Entry {
    Window* window = nullptr;
    unsigned users = 0;
  };
  class Use {
   public:
    Use(Server& server, std::uint64_t number) noexcept;
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    Window* window() const noexcept { return entry_ == nullptr ? nullptr : entry_->window; }

   private:
    Server& server_;
    Entry* entry_ = nullptr;
  };

  explicit Server(Job& job) noexcept : job_(job), asker_(job) {}
  bool begin(ph_error& why);
  void run() noexcept;
  bool do_turn() noexcept;
  bool has_ended(ph_rank rank) noexcept;

  static ph_status on_request(void* user, const ph_am_message* message, ph_am_landing* landing);
  static ph_status on_landed(void* asked, const ph_am_message* message, const ph_am_part* part);
  void arrived(Asked& asked, ph_status status) noexcept;

  // The target's side (serving.cpp).
  enum class Left : std::uint8_t { nothing, waits, more };
  Left do_all() noexcept;
  Left do_queue(Queue& queue, std::unique_lock<std::mutex>& guard);
  bool do_one(Asked& asked) noexcept;
  bool do_at(Window& window, Asked& asked) noexcept;
  bool do_fold(Window& window, Asked& asked) noexcept;
  bool do_swap(Window& window, Asked& asked) noexcept;
  bool do_lock(Window& window, Asked& asked) noexcept;
  void do_count(Window& window, const Request& request) noexcept;
  void answer(const Asked& asked, ph_status status, std::vector<std::byte>&& bytes) noexcept;
  void note_failure(const Asked& asked, ph_status status) noexcept;
  ph_status failure_of(const Asked& asked) noexcept;
  ph_status send_answer(ph_rank to, ph_am_args& args) noexcept;
  void take_back_lent() noexcept;
  bool take(Window& window, Lock lock, bool is_exclusive, Asked& asked) noexcept;
  bool try_take(Window& window, Lock lock, bool is_exclusive, Asked& asked) noexcept;
  void forget(Window& window, Lock lock, Asked& asked) noexcept;
  bool enter_sums(Window& window, Asked& asked, bool is_shared) noexcept;
  static void give_back(Window& window, Lock lock, bool is_shared) noexcept;
  bool is_over(ph_rank rank) noexcept;
  bool do_drain(Window& window, Asked& asked) noexcept;
  void abandon(Window& window, Asked& asked) noexcept;

  Job& job_;
  ph_context* lane_ = nullptr;
  Asker asker_;
  std::thread thread_;
  std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  bool is_ending_ = false;
  std::map<std::uint64_t, Entry> windows_;
  std::map<ph_rank, Queue> queues_;
  std::list<std::unique_ptr<Asked>> waiting_;  // locks; of the thread alone, as the next
  std::list<Lent> lent_;
};

}  // namespace photon::mpi
