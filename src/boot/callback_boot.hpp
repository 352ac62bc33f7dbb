// The caller's allgather and barrier: they introduce the ranks to each other, and are the
// collectives. Messages between two ranks are the datagram boot's.
// Owner: the Context; one thread at a time.
#pragma once

#include "boot/datagram_boot.hpp"

namespace photon::boot {

class CallbackBoot final : public DatagramBoot {
 public:
  std::optional<Rank> host_of(Rank rank) const override {
    return rank < hosts_.size() ? std::optional(hosts_[rank]) : std::nullopt;
  }
  static base::Result<std::unique_ptr<Boot>> open(const ph_bootstrap& bootstrap,
                                                  const base::Config& config);

  base::Result<> allgather(std::span<const std::byte> mine, std::span<std::byte> all,
                           const Serve& serve) override;
  base::Result<> barrier(const Serve& serve) override;

 private:
  CallbackBoot(const ph_bootstrap& bootstrap, Parts parts)
      : DatagramBoot({bootstrap.rank, bootstrap.size}, std::move(parts)), bootstrap_(bootstrap) {}

  // Runs a callback; what peers ask meanwhile, serve() does.
  base::Result<> collect(const char* name, const Serve& serve,
                         const std::function<int()>& callback);
  base::Result<> introduce(const base::Config& config);
  base::Result<> reach_hosts(const base::Config& config);

  ph_bootstrap bootstrap_;
  std::vector<Rank> hosts_;  // of each rank the first of its host; empty: there is one host
};

}  // namespace photon::boot
