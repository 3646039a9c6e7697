import assert from "node:assert/strict";
import { test } from "node:test";
import { topOf, vertexValues } from "../../src/scene/heat.js";
import { LiveTouch } from "../../src/live/live_touch.js";
import { create } from "@bufbuild/protobuf";
import { DataType, NdArraySchema } from "../../src/proto/eipc/v1/geometry_pb.js";
import { ObservationSchema, type Observation } from "../../src/proto/eipc/v1/observation_pb.js";
import { madeRecording } from "./made.js";

// Two touched vertices at sample 1; the stress of the one element is 500 Pa, then infinite.
const recording = madeRecording([0, 0.1, 0.2], (maker) => {
  maker.add("traction_begin_0", "u32", [4], Uint32Array.of(0, 0, 2, 2)).add("traction_vertices_0", "u32", [2], Uint32Array.of(1, 3));
  maker.add("normal_traction_pa_0", "f32", [2], Float32Array.of(100, 300)).add("friction_traction_pa_0", "f32", [2], Float32Array.of(50, 60));
  maker.add("elements_0", "u32", [1, 4], Uint32Array.of(0, 1, 2, 3)).add("von_mises_pa_0", "f32", [3, 1], Float32Array.of(0, 500, Infinity));
});
const [body, other] = [recording.bodies[0]!, recording.bodies[1]!];

test("tractions are values of the vertices that a contact acts on", () => {
  assert.deepEqual([...vertexValues(recording, body, "pressure", 1)!], [0, 100, 0, 300]);
  assert.deepEqual([...vertexValues(recording, body, "friction", 1)!], [0, 50, 0, 60]);
  const ratio = vertexValues(recording, body, "ratio", 1)!;
  assert.ok(Math.abs(ratio[1]! - 0.5) < 1e-6 && Math.abs(ratio[3]! - 0.2) < 1e-6);
  assert.deepEqual([...vertexValues(recording, body, "pressure", 2)!], [0, 0, 0, 0]);
  assert.equal(vertexValues(recording, other, "pressure", 1), null);
});

test("slip speeds are offered and shown where they were observed", () => {
  assert.equal(recording.touch.holds.vertexSlips, false);
  assert.equal(vertexValues(recording, body, "slip", 1), null);
  const slid = madeRecording([0, 0.1], (maker) => {
    maker.add("traction_begin_0", "u32", [3], Uint32Array.of(0, 0, 2)).add("traction_vertices_0", "u32", [2], Uint32Array.of(1, 3));
    maker.add("normal_traction_pa_0", "f32", [2], Float32Array.of(100, 300)).add("friction_traction_pa_0", "f32", [2], Float32Array.of(0, 0));
    maker.add("slip_speed_m_s_0", "f32", [2], Float32Array.of(0.25, 0.5));
  });
  assert.equal(slid.touch.holds.vertexSlips, true);
  assert.deepEqual([...vertexValues(slid, slid.bodies[0]!, "slip", 1)!], [0, 0.25, 0, 0.5]);
  assert.equal(topOf(slid, "slip", 1, ""), 0.5);
});

test("a uniform stress is that of every vertex, an inverted element has none", () => {
  for (const value of vertexValues(recording, body, "stress", 1)!) assert.ok(Math.abs(value - 500) < 1e-3);
  assert.ok(vertexValues(recording, body, "stress", 2)!.every((value) => value === 0));
  assert.equal(topOf(recording, "stress", 1, ""), 500);
  assert.equal(topOf(madeRecording([0, 1]), "pressure", 0, ""), 1);
});

test("the scale of stresses ends where the shown ones do, which are means at the nodes", () => {
  const peaks = madeRecording([0], (maker) => {
    maker.add("elements_0", "u32", [2, 4], Uint32Array.of(0, 1, 2, 3, 0, 1, 2, 3)).add("von_mises_pa_0", "f32", [1, 2], Float32Array.of(1000, 0));
  });
  assert.equal(topOf(peaks, "stress", 0, ""), 500);
});

test("the shown sample sets the scale of stresses, whatever other moments hold; all samples set that of pressures", () => {
  const grown = madeRecording([0, 0.1], (maker) => {
    maker.add("elements_0", "u32", [1, 4], Uint32Array.of(0, 1, 2, 3)).add("von_mises_pa_0", "f32", [2, 1], Float32Array.of(180, 90000));
    maker.add("traction_begin_0", "u32", [3], Uint32Array.of(0, 1, 2)).add("traction_vertices_0", "u32", [2], Uint32Array.of(1, 3));
    maker.add("normal_traction_pa_0", "f32", [2], Float32Array.of(90, 900)).add("friction_traction_pa_0", "f32", [2], Float32Array.of(0, 0));
  });
  assert.equal(topOf(grown, "stress", 0, ""), 200);
  assert.equal(topOf(grown, "stress", 1, ""), 100000);
  assert.equal(topOf(grown, "pressure", 0, ""), topOf(grown, "pressure", 1, ""));
});

test("the chosen body sets the scale of stresses, all of them where it has none", () => {
  const two = madeRecording([0], (maker) => {
    for (const [index, stress] of [[0, 400], [1, 90000]] as const) {
      maker.add(`elements_${index}`, "u32", [1, 4], Uint32Array.of(0, 1, 2, 2)).add(`von_mises_pa_${index}`, "f32", [1, 1], Float32Array.of(stress));
    }
  });
  assert.equal(topOf(two, "stress", 0, two.bodies[0]!.name), 500);
  assert.equal(topOf(two, "stress", 0, two.bodies[1]!.name), 100000);
  assert.equal(topOf(two, "stress", 0, ""), 100000);
});

const floats = (values: number[], shape: number[]) => create(NdArraySchema, { dtype: DataType.FLOAT32, shape: shape.map(BigInt), data: new Uint8Array(Float32Array.from(values).buffer) });
function felt(force: number): Observation {
  const contactTractions = { vertices: { dtype: DataType.INT32, shape: [1n], data: new Uint8Array(Int32Array.of(7).buffer) },
    normalForceN: floats([0, 0, force], [1, 3]), frictionForceN: floats([3, 4, 0], [1, 3]), areaM2: floats([0.5], [1]), slipVelocityMS: floats([0, 3, 4], [1, 3]) };
  return create(ObservationSchema, { bodies: [{ name: "a", contactTractions }], slips: [{ body: "a", other: "b", velocityMS: { x: 0.3, y: 0.4, z: 0 }, sticking: 0.5 }] });
}

test("live observations are kept by sample, and forgotten with them", () => {
  const touch = new LiveTouch();
  const index = (name: string): number => (name === "a" ? 0 : -1);
  for (const [at, force] of [10, 20, 30].entries()) touch.write(felt(force), at, index);
  assert.deepEqual([...touch.tractions(0, 1)!.normal], [40]);
  assert.deepEqual([...touch.tractions(0, 1)!.friction], [10]);
  assert.deepEqual([...touch.tractions(0, 1)!.slip!], [5]);
  assert.equal(touch.tractions(1, 1), null);
  assert.deepEqual(touch.slip({ on: "b", by: "a" }, 0), { speed: 0.5, sticking: 0.5 });
  touch.forget(1);
  assert.deepEqual([...touch.tractions(0, 1)!.normal], [60]);
  assert.equal(touch.tractions(0, 2), null);
  touch.write(felt(50), 0, index); // begun anew
  assert.deepEqual([...touch.tractions(0, 0)!.normal], [100]);
  assert.equal(touch.tractions(0, 1), null);
});
