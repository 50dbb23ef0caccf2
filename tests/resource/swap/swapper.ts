/**
 * The attacker: swaps what lies at a path for something else and back, as fast as it can, with pauses of random length so
 * that it meets every moment of an admission. Runs as a Worker.
 *
 * @module
 */

/** What the attacker is told. */
export interface Orders {
  /** The path that is swapped. */
  readonly target: string;
  /** What takes its place; it lies beside it. */
  readonly decoy: string;
  /** A folder whose time of modification is put back after each swap, to hide it. */
  readonly hide?: string;
  /** Becomes 1 when it is to stop; its second element counts the swaps. */
  readonly control: Int32Array;
}

declare const self: {
  onmessage: (event: MessageEvent<Orders>) => void;
  postMessage(message: "ready" | "done"): void;
};

self.onmessage = ({ data: { target, decoy, hide, control } }) => {
  const aside = `${target}.aside`;
  const swap = (from: string, to: string) => {
    Deno.renameSync(target, to);
    Deno.renameSync(from, target);
    if (hide !== undefined) Deno.utimeSync(hide, 1000, 1000);
  };
  self.postMessage("ready");
  while (Atomics.load(control, 0) === 0) {
    swap(decoy, aside);
    pause();
    swap(aside, decoy);
    pause();
    Atomics.add(control, 1, 1);
  }
  self.postMessage("done");
};

/** Up to some tens of microseconds, most of them short. */
function pause(): void {
  const end = performance.now() + Math.random() ** 3 * 0.06;
  while (performance.now() < end);
}
