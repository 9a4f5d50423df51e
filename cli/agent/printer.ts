import type { AgentEvent } from '../../agents/conversation/agentTypes.ts';
import { formatDuration } from '../../src/policy/duration.ts';
import type { OwnOutput } from '../run/output.ts';
import { plainText, sanitize, toJsonLine } from '../sanitize.ts';

/** Shows the events of a turn. */
export interface Printer {
  /** A promise says when more can be shown: the reader is slow. */
  show(event: AgentEvent): Promise<void> | undefined;
  /** Shows the answer where its pieces were held back, and ends the line that it left open. */
  end(answer: string | undefined): void;
  /** Uses of tools that were declined. */
  readonly declined: number;
}

/** Options for the display of events. */
interface PrinterOptions {
  readonly json: boolean;
  /** Shows pieces of the answer as they come, those of an attempt that fails later included. */
  readonly streams: boolean;
  /** True where the answer and our lines share a terminal: a line of ours then begins on one of its own. */
  readonly isTerminal: boolean;
  /** Takes secrets out of what is told of the turn; the answer stays as it is. */
  readonly hide: (text: string) => string;
}

export function createPrinter(own: OwnOutput, { json, streams, isTerminal, hide }: PrinterOptions): Printer {
  let midLine = false;
  let declined = 0;

  const write = (text: string): Promise<void> | undefined => {
    if (text === '') return undefined;
    midLine = !text.endsWith('\n');
    return own.write(Buffer.from(text), 'stdout');
  };
  const tell = (line: string): Promise<void> | undefined => {
    if (midLine && isTerminal) void write('\n');
    return own.write(Buffer.from(`${hide(sanitize(line))}\n`), 'stderr');
  };

  return {
    get declined() {
      return declined;
    },
    show(event) {
      if (event.type === 'approval.resolved' && event.decision === 'decline') declined++;
      if (json) return own.write(Buffer.from(toJsonLine(snakeCase(told(event, hide)))), 'stdout');
      if (event.type === 'text') return streams ? write(plainText(event.text)) : undefined;
      // The text that comes now begins anew.
      if ((event.type === 'retrying' || event.type === 'fell_back') && midLine) void write('\n');
      const line = lineOf(event);
      return line === undefined ? undefined : tell(line);
    },
    end(answer) {
      if (!json && !streams && answer !== undefined) void write(plainText(answer));
      if (midLine) void write('\n');
    },
  };
}

function told(event: AgentEvent, hide: PrinterOptions['hide']): object {
  if (event.type === 'text' || event.type === 'reasoning') return event;
  const fields = Object.entries(event).map(([name, value]: [string, unknown]) => [
    name,
    typeof value === 'string' ? hide(value) : value,
  ]);
  return Object.fromEntries(fields) as object;
}

/** Writes an event for people, on a line of its own; undefined when nothing is said. */
function lineOf(event: Exclude<AgentEvent, { type: 'text' }>): string | undefined {
  switch (event.type) {
    case 'tool.started':
      return event.action === '' ? `[${event.tool}]` : `[${event.tool}] ${event.action}`;
    case 'tool.ended':
      return event.ok ? undefined : `[${event.tool}] failed`;
    case 'retrying': {
      const wait = event.delayMs === undefined ? '' : ` in ${formatDuration(event.delayMs)}`;
      return `unwedge: trying again${wait}: ${event.message}`;
    }
    case 'approval.resolved':
      if (event.decision === 'accept') return undefined;
      return `unwedge: declined: ${event.tool}${event.reason === undefined ? '' : ` (${event.reason})`}`;
    case 'fell_back':
      return `unwedge: ${event.from} failed (${event.kind}: ${event.message}); ${event.to} goes on`;
    case 'notice':
      return `unwedge: ${event.message}`;
    case 'reasoning':
    case 'approval.requested':
      return undefined;
  }
}

/** Names of fields as machines get them from every command. */
export function snakeCase(fields: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]: [string, unknown]) => [
      name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value === undefined ? null : value,
    ]),
  );
}
