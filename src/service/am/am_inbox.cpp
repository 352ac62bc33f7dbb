#include "service/am/am_inbox.hpp"

namespace photon::service::am {

void Inbox::copy(Arrived& entry, std::span<const std::byte> bytes) {
  if (bytes.size() <= entry.line.size()) {
    if (!bytes.empty()) std::memcpy(entry.line.data(), bytes.data(), bytes.size());
    return;
  }
  std::byte* to = nullptr;
  if (bytes.size() <= kRecordBytes) {
    entry.block = records_.take();
    entry.where = Arrived::Bytes::block;
    to = records_.at(entry.block);
  } else {
    entry.own = std::make_unique_for_overwrite<std::byte[]>(bytes.size());
    entry.where = Arrived::Bytes::own;
    to = entry.own.get();
  }
  std::memcpy(to, bytes.data(), bytes.size());
  entry.bytes = to;
}

}  // namespace photon::service::am
