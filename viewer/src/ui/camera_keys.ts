import type { Stage } from "../scene/stage.js";
import { listenOn } from "./keys.js";

const TURN = Math.PI / 36; // of the camera by a key
const NEARER = 1.15; // by a key
const MOVE = 0.05; // by a key, of the distance

// Keys that move the camera of a picture while it has the focus. moved: after each.
export function listenForCamera(stage: Stage, moved: () => void = () => undefined): void {
  const orbit = (turn: number, tilt: number, distance = 1): void => { stage.orbit(turn, tilt, distance); moved(); };
  const pan = (right: number, up: number): void => { stage.pan(right, up); moved(); };
  listenOn(stage.canvas, {
    ArrowLeft: () => { orbit(-TURN, 0); }, ArrowRight: () => { orbit(TURN, 0); }, ArrowUp: () => { orbit(0, TURN); }, ArrowDown: () => { orbit(0, -TURN); },
    "Shift+ArrowLeft": () => { pan(-MOVE, 0); }, "Shift+ArrowRight": () => { pan(MOVE, 0); }, "Shift+ArrowUp": () => { pan(0, MOVE); }, "Shift+ArrowDown": () => { pan(0, -MOVE); },
    "+": () => { orbit(0, 0, 1 / NEARER); }, "=": () => { orbit(0, 0, 1 / NEARER); }, "-": () => { orbit(0, 0, NEARER); },
  });
}
