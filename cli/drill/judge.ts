import { classify } from '../../src/policy/failures/face.ts';
import { durationText, shellWord } from '../../src/policy/text/face.ts';
import { canBlock } from '../../src/protocol/face.ts';
import { rows, type Target } from './rows.ts';
import type { Observation } from './run.ts';

/** Finding of a drill: a promise that did not hold, or could not, and the option with its value, or the command, that mends it. */
export type DrillFinding = { readonly id: string; readonly summary: string; readonly set: string };

/** Clients that end a call by themselves, whatever their entry says. */
const limited: ReadonlySet<string | undefined> = new Set(['codex', 'zed', 'openclaw', 'gemini', 'goose']);
const time = (ms: number): string => (ms === Infinity ? 'without end' : durationText(Math.round(ms)));

/** Finds what did not hold for a target. @param longestMs - that a call of the servers may take. @param now - since the epoch, in ms. */
export function judgeDrill(
  target: Target,
  seen: readonly Observation[],
  longestMs = 0,
  now = 0,
): readonly DrillFinding[] {
  const { kind, name, front, client, clientMs = Infinity, limitMs = 0, url, event = '', guards } = target;
  const found: DrillFinding[] = [];
  const add = (when: unknown, id: string, summary: string, set: string): void => {
    if (when) found.push({ id, summary, set });
  };
  const of = (fault: string) => seen.find((each) => each.fault === fault);
  const got = (fault: string): string => {
    const { text, goesOn = true } = of(fault) ?? {};
    return text === undefined ? '' : `: ${fault}, its client gets ${text}${goesOn ? '' : ', then no more'}`;
  };
  const first = of('none');
  const { text: said = '', ms = 0 } = first ?? {};
  const [isServer, isHook, isBare] = [kind === 'server', kind === 'hook', front === undefined];
  const isAsked = isHook && asks(event);
  const install =
    url === undefined ? `unwedge install ${client}` : `unwedge mcp --url ${shellWord(url)} as the command of its entry`;
  const open = isAsked && guards !== false && seen.find((each) => each.fault !== 'none' && each.got !== 'declined');
  const isHung = isBare && of('silent')?.got === 'nothing';
  const hangs = isHook ? `: its agent waits ${time(clientMs)} where it hangs` : got('killed');
  const unasked = isBare && isServer && url !== undefined ? ', and it was not tried: it is at an address' : hangs;
  add(isBare && (isHung || !isHook), 'unprotected', `nothing stands before it${unasked}`, install);
  const block = client ? '--on-failure block before its -- (or allow' : '"onFailure": "block" (or "continue"';
  const declared = `${isBare ? `${install}, ` : ''}${block}, if it only watches)`;
  if (open) add(open, 'fails_open', `${open.fault}: what it is asked about is done`, declared);
  const isSlow = isHook && (ms >= clientMs || limitMs > clientMs || said.includes('did not end'));
  const slow = `it takes ${time(Math.max(ms, limitMs))}, its client waits ${time(clientMs)}`;
  add(isSlow, 'slow_hook', slow, `"timeout": ${Math.ceil(Math.max(ms, limitMs) / 500)} in its entry`);
  const isRefused = !isHook && (/\bsign(?:ed)? in\b/i.test(said) || classify(said, { wallNow: 0 }).kind === 'auth');
  // Limits in an entry with an address are not read.
  const isEndless = isBare && isServer && url === undefined && clientMs === Infinity && !limited.has(client);
  const limit = client === 'claude' ? '"timeout": 300000 in its entry' : '--call-timeout 5m behind unwedge';
  add(isEndless, 'no_limit', `nobody ends a silent call${got('silent')}`, limit);
  const signIn = url === undefined ? 'a new token in its "env"' : `unwedge mcp --sign-in --url ${shellWord(url)}`;
  add(isRefused, 'sign_in', `its sign-in is refused: ${said}`, signIn);
  const ends = `its sign-in ends in ${time(Math.max(0, (target.signInEnds ?? 0) - now))}, and nothing renews it`;
  add(target.signInEnds, 'sign_in', ends, `${signIn}; --client-id and --client-secret-env renew it`);
  const isDown = !isHook && !isRefused && first && first.got !== 'answer' && first.asked !== 0;
  add(isDown, 'not_started', `it does not work: ${said}`, 'unwedge doctor --probe');
  const gives = `its client gives up after ${time(clientMs)}, a call may take ${time(limitMs)}`;
  add(isServer && !isBare && clientMs <= limitMs, 'limit_below', gives, `--call-timeout ${time(clientMs * 0.9)}`);
  const soon = `a turn is ended after ${time(limitMs)}, a call of its tools may take ${time(longestMs)}`;
  const option = client === undefined ? `agents.${name}.policy.limits.overallMs: ` : '--tool-timeout ';
  add(kind === 'agent' && !isBare && limitMs < longestMs, 'limit_below', soon, option + time(longestMs * 1.1));
  const stays = seen.find(({ fault, left, stays }) => (isBare ? fault === 'none' && stays : left.processes > 0));
  const runsOn = `${stays?.fault}: ${stays?.left.processes} of its processes run on without its client`;
  add(stays && !isHook, 'left_behind', runsOn, isBare ? install : 'unwedge doctor');
  for (const { fault, got, goesOn, text } of isBare || open ? [] : seen) {
    const row = rows.find((each) => each.on === kind && each.fault === fault);
    const must = row?.must ?? (isAsked && guards ? 'declined' : got);
    const isHeld = fault === 'none' || (goesOn && got !== 'nothing' && must === got);
    add(!isHeld, 'broken', `${fault}: ${text}${goesOn ? '' : ', and nothing after it'}`, 'unwedge incident');
  }
  return found;
}

/** Tells an event whose hook says whether something is done: of Claude Code, Codex and VS Code, and of Cursor. */
const asks = (event: string): boolean =>
  (/^(?:Pre(?!Compact)|UserPrompt|Permission)/.test(event) && canBlock(event)) || event.startsWith('before');
