import { useRef } from 'preact/hooks';
import type { RuleWhy, SessionWhy, ToolCallWhy } from '../../../src/sessions/face.ts';
import { To } from './box.tsx';
import { higherLimit } from '../../../src/policy/text/face.ts';
import { OrderButton } from './dialog.tsx';
import { Glyph, State } from './glyph.tsx';
import { Countdown, Since } from './times.tsx';
import { counted } from './words.ts';

interface WhyProps {
  readonly why: SessionWhy;
  /** Time at which it was asked. */
  readonly at: number;
}

/** Why a session waits: one sentence, the chain of what waits for what, and the rules that end it, in order. */
export function Why({ why, at }: WhyProps) {
  const steady = useSteadyTimes(at);
  const { turn, calls, questions, waiting, spinning, budget, recovering = [] } = why;
  const rules = rulesOf(why);
  const unpaid = calls.find(({ progress, waitsFor }) => progress === undefined && waitsFor !== undefined)?.waitsFor;
  const about = { name: why.session, of: 'session' } as const;
  return (
    <section class="box why" aria-label="Why it waits">
      <div>
        <h2>{turn === undefined && recovering.length === 0 ? 'What it does' : 'Why it waits'}</h2>
        <p class="large">{sentence(why)}</p>
        <ul class="chain">
          {turn !== undefined && (
            <li>
              <Glyph name="run" tone="acc" />
              <div>
                Turn {turn.turn}, message <bdi class="mono">{turn.message}</bdi> ({turn.kind}){' '}
                <span class="faint">
                  for <Since at={steady('turn', -turn.sinceMs)} />
                  {turn.delivery > 1 && `, begun for the ${turn.delivery}. time`}
                </span>
                <div class="acts">
                  <OrderButton
                    order="cancel"
                    {...about}
                    what={`turn ${turn.turn} of ${why.session}`}
                    text="Cancel turn…"
                  />
                </div>
              </div>
            </li>
          )}
          {recovering.map((call) => (
            <CallLine key={call.call} {...call} since={steady(`call ${call.call}`, -call.sinceMs)} />
          ))}
          {calls.map((call) => (
            <CallLine
              key={call.call}
              {...call}
              session={why.session}
              since={steady(`call ${call.call}`, -call.sinceMs)}
            />
          ))}
          {questions.map((question, index) => (
            <li key={index}>
              <Glyph name="ask" tone="wait" />
              <div>
                asks a person: {question.what}{' '}
                <span class="faint">
                  for <Since at={steady(`asked ${index}`, -question.sinceMs)} />
                </span>
              </div>
            </li>
          ))}
          {spinning !== undefined && (
            <li>
              <Glyph name="theme" tone="warn" />
              <div>
                <b>spins</b> ({spinning.step}, {spinning.count} times): {spinning.message}
                <p class="ev wrap">last answer: “{spinning.answer}”</p>
                <OrderButton order="hold" {...about} target={spinning.id} text="Hold now…" />
                <OrderButton order="let_go_on" {...about} target={spinning.id} text="Let it go on…" />
              </div>
            </li>
          )}
          <li>
            <Glyph name="idle" tone="faint" />
            <div class="dim">
              {counted(waiting, 'message')} in the mailbox. {budget}
              {budget !== undefined && (
                <div class="acts">
                  <OrderButton order="budget" {...about} target={higherLimit(unpaid)} text="Raise its budget…" />
                </div>
              )}
            </div>
          </li>
        </ul>
      </div>
      <div>
        <h2>What ends it, in order</h2>
        {rules.length === 0 ? (
          <p class="dim">Nothing has to.</p>
        ) : (
          <ol class="rules">
            {rules.map(({ id, text, note, inMs }, index) => (
              <li key={id} class={index === 0 ? 'next' : ''}>
                <Countdown at={steady(id, inMs)} />
                <div>
                  <b>{text}</b>
                  <p class="faint">{note}</p>
                </div>
                {turn !== undefined && (
                  <OrderButton order="fire" {...about} target={id} what={`the rule “${text}”`} text="Fire now…" />
                )}
              </li>
            ))}
          </ol>
        )}
      </div>
    </section>
  );
}

function sentence({ turn, calls, questions, state, heldElsewhere, recovering = [] }: SessionWhy): string {
  if (recovering.length > 0)
    return `It finds out what became of ${counted(recovering.length, 'call')} of an earlier process; its messages wait for that.`;
  if (turn === undefined)
    return heldElsewhere
      ? 'Another gateway has it.'
      : state === 'idle'
        ? 'It is ready for the next message.'
        : `It is ${state}.`;
  if (questions.length > 0) return 'It waits for the answer of a person.';
  if (calls.length === 0) return 'No call is pending: its handler is at work.';
  const [first] = calls;
  return calls.length === 1 && first !== undefined
    ? `It waits for ${first.tool} in ${first.integration}.`
    : `It waits for ${calls.length} calls.`;
}

interface CallLineProps extends ToolCallWhy {
  /** Session whose turn makes it, so that an order can end it. @defaultValue an earlier process made it */
  readonly session?: string | undefined;
  readonly since: number;
}

function CallLine({ session, call, integration, tool, progress, target, since }: CallLineProps) {
  const isRunning = progress === undefined || progress.phase === 'in_flight';
  const about = { of: 'session', target: call, what: `${tool} in ${integration}` } as const;
  const mayFollow = progress !== undefined && progress.attempt > 0 && progress.attempt < progress.maxAttempts;
  return (
    <li>
      <Glyph name={isRunning ? 'run' : 'clock'} tone={isRunning ? 'acc' : 'warn'} />
      <div>
        waits for{' '}
        <b>
          <bdi>{tool}</bdi>
        </b>{' '}
        in <To view="integrations" name={integration} look="" />{' '}
        <span class="faint">
          {progress === undefined
            ? 'being written to the store'
            : `${phases[progress.phase]}, attempt ${progress.attempt} of ${progress.maxAttempts}`}
          , for <Since at={since} />
        </span>
        {progress?.lastFailure !== undefined && (
          <p class="ev wrap">
            {progress.lastFailure.kind}: {progress.lastFailure.message}
          </p>
        )}
        {target !== undefined && (
          <p class="faint">
            <State of={target.circuit === 'closed' ? target.state : target.circuit} />{' '}
            {target.process?.pid !== undefined && `pid ${target.process.pid}`}
          </p>
        )}
        {target?.process?.lastLine !== undefined && <p class="ev wrap">last line: “{target.process.lastLine}”</p>}
        {session !== undefined && (
          <div class="acts">
            {mayFollow && <OrderButton order="stop_retrying" {...about} name={session} text="Stop retrying…" />}
            <OrderButton order="cancel" {...about} name={session} text="Cancel…" />
          </div>
        )}
      </div>
    </li>
  );
}

const phases: Readonly<Record<NonNullable<ToolCallWhy['progress']>['phase'], string>> = {
  in_flight: 'in flight',
  backoff: 'backs off',
  pause: 'paused by the other side',
  restart: 'waits for a restart',
  permit: 'waits for a permit',
  probe: 'waits for a probe of the circuit',
  scope: 'waits for its scope',
  suspect: 'waits for a sign of life',
  rate: 'waits for its rate limit',
  reconciling: 'waits to know whether it happened',
};

interface RuleLine extends Pick<RuleWhy, 'id' | 'inMs'> {
  readonly text: string;
  readonly note: string;
}

/** Every rule that is known to end something, soonest first. */
function rulesOf({ calls, rules, recovering = [] }: SessionWhy): readonly RuleLine[] {
  const ofEarlier = recovering.flatMap(({ call, integration, tool, progress }) =>
    progress === undefined
      ? []
      : [{ id: call, inMs: progress.next.inMs, ...ruleText(progress.next.rule, `${tool} in ${integration}`) }],
  );
  const own = rules.map(({ id, rule, inMs, what, call }) => {
    const integration = calls.find((each) => each.call === call)?.integration;
    return { id, inMs, ...ruleText(rule, integration === undefined ? what : `${what} in ${integration}`) };
  });
  return [...ofEarlier, ...own];
}

function ruleText(rule: string, what: string): Pick<RuleLine, 'text' | 'note'> {
  switch (rule) {
    case 'tool_call':
      return { text: `The watchdog ends ${what}`, note: 'with a synthetic result; the session goes on' };
    case 'turn':
      return { text: `The watchdog ends ${what}`, note: 'where it makes no progress; the session goes on' };
    case 'question':
      return { text: 'Nobody is waited for any more', note: what };
    case 'next_attempt':
      return { text: `Next attempt of ${what}`, note: 'it is tried again' };
    case 'restart_wait':
      return { text: `${what} no longer waits for a restart`, note: 'the call ends without one' };
    case 'rate_limit':
      return { text: `The rate limit has room for ${what}`, note: 'the call goes out' };
    case 'reconcile':
      return { text: `It is asked whether ${what} happened`, note: 'the answer decides what follows' };
    case 'idle_timeout':
      return { text: `Idle limit of ${what}`, note: 'the attempt ends where no sign of life comes' };
    case 'ping':
      return { text: `The server of ${what} is pinged`, note: 'the call goes on where it answers' };
    case 'attempt_timeout':
      return { text: `Limit of the attempt of ${what}`, note: 'another attempt may follow' };
    default:
      return { text: `${what} ends`, note: rule.replaceAll('_', ' ') };
  }
}

const hardlyMs = 1500;

/** Times that are measured anew at each answer differ by little: what has hardly moved stays, so that no countdown jumps. */
function useSteadyTimes(at: number): (key: string, inMs: number) => number {
  const known = useRef(new Map<string, number>());
  return (key, inMs) => {
    const before = known.current.get(key);
    const next = before !== undefined && Math.abs(before - at - inMs) < hardlyMs ? before : at + inMs;
    known.current.set(key, next);
    return next;
  };
}
