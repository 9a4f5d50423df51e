import { failed, healthy, ok, times } from '../build.ts';
import type { Shape } from '../shape.ts';
import { at, gives, hex, reads } from './make.ts';

/** A declared read that answers a value, the same call each time. */
const values = (name: string, tool: string, value: (round: number) => unknown): Shape =>
  healthy(
    name,
    times(40, (round) => gives(tool, { of: 'plant' }, value(round))),
    reads(tool),
  );

/** A declared read that answers alike, other arguments each time. */
const asks = (name: string, tool: string, input: (round: number) => unknown, answer: string | null): Shape =>
  healthy(
    name,
    times(40, (round) => gives(tool, input(round), answer)),
    reads(tool),
  );

const deep = (round: number, depth: number): unknown => (depth === 0 ? round : { filter: [deep(round, depth - 1)] });

const long = 'lorem ipsum dolor '.repeat(5_600);

export const healthyValues: readonly Shape[] = [
  values('numbers as values', 'level', (round) => 40 + round),
  values('floats that hardly move', 'voltage', (round) => ({ volts: 3.3 + round / 1_000_000 })),
  values('only what is structured moves', 'stock', (round) => ({
    content: [{ type: 'text', text: 'see the structured content' }],
    structuredContent: { shelves: [{ sku: 'A', left: 90 - round }] },
  })),
  values('a map', 'tallies', (round) => new Map([['done', round]])),
  values('bytes', 'sample', (round) => new Uint8Array([7, 7, 7, round])),
  values('big integers', 'ledger_height', (round) => ({ height: 9_007_199_254_740_993n + BigInt(round) })),
  asks(
    'windows of time, none with a row',
    'query_metrics',
    (round) => ({ from: at(round * 100).getTime(), to: at(round * 100 + 100).getTime() }),
    '[]',
  ),
  asks('days in words, none with an event', 'events', (round) => ({ day: at(round * 2_310).toISOString() }), ''),
  asks('arguments that differ ten levels down', 'search', (round) => deep(round, 10), null),
  asks('floats as arguments', 'simulate', (round) => ({ gain: round / 7, damp: 0.1 + round * 1e-9 }), 'stable'),
  asks('arguments of 100 kB that differ in their end', 'validate', (round) => ({ text: `${long}${round}` }), 'valid'),
  asks(
    'arguments of 100 kB that differ in their middle',
    'validate',
    (round) => {
      return { text: `${long.slice(0, 50_000)}${round}${long.slice(50_000)}` };
    },
    'valid',
  ),
  asks(
    'the order of a list counts',
    'route',
    (round) => {
      const stops = times(6, (stop) => (stop + round) % 41);
      return { stops: round % 2 === 0 ? stops : stops.toReversed() };
    },
    'infeasible',
  ),
  asks('keys differ, values do not', 'has_flag', (round) => ({ [`flag_${hex(round, 5)}`]: true }), 'false'),
  asks('names in other scripts', 'thesaurus', (round) => ({ word: `слово${String.fromCodePoint(0x430 + round)}` }), ''),
  asks(
    'windows paths of two drives',
    'file_exists',
    (round) => ({ path: `${round % 2 === 0 ? 'C' : 'D'}:\\Users\\Ana\\Döküman\\${Math.floor(round / 2)}.docx` }),
    'false',
  ),
  healthy(
    'a fuzzer that may fail alike as often as it likes',
    times(40, () => failed('fuzz', { seed: 'fixed' }, 'assertion failed: a < b')),
    { tools: { fuzz: { repeats: 'allowed' } } },
  ),
  healthy(
    'a sandbox for payments: forty equal charges',
    times(40, () => ok('charge', { amount: 100, currency: 'EUR', card: '4242' }, '{"status":"succeeded"}')),
    { tools: { charge: { effect: 'mutating' } } },
  ),
  healthy(
    'a heater that is set again and again',
    times(40, () => gives('set_heater', { watts: 300 }, null)),
    { tools: { set_heater: { effect: 'idempotent' } } },
  ),
];
