// The calls of the real MPI that this library makes itself, by their names without "PMPI_".
#pragma once

// Those of MPI 4 for counts that an int does not hold; null where the MPI that is loaded is older.
#if MPI_VERSION >= 4
#define PHOTON_MPI_REAL_LARGE(X) \
  X(Type_get_contents_c)         \
  X(Type_get_envelope_c)
#else
#define PHOTON_MPI_REAL_LARGE(X)
#endif

#define PHOTON_MPI_REAL(X) \
  X(Abort)                 \
  X(Add_error_code)        \
  X(Add_error_string)      \
  X(Allgather)             \
  X(Alloc_mem)             \
  X(Allreduce)             \
  X(Barrier)               \
  X(Comm_call_errhandler)  \
  X(Comm_create_group)     \
  X(Comm_create_keyval)    \
  X(Comm_dup)              \
  X(Comm_free)             \
  X(Comm_free_keyval)      \
  X(Comm_get_attr)         \
  X(Comm_group)            \
  X(Comm_rank)             \
  X(Comm_set_attr)         \
  X(Comm_set_errhandler)   \
  X(Comm_size)             \
  X(Comm_split_type)       \
  X(Comm_test_inter)       \
  X(Error_class)           \
  X(Finalized)             \
  X(Free_mem)              \
  X(Get_library_version)   \
  X(Grequest_complete)     \
  X(Grequest_start)        \
  X(Group_compare)         \
  X(Group_free)            \
  X(Group_size)            \
  X(Group_translate_ranks) \
  X(Iallreduce)            \
  X(Info_create)           \
  X(Info_free)             \
  X(Info_get)              \
  X(Info_set)              \
  X(Initialized)           \
  X(Iprobe)                \
  X(Op_create)             \
  X(Op_free)               \
  X(Pack)                  \
  X(Pack_size)             \
  X(Query_thread)          \
  X(Status_set_cancelled)  \
  X(Status_set_elements)   \
  X(Test)                  \
  X(Type_commit)           \
  X(Type_contiguous)       \
  X(Type_create_keyval)    \
  X(Type_free)             \
  X(Type_free_keyval)      \
  X(Type_get_attr)         \
  X(Type_get_contents)     \
  X(Type_get_envelope)     \
  X(Type_get_extent)       \
  X(Type_get_true_extent)  \
  X(Type_set_attr)         \
  X(Type_size)             \
  X(Type_size_x)           \
  X(Unpack)                \
  X(Win_allocate)          \
  X(Win_call_errhandler)   \
  X(Win_create)            \
  X(Win_create_keyval)     \
  X(Win_delete_attr)       \
  X(Win_free)              \
  X(Win_free_keyval)       \
  X(Win_get_attr)          \
  X(Win_get_group)         \
  X(Win_get_info)          \
  X(Win_set_attr)          \
  PHOTON_MPI_REAL_LARGE(X)
