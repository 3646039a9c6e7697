#ifndef EIPC_MODELS_DISHES_H_
#define EIPC_MODELS_DISHES_H_

// What models/scenes/finray_plate*.textproto need besides fingers. Closed triangle surfaces in metres, z up.

#include "sim/mesh/mesh_data.h"

namespace eipc {

// A plate of 0.2 m and 2.7 to 3 mm with a raised rim, its axis along x, the hollow side towards +x: a flat disc of radius 0.06 m
// from x = 0 to 0.003 m, and a rim that rises by 0.005 m.
MeshData DinnerPlate();

// A dish rack of 4 mm wires: two runners along x on which plates stand (their tops at z = 0.03 m), seven wires with tines of 65 mm
// across them, which bound six slots of 24 mm along x centred at 0, two wires as feet. Wires lie 0.3 mm apart where they cross.
MeshData DishRack();

// A block with a groove along y of 12 mm, 40 mm deep, on z = 0, in which a plate stands.
MeshData PlateStand();

}  // namespace eipc

#endif  // EIPC_MODELS_DISHES_H_
