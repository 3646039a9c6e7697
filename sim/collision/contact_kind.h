#ifndef EIPC_SIM_COLLISION_CONTACT_KIND_H_
#define EIPC_SIM_COLLISION_CONTACT_KIND_H_

namespace eipc {

// The pairs of primitives that collide: a vertex and a triangle {p, t0, t1, t2}, or two edges {a0, a1, b0, b1}.
enum class ContactKind { kPointTriangle, kEdgeEdge };

}  // namespace eipc

#endif  // EIPC_SIM_COLLISION_CONTACT_KIND_H_
