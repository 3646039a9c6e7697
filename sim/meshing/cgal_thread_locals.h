#ifndef EIPC_SIM_MESHING_CGAL_THREAD_LOCALS_H_
#define EIPC_SIM_MESHING_CGAL_THREAD_LOCALS_H_

// Included before everything else in units that triangulate (CMakeLists.txt).
//
// CGAL keeps 32 KiB of scratch for each kind of triangulation in static thread-local storage, which is cut from the stack of every
// thread of the process: with three kinds, a thread of 100 KiB cannot be started, and those that serve metrics are. On the heap it
// is allocated by the threads that use it.

#include <CGAL/config.h>
#include <CGAL/tss.h>

#include <memory>

#undef CGAL_STATIC_THREAD_LOCAL_VARIABLE_0
#define CGAL_STATIC_THREAD_LOCAL_VARIABLE_0(TYPE, VAR)                         \
  static thread_local const std::unique_ptr<TYPE> eipc_heap_##VAR(new TYPE()); \
  TYPE& VAR = *eipc_heap_##VAR

#endif  // EIPC_SIM_MESHING_CGAL_THREAD_LOCALS_H_
