// A bootstrap that says that its ranks are on several hosts, by turns: rank r on host
// r % hosts_count. Descriptors are refused between hosts, so that nothing passes by accident.
//   HostsBoot boot(job.boot(rank), 2);
// Where the hosts are real, and `real` cannot reach from one to another, messages between them go
// through a MemoryJob of as many ranks, as a launcher would carry them.
// Owner: whoever holds it; it owns the boot that it stands before; the MemoryJob outlives it.
#pragma once

#include <sys/epoll.h>

#include <memory>
#include <stdexcept>
#include <utility>

#include "base/unique_fd.hpp"
#include "boot/boot.hpp"
#include "memory_boot.hpp"

namespace photon::test {

class HostsBoot final : public boot::Boot {
 public:
  HostsBoot(std::unique_ptr<boot::Boot> real, std::uint32_t hosts_count,
            MemoryJob* between = nullptr)
      : real_(std::move(real)), hosts_count_(hosts_count), between_(between) {
    if (between_ == nullptr) return;
    both_.reset(::epoll_create1(EPOLL_CLOEXEC));
    for (const int fd : {real_->poll_fd(), between_->poll_fd(rank())}) {
      epoll_event event{};
      event.events = EPOLLIN;
      if (::epoll_ctl(both_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
        throw std::runtime_error("cannot watch both ways to other ranks");
    }
  }
  ~HostsBoot() override {
    if (between_ != nullptr) between_->leave(rank());
  }

  boot::Rank rank() const override { return real_->rank(); }
  std::uint32_t size() const override { return real_->size(); }
  const boot::Secret& secret() const override { return real_->secret(); }
  std::uint32_t local_size() const override {
    std::uint32_t count = 0;
    for (boot::Rank other = 0; other < size(); ++other) count += passes_descriptors(other) ? 1 : 0;
    return count;
  }
  bool passes_descriptors(boot::Rank other) const override {
    return other % hosts_count_ == rank() % hosts_count_ && real_->passes_descriptors(other);
  }
  base::Result<bool> send(boot::Rank to, std::span<const std::byte> bytes,
                          std::span<const int> fds) override {
    if (!fds.empty() && to < size() && !passes_descriptors(to))
      return base::Error{PH_ERR_ARGUMENT, 0, "descriptors do not leave a host", to};
    if (between_ == nullptr || passes_descriptors(to)) return real_->send(to, bytes, fds);
    boot::Message message;
    message.from = rank();
    message.bytes.assign(bytes.begin(), bytes.end());
    return between_->send(to, std::move(message));
  }
  // What is between hosts tells of the ends of all; of those on this host the real one does.
  base::Result<std::optional<boot::Message>> receive() override {
    auto received = real_->receive();
    if (between_ == nullptr || !received || *received) return received;
    while (auto message = between_->receive(rank()))
      if (!passes_descriptors(message->from)) return std::optional(std::move(*message));
    return received;
  }
  bool idle() const override { return real_->idle(); }
  base::Result<> leave() override { return real_->leave(); }
  bool has_left(boot::Rank other) const override { return real_->has_left(other); }
  int poll_fd() const override { return both_ ? both_.get() : real_->poll_fd(); }
  base::Result<> allgather(std::span<const std::byte> mine, std::span<std::byte> all,
                           const std::function<void()>& serve) override {
    return real_->allgather(mine, all, serve);
  }
  base::Result<> barrier(const std::function<void()>& serve) override {
    return real_->barrier(serve);
  }
  bool collects_alone() const override { return real_->collects_alone(); }

 private:
  const std::unique_ptr<boot::Boot> real_;
  const std::uint32_t hosts_count_;
  MemoryJob* const between_;
  base::UniqueFd both_;  // readable when either has something
};

}  // namespace photon::test
