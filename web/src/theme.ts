// The colours of figures, from the style sheet of the page.

import type { Theme } from "./draw";

export function theme(dark: boolean): Theme {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  return {
    dark,
    ink: colour("--ink"),
    soft: colour("--soft"),
    grid: colour("--rule"),
    spine: colour("--head"),
    ground: colour("--card"),
    font: getComputedStyle(document.body).fontFamily,
  };
}
