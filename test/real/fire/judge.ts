import { type Cell, doesNotAsk, type PromptEnd } from './cell.ts';
import { type Fault, faults, type Truth } from './faults.ts';

/** Idle limit behind us, in ms. */
export const idleMs = 10_000;

function faultOf({ fault }: Pick<Cell, 'fault'>): Fault {
  const found = faults.find(({ name }) => name === fault);
  if (found === undefined) throw new RangeError(`No fault ${fault}`);
  return found;
}

/** What of a cell is not "one truthful end within its bound, nothing left, nothing doubled, and the session goes on"; each as a few words. */
export function troubles(cell: Cell): readonly string[] {
  const fault = faultOf(cell);
  if (cell.broken !== undefined) return cell.broken === doesNotAsk ? [] : ['did not start'];
  if (cell.mode === 'headless') return [...(isTrueExit(cell, fault) ? [] : ['untrue']), ...leftOver(cell)];
  const { prompts, shown, exit, next } = cell;
  const isOver = fault.act === 'close stdin';
  return [
    ...(isOver || prompts.every(({ end }) => fault.truth.some((each) => isTrue(each, end, cell))) ? [] : ['untrue']),
    ...(isOver || prompts.every(({ answers, end }) => answers === 1 || (end === 'closed' && cell.way === 'bare'))
      ? []
      : ['not answered once']),
    ...(prompts.some(({ end, seconds }) => end !== 'none' && !isOver && seconds * 1000 > boundOf(fault))
      ? ['late']
      : []),
    ...(shown > prompts.length ? ['doubled'] : []),
    ...(isOver && (exit === undefined || exit === 'none') ? ['does not end'] : []),
    ...(next === undefined || next === 'end_turn' ? [] : ['does not go on']),
    ...leftOver(cell),
  ];
}

const leftOver = ({ left }: Cell): readonly string[] => (left.length === 0 ? [] : ['left']);

function isTrue(truth: Truth, end: string, { way }: Cell): boolean {
  switch (truth) {
    case 'done':
      return end === 'end_turn';
    case 'failed':
      return end.startsWith('error') || (end === 'closed' && way === 'bare');
    case 'cancelled':
      return end === 'cancelled';
    case 'any':
      return end !== 'none';
  }
}

function isTrueExit({ prompts }: Cell, { name }: Fault): boolean {
  const [{ end } = { end: 'none' } as PromptEnd] = prompts;
  return name === 'ok' ? end === 'exit 0' : end !== 'exit 0' && end !== 'none';
}

/** Time within which a prompt has to have ended behind us, in ms. */
const boundOf = ({ act, withinMs }: Fault): number =>
  act === 'wait' || act === 'stop' || act === 'second prompt' ? idleMs + withinMs : withinMs;
