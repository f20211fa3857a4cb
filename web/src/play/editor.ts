// The editor of a scenario: completion and words on keys by the schema, errors in their places.

import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  completionKeymap,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { Annotation, EditorState, type Text } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  hoverTooltip,
  keymap,
  lineNumbers,
  tooltips,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";

import { element } from "../element";
import type { Wrong } from "./core";
import { placeOf } from "./place";
import { at, forms, keysOf, type Schema, wordsOf } from "./schema";
import type { Moved } from "./values";

const COLOURS = HighlightStyle.define([
  { tag: tags.comment, color: "var(--soft)" },
  { tag: tags.string, color: "var(--good)" },
  { tag: [tags.number, tags.bool, tags.atom], color: "var(--warn)" },
  { tag: [tags.propertyName, tags.heading], color: "var(--accent)" },
]);

const LOOK = EditorView.theme({
  "&": { height: "100%", backgroundColor: "var(--card)", color: "var(--ink)", fontSize: "13px" },
  "&.cm-focused": { outline: "2px solid var(--accent)" },
  ".cm-scroller": { fontFamily: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace' },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--ground)", color: "var(--soft)", border: "0" },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--ground) 55%, transparent)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--accent) 28%, transparent)",
  },
  ".cm-tooltip": {
    backgroundColor: "var(--card)",
    color: "var(--ink)",
    border: "1px solid var(--line)",
    maxWidth: "46ch",
    padding: "3px 7px",
    fontSize: "13px",
  },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--card)" },
  ".cm-completionDetail": { color: "inherit" },
});

/** A change that did not come from a person at the keyboard. */
const byPage = Annotation.define<boolean>();

const SECTIONS = ["cc", "aqm", "conditioner"];
const TABLES = ["links.", "flows.", "defaults.links", "defaults.flows", "windows", "dynamics", "stop", "sweep"];

/** What the schema offers at a place; exported for tests. */
export function offered(schema: Schema, before: string, after: string): Completion[] {
  const place = placeOf(before, after);
  if (place.header) {
    const more = ["classes.", "customers."];
    return [...TABLES, ...more].map((label) => ({ label, type: "namespace" }));
  }
  if (place.key !== null) {
    const key = place.key;
    if (key === "law" && SECTIONS.includes(place.table.at(-1) ?? "")) {
      const laws = at(schema, [...place.table, "law"], null);
      return wordsOf(laws).map((label) => ({ label, type: "enum" }));
    }
    const words = wordsOf(at(schema, [...place.table, key], place.law));
    return words.map((label) => ({ label, type: "enum" }));
  }
  const tables = at(schema, place.table, place.law);
  const keys = keysOf(schema, place.law === null ? tables : tables.flatMap((each) => forms(schema, each)));
  return [...keys].map(([label, info]) => ({ label, type: "property", info, apply: `${label} = ` }));
}

/** What may take the place of the word at the cursor, as far as the cursor is in it; exported for tests. */
export function complete(schema: Schema, context: CompletionContext): CompletionResult | null {
  const word = context.matchBefore(/["'\w.-]*/);
  if (word === null || (word.from === word.to && !context.explicit)) return null;
  const { state, pos } = context;
  const before = state.sliceDoc(0, word.from);
  const after = state.sliceDoc(pos, state.doc.lineAt(pos).to);
  const options = offered(schema, before, after);
  if (options.length === 0) return null;
  const quote = /^["']/.exec(word.text)?.[0];
  if (quote === undefined) return { from: word.from, options, validFor: /^[\w.-]*$/ };
  // A word that is offered has both quotes. The one behind the cursor is there where the editor wrote it with the first.
  const closing = word.text.includes(quote, 1) ? null : new RegExp(`^[\\w.-]*${quote}`).exec(after);
  const to = pos + (closing?.[0].length ?? 0);
  return {
    from: word.from,
    to,
    options: options.map((each) => ({ ...each, label: each.label.replaceAll('"', quote) })),
    validFor: /^["'\w.-]*$/,
  };
}

/** The sentence of the key under the pointer. */
function described(schema: Schema, state: EditorState, pos: number) {
  const line = state.doc.lineAt(pos);
  for (const found of line.text.matchAll(/[A-Za-z_][\w-]*(?=\s*=)/g)) {
    const from = line.from + found.index;
    const to = from + found[0].length;
    if (pos < from || pos > to) continue;
    const place = placeOf(state.sliceDoc(0, from), state.sliceDoc(to, line.to));
    const words = keysOf(schema, at(schema, place.table, place.law)).get(found[0]);
    if (words) return { from, to, words };
  }
  return null;
}

/** From line, column and length in characters to places in the document. */
function diagnostic(doc: Text, wrong: Wrong): Diagnostic {
  const line = doc.line(Math.min(Math.max(wrong.line ?? 1, 1), doc.lines));
  const units = (count: number) => [...line.text].slice(0, Math.max(count, 0)).join("").length;
  const start = (wrong.column ?? 1) - 1;
  const from = Math.min(line.from + units(start), line.to);
  const to = Math.min(Math.max(line.from + units(start + wrong.length), from), line.to);
  const message = `${wrong.key === "" ? "" : `${wrong.key}: `}${wrong.found}: ${wrong.remedy}`;
  return { from, to, severity: "error", message };
}

export class Editor {
  readonly #view: EditorView;

  /** `changed` hears of each change that a person made: where places are now, and the text before. */
  constructor(host: HTMLElement, schema: Schema, changed: (moved: Moved, before: string) => void) {
    // A shadow root takes its styles from the script, which the policy of the page allows; the page itself takes none.
    const root = host.attachShadow({ mode: "open" });
    const extensions = [
      lineNumbers(),
      lintGutter(),
      history(),
      drawSelection(),
      highlightActiveLine(),
      closeBrackets(),
      tooltips({ position: "fixed" }),
      StreamLanguage.define(toml),
      syntaxHighlighting(COLOURS),
      autocompletion({ override: [(context) => complete(schema, context)], icons: false }),
      hoverTooltip((view, pos) => {
        const found = described(schema, view.state, pos);
        if (found === null) return null;
        const dom = element("div", {}, found.words);
        return { pos: found.from, end: found.to, above: true, create: () => ({ dom }) };
      }),
      // Tab leaves the editor, as everywhere on a page.
      keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...completionKeymap]),
      EditorView.contentAttributes.of({ "aria-label": "Scenario", spellcheck: "false", tabindex: "0" }),
      LOOK,
      EditorView.updateListener.of((update) => {
        if (!update.docChanged || update.transactions.some((each) => each.annotation(byPage))) return;
        changed((at, side) => update.changes.mapPos(at, side), update.startState.doc.toString());
      }),
    ];
    this.#view = new EditorView({ state: EditorState.create({ extensions }), parent: root, root });
  }

  get text(): string {
    return this.#view.state.doc.toString();
  }

  set text(text: string) {
    const { doc } = this.#view.state;
    this.#view.dispatch({ changes: { from: 0, to: doc.length, insert: text }, annotations: byPage.of(true) });
  }

  /** Puts other text in the place of a value. */
  replace(from: number, to: number, insert: string): void {
    this.#view.dispatch({ changes: { from, to, insert }, annotations: byPage.of(true) });
  }

  set errors(errors: readonly Wrong[]) {
    const { state } = this.#view;
    this.#view.dispatch(
      setDiagnostics(
        state,
        errors.map((wrong) => diagnostic(state.doc, wrong)),
      ),
    );
  }

  /** Goes to an error. */
  show(wrong: Wrong): void {
    const { from } = diagnostic(this.#view.state.doc, wrong);
    this.#view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
    this.#view.focus();
  }
}
