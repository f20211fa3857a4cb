// One figure that can be zoomed, read and saved, in the place of its drawing.

import { csv, fileName } from "./csv";
import type { Curve, Figure } from "./data";
import { type Area, colourOf, draw, isInside, ROW, type Scene, type Theme, TICK_SIZE } from "./draw";
import { button, element, save } from "./element";
import type { Link, Linked } from "./link";
import { rowsOf, withNames } from "./names";
import { quantity } from "./number";
import { next, pointsOf, type Reading, readAt, readNear, readPoint } from "./read";
import { place } from "./thin";
import {
  type Choice,
  canBeLog,
  isFunction,
  moved,
  restacked,
  type Side,
  type Span,
  side,
  wholeX,
  wholeY,
} from "./view";

const HELP = "Arrow keys read values, plus and minus zoom, Page Up and Page Down move, 0 shows everything.";
/** A drag shorter than this is a click [pixels]. */
const CLICK = 5;

export class Plot implements Linked {
  /** As it came, and as it is drawn: a stack without the lines that are off. */
  #given: Figure;
  #figure: Figure;
  readonly #link: Link;
  readonly #host: HTMLElement;
  readonly #stage: HTMLElement;
  readonly #canvas: HTMLCanvasElement;
  readonly #overlay: HTMLCanvasElement;
  readonly #tip: HTMLElement;
  readonly #spoken: HTMLElement;
  /** Names along x behind their numbers, for where they find no room along the axis. */
  #list = element("ol");
  readonly #choice: Choice;
  #theme: Theme;
  #scene: Scene | null = null;
  #visible = false;
  #stale = true;
  #pending = false;
  /** Whether nothing lies over the drawing. */
  #blank = true;
  #reading: Reading | null = null;
  #drag: { from: Span; to: Span; pan: Span | null } | null = null;

  constructor(host: HTMLElement, figure: Figure, link: Link, theme: Theme) {
    this.#host = host;
    this.#given = this.#figure = figure;
    this.#link = link;
    this.#theme = theme;
    const log = (axis: "x" | "y") => figure[axis].scale === "log";
    this.#choice = { x: null, y: null, xLog: log("x"), yLog: log("y"), ranges: false, off: new Set() };
    this.#canvas = element("canvas", { "aria-hidden": "true" });
    this.#overlay = element("canvas", { "aria-hidden": "true", class: "overlay" });
    this.#tip = element("div", { class: "tip", "aria-hidden": "true", hidden: "" });
    this.#spoken = element("p", { class: "spoken", "aria-live": "polite" });
    this.#stage = element("div", { class: "stage", tabindex: "0", role: "application" });
    this.#stage.setAttribute("aria-roledescription", "plot");
    this.#name();
    this.#stage.append(this.#canvas, this.#overlay, this.#tip);
    const title = element("p", { class: "name" }, figure.title);
    const head = element("div", { class: "head" }, title, this.#tools());
    this.#list = this.#names();
    const live = element("div", { class: "live" }, head, this.#legend(), this.#stage, this.#list, this.#spoken);
    host.prepend(live);
    host.classList.add("viewed");
    this.#listen();
    link.join(this);
    new ResizeObserver(() => this.#redraw()).observe(this.#stage);
  }

  /** A figure out of view is not drawn. */
  set visible(visible: boolean) {
    this.#visible = visible;
    if (visible && this.#stale) this.#redraw();
  }

  /** Other data of the same figure: what a reader has chosen stays. */
  set figure(figure: Figure) {
    const names = (of: Figure) => JSON.stringify(of.lines.map(({ name, style, hollow }) => [name, style, hollow]));
    const same = names(figure) === names(this.#given);
    if (!same) this.#choice.off.clear();
    this.#given = figure;
    this.#figure = restacked(figure, this.#choice.off);
    this.#name();
    const list = this.#names();
    this.#list.replaceWith(list);
    this.#list = list;
    if (!same) {
      this.#host.querySelector(".legend")?.replaceWith(this.#legend());
    }
    this.#redraw();
  }

  /** Moves no longer with the others: the figure is gone. */
  leave(): void {
    this.#link.leave(this);
  }

  #name(): void {
    this.#stage.setAttribute("aria-label", `${this.#figure.title}. ${this.#summary()} ${HELP}`);
  }

  set theme(theme: Theme) {
    this.#theme = theme;
    this.#recolour();
    this.#redraw();
  }

  show(span: Span | null): void {
    this.#choice.x = span;
    if (span === null) this.#choice.y = null;
    this.#host.classList.toggle("zoomed", span !== null);
    this.#redraw();
  }

  read(at: number | null): void {
    this.#reading = at === null || !isFunction(this.#figure) ? null : readAt(this.#figure, this.#choice, at);
    this.#mark();
  }

  /** The figure in a sentence, for readers who hear it. */
  #summary(): string {
    const { x, y, lines } = this.#figure;
    const names = lines.map((line) => line.name).filter((name) => name !== "");
    const ranges = lines.flatMap((line) => {
      const values = line.y.filter(Number.isFinite);
      if (values.length === 0 || line.name === "") return [];
      const [low, high] = values.reduce(
        ([a, b], v) => [Math.min(a, v), Math.max(b, v)],
        [values[0] ?? 0, values[0] ?? 0],
      );
      return [`${line.name} from ${quantity(low, y.unit, 3)} to ${quantity(high, y.unit, 3)}`];
    });
    const list = ranges.length === names.length && ranges.length > 0 ? ranges : names;
    const of = x.label === "" ? y.label : `${y.label} over ${x.label}`;
    return list.length === 0 ? `${of}.` : `${of}: ${list.join("; ")}.`;
  }

  #tools(): HTMLElement {
    const figure = this.#figure;
    const tools = element("div", { class: "tools", role: "group", "aria-label": `Controls of ${figure.title}` });
    tools.append(
      button("+", "zoom in", null, () => this.#zoom(0.5)),
      button("\u2212", "zoom out", null, () => this.#zoom(2)),
      button("All", "show everything", null, () => this.#link.show(null)),
    );
    const { x, y } = figure;
    if (canBeLog(figure, "x")) tools.append(this.#toggle("log x", `logarithmic axis of ${x.label || "x"}`, "xLog"));
    if (canBeLog(figure, "y")) tools.append(this.#toggle("log y", `logarithmic axis of ${y.label || "y"}`, "yLog"));
    if (figure.lines.some((line) => line.range !== null)) {
      tools.append(this.#toggle("min\u2013max", "least and greatest value", "ranges"));
    }
    const large = button("Large", "the figure over the whole width", false, () => {
      const on = this.#host.classList.toggle("large");
      large.setAttribute("aria-pressed", String(on));
    });
    const file = fileName(figure.title);
    tools.append(
      large,
      button("CSV", "the data of this figure as a file", null, () => save(file, csv(this.#given), "text/csv")),
    );
    return tools;
  }

  #toggle(words: string, label: string, key: "xLog" | "yLog" | "ranges"): HTMLButtonElement {
    const made = button(words, label, this.#choice[key], () => {
      this.#choice[key] = !this.#choice[key];
      made.setAttribute("aria-pressed", String(this.#choice[key]));
      this.#redraw();
    });
    return made;
  }

  #legend(): HTMLElement {
    const list = element("ul", { class: "legend" });
    this.#figure.lines.forEach((line, i) => {
      if (line.name === "") return;
      const swatch = this.#swatch(line);
      const toggle = element(
        "button",
        { type: "button", "aria-pressed": "true", title: "show or hide" },
        swatch,
        line.name,
      );
      toggle.addEventListener("click", () => {
        const { off } = this.#choice;
        if (!off.delete(i)) off.add(i);
        this.#figure = restacked(this.#given, off);
        toggle.setAttribute("aria-pressed", String(!off.has(i)));
        this.#redraw();
      });
      list.append(element("li", { "data-line": String(i) }, toggle));
    });
    return list;
  }

  #swatch(line: Curve): HTMLElement {
    const kind = `swatch ${line.style}${line.hollow ? " hollow" : ""}`;
    const swatch = element("span", { class: kind, "aria-hidden": "true" });
    swatch.style.color = colourOf(line, this.#theme);
    return swatch;
  }

  /** The names along x, in the order of their numbers. */
  #names(): HTMLOListElement {
    const { x, lines } = this.#figure;
    const items = x.ticks.map((tick) => {
      const own = lines.findIndex((line) => line.x.length > 0 && line.x.every((value) => value === tick.at));
      const line = lines[own];
      const of: Record<string, string> = line === undefined ? {} : { "data-line": String(own) };
      return element("li", of, ...(line === undefined ? [] : [this.#swatch(line), " "]), tick.label ?? "");
    });
    return element("ol", { class: "key", "aria-label": "Names along x", hidden: "" }, ...items);
  }

  #recolour(): void {
    for (const item of this.#host.querySelectorAll<HTMLElement>("[data-line]")) {
      const line = this.#figure.lines[Number(item.dataset["line"])];
      const swatch = item.querySelector<HTMLElement>(".swatch");
      if (line !== undefined && swatch !== null) swatch.style.color = colourOf(line, this.#theme);
    }
  }

  #listen(): void {
    const stage = this.#stage;
    stage.addEventListener("pointermove", (event) => this.#pointer(event));
    stage.addEventListener("pointerleave", () => {
      if (this.#drag === null) this.#unread();
    });
    stage.addEventListener("pointerdown", (event) => this.#press(event));
    stage.addEventListener("pointerup", () => this.#release());
    stage.addEventListener("pointercancel", () => {
      this.#drag = null;
      this.#mark();
    });
    stage.addEventListener("dblclick", () => this.#link.show(null));
    stage.addEventListener("keydown", (event) => this.#key(event));
    stage.addEventListener("blur", () => this.#unread());
    stage.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
  }

  #at(event: MouseEvent): Span {
    const box = this.#stage.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  #pointer(event: PointerEvent): void {
    const scene = this.#scene;
    if (scene === null) return;
    const at = this.#at(event);
    if (this.#drag !== null) {
      this.#drag.to = at;
      const { pan, from } = this.#drag;
      if (pan !== null) this.#link.show(moved(pan, scene.x, from[0] - at[0], this.#everything()));
      else this.#mark();
      return;
    }
    const { area } = scene;
    if (at[0] < area.left || at[0] > area.right) {
      this.#unread();
      return;
    }
    if (isFunction(this.#figure)) {
      const x = scene.x.invert(at[0]);
      this.read(x);
      this.#link.read(x, this);
    } else {
      this.#reading = readNear(this.#figure, this.#choice, scene.x, scene.y, at);
      this.#mark();
    }
  }

  #unread(): void {
    this.#reading = null;
    this.#mark();
    this.#link.read(null, this);
  }

  #press(event: PointerEvent): void {
    if (event.button !== 0 || this.#scene === null) return;
    const at = this.#at(event);
    this.#stage.setPointerCapture(event.pointerId);
    this.#drag = { from: at, to: at, pan: event.shiftKey ? this.#scene.x.span : null };
  }

  #release(): void {
    const [drag, scene] = [this.#drag, this.#scene];
    this.#drag = null;
    this.#mark();
    if (drag === null || scene === null || drag.pan !== null) return;
    const { area } = scene;
    const clamp = (v: number, low: number, high: number) => Math.min(Math.max(v, low), high);
    const [a, b] = [drag.from[0], drag.to[0]].map((v) => clamp(v, area.left, area.right)).sort((p, q) => p - q) as [
      number,
      number,
    ];
    if (b - a < CLICK) return;
    if (!isFunction(this.#figure)) {
      const [top, bottom] = [drag.from[1], drag.to[1]]
        .map((v) => clamp(v, area.top, area.bottom))
        .sort((p, q) => p - q) as [number, number];
      this.#choice.y = bottom - top < CLICK ? this.#choice.y : [scene.y.invert(bottom), scene.y.invert(top)];
    }
    this.#link.show([scene.x.invert(a), scene.x.invert(b)]);
  }

  #wheel(event: WheelEvent): void {
    // Without a key the page scrolls, as everywhere.
    if (!(event.ctrlKey || event.metaKey) || this.#scene === null) return;
    event.preventDefault();
    this.#zoom(Math.exp(Math.min(Math.max(event.deltaY, -100), 100) / 200), this.#scene.x.invert(this.#at(event)[0]));
  }

  #key(event: KeyboardEvent): void {
    const scene = this.#scene;
    if (scene === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const width = scene.area.right - scene.area.left;
    const step = (steps: number) => this.#step(event.shiftKey ? 10 * steps : steps);
    const keys: Record<string, () => void> = {
      ArrowRight: () => step(1),
      ArrowLeft: () => step(-1),
      Home: () => this.#step(Number.NEGATIVE_INFINITY),
      End: () => this.#step(Number.POSITIVE_INFINITY),
      "+": () => this.#zoom(0.5),
      "=": () => this.#zoom(0.5),
      "-": () => this.#zoom(2),
      PageUp: () => this.#move(-width / 2),
      PageDown: () => this.#move(width / 2),
      "0": () => this.#link.show(null),
      Escape: () => {
        this.#unread();
        this.#link.show(null);
      },
    };
    const act = keys[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  }

  #move(pixels: number): void {
    const x = this.#across();
    if (x !== null) this.#link.show(moved(x.span, x, pixels, this.#everything()));
  }

  /** All of x. */
  #everything(): Span {
    return wholeX(this.#figure, { ...this.#choice, x: null });
  }

  /** Reads so many steps on, and says it. */
  #step(steps: number): void {
    const scene = this.#scene;
    if (scene === null) return;
    const figure = this.#figure;
    if (isFunction(figure)) {
      const span = this.#across()?.span ?? scene.x.span;
      const ends = Number.isFinite(steps) ? null : span[steps > 0 ? 1 : 0];
      const x = ends ?? next(figure, this.#choice, span, this.#reading?.x ?? null, steps);
      this.read(x);
      this.#link.read(x, this);
    } else this.#stepPoints(steps);
    const reading = this.#reading;
    if (reading === null) return;
    const values = reading.values.map((value) => `${value.name} ${value.words}`);
    this.#spoken.textContent = `${reading.words}: ${values.join("; ") || "no data"}`;
  }

  /** From point to point, line by line. */
  #stepPoints(steps: number): void {
    const points = pointsOf(this.#figure, this.#choice);
    const [reading, last] = [this.#reading, points.length - 1];
    const now = points.findIndex(({ line, at }) => line === reading?.values[0]?.line && at === reading.point);
    const ends = steps > 0 ? 0 : last;
    const wanted = Number.isFinite(steps) ? (now < 0 ? ends : now + steps) : last - ends;
    const found = points[Math.min(Math.max(wanted, 0), last)];
    if (found === undefined) return;
    this.#reading = readPoint(this.#figure, found);
    this.#mark();
  }

  /** x as it will be in the next frame: keys may be faster than frames. */
  #across(): Side | null {
    const scene = this.#scene;
    const span = this.#link.span;
    if (scene === null || span === null) return scene?.x ?? null;
    return side(this.#figure.x, span, this.#choice.xLog, [scene.area.left, scene.area.right], 5);
  }

  /** Shows so much more or less, around the place that is read or the middle. */
  #zoom(by: number, around?: number): void {
    const x = this.#across();
    if (x === null) return;
    const [a, b] = [place(x.ruler, x.span[0]), place(x.ruler, x.span[1])];
    const read = this.#reading?.x;
    const inside = read !== undefined && read >= x.span[0] && read <= x.span[1] ? read : undefined;
    const middle = place(x.ruler, around ?? inside ?? x.invert((a + b) / 2));
    const wanted: Span = [x.invert(middle - (middle - a) * by), x.invert(middle + (b - middle) * by)];
    const whole = this.#everything();
    const all = wanted[0] <= whole[0] && wanted[1] >= whole[1];
    const limited: Span = [Math.max(wanted[0], whole[0]), Math.min(wanted[1], whole[1])];
    // Numbers have seven digits: there is nothing to see in less.
    const small = limited[1] - limited[0] < 1e-9 * Math.max(Math.abs(limited[0]), Math.abs(limited[1]));
    if (!small) this.#link.show(all ? null : limited);
  }

  #redraw(): void {
    this.#stale = true;
    if (!this.#visible || this.#pending) return;
    this.#pending = true;
    requestAnimationFrame(() => {
      this.#pending = false;
      this.#draw();
    });
  }

  #draw(): void {
    const width = this.#stage.clientWidth;
    const height = this.#stage.clientHeight;
    const context = this.#canvas.getContext("2d");
    if (width < 40 || height < 40 || context === null) return;
    this.#stale = false;
    fit(this.#canvas, width, height);
    fit(this.#overlay, width, height);
    context.clearRect(0, 0, width, height);
    this.#scene = this.#plan(context, width, height);
    draw(context, this.#scene, this.#theme);
    if (this.#reading !== null && isFunction(this.#figure)) this.read(this.#reading.x);
    else this.#mark();
  }

  #plan(context: CanvasRenderingContext2D, width: number, height: number): Scene {
    const [figure, choice] = [this.#figure, this.#choice];
    let xSpan = choice.x ?? this.#everything();
    if (choice.xLog && !(xSpan[0] > 0)) xSpan = this.#everything();
    let ySpan = choice.y ?? wholeY(figure, choice, xSpan);
    const top = 8;
    const measure = (text: string) => context.measureText(text).width;
    const up = (span: Span, bottom: number) =>
      side(
        figure.y,
        span,
        choice.yLog,
        [bottom, top],
        Math.max(3, Math.round((bottom - top) / 50)),
        !figure.equalAspect,
      );
    context.font = `${TICK_SIZE}px ${this.#theme.font}`;
    let bottom = height - 46;
    const widest = Math.max(0, ...up(ySpan, bottom).ticks.map((tick) => measure(tick.label)));
    const left = Math.round(Math.min(widest, width / 3)) + 36;
    const right = width - 18;
    if (figure.equalAspect) [xSpan, ySpan] = squared(xSpan, ySpan, (right - left) / (bottom - top));
    const across = side(figure.x, xSpan, choice.xLog, [left, right], Math.max(3, Math.round((right - left) / 80)));
    const { side: x, numbered } = withNames(figure.x, across, [left, right], measure);
    this.#list.hidden = !numbered;
    // Names have the room of a title that is not there.
    bottom -= Math.max(0, ROW * (rowsOf(x) - 1) - (x.title === "" ? ROW : 0));
    const area: Area = { left, right, top, bottom };
    return { figure, choice, area, x, y: up(ySpan, bottom) };
  }

  /** What lies over the drawing: the cursor, and what is being selected. */
  #mark(): void {
    const context = this.#overlay.getContext("2d");
    const scene = this.#scene;
    if (context === null || scene === null) return;
    const { area } = scene;
    const blank = this.#reading === null && (this.#drag === null || this.#drag.pan !== null);
    // A canvas that is cleared is drawn again, which takes as long as the figure below.
    if (!(blank && this.#blank)) context.clearRect(0, 0, this.#stage.clientWidth, this.#stage.clientHeight);
    this.#blank = blank;
    if (this.#drag !== null && this.#drag.pan === null) {
      const { from, to } = this.#drag;
      const flat = isFunction(this.#figure);
      context.globalAlpha = 0.2;
      context.fillStyle = this.#theme.ink;
      if (flat) context.fillRect(from[0], area.top, to[0] - from[0], area.bottom - area.top);
      else context.fillRect(from[0], from[1], to[0] - from[0], to[1] - from[1]);
      context.globalAlpha = 1;
    }
    const reading = this.#reading;
    this.#tip.hidden = reading === null || reading.values.length === 0;
    if (reading === null) return;
    const at = place(scene.x.ruler, reading.x);
    // At an end of the view the place may be off by an error of rounding.
    if (!(at >= area.left - 0.5 && at <= area.right + 0.5)) {
      this.#tip.hidden = true;
      return;
    }
    context.strokeStyle = this.#theme.soft;
    context.lineWidth = 1;
    if (isFunction(this.#figure)) {
      context.beginPath();
      context.moveTo(Math.round(at) + 0.5, area.top);
      context.lineTo(Math.round(at) + 0.5, area.bottom);
      context.stroke();
    }
    for (const value of reading.values) {
      const line = this.#figure.lines[value.line];
      const [px, py] = [place(scene.x.ruler, value.at[0]), place(scene.y.ruler, value.at[1])];
      if (line === undefined || !isInside([px, py], area)) continue;
      context.beginPath();
      context.arc(px, py, 4, 0, 2 * Math.PI);
      context.fillStyle = this.#theme.ground;
      context.fill();
      context.strokeStyle = colourOf(line, this.#theme);
      context.lineWidth = 2;
      context.stroke();
    }
    this.#say(reading, at > (area.left + area.right) / 2, area);
  }

  #say(reading: Reading, left: boolean, area: Area): void {
    const rows = reading.values.map((value) => {
      const line = this.#figure.lines[value.line];
      const swatch = element("span", { class: "swatch" });
      if (line !== undefined) swatch.style.color = colourOf(line, this.#theme);
      return element("div", {}, swatch, element("span", { class: "who" }, value.name), element("b", {}, value.words));
    });
    this.#tip.replaceChildren(element("div", { class: "where" }, reading.words), ...rows);
    this.#tip.style.left = left ? `${area.left + 6}px` : "auto";
    this.#tip.style.right = left ? "auto" : `${this.#stage.clientWidth - area.right + 6}px`;
  }
}

/** Makes a canvas as fine as the screen. */
function fit(canvas: HTMLCanvasElement, width: number, height: number): void {
  const ratio = window.devicePixelRatio || 1;
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
  }
  canvas.getContext("2d")?.setTransform(ratio, 0, 0, ratio, 0, 0);
}

/** Both spans with a unit of the same length. */
function squared(x: Span, y: Span, aspect: number): [Span, Span] {
  const widened = ([a, b]: Span, length: number): Span => [(a + b - length) / 2, (a + b + length) / 2];
  const [across, up] = [x[1] - x[0], y[1] - y[0]];
  return across < up * aspect ? [widened(x, up * aspect), y] : [x, widened(y, across / aspect)];
}
