import { appendFileSync, existsSync, readFileSync } from 'node:fs';

/** Content of one `session/update`. */
export type AcpUpdate = Readonly<Record<string, unknown>> & { readonly sessionUpdate: string };

/** Start of the agent, a session that was made, or an update of one. */
interface Entry {
  readonly start?: true;
  readonly session?: string;
  readonly update?: AcpUpdate;
}

/** Sessions of an agent and the count of its starts, kept in a file of JSON lines where one is given. */
export class AcpMemory {
  readonly #file: string | undefined;
  readonly #entries: Entry[] = [];
  /** Count of its starts, this one included. */
  readonly start: number;

  constructor(file: string | undefined) {
    this.#file = file;
    const kept = file !== undefined && existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
    this.#entries = kept.map((line) => JSON.parse(line) as Entry);
    this.#add({ start: true });
    this.start = this.#entries.filter(({ start }) => start).length;
  }

  /** Makes a session, and returns its id: no two of a file are the same. */
  open(): string {
    const session = `session-${this.#entries.filter((each) => isMade(each)).length + 1}`;
    this.#add({ session });
    return session;
  }

  has(session: unknown): session is string {
    return this.#entries.some((each) => isMade(each) && each.session === session);
  }

  keep(session: string, update: AcpUpdate): void {
    this.#add({ session, update });
  }

  history(session: string): readonly AcpUpdate[] {
    return this.#entries.flatMap((each) => (each.session === session ? (each.update ?? []) : []));
  }

  #add(entry: Entry): void {
    this.#entries.push(entry);
    if (this.#file !== undefined) appendFileSync(this.#file, `${JSON.stringify(entry)}\n`);
  }
}

function isMade({ session, update }: Entry): boolean {
  return session !== undefined && update === undefined;
}
