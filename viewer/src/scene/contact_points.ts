import { BufferAttribute, BufferGeometry, DynamicDrawUsage, Points, PointsMaterial } from "three";
import type { Body, Recording } from "../data/recording.js";

const SIZE = 7; // CSS pixels

// A point at each surface vertex that a contact force acts on.
export class ContactPoints {
  readonly object: Points<BufferGeometry, PointsMaterial>;

  constructor(private readonly recording: Recording) {
    this.object = new Points(new BufferGeometry(), new PointsMaterial({ color: 0x111111, size: SIZE, sizeAttenuation: false, depthTest: false, transparent: true, opacity: 0.85 }));
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
