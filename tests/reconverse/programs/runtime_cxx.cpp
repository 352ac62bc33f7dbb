// A runtime whose allocator has names of C++.
#include "chunks.hpp"

void* CmiAlloc(int size_bytes);

void* CmiAlloc(int size_bytes) { return photon::test::allocate_chunk(size_bytes); }
