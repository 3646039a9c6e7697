import type { ComparedHeader, Header } from "../data/format.js";
import type { Recording } from "../data/recording.js";
import type { Line, PlotData } from "../ui/series.js";

// Two runs for one page. The page's clock is that of the run which lasts longer; the other one is shown at the same time since its start.
export interface Compared {
  readonly main: Recording;
  readonly other: Recording;
  readonly mainIsFirst: boolean; // of the two that were named
  readonly names: readonly [string, string]; // of the first and the second
  readonly difference: ComparedHeader["difference"];
}

export function compared(first: Recording, second: Recording, header: Header): Compared {
  const { names, difference } = header.compared ?? { names: ["first", "second"], difference: null };
  const mainIsFirst = first.duration >= second.duration;
  return { main: mainIsFirst ? first : second, other: mainIsFirst ? second : first, mainIsFirst, names, difference };
}

// The sample of the main run at which the two part; null: they are the same. The first run counts the steps of the difference.
export function markedSample({ main, other, mainIsFirst, difference }: Compared): number | null {
  if (!difference) return null;
  const first = mainIsFirst ? main : other;
  const second = mainIsFirst ? other : main;
  const longer = difference.step < first.samples ? first : second;
  const step = Math.min(difference.step, longer.samples - 1);
  return main.sampleAt(longer.time[step]! - longer.start);
}

// Plots of the same quantity as one, the lines of the runs numbered 1 and 2. `mark`: a time that is marked in each, null for none.
export function mergedPlots(pair: Compared, ofMain: readonly PlotData[], ofOther: readonly PlotData[], mark: number | null): PlotData[] {
  const [mainNumber, otherNumber] = pair.mainIsFirst ? ["1", "2"] as const : ["2", "1"] as const;
  const time = pair.other.time.map((value) => value - pair.other.start + pair.main.start);
  const alone = ofOther.filter(({ name }) => !ofMain.some((plot) => plot.name === name)).map((plot) => ({ ...plot, lines: [] }));
  return [...ofMain, ...alone].map((plot) => {
    const twin = ofOther.find((found) => found.name === plot.name);
    const named = (number: string, line: Line): Line => ({ ...line, label: `${number}: ${line.label}` });
    const own = plot.lines.map((line) => named(mainNumber, line));
    const others = (twin?.lines ?? []).map((line) => ({ ...named(otherNumber, line), time, ...(plot.lines.length === 1 ? { dashed: true } : {}) }));
    return { ...plot, lines: [...own, ...others], ...(mark === null ? {} : { mark: pair.main.time[mark]! }) };
  });
}
