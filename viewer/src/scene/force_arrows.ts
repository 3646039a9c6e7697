import { ConeGeometry, CylinderGeometry, Group, Mesh, MeshBasicMaterial, Quaternion, Vector3, type BufferGeometry } from "three";
import { norm, pointOfAction, vectorAt, type Vector } from "../data/line_of_action.js";
import type { Recording } from "../data/recording.js";
import { niceBelow } from "../units.js";

export const NORMAL_COLOR = 0x2f7de1;
export const FRICTION_COLOR = 0xe8731a;

const UP = new Vector3(0, 1, 0);
const WIDTH = 0.008; // of the scene's size
const HEAD = 0.05; // length of a head, of the scene's size, and at most half of its arrow

// Arrows of the contact forces on one body: each on its line of action, normal and friction apart.
export class ForceArrows {
  readonly object = new Group();
  scale: number; // m of arrow for 1 N
  private readonly arrows: Arrow[] = [];

  constructor(private readonly recording: Recording, private readonly size: number, largest: number) {
    this.scale = niceBelow((0.45 * size) / largest);
  }

  // Makes room for a larger force. True: the scale is another one.
  fit(largestForce: number): boolean {
    const scale = niceBelow((0.45 * this.size) / largestForce);
    if (!(largestForce > 0) || scale === this.scale) return false;
    this.scale = scale;
    return true;
  }

  // The forces on a body at a sample; "" for none.
  show(body: string, sample: number): void {
    const { recording } = this;
    const { normal, normalMoment, friction, frictionMoment } = recording.forces;
    let used = 0;
    for (const pair of recording.pairsOn(body)) {
      const center = this.center(body, sample);
      const near = this.between(body, recording.pairs[pair]!.by, sample);
      const at = sample * recording.pairs.length + pair;
      for (const [forces, moments, color] of [[normal, normalMoment, NORMAL_COLOR], [friction, frictionMoment, FRICTION_COLOR]] as const) {
        const force = vectorAt(forces, at);
        if (norm(force) * this.scale < 1e-3 * this.size) continue;
        const point = pointOfAction(force, vectorAt(moments, at), center, near);
        this.arrow(used++).place(point, force, this.scale, color);
      }
    }
    this.arrows.forEach((arrow, index) => { arrow.object.visible = index < used; });
  }

  get shown(): number {
    return this.arrows.filter((arrow) => arrow.object.visible).length;
  }

  // The frame's origin of a body, about which moments are given: its centre of mass if it moves.
  private center(name: string, sample: number): Vector {
    const { bodies, positions } = this.recording;
    return vectorAt(positions, sample * bodies.length + this.recording.bodyIndex(name));
  }

  // The middle of those of two bodies that move.
  private between(on: string, by: string, sample: number): Vector {
    const centers = [on, by].filter((name) => this.recording.bodies[this.recording.bodyIndex(name)]?.map !== "still")
      .map((name) => this.center(name, sample));
    const [first, second] = [centers[0] ?? this.center(on, sample), centers[1] ?? centers[0] ?? this.center(on, sample)];
    return [0.5 * (first[0] + second[0]), 0.5 * (first[1] + second[1]), 0.5 * (first[2] + second[2])];
  }

  private arrow(index: number): Arrow {
    const known = this.arrows[index];
    if (known) return known;
    const made = new Arrow(this.size);
    this.arrows.push(made);
    this.object.add(made.object);
    return made;
  }
}

// A shaft and a head along +y, turned and stretched to a force; drawn over everything.
class Arrow {
  readonly object = new Group();
  private readonly shaft: Mesh<BufferGeometry, MeshBasicMaterial>;
  private readonly head: Mesh<BufferGeometry, MeshBasicMaterial>;

  constructor(private readonly size: number) {
    const material = new MeshBasicMaterial({ depthTest: false, transparent: true, opacity: 0.92 });
    this.shaft = new Mesh(new CylinderGeometry(1, 1, 1, 10).translate(0, 0.5, 0), material);
    this.head = new Mesh(new ConeGeometry(1, 1, 14).translate(0, 0.5, 0), material);
    this.object.add(this.shaft, this.head);
    this.shaft.renderOrder = this.head.renderOrder = 2;
  }

  // Forces that press end at the point, those that drag begin there.
  place(point: Vector, force: Vector, scale: number, color: number): void {
    const length = norm(force) * scale;
    const head = Math.min(HEAD * this.size, 0.5 * length);
    const width = WIDTH * this.size;
    this.shaft.material.color.set(color);
    this.shaft.scale.set(width, length - head, width);
    this.head.scale.set(0.4 * head, head, 0.4 * head);
    this.head.position.y = length - head;
    this.object.position.set(...point).addScaledVector(new Vector3(...force), color === NORMAL_COLOR ? -scale : 0);
    this.object.quaternion.copy(new Quaternion().setFromUnitVectors(UP, new Vector3(...force).normalize()));
  }
}

// N; 1 where no force acts.
export function largestForce(recording: Recording): number {
  let most = 0;
  for (const forces of [recording.forces.normal, recording.forces.friction]) {
    for (let i = 0; i < forces.length / 3; i++) most = Math.max(most, norm(vectorAt(forces, i)));
  }
  return most > 0 ? most : 1;
}
