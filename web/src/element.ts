// Elements of a page. Text stays text: nothing here takes HTML.

type Child = Node | string;

export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** Text with what stands between back-ticks as code. */
export function rich(text: string): Child[] {
  return text.split("`").map((part, i) => (i % 2 === 0 ? part : element("code", {}, part)));
}

export function button(words: string, label: string, pressed: boolean | null, act: () => void): HTMLButtonElement {
  const made = element("button", { type: "button", title: label }, words);
  // A name begins with the words on the button, so that it can be spoken (WCAG 2.2, 2.5.3).
  made.setAttribute("aria-label", label.startsWith(words) ? label : `${words}: ${label}`);
  if (pressed !== null) made.setAttribute("aria-pressed", String(pressed));
  made.addEventListener("click", act);
  return made;
}

export function save(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = element("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  // The browser has its own copy by then.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
