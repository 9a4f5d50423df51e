import { textHash } from '../src/protocol/face.ts';
import type { Findings } from './findings.ts';
import type { Call } from './calls.ts';

/** The longest id that every service takes. */
const mostCharacters = 40;

/** Ids for calls that have none, or one that stands for another call, too. They are the same each time. */
export class OwnIds {
  readonly #taken: Set<string>;
  readonly #findings: Findings;
  readonly #given = new Map<Call, string>();

  /** @param taken - all ids that the history has. */
  constructor(taken: Iterable<string>, findings: Findings) {
    this.#taken = new Set(taken);
    this.#findings = findings;
  }

  /** Gives each of the calls an id of its own; the first one keeps what it has. */
  tellApart(calls: readonly Call[]): void {
    calls.forEach((call, index) => {
      if (!this.#given.has(call) && (call.id === '' || index > 0)) this.#give(call);
    });
  }

  /** The id that a call has in the end. */
  of(call: Call): string {
    return this.#given.get(call) ?? call.id;
  }

  /** Tells whether a call, and with it its result, has another id than it stands under. */
  isNew(call: Call): boolean {
    return this.#given.has(call);
  }

  #give(call: Call): void {
    let next = 2;
    let id = derivedId(call.id, next);
    while (this.#taken.has(id)) id = derivedId(call.id, ++next);
    this.#taken.add(id);
    this.#given.set(call, id);
    this.#findings.add({ rule: 'ambiguous_id', at: call.at, callId: call.id, tool: call.tool });
  }
}

/** Another id of the same form. */
function derivedId(id: string, number: number): string {
  // Mistral takes nine letters and digits and nothing else.
  if (/^[\dA-Za-z]{9}$/.test(id)) return textHash(`${id} ${number}`).slice(0, 9);
  const end = `_${number}`;
  return `${(id === '' ? 'call' : id).slice(0, mostCharacters - end.length)}${end}`;
}
