// A thread that computes. The page stops it by ending it.

import { Core, type Request } from "./core";

/** What the page sends: the module once, then requests. */
export type Sent = { readonly module: WebAssembly.Module } | { readonly number: number; readonly request: Request };
/** What it hears. */
export type Heard =
  | { readonly number: number; readonly answer: string; readonly seconds: number; readonly memory: number }
  | { readonly number: number; readonly broke: string }
  | { readonly number: number; readonly done: number };

let core: Core | null = null;
let now = 0;
const say = (heard: Heard) => self.postMessage(heard);

self.addEventListener("message", ({ data }: MessageEvent<Sent>) => {
  if ("module" in data) {
    core = new Core(data.module, (done) => say({ number: now, done }));
    return;
  }
  now = data.number;
  const start = performance.now();
  try {
    const answer = core?.ask(data.request) ?? "";
    const seconds = (performance.now() - start) / 1000;
    say({ number: now, answer, seconds, memory: core?.memory ?? 0 });
  } catch (error) {
    say({ number: now, broke: error instanceof Error ? error.message : String(error) });
  }
});
