import { BufferAttribute, BufferGeometry, DynamicDrawUsage, Mesh, type Color, type MeshLambertMaterial, type Object3D } from "three";
import type { Body } from "../data/recording.js";
import type { CageTexture } from "./cage_texture.js";
import { surfacePositions, withTetrahedra } from "./embedding.js";
import { cageDepthMaterial, cageMaterial, stillMaterial, type CagePlaces, type HeatShown } from "./material.js";
import { smooth, writeNormals } from "./smoothing.js";

const COLORS = [0xd2a36b, 0x6f9ecb, 0xc76b6b, 0x77ad77, 0xa78fc4, 0xc4b86b] as const;
const STILL = 0xd3d5d8;
const GHOST_OPACITY = 0.25;

export function colorOf(body: Body): number {
  return body.map === "still" ? STILL : COLORS[body.index % COLORS.length]!;
}

// The surface of a body and how it follows the sample that is shown.
export class BodyMesh {
  readonly object: Object3D;
  private readonly update: ((sample: number) => void) | null;
  private readonly material: MeshLambertMaterial;
  private readonly shadow: boolean;
  private readonly heatShown: HeatShown = { value: 0 };
  private readonly heat: BufferAttribute;
  private readonly vertex: Uint32Array; // [d] surface vertex of each drawn vertex

  constructor(body: Body, cage: CageTexture, places: CagePlaces) {
    const made = body.map === "still" ? stillMesh(body, this.heatShown) : movingMesh(body, cage, places, this.heatShown);
    this.vertex = made.vertex;
    this.heat = new BufferAttribute(new Float32Array(this.vertex.length), 1);
    made.mesh.geometry.setAttribute("heat", this.heat);
    this.object = made.mesh;
    this.material = made.mesh.material;
    this.update = made.update;
    made.mesh.name = body.name;
    this.shadow = made.mesh.castShadow = body.map !== "still";
    made.mesh.receiveShadow = true;
  }

  show(sample: number): void {
    this.update?.(sample);
  }

  // Whether what lies behind the body is seen through it; then it casts no shadow on that.
  setGhost(ghost: boolean): void {
    this.object.castShadow = this.shadow && !ghost;
    this.material.transparent = ghost;
    this.material.opacity = ghost ? GHOST_OPACITY : 1;
    this.material.depthWrite = !ghost;
    this.material.needsUpdate = true;
  }

  setColor(color: Color): void {
    this.material.color.copy(color);
  }

  // Colours the surface by values [n] of its vertices, as shares of the scale's end; null: by none. everywhere: also where they are 0.
  paint(values: Float32Array | null, top: number, everywhere: boolean): void {
    this.heatShown.value = values ? (everywhere ? 2 : 1) : 0;
    if (!values) return;
    this.vertex.forEach((vertex, i) => { this.heat.array[i] = values[vertex]! / top; });
    this.heat.needsUpdate = true;
  }
}

interface Made {
  readonly mesh: Mesh<BufferGeometry, MeshLambertMaterial>;
  readonly update: ((sample: number) => void) | null;
  readonly vertex: Uint32Array;
}

function stillMesh(body: Body, heat: HeatShown): Made {
  const smoothing = smooth(body.triangles, body.cage);
  const normals = new Float32Array(3 * smoothing.vertex.length);
  writeNormals(normals, body.triangles, smoothing, body.cage);
  const geometry = new BufferGeometry();
  const material = stillMaterial(colorOf(body), heat);
  material.polygonOffset = true; // behind the lines of a grid that lies in it
  material.polygonOffsetFactor = 1;
  material.polygonOffsetUnits = 8;
  geometry.setAttribute("position", new BufferAttribute(rows(body.cage, smoothing.vertex, 3), 3));
  geometry.setAttribute("normal", new BufferAttribute(normals, 3));
  geometry.setIndex(new BufferAttribute(smoothing.corner, 1));
  return { mesh: new Mesh(geometry, material), update: null, vertex: smoothing.vertex };
}

function movingMesh(body: Body, cage: CageTexture, places: CagePlaces, heat: HeatShown): Made {
  const start = surfacePositions(body, body.cage, 0);
  const smoothing = smooth(body.triangles, start);
  const normals = new Float32Array(3 * smoothing.vertex.length);
  writeNormals(normals, body.triangles, smoothing, start);
  const whole = body.map === "embedded" ? withTetrahedra(body) : null;
  const offset = cage.offsets.get(body)!;
  const nodes = rows(whole?.nodes ?? body.nodes, smoothing.vertex, 4).map((node) => node + offset);
  const geometry = new BufferGeometry();
  const normal = new BufferAttribute(normals, 3);
  geometry.setAttribute("position", new BufferAttribute(rows(start, smoothing.vertex, 3), 3)); // for its count: the shader places vertices
  geometry.setAttribute("normal", normal);
  geometry.setAttribute("cageNodes", new BufferAttribute(nodes, 4));
  geometry.setAttribute("cageWeights", new BufferAttribute(rows(whole?.weights ?? body.weights, smoothing.vertex, 4), 4));
  geometry.setIndex(new BufferAttribute(smoothing.corner, 1));
  const mesh = new Mesh(geometry, cageMaterial(colorOf(body), places, whole !== null, heat));
  mesh.customDepthMaterial = cageDepthMaterial(places);
  mesh.frustumCulled = false;
  const { vertex } = smoothing;
  if (whole) return { mesh, update: null, vertex };
  normal.setUsage(DynamicDrawUsage);
  const update = (sample: number): void => {
    writeNormals(normals, body.triangles, smoothing, surfacePositions(body, body.cage, 3 * sample * body.cageSize));
    normal.needsUpdate = true;
  };
  return { mesh, update, vertex };
}

function rows<T extends Float32Array | Uint32Array>(values: T, which: Uint32Array, width: number): T {
  const out = new (values.constructor as new (count: number) => T)(width * which.length);
  which.forEach((row, i) => {
    for (let k = 0; k < width; k++) out[width * i + k] = values[width * row + k]!;
  });
  return out;
}
