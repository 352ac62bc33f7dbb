#include "converse/send/groups.hpp"

#include <array>
#include <cstring>
#include <new>

#include "converse/send/copies.hpp"
#include "converse/send/lists.hpp"

namespace photon::converse {

namespace {

// The body of a definition: this, and the numbers of the PEs behind it.
struct Definition {
  std::uint32_t pe;
  std::uint32_t id;
};

constexpr const char* kDefine = "CmiEstablishGroup";

Groups& groups_of(Pe& pe) noexcept { return *static_cast<Groups*>(pe.parts.groups); }

void send_to_group(Pe& pe, const char* call, Group& group, ph_task_message* message) {
  if (group.is_list) return send_to_list(pe, call, group.pes, message);
  if (!group.has_number) {
    const ph_task_list list{sizeof list, group.pes.data(), group.pes.size()};
    require(pe, call, ph_task_group(pe.task, &list, &group.number));
    group.has_number = true;
  }
  require(pe, call, ph_task_multicast(pe.task, group.number, message, 0));
}

void make_known(Pe& pe, const CmiGroup& name, std::vector<std::uint32_t> pes) {
  Group& group = groups_of(pe).all[{name.pe, name.id}];
  group.is_list = has_twice(pes);
  group.pes = std::move(pes);
  group.is_known = true;
  for (ph_task_message* message : group.waiting)
    send_to_group(pe, "CmiSyncMulticast", group, message);
  group.waiting = {};
}

void on_definition(ph_task_pe* /*task*/, ph_task_message* message, void* user) {
  Pe& pe = *static_cast<Pe*>(user);
  ++pe.own_tasks;
  const std::uint64_t size_bytes = ph_task_size(message);
  Definition name{};
  if (size_bytes < sizeof name || size_bytes % sizeof(std::uint32_t) != 0)
    refuse(kDefine, "PE %u has sent a definition of %llu bytes", ph_task_source(message),
           static_cast<unsigned long long>(size_bytes));
  const auto* const body = static_cast<const char*>(ph_task_body(message));
  std::memcpy(&name, body, sizeof name);
  try {
    std::vector<std::uint32_t> pes((size_bytes - sizeof name) / sizeof(std::uint32_t));
    if (!pes.empty()) std::memcpy(pes.data(), body + sizeof name, size_bytes - sizeof name);
    make_known(pe, {name.pe, name.id}, std::move(pes));
  } catch (const std::bad_alloc&) {
    refuse(kDefine, "no memory for a group");
  }
  require(pe, kDefine, ph_task_free(pe.task, message));
}

void tell_all(Pe& pe, const Definition& name, std::span<const std::uint32_t> pes) noexcept {
  ph_task_message* message = nullptr;
  require(pe, kDefine, ph_task_alloc(pe.task, sizeof name + pes.size_bytes(), &message));
  auto* const body = static_cast<char*>(ph_task_body(message));
  std::memcpy(body, &name, sizeof name);
  if (!pes.empty()) std::memcpy(body + sizeof name, pes.data(), pes.size_bytes());
  ph_task_set_handler(message, groups_of(pe).on_definition);
  require(pe, kDefine, ph_task_broadcast(pe.task, message, 0));
}

// A name that nobody has given waits for ever, so what can be seen of it is checked.
void check_group(Pe& pe, const char* call, const CmiGroup& name) noexcept {
  const bool is_own = name.pe == pe.place.pe;
  if (name.pe < pe.place.pes && (!is_own || name.id < groups_of(pe).established)) return;
  refuse(call, "there is no group %u of PE %u: CmiEstablishGroup() makes one", name.id, name.pe);
}

void multicast(Pe& pe, const char* call, const CmiGroup& name, ph_task_message* message) noexcept {
  try {
    Group& group = groups_of(pe).all[{name.pe, name.id}];
    if (group.is_known)
      send_to_group(pe, call, group, message);
    else
      group.waiting.push_back(message);
  } catch (const std::bad_alloc&) {
    refuse(call, "no memory for a message to a group");
  }
}

void multicast_copy(const char* call, const CmiGroup& name, CmiInt8 size,
                    const void* message) noexcept {
  Pe& pe = here(call);
  check_group(pe, call, name);
  multicast(pe, call, name, sent_copy(pe, call, size, message, pe.dispatch));
}

}  // namespace

void start_groups(Pe& pe) {
  auto* const groups = new Groups;
  pe.parts.groups = groups;
  groups->on_definition = enroll(pe, on_definition);
}

}  // namespace photon::converse

CmiGroup CmiEstablishGroup(int count, int* pes) {
  photon::converse::Pe& pe = photon::converse::here(__func__);
  const CmiGroup name{pe.place.pe, photon::converse::groups_of(pe).established};
  try {
    std::vector<std::uint32_t> list = photon::converse::checked_list(__func__, count, pes);
    photon::converse::tell_all(pe, {name.pe, name.id}, list);
    photon::converse::make_known(pe, name, std::move(list));
  } catch (const std::bad_alloc&) {
    photon::converse::refuse(__func__, "no memory for a group of %d PEs", count);
  }
  ++photon::converse::groups_of(pe).established;
  return name;
}

void CmiSyncMulticast(CmiGroup group, CmiInt8 size, void* message) {
  photon::converse::multicast_copy(__func__, group, size, message);
}

void CmiSyncMulticastAndFree(CmiGroup group, CmiInt8 size, void* message) {
  photon::converse::Pe& pe = photon::converse::here(__func__);
  photon::converse::check_group(pe, __func__, group);
  photon::converse::multicast(pe, __func__, group,
                              photon::converse::given(pe, __func__, size, message, pe.dispatch));
}

CmiCommHandle CmiAsyncMulticast(CmiGroup group, CmiInt8 size, void* message) {
  photon::converse::multicast_copy(__func__, group, size, message);
  return nullptr;
}
