/** A client gets its answer so long after the death of a server at the latest, in ms: below the 30 s after which most give up. */
const answeredWithinMs = 25_000;

/**
 * Bookkeeping of one client's wire, its own: it knows of what it judges only what crosses. A request is owed one answer, unless the
 * client has cancelled it: then none, or the one that was on its way.
 */
export class McpJudge {
  violations = [];
  answered = 0;
  /** Answers that say that a server was lost under a call, with an unknown outcome. */
  lost = 0;
  /** Answers that say that the server is not there now. */
  refused = 0;
  /** Longest time from the death of a server to the answer of a request that was open then, in ms. */
  slowestMs = 0;
  #name;
  #now;
  /** By id: the method, and when a server died last while it was open. */
  #owed = new Map();
  #cancelled = new Set();
  #asked = new Set();
  #calledOff = new Set();

  constructor(name, now = () => Date.now()) {
    this.#name = name;
    this.#now = now;
  }

  get open() {
    return this.#owed.size;
  }

  /** The client has written a message. */
  sent({ id, method, params }) {
    if (method === 'notifications/cancelled') {
      if (this.#owed.delete(params.requestId)) this.#cancelled.add(params.requestId);
    } else if (method !== undefined && id !== undefined) this.#owed.set(id, { method, diedAt: undefined });
    else if (id !== undefined && !this.#asked.delete(id) && !this.#calledOff.delete(id))
      this.#violation(`the client answered ${id}, which was not asked`);
  }

  /** The client has read a message. */
  received(message) {
    const { id, method, params } = message;
    if (method === undefined) this.#answer(message);
    else if (id !== undefined) {
      if (this.#asked.has(id)) this.#violation(`the client was asked ${id} (${method}) while ${id} was open`);
      this.#asked.add(id);
    } else if (method === 'notifications/cancelled') {
      // Its answer may be on its way; and some clients do not hear that an id of 0 was called off.
      if (this.#asked.delete(params.requestId)) this.#calledOff.add(params.requestId);
    } else if (method === 'notifications/progress' && !this.#owed.has(params.progressToken)) {
      this.#violation(`progress came for ${params.progressToken}, which had ended`);
    }
  }

  /** The server is dead: what is open now is owed its answer within {@link answeredWithinMs}. */
  serverDied() {
    const diedAt = this.#now();
    for (const owed of this.#owed.values()) owed.diedAt = diedAt;
  }

  /** The client was told that its connection is gone. */
  disconnected() {
    this.#violation('the client was disconnected');
  }

  /** Something the client did not get as it should. */
  wrong(what) {
    this.#violation(what);
  }

  /** Nothing more will come. */
  finish() {
    for (const [id, { method }] of this.#owed) this.#violation(`${id} (${method}) was never answered`);
    this.#owed.clear();
  }

  #answer({ id, result, error }) {
    const owed = this.#owed.get(id);
    if (owed === undefined) {
      // It may have crossed the cancellation on its way.
      if (!this.#cancelled.delete(id)) this.#violation(`${id} was answered twice, or never asked`);
      return;
    }
    const { method, diedAt } = owed;
    this.#owed.delete(id);
    this.answered++;
    const waitedMs = diedAt === undefined ? 0 : this.#now() - diedAt;
    this.slowestMs = Math.max(this.slowestMs, waitedMs);
    if (waitedMs > answeredWithinMs)
      this.#violation(`${id} (${method}) was answered ${waitedMs} ms after its server had died`);
    if (method === 'tools/call' && error !== undefined) {
      this.#violation(`${id} (tools/call) ended in an error of the protocol: ${error.code} ${error.message}`);
    }
    const text = error?.message ?? (result?.isError === true ? JSON.stringify(result.content) : '');
    if (/unknown/i.test(text)) this.lost++;
    else if (text !== '') this.refused++;
  }

  #violation(what) {
    if (this.violations.length < 1000) this.violations.push(`${this.#name}: ${what}`);
  }
}
