// A job of one rank: nobody to find, messages only to itself.
// Invariant: rank 0 of 1. Owner: the Context.
#pragma once

#include "boot/boot.hpp"
#include "boot/inbox.hpp"

namespace photon::boot {

class SingleBoot final : public Boot {
 public:
  static base::Result<std::unique_ptr<Boot>> open();

  Rank rank() const override { return 0; }
  std::uint32_t size() const override { return 1; }
  const Secret& secret() const override { return secret_; }
  std::uint32_t local_size() const override { return 1; }
  base::Result<bool> send(Rank to, std::span<const std::byte> bytes,
                          std::span<const int> fds) override;
  base::Result<std::optional<Message>> receive() override;
  bool idle() const override { return true; }
  int poll_fd() const override { return inbox_.fd(); }
  base::Result<> allgather(std::span<const std::byte> mine, std::span<std::byte> all,
                           const Serve& serve) override;
  base::Result<> barrier(const Serve& serve) override;

 private:
  SingleBoot(Inbox inbox, const Secret& secret) : inbox_(std::move(inbox)), secret_(secret) {}

  Inbox inbox_;
  Secret secret_;
};

}  // namespace photon::boot
