// One process that starts the photonrun of another host: ssh; of this host: that photonrun itself.
// Its input carries the key and what rank 0 reads, its output what the ranks there write.
// Invariant: its pid is signalled and asked about only while it is not reaped. Owner: HostLauncher.
//
//   starting -its photonrun joined-> joined        either -it ended-> ended
#pragma once

#include <poll.h>
#include <sys/resource.h>

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "fd.hpp"
#include "output.hpp"
#include "rank_process.hpp"
#include "signals.hpp"

namespace photonrun {

struct HostProcessPlan {
  std::string host;                  // as the user calls it
  std::string name;                  // of what is started: "ssh to node2"
  std::vector<std::string> command;  // found in PATH
  bool by_lines = false;             // outputs of several hosts are merged line by line
  const Signals& signals;
  rlimit file_limit{};
};

class HostProcess {
 public:
  // Throws std::runtime_error: there is no such command, no process.
  explicit HostProcess(HostProcessPlan plan);

  const std::string& host() const { return plan_.host; }
  const std::string& name() const { return plan_.name; }
  bool is_running() const { return !end_; }
  bool is(pid_t pid) const { return is_running() && pid == pid_; }
  // It does not run any more, though it may not be reaped: what others say may come of that.
  bool is_exiting() const;
  // waitpid() reported it, or is asked here.
  void set_reaped(int wait_status);
  bool reap();
  // The same, waiting for its end until then: a tracer may keep it.
  bool reap_until(std::chrono::steady_clock::time_point until);
  void kill() const;

  void say(std::string_view line) const;
  Fd take_input() { return std::move(input_); }
  void set_joined(Output& output);
  bool has_joined() const { return joined_; }

  void want(std::vector<pollfd>& entries, const Output& output) const;
  // `entry`: the first of those of want(). True: something came.
  bool handle(const pollfd* entry, Output& output);
  static constexpr std::size_t kEntries = 2;
  bool has_output() const { return streams_[0].pipe || streams_[1].pipe; }
  // What is there, after its end: somebody else may hold its output, and write on.
  void read_rest(Output& output);

  // What ended it, though its ranks were not told to end; empty: nothing out of order on its side.
  std::string breakdown() const;
  // How it ended, or that it did not.
  std::string mishap() const;
  // Why its photonrun did not come to the job.
  std::string failure() const;
  const std::optional<End>& end() const { return end_; }

 private:
  struct Stream {
    Fd pipe;
    std::string line;  // the last, incomplete one
  };

  void start(Fd output, Fd error);
  [[noreturn]] void become_command(const std::array<int, 3>& standard, pid_t parent,
                                   int report) const;
  bool read(std::size_t sink, Output& output);
  void finish_line(std::size_t sink, Output& output);
  bool merges(std::size_t sink) const { return plan_.by_lines || (sink == 1 && !joined_); }
  std::string last_words() const { return said_.empty() ? "" : ": " + said_; }

  HostProcessPlan plan_;
  pid_t pid_ = 0;
  Fd input_;
  std::array<Stream, 2> streams_;  // standard output, standard error
  std::string said_;               // the last line of standard error before it joined
  bool joined_ = false;
  std::optional<End> end_;
};

}  // namespace photonrun
