import { button, element } from "../ui/dom.js";
import { Refresh } from "./refresh.js";
import type { Server } from "./server.js";
import { inWords } from "./words.js";
import type { SceneInfo, SessionInfo } from "../proto/eipc/v1/service_pb.js";

// The sessions of the server, and scenes that new ones can be made of.
export class Home {
  readonly element: HTMLElement;
  private readonly sessions = element("ul", { class: "cards", "data-name": "sessions", "aria-label": "Sessions" });
  private readonly scenes = element("ul", { class: "cards", "data-name": "scenes", "aria-label": "Scenes" });
  private readonly status = element("p", { class: "status", role: "status" });
  private readonly wall: HTMLButtonElement;
  private readonly asks: Refresh;
  private shown = "";
  private failed = false; // to say what runs
  private readonly cards = new Map<string, { readonly facts: HTMLElement; readonly watch: HTMLElement }>(); // of the sessions

  constructor(private readonly server: Server, private readonly open: (session: string, world?: "all") => void, wall: () => void) {
    this.wall = button("Sessions beside each other, as tiles", "All sessions", wall, { "data-name": "to-wall" });
    this.element = element("div", { class: "home" }, element("h1", {}, "eipc"), this.status,
      element("section", {}, element("h2", {}, "Sessions"), this.sessions, this.wall), element("section", {}, element("h2", {}, "Scenes"), this.scenes));
    this.asks = new Refresh(() => this.ask());
  }

  end(): void {
    this.asks.end();
  }

  say(words: string): void {
    this.status.textContent = words;
  }

  refresh(): Promise<void> {
    return this.asks.now();
  }

  private async ask(): Promise<void> {
    try {
      const [sessions, scenes] = await Promise.all([this.server.sessions(), this.server.scenes()]);
      this.show(sessions, scenes);
      if (this.failed) this.say("");
      this.failed = false;
    } catch (error) {
      this.failed = this.shown === "";
      if (this.failed) this.say(inWords(error));
    }
  }

  private show(sessions: SessionInfo[], scenes: SceneInfo[]): void {
    const names = new Map(scenes.map((scene) => [scene.name, scene.displayName || scene.name]));
    const shown = JSON.stringify([sessions.map((s) => [s.name, s.scene, s.worlds, s.recording]), scenes.map((s) => s.name)]);
    if (shown !== this.shown) this.make(sessions, scenes, names);
    this.shown = shown;
    // What goes on changes in its place: a press on a button that is replaced meanwhile would be lost.
    for (const session of sessions) {
      const { facts, watch } = this.cards.get(session.name)!;
      facts.textContent = factsOf(session);
      watch.setAttribute("aria-label", `Watch ${names.get(session.scene) ?? session.scene}, ${factsOf(session)}`);
    }
  }

  private make(sessions: SessionInfo[], scenes: SceneInfo[], names: ReadonlyMap<string, string>): void {
    this.cards.clear();
    this.wall.hidden = sessions.length < 2;
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset["name"] : undefined;
    this.sessions.replaceChildren(...sessions.map((session) => this.sessionCard(session, names.get(session.scene) ?? session.scene)));
    if (sessions.length === 0) this.sessions.append(element("li", { class: "quiet" }, "No session runs. Programs that connect to the server make them, or begin one from a scene below."));
    this.scenes.replaceChildren(...scenes.map((scene) => this.sceneCard(scene)));
    if (scenes.length === 0) this.scenes.append(element("li", { class: "quiet" }, "The server has no scene yet. ", element("code", {}, "eipc view SCENE"), " brings one."));
    if (focused) document.querySelector<HTMLElement>(`[data-name="${CSS.escape(focused)}"]`)?.focus();
  }

  private sessionCard(session: SessionInfo, scene: string): HTMLElement {
    const facts = element("span", { class: "quiet" });
    const watch = button(`Watch ${scene}`, "Watch", () => { this.open(session.name); }, { "data-name": `watch ${session.name}`, class: "play" });
    const remove = button(`Delete this session of ${scene}`, "Delete", () => {
      if (confirm(`Delete this session of ${scene}? Its state, and what it recorded, is lost.`)) void this.do(() => this.server.deleteSession(session.name));
    },
                          { "data-name": `delete ${session.name}` });
    this.cards.set(session.name, { facts, watch });
    return element("li", { class: "card" }, element("strong", {}, scene), facts, element("span", { class: "group" }, watch,
      ...(session.worlds > 1 ? [button(`All ${session.worlds} worlds of ${scene} as tiles`, "All worlds", () => { this.open(session.name, "all"); }, { "data-name": `tiles ${session.name}` })] : []), remove));
  }

  private sceneCard(scene: SceneInfo): HTMLElement {
    const name = scene.displayName || scene.name;
    const make = button(`New session of ${name}`, "New session", () => {
      void this.do(async () => { this.open((await this.server.createSession(scene.name)).name); });
    }, { "data-name": `new ${scene.name}` });
    return element("li", { class: "card" }, element("strong", {}, name),
      element("span", { class: "quiet" }, `${scene.bodies} bodies, ${scene.unknowns} unknowns, ${scene.surfaceTriangles} triangles`), make);
  }

  private async do(action: () => Promise<void>): Promise<void> {
    this.say("");
    try {
      await action();
      await this.refresh();
    } catch (error) {
      this.say(inWords(error));
    }
  }
}

function factsOf(session: SessionInfo): string {
  return `step ${session.step}, ${session.timeS.toFixed(2)} s${session.worlds > 1 ? `, ${session.worlds} worlds` : ""}${session.recording ? ", recorded" : ""}`;
}
