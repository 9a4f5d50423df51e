/** JSON-RPC over the pipes of a program that is watched: each request is owed one answer. */
export class LineClient {
  #program;
  #next = 1;
  #open = new Map();
  #cancelled = new Set();
  answered = 0;
  violations = [];

  /** @param onRequest - answers what the program asks */
  constructor(program, onRequest = () => ({})) {
    this.#program = program;
    program.lines.on('line', (line) => {
      const message = JSON.parse(line);
      if (message.method === undefined) this.#settle(message);
      else if (message.id !== undefined) this.#send({ id: message.id, result: onRequest(message) });
    });
  }

  get open() {
    return this.#open.size;
  }

  /** Asks, and waits for the answer: `result` or `error` is in it. @param cancelAfterMs - takes it back after so long. */
  ask(method, params, cancelAfterMs) {
    const id = this.#next++;
    this.#send({ id, method, params });
    return new Promise((resolve) => {
      this.#open.set(id, resolve);
      if (cancelAfterMs !== undefined) setTimeout(() => this.#cancel(id), cancelAfterMs);
    });
  }

  tell(method, params = {}) {
    this.#send({ method, params });
  }

  #cancel(id) {
    const resolve = this.#open.get(id);
    if (resolve === undefined) return;
    this.#open.delete(id);
    this.#cancelled.add(id);
    this.tell('notifications/cancelled', { requestId: id });
    resolve({ cancelled: true });
  }

  #settle(message) {
    const resolve = this.#open.get(message.id);
    if (resolve === undefined && !this.#cancelled.delete(message.id))
      this.violations.push(`${this.#program.name}: ${message.id} was answered twice, or never asked`);
    if (resolve === undefined) return;
    this.answered++;
    this.#open.delete(message.id);
    resolve(message);
  }

  #send(message) {
    this.#program.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }
}
