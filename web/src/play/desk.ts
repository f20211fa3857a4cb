// Requests to a thread that computes: of those that wait only the newest is computed.

import type { Answer, Request } from "./core";
import type { Heard, Sent } from "./worker";

/** An answer, and how long it took [s]. */
export interface Told<T> {
  readonly answer: Answer<T>;
  readonly seconds: number;
}

/** A run that takes longer is stopped when a newer one is asked for [ms]. */
const PATIENCE = 700;

interface Asked {
  readonly request: Request;
  readonly tell: (told: Told<never> | null) => void;
}

export class Desk {
  readonly #module: WebAssembly.Module;
  readonly #progress: (done: number | null) => void;
  #worker: Worker;
  #number = 0;
  #busy: (Asked & { readonly since: number }) | null = null;
  #waiting: Asked | null = null;

  constructor(module: WebAssembly.Module, progress: (done: number | null) => void = () => {}) {
    this.#module = module;
    this.#progress = progress;
    this.#worker = this.#hire();
  }

  /** The answer, or null if a newer request took its place. */
  ask<T>(request: Request): Promise<Told<T> | null> {
    return new Promise((tell) => {
      this.#waiting?.tell(null);
      this.#waiting = { request, tell: tell as Asked["tell"] };
      if (this.#busy !== null && performance.now() - this.#busy.since > PATIENCE) this.stop();
      this.#next();
    });
  }

  /** Ends what is being computed. */
  stop(): void {
    if (this.#busy === null) return;
    this.#worker.terminate();
    this.#worker = this.#hire();
    this.#busy.tell(null);
    this.#busy = null;
    this.#progress(null);
    this.#next();
  }

  #hire(): Worker {
    const worker = new Worker(new URL("worker.js", document.baseURI));
    worker.addEventListener("message", ({ data }: MessageEvent<Heard>) => this.#hear(data));
    worker.postMessage({ module: this.#module } satisfies Sent);
    return worker;
  }

  #next(): void {
    if (this.#busy !== null || this.#waiting === null) return;
    this.#busy = { ...this.#waiting, since: performance.now() };
    this.#waiting = null;
    this.#number += 1;
    this.#worker.postMessage({ number: this.#number, request: this.#busy.request } satisfies Sent);
  }

  #hear(heard: Heard): void {
    if (heard.number !== this.#number || this.#busy === null) return;
    if ("done" in heard) {
      this.#progress(heard.done);
      return;
    }
    const { tell } = this.#busy;
    this.#busy = null;
    this.#progress(null);
    if ("broke" in heard) {
      // A module that broke may have left anything behind.
      this.#worker.terminate();
      this.#worker = this.#hire();
      const what = `this is a bug of Penstock, please report it: ${heard.broke}`;
      tell({ answer: { refused: [what] }, seconds: 0 });
    } else {
      tell({ answer: JSON.parse(heard.answer) as Answer<never>, seconds: heard.seconds });
    }
    this.#next();
  }
}
