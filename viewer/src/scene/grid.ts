import { BufferAttribute, BufferGeometry, Color, Group, LineBasicMaterial, LineSegments, Mesh, PlaneGeometry, ShadowMaterial } from "three";
import { niceBelow } from "../units.js";
import { softShadows, SUNLIGHT } from "./sunlight.js";

const CELLS = 20; // on each side of the middle

const FLOOR = `
uniform vec3 color;
uniform float opacity;
#include <common>
#include <lights_pars_begin>
#include <shadowmap_pars_fragment>
${SUNLIGHT}
void main() {
  gl_FragColor = vec4( color, opacity * ( 1.0 - sunlight() ) );
  #include <colorspace_fragment>
}
`;

// A square grid on the ground, the world's x and y axes in colour, and the shadow that falls on it.
export class Grid {
  readonly object = new Group();
  readonly cell: number; // m
  private readonly lines: LineBasicMaterial;

  // floor: whether shadows fall on the plane of the grid; not where a body lies there.
  constructor(size: number, center: readonly [number, number], height: number, floor: boolean) {
    this.cell = niceBelow(size / 8);
    const middle = center.map((value) => Math.round(value / this.cell)) as [number, number];
    this.lines = new LineBasicMaterial({ transparent: true, opacity: 0.5, depthWrite: false });
    this.object.add(new LineSegments(this.segments(middle, null), this.lines));
    for (const [axis, color] of [[0, 0xd0453f], [1, 0x3f9a45]] as const) {
      const material = new LineBasicMaterial({ color, transparent: true, depthWrite: false });
      this.object.add(new LineSegments(this.segments(middle, axis), material));
    }
    if (floor) this.object.add(this.floor(middle));
    this.object.position.z = height;
  }

  setColor(color: Color): void {
    this.lines.color = color;
  }

  private floor(middle: [number, number]): Mesh {
    const extent = 2 * CELLS * this.cell;
    const material = new ShadowMaterial({ opacity: 0.3, depthWrite: false });
    material.onBeforeCompile = (shader) => {
      shader.uniforms["softShadows"] = softShadows;
      shader.fragmentShader = FLOOR;
    };
    const floor = new Mesh(new PlaneGeometry(extent, extent), material);
    floor.position.set(middle[0] * this.cell, middle[1] * this.cell, 0);
    floor.receiveShadow = true;
    floor.renderOrder = -1;
    return floor;
  }

  // Lines of the grid without the axes (axis null), or the part of one axis that the grid covers.
  private segments(middle: [number, number], axis: 0 | 1 | null): BufferGeometry {
    const points: number[] = [];
    for (const along of [0, 1] as const) {
      const across = 1 - along;
      for (let i = -CELLS; i <= CELLS; i++) {
        const number = middle[across]! + i;
        if (axis === null ? number === 0 : number !== 0 || along !== axis) continue;
        for (const end of [-CELLS, CELLS]) {
          const point = [0, 0, 0];
          point[along] = (middle[along] + end) * this.cell;
          point[across] = number * this.cell;
          points.push(...point);
        }
      }
    }
    return new BufferGeometry().setAttribute("position", new BufferAttribute(Float32Array.from(points), 3));
  }
}
