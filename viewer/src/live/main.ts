import { NoGraphicsError } from "../scene/painter.js";
import { button, element } from "../ui/dom.js";
import { listenToKeys } from "../ui/keys.js";
import { Connection, serverStatus, signIn } from "./connection.js";
import { Home } from "./home.js";
import { Server } from "./server.js";
import { SessionPage } from "./session_page.js";
import { TilesPage } from "./tiles_page.js";
import { WallPage } from "./wall_page.js";
import { STATE_WORDS } from "./words.js";
import { Themes } from "../ui/theme.js";

// The page that a server serves: signs in, then shows the list of sessions or one of them, as the address says.
class Console {
  readonly connection: Connection;
  readonly server: Server;
  home: Home | null = null;
  page: SessionPage | null = null;
  tiles: TilesPage | null = null;
  wall: WallPage | null = null;
  private readonly themes = new Themes(() => undefined);

  constructor(private readonly root: HTMLElement) {
    this.connection = new Connection(`${location.protocol === "https:" ? "wss:" : "ws:"}//${location.host}/socket`);
    this.server = new Server(this.connection);
    this.connection.onState = () => { this.showConnection(); };
    addEventListener("popstate", () => { this.show(); });
    listenToKeys({ Escape: () => { if (this.page ?? this.tiles ?? this.wall) this.go(""); } });
  }

  start(): void {
    this.connection.connect();
    this.show();
  }

  private go(search: string): void {
    history.pushState(null, "", `/${search}`);
    this.show();
  }

  private show(): void {
    const wanted = new URLSearchParams(location.search);
    const session = wanted.get("session");
    const all = wanted.get("world") === "all";
    const world = all ? 0 : worldOf(wanted.get("world") ?? "0");
    if (this.page && this.page.session === session && this.page.world === world && !all) return;
    this.page?.end();
    this.tiles?.end();
    this.wall?.end();
    this.home?.end();
    this.page = null;
    this.home = null;
    this.tiles = null;
    this.wall = null;
    globalThis.eipcViewer = undefined;
    const several = session === null && wanted.get("sessions") === "all";
    this.root.className = several ? "wide" : !session ? "list" : all ? "wide" : "";
    const open = (name: string, number: number | "all" = 0): void => { this.go(`?session=${encodeURIComponent(name)}${number === 0 ? "" : `&world=${number}`}`); };
    if (session && all) {
      this.tiles = new TilesPage(this.connection, session, this.root, { home: () => { this.go(""); }, world: (number) => { open(session, number); } });
    } else if (session) {
      this.page = new SessionPage(this.connection, this.server, session, world, this.root,
        { home: () => { this.go(""); }, world: (number) => { open(session, number); },
          session: (name) => { open(name); } });
    } else if (several) {
      this.wall = new WallPage(this.connection, this.server, this.root, { home: () => { this.go(""); }, session: (name) => { open(name); } });
    } else {
      document.title = "eipc";
      this.themes.apply();
      this.home = new Home(this.server, open, () => { this.go("?sessions=all"); });
      this.root.replaceChildren(this.home.element);
    }
    this.showConnection();
  }

  private showConnection(): void {
    const { state } = this.connection;
    this.home?.say(STATE_WORDS[state]);
    if (state === "open") void this.home?.refresh();
    this.page?.showConnection();
    this.tiles?.showConnection();
    this.wall?.showConnection();
  }
}

// The world that an address names; what is no number names the first one.
function worldOf(text: string): number {
  return /^\d{1,9}$/.test(text) ? Number(text) : 0;
}

declare global {
  // For measurements and tests of the page.
  var eipcConsole: Console | undefined;
}

function askForToken(root: HTMLElement): Promise<void> {
  return new Promise((resolve) => {
    const token = element("input", { type: "password", "aria-label": "Token", autocomplete: "off", required: "", "data-name": "token" });
    const words = element("p", { role: "alert", class: "alert" }, location.hash === "#ticket-spent" ? "The ticket of this address was used before, or is older than a minute." : "");
    const submit = (): void => {
      signIn(token.value).then((known) => {
        if (known) resolve();
        else words.textContent = "The server knows no such token. Ask the administrator of the server for one.";
      }, () => { words.textContent = "The server does not answer. Try again."; });
    };
    token.addEventListener("keydown", (event) => { if (event.key === "Enter") submit(); });
    new Themes(() => undefined).apply();
    root.className = "list";
    root.replaceChildren(element("div", { class: "home" }, element("h1", {}, "eipc"), element("p", {}, "This server asks who you are."),
      element("label", {}, "Token ", token), " ", button("Sign in", "Sign in", submit, { "data-name": "sign-in", class: "play" }), words));
    token.focus();
  });
}

async function start(root: HTMLElement): Promise<void> {
  const status = await serverStatus();
  if (!status.signed_in) await askForToken(root);
  globalThis.eipcConsole = new Console(root);
  globalThis.eipcConsole.start();
}

const root = document.getElementById("root")!;
const fail = (error: unknown): void => {
  const words = error instanceof NoGraphicsError ? error.message : `The page failed: ${String(error)}. Load it again; please report this if it stays.`;
  root.replaceChildren(element("p", { class: "error", role: "alert" }, words));
};
addEventListener("unhandledrejection", (event) => { fail(event.reason); });
addEventListener("error", (event) => { if (event.error !== null && event.error !== undefined) fail(event.error); });
start(root).catch(fail);
