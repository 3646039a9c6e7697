import { PCFShadowMap, WebGLRenderer } from "three";
import { FinenessControl } from "./fineness.js";
import { PictureTime } from "./picture_time.js";
import { softShadows } from "./sunlight.js";

const REST_MS = 250; // without another picture, or half again as long as the last one took to come
const LONGEST_MS = 2000; // between pictures of one motion
const FINE = 2; // pixels of the canvas along one of the page, where a picture is antialiased by them
const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i;

export class NoGraphicsError extends Error {
  override readonly name = "NoGraphicsError";
}

// Paints pictures on a canvas. Where the processor does a graphics card's work, four samples a pixel take up to twice the time of one, and soft
// shadows a quarter: there a picture that moves has neither, is coarser still while pictures take long (fineness.ts), and is painted once more
// with both when nothing has followed it.
export class Painter {
  readonly renderer: WebGLRenderer;
  keepsShadows = true; // one shadow map serves the whole picture
  private readonly fineness = new FinenessControl();
  private readonly time: PictureTime | null;
  private sinceShadows = 0; // pictures
  private drawn = 0; // when, ms
  private rest: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly canvas: HTMLCanvasElement, private readonly paint: () => void, software = drawsInSoftware()) {
    this.renderer = makeRenderer(canvas, !software);
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.time = software ? new PictureTime(this.renderer.getContext() as WebGL2RenderingContext, (ms) => { this.fineness.took(ms); }) : null;
    this.setRatio(software ? this.fineness.now.ratio : Math.min(globalThis.devicePixelRatio, 2));
  }

  // As large as its place on the page.
  fit(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (width > 0 && height > 0) this.renderer.setSize(width, height, false);
  }

  draw(): void {
    if (!this.time) {
      this.paint();
      return;
    }
    const { ratio, shadowsEach } = this.fineness.now;
    this.setRatio(ratio);
    this.sinceShadows = this.keepsShadows ? (this.sinceShadows + 1) % shadowsEach : 0;
    this.paintWith(false, this.sinceShadows === 0);
    const since = performance.now() - this.drawn;
    this.drawn += since;
    clearTimeout(this.rest);
    this.rest = setTimeout(() => { this.drawFinely(); }, since < LONGEST_MS ? Math.max(REST_MS, 1.5 * since) : REST_MS);
  }

  // The picture with four samples a pixel, as large as it is drawn. Its pixels can be read in the same task: the buffer is not kept.
  still(): HTMLCanvasElement | OffscreenCanvas {
    if (!this.time) {
      this.paint();
      return this.canvas;
    }
    this.drawFinely();
    const small = new OffscreenCanvas(Math.round(this.canvas.width / FINE), Math.round(this.canvas.height / FINE));
    small.getContext("2d")!.drawImage(this.canvas, 0, 0, small.width, small.height);
    return small;
  }

  // Gives the graphics card back what it holds.
  end(): void {
    clearTimeout(this.rest);
    this.renderer.dispose();
    this.renderer.forceContextLoss();
  }

  private drawFinely(): void {
    this.setRatio(FINE);
    this.paintWith(true, true);
  }

  // Only a moving picture counts for how finely the next one is drawn.
  private paintWith(soft: boolean, shadows: boolean): void {
    softShadows.value = soft;
    this.renderer.shadowMap.autoUpdate = shadows;
    if (soft) this.paint();
    else this.time!.measure(this.paint);
  }

  private setRatio(ratio: number): void {
    if (this.renderer.getPixelRatio() !== ratio) this.renderer.setPixelRatio(ratio);
  }
}

let inSoftware: boolean | undefined;

// Whether this browser draws WebGL by the processor. A browser that hides it counts as one with a graphics card.
function drawsInSoftware(): boolean {
  inSoftware ??= SOFTWARE.test(nameOfRenderer());
  return inSoftware;
}

function nameOfRenderer(): string {
  const gl = new OffscreenCanvas(1, 1).getContext("webgl2");
  if (!gl) return "";
  const names = gl.getExtension("WEBGL_debug_renderer_info");
  const name = String(gl.getParameter(names ? names.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return name;
}

function makeRenderer(canvas: HTMLCanvasElement, antialias: boolean): WebGLRenderer {
  try {
    return new WebGLRenderer({ canvas, antialias });
  } catch {
    throw new NoGraphicsError("This browser gives the page no WebGL 2, which draws the picture. Switch hardware acceleration on, or use another browser.");
  }
}
