import { appendFileSync, existsSync, readFileSync } from 'node:fs';

/** Content of one `session/update`. */
export type AcpUpdate = Readonly<Record<string, unknown>> & { readonly sessionUpdate: string };

interface Entry {
  readonly start?: true;
  readonly session?: string;
  readonly update?: AcpUpdate;
}

/** Sessions of an agent and the count of its starts, kept in a file of JSON lines where one is given. */
export class AcpMemory {
  readonly #file: string | undefined;
  readonly #sessions = new Map<string, AcpUpdate[]>();
  /** Count of its starts, this one included. */
  readonly start: number;

  constructor(file: string | undefined) {
    this.#file = file;
    const kept = file !== undefined && existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
    const entries = kept.filter((line) => line !== '').map((line) => JSON.parse(line) as Entry);
    for (const entry of entries) this.#take(entry);
    this.start = entries.filter(({ start }) => start).length + 1;
    this.#write({ start: true });
  }

  /** Makes a session, and returns its id: no two of a file are the same. */
  open(): string {
    const session = `session-${this.#sessions.size + 1}`;
    this.#take({ session });
    this.#write({ session });
    return session;
  }

  has(session: unknown): session is string {
    return typeof session === 'string' && this.#sessions.has(session);
  }

  keep(session: string, update: AcpUpdate): void {
    this.#take({ session, update });
    this.#write({ session, update });
  }

  history(session: string): readonly AcpUpdate[] {
    return this.#sessions.get(session) ?? [];
  }

  #take({ session, update }: Entry): void {
    if (session === undefined) return;
    const updates = this.#sessions.get(session) ?? [];
    this.#sessions.set(session, updates);
    if (update !== undefined) updates.push(update);
  }

  #write(entry: Entry): void {
    if (this.#file !== undefined) appendFileSync(this.#file, `${JSON.stringify(entry)}\n`);
  }
}
