import { BufferAttribute, BufferGeometry, GLSL3, LineSegments, ShaderMaterial, type DataTexture } from "three";
import type { Body } from "../data/recording.js";
import { WIDTH, type CageTexture } from "../surface/cage_texture.js";
import { edgesOfMap } from "../surface/embedding.js";

const VERTEX = `
uniform highp sampler2D places;
in uint node;
void main() {
  vec3 place = texelFetch(places, ivec2(int(node % ${WIDTH}u), int(node / ${WIDTH}u)), 0).xyz;
  gl_Position = projectionMatrix * viewMatrix * vec4(place, 1.0);
}`;

const FRAGMENT = `
uniform vec3 color;
out vec4 shown;
void main() { shown = vec4(color, 0.8); }`;

// The edges of the cages that carry surfaces, drawn over them.
export class CageLines {
  readonly object: LineSegments;

  constructor(bodies: readonly Body[], cage: CageTexture, places: DataTexture) {
    const nodes: number[] = [];
    for (const body of bodies) {
      if (body.map !== "embedded") continue;
      const edges = body.edges.length > 0 ? body.edges : edgesOfMap(body.nodes, body.cageSize);
      const offset = cage.offsets.get(body)!;
      for (const node of edges) nodes.push(node + offset);
    }
    const geometry = new BufferGeometry();
    geometry.setAttribute("node", new BufferAttribute(Uint32Array.from(nodes), 1));
    geometry.setAttribute("position", new BufferAttribute(new Float32Array(3 * nodes.length), 3)); // for its count
    const uniforms = { places: { value: places }, color: { value: [0.85, 0.2, 0.55] } };
    const material = new ShaderMaterial({ vertexShader: VERTEX, fragmentShader: FRAGMENT, uniforms, glslVersion: GLSL3,
                                          transparent: true, depthTest: false });
    this.object = new LineSegments(geometry, material);
    this.object.frustumCulled = false;
    this.object.renderOrder = 1;
    this.object.visible = false;
  }

  get empty(): boolean {
    return this.object.geometry.getAttribute("node").count === 0;
  }
}
