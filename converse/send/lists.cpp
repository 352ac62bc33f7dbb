#include "converse/send/lists.hpp"

#include <algorithm>
#include <new>

#include "converse/send/copies.hpp"

namespace photon::converse {

std::vector<std::uint32_t> checked_list(const char* call, int count, const int* pes) {
  if (count < 0) refuse(call, "a list of %d PEs: a count is not negative", count);
  if (count != 0 && pes == nullptr) refuse(call, "the list is null and has %d PEs", count);
  std::vector<std::uint32_t> list;
  list.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    check_pe(call, pes[i]);
    list.push_back(static_cast<std::uint32_t>(pes[i]));
  }
  return list;
}

bool has_twice(std::span<const std::uint32_t> pes) {
  std::vector<std::uint32_t> sorted(pes.begin(), pes.end());
  std::ranges::sort(sorted);
  return std::ranges::adjacent_find(sorted) != sorted.end();
}

void send_to_list(Pe& pe, const char* call, std::span<const std::uint32_t> pes,
                  ph_task_message* message) {
  if (!has_twice(pes)) {
    const ph_task_list list{sizeof list, pes.data(), pes.size()};
    return require(pe, call, ph_task_send_list(pe.task, &list, message, 0));
  }
  for (const std::uint32_t to : pes) require(pe, call, ph_task_send_copy(pe.task, to, message));
  require(pe, call, ph_task_free(pe.task, message));
}

namespace {

enum class Kept : bool { no, yes };

struct List {
  int count;
  const int* pes;
};

void list_send(const char* call, const List& to, CmiInt8 size, void* message, Kept kept) noexcept {
  Pe& pe = here(call);
  try {
    const std::vector<std::uint32_t> list = checked_list(call, to.count, to.pes);
    send_to_list(pe, call, list,
                 kept == Kept::yes ? sent_copy(pe, call, size, message, pe.dispatch)
                                   : given(pe, call, size, message, pe.dispatch));
  } catch (const std::bad_alloc&) {
    refuse(call, "no memory for a list of %d PEs", to.count);
  }
}

}  // namespace

}  // namespace photon::converse

using photon::converse::Kept;
using photon::converse::list_send;

void CmiSyncListSend(int count, const int* pes, CmiInt8 size, void* message) {
  list_send(__func__, {count, pes}, size, message, Kept::yes);
}

void CmiSyncListSendAndFree(int count, const int* pes, CmiInt8 size, void* message) {
  list_send(__func__, {count, pes}, size, message, Kept::no);
}

CmiCommHandle CmiAsyncListSend(int count, const int* pes, CmiInt8 size, void* message) {
  list_send(__func__, {count, pes}, size, message, Kept::yes);
  return nullptr;
}
