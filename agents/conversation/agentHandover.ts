import type { Failure } from '../../src/policy/failures/face.ts';
import type { AgentEvent } from './agentTypes.ts';

/** Prompt and answer of a turn. */
interface SaidTurn {
  readonly prompt: string;
  readonly answer: string;
}

/** Turns that are remembered for another agent, and characters of each prompt, answer and line. */
const mostTurns = 20;
const longestPart = 4000;
const mostTools = 50;
const longestLine = 200;

/** Turns so far, for a backend that has not heard them. Bounded: the oldest is given up first. */
export function createSaidSoFar() {
  const turns: SaidTurn[] = [];
  let count = 0;
  return {
    add({ prompt, answer }: SaidTurn): void {
      count++;
      turns.push({ prompt: shorten(prompt, longestPart), answer: shorten(answer, longestPart) });
      if (turns.length > mostTurns) turns.shift();
    },
    /** Turns in all, those that were given up included. */
    get count(): number {
      return count;
    },
    /** Returns those from the n-th on, from 0. */
    since: (index: number): readonly SaidTurn[] => turns.slice(Math.max(0, index - (count - turns.length))),
  };
}

/**
 * Notes of a turn that was not answered.
 * Notes which tools a turn used.
 */
export function createTurnNotes() {
  const tools: { readonly id: string; readonly line: string; ended: string | undefined }[] = [];
  let more = 0;
  return {
    take(event: AgentEvent): void {
      if (event.type === 'tool.started') {
        const line = shorten(event.action === '' ? event.tool : `${event.tool}: ${event.action}`, longestLine);
        if (tools.length < mostTools) tools.push({ id: event.id, line, ended: undefined });
        else more++;
      }
      if (event.type === 'tool.ended') {
        // Some backends give several tools one id.
        const tool = tools.find(({ id, ended }) => id === event.id && ended === undefined);
        if (tool !== undefined) tool.ended = event.ok ? 'done' : 'failed';
      }
    },
    /** Returns all that was done, one line each. */
    lines: (): readonly string[] => [
      ...tools.map(({ line, ended }) => `${line} (${ended ?? 'no result known'})`),
      ...(more > 0 ? [`and ${more} more`] : []),
    ],
  };
}

/** A prompt with what its backend has not heard: earlier turns with another backend, and what another backend did for this one. */
export function handOver(
  prompt: string,
  earlier: readonly SaidTurn[],
  cut?: { readonly failure: Failure; readonly done: readonly string[] },
): string {
  if (earlier.length === 0 && (cut === undefined || cut.done.length === 0)) return prompt;
  const parts: string[] = [];
  if (earlier.length > 0) {
    parts.push('Before, this was said with another agent:');
    for (const turn of earlier) parts.push(`Request: ${turn.prompt}\nAnswer: ${turn.answer}`);
  }
  if (cut !== undefined && cut.done.length > 0) {
    parts.push(
      'Another agent began with the request below and could not finish. It used these tools; check what they changed before doing it again:',
      cut.done.map((line) => `- ${line}`).join('\n'),
    );
  }
  return [...parts, 'The request:', prompt].join('\n\n');
}

const shorten = (text: string, characters: number): string =>
  text.length > characters ? `${text.slice(0, characters - 1)}…` : text;
