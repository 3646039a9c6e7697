import {
  Color, DirectionalLight, HemisphereLight, PCFShadowMap, PerspectiveCamera, Scene, Vector3, WebGLRenderer, type Object3D,
} from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import type { View } from "../link.js";
import type { Bounds } from "./bounds.js";

const FIELD_OF_VIEW = 30; // degrees, of the shorter side of the picture

export class NoGraphicsError extends Error {
  override readonly name = "NoGraphicsError";
}

// Renderer, lights, camera and its controls. Draws only when something changed.
export class Stage {
  readonly scene = new Scene();
  readonly camera: PerspectiveCamera;
  readonly controls: OrbitControls;
  readonly size: number;
  private readonly renderer: WebGLRenderer;
  private stale = true;
  drawn = 0; // frames so far
  onStale: () => void = () => undefined; // the picture is to be drawn again

  constructor(readonly canvas: HTMLCanvasElement, private readonly bounds: Bounds) {
    this.renderer = makeRenderer(canvas);
    this.size = Math.hypot(...bounds.high.map((high, k) => high - bounds.low[k]!)) || 0.1;
    this.camera = new PerspectiveCamera(FIELD_OF_VIEW, 1, 0.03 * this.size, 60 * this.size);
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.minDistance = 0.05 * this.size;
    this.controls.maxDistance = 30 * this.size;
    this.controls.addEventListener("change", () => { this.invalidate(); });
    this.addLights();
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
    this.renderer.setPixelRatio(Math.min(globalThis.devicePixelRatio, 2));
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / columns / (height / rows);
    const half = Math.tan((FIELD_OF_VIEW * Math.PI) / 360) / Math.min(this.camera.aspect, 1);
    this.camera.fov = (360 / Math.PI) * Math.atan(half);
    this.camera.updateProjectionMatrix();
    this.invalidate();
  }

  // Shadows are drawn anew in each tile, which takes longer than the tile.
  withoutShadows(): void {
    this.renderer.shadowMap.enabled = false;
    this.invalidate();
  }

  // Gives the graphics card back what it holds.
  end(): void {
    this.controls.dispose();
    this.renderer.dispose();
    this.renderer.forceContextLoss();
  }

  drawIfStale(): boolean {
    if (!this.stale) return false;
    this.draw();
    return true;
  }

  draw(): void {
    this.stale = false;
    this.renderer.render(this.scene, this.camera);
    this.drawn++;
  }

  drawTile(column: number, row: number, columns: number, rows: number): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const place = [(column * width) / columns, height - ((row + 1) * height) / rows, width / columns, height / rows] as const;
    this.renderer.setScissorTest(true);
    this.renderer.setScissor(...place);
    this.renderer.setViewport(...place);
    this.draw();
  }

  // The picture as it is shown.
  async png(): Promise<Blob> {
    this.draw(); // in the same task: the buffer is not kept
    return new Promise((resolve, reject) => {
      this.canvas.toBlob((blob) => {
        if (blob) resolve(blob);
        else reject(new Error("The browser could not write the picture."));
      }, "image/png");
    });
  }

  private middle(): Vector3 {
    const [low, high] = [new Vector3(...this.bounds.low), new Vector3(...this.bounds.high)];
    return low.add(high).multiplyScalar(0.5);
  }

  private addLights(): void {
    this.add(new HemisphereLight(0xffffff, 0x8a8378, 1.5));
    const sun = new DirectionalLight(0xffffff, 2.2);
    const target = this.middle();
    sun.position.copy(target).add(new Vector3(0.5, -0.65, 1.1).normalize().multiplyScalar(3 * this.size));
    sun.target.position.copy(target);
    sun.castShadow = true;
    sun.shadow.mapSize.set(1024, 1024);
    const { camera } = sun.shadow;
    camera.left = camera.bottom = -0.75 * this.size;
    camera.right = camera.top = 0.75 * this.size;
    camera.near = 0.5 * this.size;
    camera.far = 6 * this.size;
    sun.shadow.bias = -0.0005;
    sun.shadow.normalBias = 0.004 * this.size;
    this.add(sun);
    this.add(sun.target);
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
  }
}

function makeRenderer(canvas: HTMLCanvasElement): WebGLRenderer {
  try {
    return new WebGLRenderer({ canvas, antialias: true });
  } catch {
    throw new NoGraphicsError("This browser gives the page no WebGL 2, which draws the picture. Switch hardware acceleration on, or use another browser.");
  }
}
