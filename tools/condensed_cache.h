#ifndef EIPC_TOOLS_CONDENSED_CACHE_H_
#define EIPC_TOOLS_CONDENSED_CACHE_H_

namespace eipc {

// Scenes that this process compiles from now on keep the stiffnesses of condensed cages in the cache of finished cages
// (cage_cache.h), one entry for each object, cage, material and build of the program.
void UseCondensedCache();

}  // namespace eipc

#endif  // EIPC_TOOLS_CONDENSED_CACHE_H_
