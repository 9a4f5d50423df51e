import { type AlertNote, isPutAway } from '../reader/alertNote.ts';
import type { SessionWhy, ToolCallWhy } from '../src/sessions/face.ts';
import type { StoreReader } from '../reader/storeReader.ts';
import type { AskedRuntime } from './askRuntimes.ts';
import { type IntegrationView, openToolsOf } from './integrationView.ts';
import { nextTryOf } from './nextTry.ts';

/** Kinds of what may need a person, the worst first. */
const needKinds = [
  'dead_gateway',
  'frozen_gateway',
  'dead_letters',
  'question',
  'budget',
  'open_circuit',
  'alert',
  'spinning',
] as const;

type NeedKind = (typeof needKinds)[number];

/** Something that needs a person, or will where it does not end by itself. */
export interface Need {
  readonly kind: NeedKind;
  /** Name of the gateway, the session or the integration; dead letters have none. */
  readonly name: string;
  /** Tool whose circuit it is. @defaultValue that of the integration */
  readonly tool?: string | undefined;
  /** The id of the gateway. */
  readonly runtime?: string | undefined;
  /** `bad`: no rule mends it, or an alert says that none has; `warn`: it ends by itself. */
  readonly severity: 'bad' | 'warn';
  /** Sessions that an open circuit hurts: their calls fail or wait. @defaultValue none is known */
  readonly sessions?: readonly string[] | undefined;
  /** Number of them. @defaultValue 1 */
  readonly count?: number | undefined;
}

/** Sources of needs; names as they are shown, on all sides the same. */
export interface NeedSources {
  readonly now: number;
  /** Gateways that ended without a word, and have no successor. */
  readonly dead: readonly NeedGateway[];
  /** Gateways that run and do not answer. */
  readonly frozen: readonly NeedGateway[];
  /** Sessions that ask a person, one entry a question. */
  readonly questions: readonly string[];
  /** Sessions at work. @defaultValue none is known to spin, or to wait for a budget */
  readonly whys?: readonly Pick<SessionWhy, 'session' | 'calls' | 'spinning'>[] | undefined;
  readonly letters: number;
  readonly circuits: readonly NeedCircuit[];
  readonly alerts: readonly NeedAlert[];
  /** Sessions that each circuit hurts. */
  readonly hurt: HurtSessions;
}

interface NeedGateway {
  /** Its id. */
  readonly key: string;
  readonly name: string;
}

interface NeedCircuit {
  readonly integration: string;
  /** Tool whose circuit it is. @defaultValue that of the integration */
  readonly tool?: string | undefined;
  readonly circuit: string;
  readonly openedAt?: number | undefined;
  /** Its server asked not to be called, which is no fault. @defaultValue false */
  readonly isPaused?: boolean | undefined;
}

interface NeedAlert {
  readonly integration: string;
  readonly isWatched: boolean;
  readonly note?: AlertNote | undefined;
}

/** By integration, and by tool where it is its circuit alone; each session once. */
export type HurtSessions = ReadonlyMap<string, readonly string[]>;

/** All that needs a person, the worst first: the one list of `unwedge status`, the page and `mcp-self`. */
export function needsOf({
  now,
  dead,
  frozen,
  questions,
  whys = [],
  letters,
  circuits,
  alerts,
  hurt,
}: NeedSources): readonly Need[] {
  const loud = alerts.filter(({ note }) => !isPutAway(note, now));
  const quiet = new Set(alerts.filter(({ note }) => isPutAway(note, now)).map(({ integration }) => integration));
  const alerted = new Set(loud.filter(({ isWatched }) => isWatched).map(({ integration }) => integration));
  const shut = circuits.filter(isShut).map(({ integration, tool, circuit, isPaused = false }): Need => {
    const isLoud = tool === undefined && alerted.has(integration);
    const isBad = isLoud || (circuit === 'isolated' && !quiet.has(integration));
    const sessions = hurt.get(hurtKey(integration, tool)) ?? [];
    return {
      ...{ kind: 'open_circuit', name: integration, severity: isBad && !isPaused ? 'bad' : 'warn' },
      ...(tool !== undefined && { tool }),
      ...(sessions.length > 0 && { sessions }),
    };
  });
  const told = new Set(shut.filter(({ severity }) => severity === 'bad').map(({ name }) => name));
  const needs: readonly Need[] = [
    ...dead.map(({ key, name }): Need => ({ kind: 'dead_gateway', name, runtime: key, severity: 'bad' })),
    ...frozen.map(({ key, name }): Need => ({ kind: 'frozen_gateway', name, runtime: key, severity: 'bad' })),
    ...(letters > 0 ? [{ kind: 'dead_letters', name: '', severity: 'bad', count: letters } as const] : []),
    ...questions.map((name): Need => ({ kind: 'question', name, severity: 'bad' })),
    ...whys.filter(waitsForBudget).map(({ session: name }): Need => ({ kind: 'budget', name, severity: 'bad' })),
    ...shut,
    ...loud
      .filter(({ integration }) => !told.has(integration))
      .map(({ integration }): Need => ({ kind: 'alert', name: integration, severity: 'bad' })),
    ...whys.flatMap(({ session: name, spinning }): readonly Need[] =>
      spinning === undefined ? [] : [{ kind: 'spinning', name, severity: 'warn' }],
    ),
  ];
  return [
    ...needs.filter(({ severity }) => severity === 'bad'),
    ...needs.filter(({ severity }) => severity === 'warn'),
  ];
}

/** Sessions that ask a person by their own code alone, one entry a question. */
export const askingHere = (whys: readonly Pick<SessionWhy, 'session' | 'questions'>[]): readonly string[] =>
  whys.flatMap(({ session, questions }) => questions.filter(({ inbox }) => inbox !== true).map(() => session));

/** The call of a session that waits for its budget: nothing of it has begun. */
export const waitsForBudget = ({ calls }: Pick<SessionWhy, 'calls'>): ToolCallWhy | undefined =>
  calls.find(({ waitsFor, progress }) => waitsFor !== undefined && progress === undefined);

/** The gateways that need somebody. A wrapper that its client ended has left nothing that waits. */
export function gatewaysOf(asked: readonly AskedRuntime<unknown>[]): Pick<NeedSources, 'dead' | 'frozen'> {
  const gatewayOf = ({ runtime: { id, name } }: AskedRuntime<unknown>): NeedGateway => ({ key: id, name });
  const dead = deadRuntimes(asked).filter(({ runtime }) => !isOfClient(runtime.name));
  return { dead: dead.map(gatewayOf), frozen: asked.filter(({ frozen }) => frozen !== undefined).map(gatewayOf) };
}

/** As bad as the worst of them. */
export function healthOf(needs: readonly Need[]): 'well' | Need['severity'] {
  const [worst] = needs;
  return worst?.severity ?? 'well';
}

/** The circuits of integrations and of their tools. */
export function circuitsOf(views: readonly IntegrationView[], now: number): readonly NeedCircuit[] {
  return views.flatMap((view) => {
    const { integration, circuit, breaker } = view;
    const tools = openToolsOf(view).map((each) => ({ integration, tool: each.tool, circuit: each.circuit }));
    const openedAt = breaker?.openedAt;
    return [{ integration, circuit, openedAt, isPaused: nextTryOf(view, now).isAsked }, ...tools];
  });
}

/** Under which the sessions of a circuit are found. */
function hurtKey(integration: string, tool?: string): string {
  return tool === undefined ? integration : `${integration}\n${tool}`;
}

/** Tells whether calls are refused. */
export function isShut({ circuit }: Pick<NeedCircuit, 'circuit'>): boolean {
  return circuit === 'open' || circuit === 'half-open' || circuit === 'isolated';
}

/** Time back in which failures of sessions are looked for, before the circuit opened too, in ms; and how many. */
const hurtMs = 10 * 60_000;
const mostFailures = 1000;

/** The sessions whose calls of these integrations failed of late, or wait now. @param recorded - a name as events have it. */
export async function hurtSessions(
  reader: Pick<StoreReader, 'events'>,
  circuits: readonly NeedCircuit[],
  whys: readonly Pick<SessionWhy, 'session' | 'calls'>[],
  now: number,
  recorded: (shown: string) => string = (name) => name,
): Promise<HurtSessions> {
  const hurt = new Map<string, readonly string[]>();
  for (const { integration, tool, openedAt = now } of circuits.filter(isShut)) {
    const since = Math.max(0, Math.min(now, openedAt || now) - hurtMs);
    const query = { category: 'session', integration: recorded(integration), since, failed: true, limit: mostFailures };
    const failed = (await reader.events(query)).flatMap(({ metadata: { session, tool: called } }) =>
      typeof session === 'string' && (tool ?? called) === called ? [session] : [],
    );
    const waiting = whys.filter(({ calls }) =>
      calls.some((call) => call.integration === integration && (tool ?? call.tool) === call.tool),
    );
    const all = new Set([...failed, ...waiting.map(({ session }) => session)]);
    if (all.size > 0) hurt.set(hurtKey(integration, tool), [...all].sort());
  }
  return hurt;
}

/** The sessions in words: how many, and the first of them. */
export function hurtText(sessions: readonly string[] | undefined): string {
  if (sessions === undefined || sessions.length === 0) return '';
  const some = sessions.slice(0, 3).join(', ');
  const more = sessions.length > 3 ? ` and ${sessions.length - 3} more` : '';
  return `it hurts ${sessions.length === 1 ? 'the session' : `${sessions.length} sessions:`} ${some}${more}`;
}

/** Finds those that ended without a word. The successor of one that died has taken over what it left. */
export function deadRuntimes<T>(asked: readonly AskedRuntime<T>[]): readonly AskedRuntime<T>[] {
  const running = new Set(asked.flatMap(({ answer, runtime }) => (answer === undefined ? [] : [runtime.name])));
  return asked.filter(({ runtime }) => runtime.liveness === 'dead' && !running.has(runtime.name));
}

/** Tells whether a runtime of this name is that of a command which somebody started and which keeps nothing that waits. */
export const isOfClient = (name: string): boolean => /^unwedge (?:mcp|run|agent|api) /.test(name);
