import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PgRow } from '../../../postgres/pgDriver.ts';
import { PgReader } from '../../../postgres/reader/pgReader.ts';
import { type Ask, PgReads } from '../../../postgres/reader/pgReads.ts';
import type { StoreReader } from '../../../reader/storeReader.ts';
import { findDriver } from '../../../src/store/sqlite/face.ts';
import { startPgStore, target } from '../pgStore.ts';
import { must, type Target } from '../target.ts';
import { filled, strange } from './rows.ts';

/** Values that a column of that type may hold, and is not meant to; PostgreSQL takes no text with a zero character. */
const strangeTexts = strange.filter((value) => typeof value === 'string').filter((text) => !text.includes('\0'));
const strangeNumbers = strange.filter((value) => typeof value === 'number');

const now = Date.UTC(2026, 0, 1, 1);

/** All that a reader of a database is asked by commands and pages. */
const questions: readonly ((reader: StoreReader) => Promise<unknown>)[] = [
  (reader) => reader.status(now),
  (reader) => reader.events({ limit: 100 }),
  (reader) => reader.alerts(now),
  (reader) => reader.statistics(0),
  (reader) => reader.statistics(0, 'tools'),
  (reader) => reader.totals(),
  (reader) => reader.flights({}),
  (reader) => reader.policies(),
  (reader) => reader.runtimes(),
  (reader) => reader.sessionIds(),
  (reader) => reader.waitingSessions(),
  (reader) => reader.session('agent:main'),
  (reader) => reader.turns('agent:main', 10),
  (reader) => reader.message('agent:main', 'agent:main#1'),
  (reader) => reader.history('agent:main', 10),
  (reader) => reader.deadLetters(),
  (reader) => reader.questions(),
  (reader) => reader.cluster(),
];

/** Rows of PostgreSQL with other values of their type in every column that is asked for: what reads them says so, or goes on without, and throws nothing of its own. */
export async function pgRows(): Promise<Target> {
  const directory = mkdtempSync(join(tmpdir(), 'unwedge-fuzz-'));
  const path = join(directory, 'rows.sqlite');
  await filled(path);
  const found = await findDriver();
  if (!found.ok) throw new Error(found.reason);
  const file = found.driver.open(path, { busyTimeoutMs: 0 });
  const module = await startPgStore(file);
  file.close();
  const reads = new PgReads(module, target);
  const answers = new Map<string, readonly PgRow[]>();
  /** The rows do not change: each question goes to the database once. */
  const kept: Ask = async (text, values) => {
    const key = JSON.stringify([text, values]);
    const rows = answers.get(key) ?? (await reads.ask(text, values));
    answers.set(key, rows);
    return rows;
  };
  const read = async (ask: Ask): Promise<void> => {
    const reader = new PgReader(target, 'fuzz', ask, () => Promise.resolve(module));
    for (const question of questions) JSON.stringify(await question(reader));
  };
  await read(kept);
  const columns = [...new Set([...answers.values()].flat().flatMap((row) => Object.keys(row)))].sort();
  must(columns.length > 40, 'few columns are read');
  return {
    seeds: Array.from({ length: columns.length }, (_, index) =>
      Buffer.from([index, index % 13, ...Buffer.from('{"a":1}')]),
    ),
    maxBytes: 200,
    mostSteps: () => 5_000_000,
    async run(input) {
      const column = columns[(input[0] ?? 0) % columns.length] ?? '';
      const other = (value: PgRow[string] | undefined): PgRow[string] => otherValue(value ?? null, input);
      const changed: Ask = async (text, values) =>
        (await kept(text, values)).map((row) =>
          Object.hasOwn(row, column) ? { ...row, [column]: other(row[column]) } : row,
        );
      try {
        await read(changed);
      } catch (error) {
        throw new Error(`${column}: ${String(error)}`, { cause: error });
      }
    },
    close: async () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** Another value of the type. Numbers that are large come as texts, and stay texts of numbers. */
function otherValue(value: PgRow[string], input: Buffer): PgRow[string] {
  const kind = (input[1] ?? 0) % 64;
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return strangeNumbers[kind % strangeNumbers.length] ?? 0;
  if (typeof value !== 'string') return value;
  if (/^\d+$/.test(value)) return String(Math.trunc(strangeNumbers[kind % 3] ?? 0));
  if (kind < strangeTexts.length) return strangeTexts[kind] ?? '';
  return kind % 2 === 0 ? value.slice(0, value.length / 2) : input.subarray(2).toString('utf8').replaceAll('\0', '');
}
