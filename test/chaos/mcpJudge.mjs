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
  #name;
  #owed = new Map();
  #cancelled = new Set();
  #asked = new Set();
  #calledOff = new Set();

  constructor(name) {
    this.#name = name;
  }

  get open() {
    return this.#owed.size;
  }

  /** The client has written a message. */
  sent({ id, method, params }) {
    if (method === 'notifications/cancelled') {
      if (this.#owed.delete(params.requestId)) this.#cancelled.add(params.requestId);
    } else if (method !== undefined && id !== undefined) this.#owed.set(id, method);
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
    for (const [id, method] of this.#owed) this.#violation(`${id} (${method}) was never answered`);
    this.#owed.clear();
  }

  #answer({ id, result, error }) {
    const method = this.#owed.get(id);
    if (method === undefined) {
      // It may have crossed the cancellation on its way.
      if (!this.#cancelled.delete(id)) this.#violation(`${id} was answered twice, or never asked`);
      return;
    }
    this.#owed.delete(id);
    this.answered++;
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
