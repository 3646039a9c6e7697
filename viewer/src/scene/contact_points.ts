import { BufferAttribute, BufferGeometry, DynamicDrawUsage, Points, PointsMaterial } from "three";
import type { Body, Recording } from "../data/recording.js";

const SIZE = 6; // CSS pixels

// A point at each vertex of bodies that move that a contact force acts on. Vertices of still bodies, which may have few, can be far from
// their contacts.
export class ContactPoints {
  readonly object: Points<BufferGeometry, PointsMaterial>;

  constructor(private readonly recording: Recording) {
    this.object = new Points(new BufferGeometry(), roundMaterial());
    this.object.frustumCulled = false;
    this.object.renderOrder = 1;
    this.object.visible = false;
  }

  get shown(): number {
    return this.object.visible ? this.object.geometry.drawRange.count : 0;
  }

  show(sample: number): void {
    if (!this.object.visible) return;
    const places: number[] = [];
    for (const body of this.recording.bodies) {
      if (body.map === "still") continue;
      for (const vertex of this.recording.touch.tractions(body.index, sample)?.vertices ?? []) places.push(...placeOf(body, vertex, sample));
    }
    const { geometry } = this.object;
    const known = geometry.getAttribute("position") as BufferAttribute | undefined;
    if (!known || known.array.length < places.length) {
      geometry.dispose();
      geometry.setAttribute("position", new BufferAttribute(new Float32Array(2 * places.length + 3), 3).setUsage(DynamicDrawUsage));
    }
    const position = geometry.getAttribute("position") as BufferAttribute;
    position.array.set(places);
    position.needsUpdate = true;
    geometry.setDrawRange(0, places.length / 3);
  }
}

// Dark discs with a light rim, which are seen before dark and light surfaces.
function roundMaterial(): PointsMaterial {
  const material = new PointsMaterial({ color: 0x111111, size: SIZE, sizeAttenuation: false, depthTest: false, transparent: true });
  material.onBeforeCompile = (shader) => {
    shader.fragmentShader = shader.fragmentShader.replace("#include <color_fragment>", `#include <color_fragment>
float fromMiddle = length(gl_PointCoord - 0.5);
if (fromMiddle > 0.5) discard;
if (fromMiddle > 0.32) diffuseColor.rgb = vec3(0.95);`);
  };
  return material;
}

// Where a vertex of a body is at a sample.
export function placeOf(body: Body, vertex: number, sample: number): [number, number, number] {
  if (body.map === "still") return [body.cage[3 * vertex]!, body.cage[3 * vertex + 1]!, body.cage[3 * vertex + 2]!];
  const out: [number, number, number] = [0, 0, 0];
  for (let i = 4 * vertex; i < 4 * vertex + 4; i++) {
    const from = 3 * (sample * body.cageSize + body.nodes[i]!);
    for (let k = 0; k < 3; k++) out[k]! += body.weights[i]! * body.cage[from + k]!;
  }
  return out;
}
