#include "boot/single_boot.hpp"

#include <algorithm>

#include "boot/limits.hpp"
#include "boot/packet.hpp"

namespace photon::boot {

base::Result<std::unique_ptr<Boot>> SingleBoot::open() {
  auto inbox = Inbox::create();
  if (!inbox) return inbox.error();
  auto secret = random_secret();
  if (!secret) return secret.error();
  return std::unique_ptr<Boot>(new SingleBoot(std::move(*inbox), *secret));
}

base::Result<bool> SingleBoot::send(Rank to, std::span<const std::byte> bytes,
                                    std::span<const int> fds) {
  if (auto checked = check_message({to, 1}, bytes.size(), fds.size()); !checked) {
    return checked.error();
  }
  auto copies = duplicate(fds);
  if (!copies) return copies.error();
  inbox_.push({.from = 0, .bytes = {bytes.begin(), bytes.end()}, .fds = std::move(*copies)});
  return true;
}

base::Result<std::optional<Message>> SingleBoot::receive() { return inbox_.pop(); }

base::Result<> SingleBoot::allgather(std::span<const std::byte> mine, std::span<std::byte> all,
                                     const Serve& serve) {
  if (auto checked = check_gather(mine.size(), all.size(), 1); !checked) return checked;
  std::ranges::copy(mine, all.begin());
  if (serve) serve();
  return {};
}

base::Result<> SingleBoot::barrier(const Serve& serve) { return allgather({}, {}, serve); }

}  // namespace photon::boot
