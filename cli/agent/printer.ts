import type { AgentEvent } from '../../agents/conversation/agentTypes.ts';
import { formatDuration } from '../../src/policy/text/face.ts';
import type { OwnOutput } from '../run/output.ts';
import { plainText, sanitize, toJsonLine } from '../sanitize.ts';
import type { Failure } from '../../src/policy/failures/face.ts';
import { failureLine } from '../run/lastWords.ts';
import { failuresOf } from '../../agents/conversation/agentFallback.ts';
import { sdkPackage } from '../../agents/conversation/claude/claudeSdkModule.ts';
import type { AgentPlan } from './plan.ts';

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

type Named = Pick<AgentPlan, 'command' | 'name' | 'backend'>;

const acted = 'it may have changed something: what it did last is to be checked before it is asked again';

/** Writes one line, or one for each of two that failed, which then says whose it is. */
export function failureLines(failure: Failure, plan: Named): readonly string[] {
  const failures = failuresOf(failure);
  const [only] = failures;
  const lines =
    failures.length === 1 && only !== undefined
      ? [failureLineOf(only, plan)]
      : failures.map(
          (each, place) =>
            `${sanitize(each.integration)} failed${place === 0 ? '' : ' too'}: ${failureLineOf(each, plan)}`,
        );
  return failures.some(mayHaveActed) ? [...lines, acted] : lines;
}

/** Tells whether the work of the turn may have taken effect: to ask once more would do that again. */
const mayHaveActed = ({ outcome }: Failure): boolean => outcome === 'unknown' || outcome === 'done';

function failureLineOf(failure: Failure, plan: Named): string {
  const { kind, code, integration } = failure;
  const { command, name, backend } = plan;
  const isClaude = integration === (backend === 'claude' ? name : 'claude');
  const missing = kind === 'spawn' && code === 'ENOENT' && isClaude && (command === undefined || backend !== 'claude');
  if (missing)
    return `claude is not there: npm install ${sdkPackage} beside unwedge, or put the program claude on the PATH`;
  return failureLine(failure, { agent: backend, effects: mayHaveActed(failure) ? 'possible' : 'none' });
}
