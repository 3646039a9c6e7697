import { SPEEDS, type Player } from "../play/player.js";
import type { Recording } from "../data/recording.js";
import { button, element, select, Toggle } from "./dom.js";

// Play, step, scrub, speed and loop.
export class Transport {
  readonly element: HTMLElement;
  private readonly play: HTMLButtonElement;
  private readonly slider: HTMLInputElement;
  private readonly clock = element("output", { class: "clock", "data-name": "clock", "aria-live": "off" }); // a screen reader would say each sample
  private readonly speed: HTMLSelectElement;
  private readonly loop: Toggle;
  private readonly live: Toggle | null;

  // live: the recording grows, and its end can be followed. marked: a sample that is marked on the slider.
  constructor(private readonly recording: Recording, private readonly player: Player, live = false, marked: number | null = null) {
    this.play = button("Play (space)", "▶", () => { player.toggle(); }, { class: "play", "data-name": "play" });
    this.slider = element("input", { type: "range", min: "0", max: String(recording.samples - 1), step: "1", value: "0",
                                     "aria-label": "Time", "data-name": "time" });
    this.slider.addEventListener("input", () => {
      if (player.playing) player.pause();
      player.seek(Number(this.slider.value));
    });
    this.speed = select("Speed of playing", SPEEDS.map((speed) => [String(speed), `${speed}×`]), "1", (value) => { player.setSpeed(Number(value)); });
    this.loop = new Toggle("Play again from the start at the end (l)", "⟳", false, (on) => { player.setLoop(on); }, "loop");
    const steps = element("span", { class: "group" },
      button("To the start (Home)", "|◀", () => { player.step(-recording.samples); }, { "data-name": "start" }),
      button("One step back (,)", "‹", () => { player.step(-1); }, { "data-name": "back" }),
      this.play,
      button("One step on (.)", "›", () => { player.step(1); }, { "data-name": "on" }),
      button("To the end (End)", "▶|", () => { player.step(recording.samples); }, { "data-name": "end" }));
    this.live = live ? new Toggle("Follow the simulation (Enter)", "● Live", false, () => { player.follow(); }, "follow") : null;
    const options = element("span", { class: "group" }, ...(this.live ? [this.live.element] : []), this.speed, this.loop.element);
    this.element = element("div", { class: "transport", role: "group", "aria-label": "Playing" }, steps, this.track(marked), this.clock, options);
    player.onChange(() => { this.update(); });
    this.update();
  }

  // The slider, with a mark at a sample.
  private track(marked: number | null): HTMLElement {
    const track = element("span", { class: "track" }, this.slider);
    if (marked !== null) {
      const mark = element("span", { class: "difference-mark", title: "First difference", "data-name": "difference-mark" });
      mark.style.setProperty("--at", String(marked / Math.max(this.recording.samples - 1, 1)));
      track.append(mark);
    }
    return track;
  }

  private update(): void {
    const { player, recording } = this;
    const label = player.playing ? "Pause (space)" : "Play (space)";
    this.play.textContent = player.playing ? "❚❚" : "▶";
    this.play.setAttribute("aria-label", label);
    this.play.title = label;
    const since = (sample: number): string => (recording.time[sample]! - recording.start).toFixed(3);
    const text = `${since(player.sample)} s of ${since(recording.samples - 1)} s`;
    this.slider.max = String(recording.samples - 1);
    this.live?.show(player.following);
    this.slider.value = String(player.sample);
    this.slider.setAttribute("aria-valuetext", text);
    this.clock.textContent = text;
    this.speed.value = String(player.speed);
    this.loop.show(player.loop);
  }
}
