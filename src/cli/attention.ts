import { formatDuration } from '../policy/duration.ts';
import { shellWord } from '../policy/shellWord.ts';
import type { OpenAlert } from '../policy/alertRecord.ts';
import type { IntegrationView } from '../runtime/integrationView.ts';
import type { SessionStatus, UnwatchedAlert } from '../store/storeReader.ts';
import { sanitize } from './sanitize.ts';
import type { Style } from './style.ts';
import { wrapWords } from './wrap.ts';

/** What may need somebody to look. */
export interface Watched {
  readonly integrations: readonly IntegrationView[];
  readonly alerts: { readonly open: readonly OpenAlert[]; readonly unwatched: readonly UnwatchedAlert[] };
  readonly sessions: readonly SessionStatus[];
}

/** More than these are told by their number. */
const mostTold = 5;

interface Matter {
  readonly what: string;
  readonly next: string;
}

/**
 * What needs attention and what to do next, the worst first; empty when nothing does.
 * @param options - `database`: what `--db` was given, so that the commands look at the same one.
 */
export function attentionText(
  { integrations, alerts, sessions }: Watched,
  { now, width, style, database }: { now: number; width: number; style: Style; database: string | undefined },
): string {
  const db = database === undefined ? '' : ` --db ${shellWord(sanitize(database))}`;
  const alarmed = new Set([...alerts.open, ...alerts.unwatched].map(({ integration }) => integration));
  const matters = [
    ...bySeverity(integrations)
      .filter(({ integration, circuit }) => circuit !== 'closed' || alarmed.has(integration))
      .map((view) => matterOf(view, alarmed.has(view.integration), now, db)),
    ...sessions.filter(({ failedTurns24h }) => failedTurns24h > 0).map((session) => matterOfSession(session, db)),
  ];
  if (matters.length === 0) return '';
  const lines = matters
    .slice(0, mostTold)
    .flatMap(({ what, next }) => [
      ...wrapWords(what, width - 2).map((line, index) => `${index === 0 ? style.red('!') : ' '} ${line}`),
      `  ${style.dim('next:')} ${next}`,
    ]);
  const more = matters.length > mostTold ? [`  and ${matters.length - mostTold} more, below`] : [];
  return `${[...lines, ...more].join('\n')}\n`;
}

/** Those that let the least through first. */
export function bySeverity(integrations: readonly IntegrationView[]): readonly IntegrationView[] {
  const order: readonly IntegrationView['circuit'][] = ['isolated', 'open', 'crashed', 'half-open', 'closed'];
  return integrations.toSorted((one, other) => order.indexOf(one.circuit) - order.indexOf(other.circuit));
}

function matterOf(view: IntegrationView, isAlarmed: boolean, now: number, db: string): Matter {
  const { integration, lastError, failures10m, crashes10m } = view;
  const name = sanitize(integration);
  const cause =
    lastError === undefined
      ? ''
      : `: ${lastError.kind === undefined ? '' : `${lastError.kind}: `}${sanitize(lastError.error)}`;
  const often = isAlarmed ? `failed ${failures10m} times and crashed ${crashes10m} times in 10 minutes` : '';
  const state = view.circuit === 'closed' ? often : stateText(view, now);
  const word = shellWord(name);
  const next =
    view.live.length > 0 && view.circuit !== 'half-open' && view.circuit !== 'closed'
      ? `unwedge restart ${word}${db}`
      : `unwedge events --integration ${word} --failed${db}`;
  return { what: `${name} ${state}${cause}`, next };
}

function stateText(view: IntegrationView, now: number): string {
  if (view.circuit === 'open') {
    const leftMs = probeInMs(view, now);
    return `is not called: its circuit is open, ${leftMs > 0 ? `next try in ${formatDuration(leftMs)}` : 'the next call tries it'}`;
  }
  if (view.circuit === 'half-open') return 'is being tried again: its circuit is half-open';
  return view.circuit === 'isolated' ? 'is not called: somebody isolated it' : 'has crashed';
}

/** When a call of an open circuit is let through next, in whole seconds as ms; 0 when it is due. */
export function probeInMs({ live, breaker }: IntegrationView, now: number): number {
  // A wall clock that was set back must not show more than the circuit was ever opened for.
  const kept = breaker === undefined ? 0 : Math.min(breaker.openUntil - now, breaker.lastOpenMs);
  const leftMs = live.find((each) => each.circuit === 'open')?.probeInMs ?? kept;
  return Math.max(0, Math.ceil(leftMs / 1000) * 1000);
}

function matterOfSession({ session, failedTurns24h, lastError }: SessionStatus, db: string): Matter {
  const turns = `${failedTurns24h} ${failedTurns24h === 1 ? 'turn' : 'turns'}`;
  const cause =
    lastError === undefined
      ? ''
      : `: ${lastError.kind === undefined ? '' : `${lastError.kind}: `}${sanitize(lastError.error)}`;
  const name = sanitize(session);
  return {
    what: `session ${name} failed in ${turns} of the last 24h${cause}`,
    next: `unwedge events --category session --failed --since 24h${db}`,
  };
}
