// A bootstrap that says that its ranks are on several hosts, by turns: rank r on host
// r % hosts_count. Descriptors are refused between hosts, so that nothing passes by accident.
//   HostsBoot boot(job.boot(rank), 2);
// Owner: whoever holds it; it owns the boot that it stands before.
#pragma once

#include <memory>
#include <utility>

#include "boot/boot.hpp"

namespace photon::test {

class HostsBoot final : public boot::Boot {
 public:
  HostsBoot(std::unique_ptr<boot::Boot> real, std::uint32_t hosts_count)
      : real_(std::move(real)), hosts_count_(hosts_count) {}

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
    return real_->send(to, bytes, fds);
  }
  base::Result<std::optional<boot::Message>> receive() override { return real_->receive(); }
  bool idle() const override { return real_->idle(); }
  base::Result<> leave() override { return real_->leave(); }
  bool has_left(boot::Rank other) const override { return real_->has_left(other); }
  int poll_fd() const override { return real_->poll_fd(); }
  base::Result<> allgather(std::span<const std::byte> mine, std::span<std::byte> all,
                           const boot::Serve& serve) override {
    return real_->allgather(mine, all, serve);
  }
  base::Result<> barrier(const boot::Serve& serve) override { return real_->barrier(serve); }
  bool collects_alone() const override { return real_->collects_alone(); }

 private:
  const std::unique_ptr<boot::Boot> real_;
  const std::uint32_t hosts_count_;
};

}  // namespace photon::test
