#include "interop/mpi/type/datatype.hpp"

#include <array>
#include <utility>

#include "interop/mpi/type/describe.hpp"
#include "interop/mpi/type/layout_builder.hpp"

namespace photon::mpi {

// The value of the attribute.
struct Types::Kept {
  Kept(std::shared_ptr<Count> counted, Layout described, const char* refused) noexcept
      : count(std::move(counted)), layout(std::move(described)), why(refused) {
    count->fetch_add(1, std::memory_order_relaxed);
  }
  ~Kept() { count->fetch_add(static_cast<std::size_t>(-1), std::memory_order_relaxed); }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

  std::shared_ptr<Count> count;
  Layout layout;
  const char* why;  // null: it has a layout
};

Types::Types() : count_(std::make_shared<Count>(std::size_t{0})) {
  // A duplicate of a type works out its own.
  const auto copy_nothing = [](MPI_Datatype, int, void*, void*, void*, int* is_copied) -> int {
    *is_copied = 0;
    return MPI_SUCCESS;
  };
  if (real().Type_create_keyval(copy_nothing, drop, &keyval_, nullptr) != MPI_SUCCESS)
    keyval_ = MPI_KEYVAL_INVALID;
}

Types::~Types() {
  if (keyval_ != MPI_KEYVAL_INVALID) real().Type_free_keyval(&keyval_);
}

int Types::drop(MPI_Datatype /*type*/, int /*keyval*/, void* value, void* /*extra*/) {
  delete static_cast<Kept*>(value);
  return MPI_SUCCESS;
}

const Layout* Types::find(MPI_Datatype type) noexcept {
  if (const auto* named = predefined_.find(type); named != nullptr) return named->layout;
  const Kept* kept = kept_by(type);
  if (kept == nullptr) kept = work_out(type);
  return kept != nullptr && kept->why == nullptr ? &kept->layout : nullptr;
}

const char* Types::refusal(MPI_Datatype type) noexcept {
  if (predefined_.find(type) != nullptr) return "it is no type";
  const Kept* const kept = kept_by(type);
  return kept != nullptr && kept->why != nullptr ? kept->why
                                                 : "there is no memory for what MPI says of it";
}

bool Types::is_predefined(MPI_Datatype type) const noexcept {
  if (predefined_.find(type) != nullptr) return true;
  int combiner = MPI_COMBINER_CONTIGUOUS;
  int counts[3] = {};
  if (real().Type_get_envelope(type, &counts[0], &counts[1], &counts[2], &combiner) != MPI_SUCCESS)
    return false;
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
         combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

std::size_t Types::layouts_count() const noexcept {
  return count_->load(std::memory_order_relaxed);
}

const Types::Kept* Types::kept_by(MPI_Datatype type) const noexcept {
  void* value = nullptr;
  int is_there = 0;
  if (real().Type_get_attr(type, keyval_, &value, &is_there) != MPI_SUCCESS || is_there == 0)
    return nullptr;
  return static_cast<const Kept*>(value);
}

const Types::Kept* Types::work_out(MPI_Datatype type) noexcept {
  const std::lock_guard lock(mutex_);
  if (const Kept* const kept = kept_by(type); kept != nullptr) return kept;  // another thread did
  try {
    Layout layout;
    const char* why = nullptr;
    try {
      layout = describe(type, predefined_);
    } catch (const Refused& refused) {
      why = refused.why;
    }
    auto kept = std::make_unique<Kept>(count_, std::move(layout), why);
    if (real().Type_set_attr(type, keyval_, kept.get()) != MPI_SUCCESS) return nullptr;
    return kept.release();
  } catch (...) {
    return nullptr;
  }
}

Op op_of(MPI_Op op) noexcept {
  struct Named {
    MPI_Op handle;
    Op op;
  };
  static const std::array<Named, 14> all{{{MPI_SUM, Op::sum},
                                          {MPI_REPLACE, Op::replace},
                                          {MPI_NO_OP, Op::no_op},
                                          {MPI_MAX, Op::max},
                                          {MPI_MIN, Op::min},
                                          {MPI_PROD, Op::prod},
                                          {MPI_LAND, Op::land},
                                          {MPI_LOR, Op::lor},
                                          {MPI_LXOR, Op::lxor},
                                          {MPI_BAND, Op::band},
                                          {MPI_BOR, Op::bor},
                                          {MPI_BXOR, Op::bxor},
                                          {MPI_MINLOC, Op::minloc},
                                          {MPI_MAXLOC, Op::maxloc}}};
  for (const Named& named : all)
    if (named.handle == op) return named.op;
  return Op::none;
}

MPI_Datatype type_of(Basic basic) noexcept {
  switch (basic) {
    case Basic::int8: return MPI_INT8_T;
    case Basic::int16: return MPI_SHORT;
    case Basic::int32: return MPI_INT;
    case Basic::int64: return MPI_LONG;
    case Basic::uint8: return MPI_UINT8_T;
    case Basic::uint16: return MPI_UNSIGNED_SHORT;
    case Basic::uint32: return MPI_UNSIGNED;
    case Basic::uint64: return MPI_UNSIGNED_LONG;
    case Basic::float32: return MPI_FLOAT;
    case Basic::float64: return MPI_DOUBLE;
    case Basic::extended: return MPI_LONG_DOUBLE;
    case Basic::complex32: return MPI_C_FLOAT_COMPLEX;
    case Basic::complex64: return MPI_C_DOUBLE_COMPLEX;
    case Basic::complex_extended: return MPI_C_LONG_DOUBLE_COMPLEX;
    case Basic::logical8: return MPI_C_BOOL;
    case Basic::logical32: return MPI_LOGICAL;
    case Basic::byte: return MPI_BYTE;
    case Basic::opaque8: return MPI_CHAR;
    case Basic::opaque32: return MPI_WCHAR;
    case Basic::float_int: return MPI_FLOAT_INT;
    case Basic::double_int: return MPI_DOUBLE_INT;
    case Basic::long_int: return MPI_LONG_INT;
    case Basic::int_int: return MPI_2INT;
    case Basic::short_int: return MPI_SHORT_INT;
    case Basic::extended_int: return MPI_LONG_DOUBLE_INT;
    case Basic::float_float: return MPI_2REAL;
    case Basic::double_double: return MPI_2DOUBLE_PRECISION;
    case Basic::none: break;
  }
  return MPI_DATATYPE_NULL;
}

}  // namespace photon::mpi
