import { PerspectiveCamera, Scene, Vector3, type Color, type Object3D } from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import type { View } from "../link.js";
import type { Bounds } from "./bounds.js";
import { Painter } from "./painter.js";
import { makeLights } from "./sunlight.js";

const FIELD_OF_VIEW = 30; // degrees, of the shorter side of the picture

// Lights, camera and its controls. Draws only when something changed.
export class Stage {
  readonly scene = new Scene();
  readonly camera: PerspectiveCamera;
  readonly controls: OrbitControls;
  readonly size: number;
  private readonly painter: Painter;
  private stale = true;
  drawn = 0; // frames so far
  onStale: () => void = () => undefined; // the picture is to be drawn again
  paint: () => void = () => { this.render(); }; // what a picture is

  constructor(readonly canvas: HTMLCanvasElement, private readonly bounds: Bounds) {
    this.painter = new Painter(canvas, () => { this.paint(); });
    this.size = Math.hypot(...bounds.high.map((high, k) => high - bounds.low[k]!)) || 0.1;
    this.camera = new PerspectiveCamera(FIELD_OF_VIEW, 1, 0.03 * this.size, 60 * this.size);
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.minDistance = 0.05 * this.size;
    this.controls.maxDistance = 30 * this.size;
    this.controls.addEventListener("change", () => { this.invalidate(); });
    this.scene.add(...makeLights(this.size, this.middle()));
    this.resetView();
  }

  add(object: Object3D): void {
    this.scene.add(object);
  }

  invalidate(): void {
    this.stale = true;
    this.onStale();
  }

  // Of the camera as seen from its target, rad from x.
  get heading(): number {
    const offset = this.camera.position.clone().sub(this.controls.target);
    return Math.atan2(offset.y, offset.x);
  }

  get view(): View {
    return { eye: this.camera.position.toArray(), target: this.controls.target.toArray() };
  }

  setView(view: View): void {
    this.camera.position.set(...view.eye);
    this.controls.target.set(...view.target);
    this.controls.update();
    this.invalidate();
  }

  resetView(): void {
    const target = this.middle();
    const eye = new Vector3(0.78, -0.86, 0.42).normalize().multiplyScalar(1.65 * this.size).add(target);
    this.setView({ eye: eye.toArray(), target: target.toArray() });
  }

  // Turns by radians about the vertical, tilts, and scales the distance.
  orbit(turn: number, tilt: number, distance: number): void {
    const { target } = this.controls;
    const offset = this.camera.position.clone().sub(target);
    const radius = Math.min(Math.max(offset.length() * distance, this.controls.minDistance), this.controls.maxDistance);
    const height = Math.min(Math.max(Math.asin(offset.z / offset.length()) + tilt, -1.5), 1.5);
    const heading = Math.atan2(offset.y, offset.x) + turn;
    offset.set(Math.cos(height) * Math.cos(heading), Math.cos(height) * Math.sin(heading), Math.sin(height)).multiplyScalar(radius);
    this.setView({ eye: target.clone().add(offset).toArray(), target: target.toArray() });
  }

  // Moves the camera and its target sideways and up by shares of the distance.
  pan(right: number, up: number): void {
    const distance = this.camera.position.distanceTo(this.controls.target);
    const shift = new Vector3().setFromMatrixColumn(this.camera.matrix, 0).multiplyScalar(right * distance);
    shift.addScaledVector(new Vector3().setFromMatrixColumn(this.camera.matrix, 1), up * distance);
    this.setView({ eye: this.camera.position.clone().add(shift).toArray(), target: this.controls.target.clone().add(shift).toArray() });
  }

  setBackground(color: Color): void {
    this.scene.background = color;
    this.invalidate();
  }

  // Fits the picture to the size of its place on the page, of which it is one of columns x rows tiles.
  resize(columns = 1, rows = 1): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (width === 0 || height === 0) return;
    this.painter.fit();
    this.camera.aspect = width / columns / (height / rows);
    const half = Math.tan((FIELD_OF_VIEW * Math.PI) / 360) / Math.min(this.camera.aspect, 1);
    this.camera.fov = (360 / Math.PI) * Math.atan(half);
    this.camera.updateProjectionMatrix();
    this.invalidate();
  }

  // Shadows are drawn anew in each tile, which takes longer than the tile.
  withoutShadows(): void {
    this.painter.renderer.shadowMap.enabled = false;
    this.invalidate();
  }

  end(): void {
    this.controls.dispose();
    this.painter.end();
  }

  drawIfStale(): boolean {
    if (!this.stale) return false;
    this.draw();
    return true;
  }

  draw(): void {
    this.stale = false;
    this.painter.draw();
    this.drawn++;
  }

  // Draws the scene into one of columns x rows tiles, for `paint`.
  renderTile(column: number, row: number, columns: number, rows: number): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const place = [(column * width) / columns, height - ((row + 1) * height) / rows, width / columns, height / rows] as const;
    const { renderer } = this.painter;
    this.painter.keepsShadows = false; // each tile has its own
    renderer.setScissorTest(true);
    renderer.setScissor(...place);
    renderer.setViewport(...place);
    this.render();
  }

  // What is shown, drawn in this task, in which its pixels can be read.
  still(): HTMLCanvasElement | OffscreenCanvas {
    this.stale = false;
    this.drawn++;
    return this.painter.still();
  }

  private render(): void {
    this.painter.renderer.render(this.scene, this.camera);
  }

  private middle(): Vector3 {
    const [low, high] = [new Vector3(...this.bounds.low), new Vector3(...this.bounds.high)];
    return low.add(high).multiplyScalar(0.5);
  }
}
