// The index of a page of papers: figures by verdict, paper and law.

import { element } from "./element";

const WORDS: Readonly<Record<string, string>> = {
  holds: "holds",
  fails: "fails",
  undecided: "undecided",
  absent: "not run here",
};

interface Choice {
  readonly key: "verdicts" | "part" | "laws";
  readonly label: string;
  readonly all: string;
}

const CHOICES: readonly Choice[] = [
  { key: "verdicts", label: "Verdict", all: "any" },
  { key: "part", label: "Paper", all: "all papers" },
  { key: "laws", label: "Law", all: "any" },
];

/** What an entry has of a choice. */
function valuesOf(entry: HTMLElement, { key }: Choice): string[] {
  const text = entry.dataset[key] ?? "";
  return key === "part" ? [text] : text.split(" ").filter((word) => word !== "");
}

/** Puts the choices above the index of the page, if it has one. */
export function startFilter(): void {
  const list = document.querySelector(".index .thumbs");
  if (list === null) return;
  const entries = [...list.querySelectorAll<HTMLElement>("li[data-section]")];
  const selects = CHOICES.flatMap((choice) => {
    const values = [...new Set(entries.flatMap((entry) => valuesOf(entry, choice)))].sort();
    if (values.length < 2) return [];
    const select = element("select", {}, element("option", { value: "" }, choice.all));
    select.append(...values.map((value) => element("option", { value }, WORDS[value] ?? value)));
    return [{ choice, select }];
  });
  const count = element("p", { role: "status" });
  const apply = () => {
    let shown = 0;
    for (const entry of entries) {
      const fits = selects.every(
        ({ choice, select }) => select.value === "" || valuesOf(entry, choice).includes(select.value),
      );
      entry.hidden = !fits;
      shown += fits ? 1 : 0;
      const section = document.getElementById(entry.dataset["section"] ?? "");
      if (section !== null) section.hidden = !fits;
    }
    count.textContent = `${shown} of ${entries.length}`;
  };
  const controls = element("div", { class: "choices" });
  for (const { choice, select } of selects) {
    select.addEventListener("change", apply);
    controls.append(element("label", {}, `${choice.label} `, select));
  }
  controls.append(count);
  list.before(controls);
  apply();
}
