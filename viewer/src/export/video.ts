import { ArrayBufferTarget, Muxer } from "webm-muxer";

const FRAMES_PER_S = 30;
const BITS_PER_PIXEL = 0.15; // of a frame, on average
const KEY_EVERY = 60; // frames
const MOST_WAITING = 8; // frames that the encoder has not taken
// In the order of preference: the WebCodecs name and that of the container.
const CODECS = [["vp09.00.40.08", "V_VP9"], ["vp8", "V_VP8"]] as const;

export class NoVideo extends Error {
  override readonly name = "NoVideo";
}

export interface Film {
  readonly seconds: number; // of the film
  readonly draw: (second: number) => HTMLCanvasElement | OffscreenCanvas; // draws the picture of a time of the film
  readonly progress: (share: number) => void;
  readonly signal: AbortSignal;
}

// A WebM file of a film, encoded by the browser (WebCodecs). Throws NoVideo with words where that cannot be done.
export async function makeVideo(film: Film): Promise<Blob> {
  if (!("VideoEncoder" in globalThis)) {
    throw new NoVideo("This browser cannot encode video for a page (it has no WebCodecs, or the page came over plain HTTP from another machine). Use Chrome 94, Firefox 130, Safari 16.4 or a later one, or record the screen.");
  }
  const first = film.draw(0);
  const size = { width: first.width & ~1, height: first.height & ~1 }; // encoders want even sizes
  const [config, container] = await chooseCodec(size);
  const muxer = new Muxer({ target: new ArrayBufferTarget(), video: { codec: container, ...size, frameRate: FRAMES_PER_S } });
  const failures: Error[] = [];
  const encoder = new VideoEncoder({
    output: (chunk, meta) => { muxer.addVideoChunk(chunk, meta); },
    error: (error) => { failures.push(error); },
  });
  encoder.configure(config);
  try {
    const frames = Math.max(Math.ceil(film.seconds * FRAMES_PER_S), 1);
    for (let i = 0; i <= frames; i++) {
      if (film.signal.aborted) throw new NoVideo("The video was cancelled.");
      if (failures[0]) throw failures[0];
      const frame = new VideoFrame(film.draw(Math.min(i / FRAMES_PER_S, film.seconds)), { timestamp: Math.round((1e6 * i) / FRAMES_PER_S), visibleRect: { x: 0, y: 0, ...size } });
      encoder.encode(frame, { keyFrame: i % KEY_EVERY === 0 });
      frame.close();
      film.progress(i / frames);
      do await new Promise((resolve) => setTimeout(resolve, 0)); while (encoder.encodeQueueSize > MOST_WAITING);
    }
    await encoder.flush();
    if (failures[0]) throw failures[0];
    muxer.finalize();
  } finally {
    if (encoder.state !== "closed") encoder.close();
  }
  return new Blob([muxer.target.buffer], { type: "video/webm" });
}

async function chooseCodec(size: { width: number; height: number }): Promise<[VideoEncoderConfig, string]> {
  for (const [codec, container] of CODECS) {
    const config = { codec, ...size, bitrate: Math.round(BITS_PER_PIXEL * size.width * size.height * FRAMES_PER_S), framerate: FRAMES_PER_S };
    const found = await VideoEncoder.isConfigSupported(config).catch(() => ({ supported: false }));
    if (found.supported) return [config, container];
  }
  throw new NoVideo("This browser encodes neither VP9 nor VP8 in this size. Make the window smaller, use Chrome or Firefox, or record the screen.");
}
