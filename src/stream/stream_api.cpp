// Streams: check what the ABI alone can get wrong, and enter.
#include <cstring>
#include <new>

#include "stream/streams.hpp"

using photon::stream::is_possible;

namespace {

constexpr std::uint32_t kMostBacklog = 65'536;

// Runs `call(streams)` under the mutex. No exception crosses the ABI: bad_alloc is the only one.
template <class Call>
ph_status in_streams(ph_streams* streams, Call call) noexcept {
  if (streams == nullptr) return PH_ERR_ARGUMENT;
  try {
    const std::scoped_lock lock(streams->mutex);
    streams->turn();
    return call(*streams);
  } catch (const std::bad_alloc&) {
    return PH_ERR_MEMORY;
  }
}

// The same for a stream; an error gets the words.
template <class Call>
ph_status in_stream(ph_stream* stream, const char* words, Call call) noexcept {
  if (stream == nullptr) return PH_ERR_ARGUMENT;
  return in_streams(&stream->streams, [&](ph_streams& streams) {
    const ph_status status = call(stream->end);
    return status >= PH_OK ? status : streams.wrong(status, stream->end.peer(), words);
  });
}

bool is_right(const ph_streams_args& args) noexcept {
  photon::stream::Sizes sizes;
  if (args.buffer_bytes != 0) sizes.buffer_bytes = args.buffer_bytes;
  if (args.buffers != 0) sizes.buffers = args.buffers;
  return args.size == sizeof args && is_possible(sizes) && args.backlog <= kMostBacklog;
}

// The value in force of a setting that is a number.
std::uint64_t number_of(const ph_context* context, const char* name) noexcept {
  ph_setting setting{};
  setting.size = sizeof setting;
  for (std::size_t i = 0; ph_setting_at(context, i, &setting) == PH_OK; ++i)
    if (std::strcmp(setting.name, name) == 0) return std::strtoull(setting.value, nullptr, 10);
  return 0;
}

}  // namespace

extern "C" {

ph_status ph_streams_open(ph_context* context, const ph_streams_args* args, ph_streams** streams) {
  if (streams == nullptr) return PH_ERR_ARGUMENT;
  *streams = nullptr;
  const ph_streams_args chosen = args == nullptr ? ph_streams_args{sizeof chosen, 0, 0, 0} : *args;
  if (!is_right(chosen)) return PH_ERR_ARGUMENT;
  ph_contact_state state{};
  const ph_status status = ph_peer_state(context, ph_rank_of(context), &state);
  if (status != PH_OK) return status;
  *streams =
      new (std::nothrow) ph_streams(context, chosen, number_of(context, "mailbox_carried_max"));
  return *streams == nullptr ? PH_ERR_MEMORY : PH_OK;
}

ph_status ph_streams_close(ph_streams* streams, int64_t timeout_us) {
  if (streams == nullptr) return PH_OK;
  const ph_status status = streams->close_within(timeout_us);
  if (status == PH_OK) delete streams;
  return status;
}

void ph_streams_error(ph_streams* streams, ph_error* error) {
  if (streams == nullptr || error == nullptr) return;
  const std::scoped_lock lock(streams->mutex);
  *error = streams->error();
}

ph_status ph_stream_listen(ph_streams* streams, uint32_t port, ph_listener** listener) {
  if (listener == nullptr) return PH_ERR_ARGUMENT;
  *listener = nullptr;
  return in_streams(streams, [&](ph_streams& all) { return all.listen(port, *listener); });
}

ph_status ph_listener_close(ph_listener* listener) {
  if (listener == nullptr) return PH_OK;
  return in_streams(&listener->streams, [&](ph_streams& all) { return all.unlisten(*listener); });
}

ph_status ph_stream_accept(ph_listener* listener, ph_stream** stream, int64_t timeout_us) {
  if (stream != nullptr) *stream = nullptr;
  if (listener == nullptr || stream == nullptr || timeout_us < 0) return PH_ERR_ARGUMENT;
  return listener->streams.accept(*listener, *stream, timeout_us);
}

ph_status ph_stream_connect(ph_streams* streams, ph_rank rank, uint32_t port, ph_stream** stream) {
  if (stream == nullptr) return PH_ERR_ARGUMENT;
  *stream = nullptr;
  return in_streams(streams, [&](ph_streams& all) { return all.connect(rank, port, *stream); });
}

ph_rank ph_stream_peer(const ph_stream* stream) {
  return stream == nullptr ? PH_ANY_RANK : stream->end.peer();
}

ph_status ph_stream_read(ph_stream* stream, void* data, size_t size_bytes, size_t* count) {
  if (count == nullptr || (data == nullptr && size_bytes != 0)) return PH_ERR_ARGUMENT;
  *count = 0;
  return in_stream(stream, "stream_read: the peer was lost, refused, or sent what is no stream's",
                   [&](photon::stream::End& end) {
                     return end.read({static_cast<std::byte*>(data), size_bytes}, *count);
                   });
}

ph_status ph_stream_write(ph_stream* stream, const void* data, size_t size_bytes, size_t* count) {
  if (count == nullptr || (data == nullptr && size_bytes != 0)) return PH_ERR_ARGUMENT;
  *count = 0;
  return in_stream(stream,
                   "stream_write: this way was ended, or the peer closed, was lost or refused",
                   [&](photon::stream::End& end) {
                     return end.write({static_cast<const std::byte*>(data), size_bytes}, *count);
                   });
}

ph_status ph_stream_shutdown(ph_stream* stream) {
  return in_stream(stream,
                   "stream_shutdown: this way has ended, or the peer has closed or was lost",
                   [](photon::stream::End& end) { return end.shut_down(); });
}

ph_status ph_stream_wait(ph_stream* stream, uint32_t wanted, uint32_t* ready, int64_t timeout_us) {
  constexpr std::uint32_t kAll = PH_STREAM_READABLE | PH_STREAM_WRITABLE;
  if (stream == nullptr || wanted == 0 || (wanted & ~kAll) != 0 || timeout_us < 0)
    return PH_ERR_ARGUMENT;
  std::uint32_t found = 0;
  const ph_status status = stream->streams.wait(*stream, wanted, found, timeout_us);
  if (ready != nullptr) *ready = found;
  return status;
}

ph_status ph_stream_close(ph_stream* stream) {
  if (stream == nullptr) return PH_OK;
  return in_streams(&stream->streams, [&](ph_streams& all) { return all.close(*stream); });
}

}  // extern "C"
