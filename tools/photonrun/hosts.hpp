// A job's hosts, as the Job on one of them sees them: the exchanges that serve the ranks here, and
// what is told to and heard from the other photonruns.
// Invariant: the root decides (what ended the job, its status, when it is over); a leaf reports.
// Owner: the launcher process.
//
// Three kinds: a job of one host, the root of one of several, a leaf of one.
#pragma once

#include "generations.hpp"
#include "host_acceptor.hpp"
#include "membership.hpp"
#include "rank_process.hpp"
#include "relay.hpp"
#include "router.hpp"

namespace photonrun {

// What another photonrun said. failed: it can do no more, `value` is the status that follows.
struct News {
  FrameKind kind{};
  unsigned rank = 0;
  int value = 0;
  End end;
  std::string text;
  bool is_told = false;  // ended: with what came before it
};

class Hosts {
 public:
  virtual ~Hosts() = default;
  Hosts(const Hosts&) = delete;
  Hosts& operator=(const Hosts&) = delete;

  virtual Generations& generations() = 0;
  virtual const Share& share() const = 0;
  virtual bool is_leaf() const { return false; }
  // Addresses of this host, with blanks between them, by which other hosts of the job met it.
  virtual std::string met() const { return {}; }

  virtual void want(std::vector<pollfd>&) {}
  // Before the exchanges look: they then serve what came.
  virtual std::vector<News> handle(const std::vector<pollfd>&) { return {}; }
  // The job goes on elsewhere.
  virtual bool waits() const { return false; }
  // Of another host; only the root knows.
  virtual bool runs(unsigned /*rank*/) const { return false; }
  // Processes of its own, which it waits for in close().
  virtual bool has_children() const { return false; }
  // A process that is no rank ended.
  virtual std::vector<News> reaped(pid_t /*pid*/, int /*wait_status*/) { return {}; }
  // To all leaves, or to the root.
  virtual void tell(FrameKind, int /*value*/, std::string_view /*words*/) {}
  virtual void tell_ended(unsigned /*rank*/, const End&, std::string_view /*words*/) {}
  // Waits no longer for hosts that do not end their ranks, or for a root that says nothing.
  // In words: whom that concerns.
  virtual std::vector<std::string> give_up() { return {}; }
  // The job is over: the last word, within seconds. The status, or another one in place of 0 if
  // something went wrong even then; `limit`: of --timeout.
  virtual int close(int status, TimeLimit /*limit*/) { return status; }

 protected:
  Hosts() = default;
};

class SingleHost final : public Hosts {
 public:
  SingleHost(unsigned size, std::size_t fds_limit);
  Generations& generations() override { return generations_; }
  const Share& share() const override { return share_; }

 private:
  Share share_;
  Generations generations_;
};

class RootHosts : public Hosts {
 public:
  RootHosts(const Share& share, std::size_t fds_limit, std::vector<Joined> joined);

  Generations& generations() override { return generations_; }
  const Share& share() const override { return share_; }
  std::string met() const override { return met_; }
  void want(std::vector<pollfd>& entries) override;
  std::vector<News> handle(const std::vector<pollfd>& entries) override;
  bool waits() const override;
  bool runs(unsigned rank) const override;
  void tell(FrameKind kind, int value, std::string_view words) override;
  std::vector<std::string> give_up() override;
  int close(int status, TimeLimit limit) override;

 private:
  struct Host {
    std::unique_ptr<HostConnection> connection;
    Share share;
    std::vector<bool> ended;  // its ranks
    std::size_t running_count = 0;
    bool is_lost = false;
  };

  // False: no leaf says so.
  bool take(Host& host, Frame frame, std::vector<News>& news);
  bool take_end(Host& host, const Frame& frame, std::vector<News>& news);
  void lose(Host& host, std::vector<News>& news);
  // Tells each host where its ranks begin.
  static std::vector<Host> start(const Share& share, const Secret& secret,
                                 std::vector<Joined> joined);

  Share share_;
  Secret secret_;
  std::string met_;
  std::vector<Host> hosts_;
  Generations generations_;
  std::size_t first_entry_ = 0;
};

class LeafHosts final : public Hosts {
 public:
  LeafHosts(Membership membership, std::size_t fds_limit);

  Generations& generations() override { return generations_; }
  const Share& share() const override { return share_; }
  bool is_leaf() const override { return true; }
  std::string met() const override { return met_; }
  void want(std::vector<pollfd>& entries) override;
  std::vector<News> handle(const std::vector<pollfd>& entries) override;
  bool waits() const override { return !over_; }
  void tell(FrameKind kind, int value, std::string_view words) override;
  void tell_ended(unsigned rank, const End& end, std::string_view words) override;
  std::vector<std::string> give_up() override {
    over_ = true;
    return {};
  }
  int close(int status, TimeLimit limit) override;

 private:
  bool take(Frame frame, std::vector<News>& news);

  Share share_;
  std::string met_;
  std::unique_ptr<HostConnection> connection_;
  Generations generations_;
  std::size_t first_entry_ = 0;
  bool over_ = false;
};

}  // namespace photonrun
