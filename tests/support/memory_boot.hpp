// A bootstrap in memory: the side channel between ranks that are threads of one process, for tests
// of transports without a launcher.
//
//   MemoryJob job(3);
//   auto boot = job.boot(rank);   // a boot::Boot; destroying it is that rank's end (`gone`)
//
// Collectives block, so that each rank needs a thread of its own while it is in one; afterwards one
// thread may drive all ranks.
// Owner: the test; the job outlives its boots.
#pragma once

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "boot/boot.hpp"
#include "boot/limits.hpp"
#include "meeting_point.hpp"

namespace photon::test {

class MemoryJob {
 public:
  explicit MemoryJob(std::uint32_t ranks_count) : meeting_(ranks_count), inboxes_(ranks_count) {}

  std::uint32_t size() const { return static_cast<std::uint32_t>(inboxes_.size()); }
  MeetingPoint& meeting() { return meeting_; }
  int poll_fd(ph_rank rank) const { return inboxes_[rank].news.get(); }
  std::unique_ptr<boot::Boot> boot(ph_rank rank);

  // Whether messages find no room in the side channel for now.
  void set_full(bool is_full) {
    const std::scoped_lock lock(mutex_);
    is_full_ = is_full;
  }
  bool is_full() {
    const std::scoped_lock lock(mutex_);
    return is_full_;
  }

  // False: the rank has gone.
  bool send(ph_rank to, boot::Message message) {
    const std::scoped_lock lock(mutex_);
    return send_locked(to, std::move(message));
  }

  std::optional<boot::Message> receive(ph_rank rank) {
    const std::scoped_lock lock(mutex_);
    Inbox& inbox = inboxes_[rank];
    if (inbox.messages.empty()) return std::nullopt;
    boot::Message message = std::move(inbox.messages.front());
    inbox.messages.pop_front();
    std::uint64_t ignored = 0;
    if (inbox.messages.empty() && ::read(inbox.news.get(), &ignored, sizeof ignored) < 0)
      return message;  // it was not readable: nothing to clear
    return message;
  }

  void leave(ph_rank rank) {
    const std::scoped_lock lock(mutex_);
    inboxes_[rank].open = false;
    inboxes_[rank].messages.clear();
    for (ph_rank to = 0; to < size(); ++to) {
      boot::Message gone;
      gone.kind = boot::Message::Kind::gone;
      gone.from = rank;
      send_locked(to, std::move(gone));
    }
  }

 private:
  struct Inbox {
    std::deque<boot::Message> messages;
    base::UniqueFd news{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    bool open = true;
  };

  bool send_locked(ph_rank to, boot::Message message) {
    Inbox& inbox = inboxes_[to];
    if (!inbox.open) return false;
    inbox.messages.push_back(std::move(message));
    const std::uint64_t one = 1;
    return ::write(inbox.news.get(), &one, sizeof one) == sizeof one;
  }

  MeetingPoint meeting_;
  std::mutex mutex_;
  std::vector<Inbox> inboxes_;
  bool is_full_ = false;
};

class MemoryBoot final : public boot::Boot {
 public:
  MemoryBoot(MemoryJob& job, ph_rank rank) : job_(job), rank_(rank) {}
  ~MemoryBoot() override { job_.leave(rank_); }

  boot::Rank rank() const override { return rank_; }
  std::uint32_t size() const override { return job_.size(); }
  const boot::Secret& secret() const override { return secret_; }
  std::uint32_t local_size() const override { return job_.size(); }

  base::Result<bool> send(boot::Rank to, std::span<const std::byte> bytes,
                          std::span<const int> fds) override {
    if (job_.is_full()) return boot::queue_full(to);
    boot::Message message;
    message.from = rank_;
    message.bytes.assign(bytes.begin(), bytes.end());
    for (const int fd : fds) {
      const int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
      if (copy < 0) return base::system_error("duplicate a descriptor for a message");
      message.fds.emplace_back(copy);
    }
    return job_.send(to, std::move(message));
  }
  base::Result<std::optional<boot::Message>> receive() override { return job_.receive(rank_); }
  bool idle() const override { return true; }
  int poll_fd() const override { return job_.poll_fd(rank_); }

  base::Result<> allgather(std::span<const std::byte> mine, std::span<std::byte> all,
                           const boot::Serve&) override {
    if (job_.meeting().gather(rank_, mine.data(), all.data(), mine.size())) return {};
    return broken();
  }
  // Serves once only: no transport has anybody to serve while it opens.
  base::Result<> barrier(const boot::Serve& serve) override {
    serve();
    if (job_.meeting().meet()) return {};
    return broken();
  }

 private:
  static base::Error broken() {
    return {PH_ERR_BOOTSTRAP, 0, "a rank of the test has left the meeting"};
  }

  MemoryJob& job_;
  const ph_rank rank_;
  const boot::Secret secret_{std::byte{42}};
};

inline std::unique_ptr<boot::Boot> MemoryJob::boot(ph_rank rank) {
  return std::make_unique<MemoryBoot>(*this, rank);
}

}  // namespace photon::test
