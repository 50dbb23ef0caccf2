/** Runs tasks one after the other, in the order in which they came. */
export class Mailbox {
  readonly #rested: () => void;
  #tail: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** `rested` is called each time that nothing is left to do. */
  constructor(rested: () => void) {
    this.#rested = rested;
  }

  get empty(): boolean {
    return this.#waiting === 0;
  }

  /** Resolves or rejects as the task does, once its turn came. */
  post<T>(task: () => T | Promise<T>): Promise<T> {
    this.#waiting += 1;
    const done = this.#tail.then(task);
    this.#tail = done.then(() => this.#next(), () => this.#next());
    return done;
  }

  #next(): void {
    this.#waiting -= 1;
    if (this.#waiting === 0) this.#rested();
  }
}
