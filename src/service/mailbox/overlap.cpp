// Messages of a window that looks at a buffer's layout: what they cover, and how they count.
#include <new>

#include "service/mailbox/window.hpp"

namespace photon::service::mailbox {

// Of a buffer that admits the message at `from`: its bytes are those that count from here on. One
// that overlaps what is there is refused as one that leaves the buffer is: its sender has named
// bytes that it cannot have.
ph_status Window::cover(const Buffer& buffer, std::uint64_t from, Mail& mail) const noexcept {
  if (buffer.layout == nullptr || !buffer.layout->holds(from, mail.size_bytes)) return PH_ERR_RANGE;
  Coverage* const coverage = buffer.layout->coverage();
  if (coverage == nullptr || mail.size_bytes == 0) return PH_OK;
  if (policy_.overlap == Overlap::is_refused &&
      coverage->uncovered(from, mail.size_bytes) != mail.size_bytes)
    return PH_ERR_RANGE;
  try {
    mail.size_bytes = coverage->admit(from, mail.size_bytes);
  } catch (const std::bad_alloc&) {
    return PH_ERR_MEMORY;
  }
  return PH_OK;
}

void Window::scattered(const Mail& mail, const Outcome& outcome, Owner& owner) noexcept {
  Buffer& buffer = of_epoch(outcome.epoch);
  Coverage* const coverage = buffer.layout->coverage();
  if (coverage != nullptr && mail.size_bytes != 0) {
    const std::uint64_t fresh = coverage->landed(outcome.offset, mail.size_bytes);
    buffer.bytes -= mail.size_bytes - fresh;  // landed() adds all
  }
  landed(mail, outcome, owner);
}

// How many bytes count no more, as that message will not land.
std::uint64_t Window::uncover(const Buffer& buffer, const Mail& mail,
                              const Outcome& outcome) noexcept {
  Coverage* const coverage = buffer.layout != nullptr ? buffer.layout->coverage() : nullptr;
  if (coverage == nullptr || mail.size_bytes == 0) return mail.size_bytes;
  return coverage->failed(outcome.offset, mail.size_bytes);
}

const Coverage* Window::coverage(std::uint64_t epoch) const noexcept {
  const Buffer* const buffer = find(epoch);
  return buffer != nullptr && buffer->layout != nullptr ? buffer->layout->coverage() : nullptr;
}

}  // namespace photon::service::mailbox
