import type { Color } from "three";
import type { Body, Recording } from "../data/recording.js";
import { BodyMesh } from "../surface/body_mesh.js";
import { CageTexture } from "../surface/cage_texture.js";
import { boundsOf, groundHeight, union, withRoomAbove, type Bounds } from "./bounds.js";
import { CageLines } from "./cage_lines.js";
import { ContactPoints } from "./contact_points.js";
import { ForceArrows, largestForce } from "./force_arrows.js";
import { Grid } from "./grid.js";
import { QUANTITIES, topOf, vertexValues, type Quantity } from "./heat.js";
import { Stage } from "./stage.js";

export interface Parts {
  readonly forces: boolean;
  readonly cage: boolean;
  readonly grid: boolean;
  readonly body: string; // whose forces
  readonly points?: boolean; // where contacts act
  readonly heat?: Quantity | null; // what surfaces are coloured by
  readonly through?: boolean; // other bodies that move are seen through
}

// What two pictures have in common, so that they can be compared by eye.
export interface Frame {
  readonly bounds: Bounds;
  readonly largestForce: number; // N; the arrows' scale follows
}

export function frameOf(...recordings: readonly Recording[]): Frame {
  return { bounds: union(recordings.map(boundsOf)), largestForce: Math.max(...recordings.map(largestForce)) };
}

// Of a session that goes on.
export function liveFrameOf(recording: Recording): Frame {
  return { bounds: withRoomAbove(boundsOf(recording)), largestForce: largestForce(recording) };
}

// The recording in three dimensions.
export class Picture {
  readonly stage: Stage;
  private readonly cage: CageTexture;
  private readonly meshes: BodyMesh[];
  private readonly arrows: ForceArrows;
  private readonly lines: CageLines;
  private readonly grid: Grid;
  private readonly points: ContactPoints;
  heat: Quantity | null = null;
  heatTop = 1; // the end of the scale of colours
  // Of bodies that move.
  readonly extent: { readonly triangles: number; readonly nodes: number; readonly vertices: number };
  private body = "";
  sample = 0;

  constructor(canvas: HTMLCanvasElement, readonly recording: Recording, readonly frame: Frame = frameOf(recording)) {
    const { bounds } = frame;
    this.stage = new Stage(canvas, bounds);
    const { size } = this.stage;
    const moving = recording.bodies.filter((body) => body.map !== "still");
    this.cage = new CageTexture(moving);
    const total = (of: (body: Body) => number): number => moving.reduce((sum, body) => sum + of(body), 0);
    this.extent = { triangles: total((b) => b.triangles.length / 3), nodes: total((b) => b.cageSize), vertices: total((b) => b.nodes.length / 4) };
    const places = { now: this.cage.texture, start: new CageTexture(moving).texture };
    this.meshes = recording.bodies.map((body) => new BodyMesh(body, this.cage, places));
    this.arrows = new ForceArrows(recording, size, frame.largestForce);
    this.lines = new CageLines(moving, this.cage, this.cage.texture);
    this.points = new ContactPoints(recording);
    const center = [0, 1].map((k) => 0.5 * (bounds.low[k]! + bounds.high[k]!)) as [number, number];
    this.grid = new Grid(size, center, groundHeight(recording, size), moving.length === recording.bodies.length);
    for (const part of [...this.meshes, this.arrows, this.lines, this.grid, this.points]) this.stage.add(part.object);
  }

  get cell(): number {
    return this.grid.cell;
  }

  get metersPerNewton(): number {
    return this.arrows.scale;
  }

  get hasCages(): boolean {
    return !this.lines.empty;
  }

  // Arrows in the picture.
  get arrowsShown(): number {
    return this.arrows.object.visible ? this.arrows.shown : 0;
  }

  get pointsShown(): number {
    return this.points.shown;
  }

  // Another scale of arrows, when a force would be too long for the present one.
  fitForces(largest: number): boolean {
    return this.arrows.fit(largest);
  }

  show(sample: number): void {
    this.sample = sample;
    this.cage.write(sample);
    for (const mesh of this.meshes) mesh.show(sample);
    this.arrows.show(this.body, sample);
    this.points.show(sample);
    this.paint();
    this.stage.invalidate();
  }

  // Draws what the bodies' cages hold into one of columns x rows tiles, for the stage's `paint`.
  showTile(column: number, row: number, columns: number, rows: number): void {
    this.cage.write(0);
    for (const mesh of this.meshes) mesh.show(0);
    this.stage.renderTile(column, row, columns, rows);
  }

  showParts(parts: Parts): void {
    this.body = parts.body;
    this.arrows.object.visible = parts.forces;
    this.lines.object.visible = parts.cage;
    this.grid.object.visible = parts.grid;
    this.arrows.show(this.body, this.sample);
    this.points.object.visible = parts.points ?? false;
    this.points.show(this.sample);
    this.recording.bodies.forEach((body, index) => {
      this.meshes[index]!.setGhost(parts.through === true && parts.body !== "" && body.name !== parts.body && body.map !== "still");
    });
    this.choose(parts.heat ?? null);
    this.stage.invalidate();
  }

  // Another end of the scale of colours: where a recording has grown, or two are compared.
  fitHeat(top: number): void {
    this.heatTop = top;
    this.paint();
    this.stage.invalidate();
  }

  private choose(heat: Quantity | null): void {
    this.heat = heat;
    this.heatTop = heat ? topOf(this.recording, heat, this.sample, this.body) : 1;
    this.paint();
  }

  private paint(): void {
    for (const [index, mesh] of this.meshes.entries()) {
      const body = this.recording.bodies[index]!;
      mesh.paint(this.heat ? vertexValues(this.recording, body, this.heat, this.sample) : null, this.heatTop, this.heat !== null && QUANTITIES[this.heat].everywhere);
    }
  }

  setColors(colors: { readonly sky: Color; readonly grid: Color; readonly ground: Color }): void {
    this.stage.setBackground(colors.sky);
    this.grid.setColor(colors.grid);
    this.recording.bodies.forEach((body, index) => { if (body.map === "still") this.meshes[index]!.setColor(colors.ground); });
  }
}
