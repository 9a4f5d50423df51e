import { notDone, type OrderNote, type OrderResult } from '../../policy/operatorOrder.ts';
import type { AttemptSteps } from '../attemptSteps.ts';
import type { Call } from '../call.ts';
import type { PathState } from '../pathState.ts';

const underWay = (name: string): string => `${name} is being tried already: one probe at a time.`;
const elsewhere = (name: string): string => `Another process tries ${name} at the moment: one probe at a time.`;

/** Has an open circuit, or a server that asked not to be called, probed now. One step of the path. */
export function probeNow<I, O>(state: PathState<I, O>, steps: AttemptSteps<I, O>, note: OrderNote): OrderResult {
  const { circuit, options, queue } = state;
  const { name: integration, clock } = options;
  const { link } = circuit;
  const now = clock.now();
  if (state.stopped) return notDone(`${integration} is stopped.`);
  if (link.lastState === 'crashed') return notDone(`${integration} is down, and no probe reaches it: restart it.`);
  if (link.closed) {
    if (link.pausedUntil <= now) return probeTools(state, note);
    const [oldest] = state.waiting.list('pause');
    const how = oldest === undefined ? 'next_call' : 'waiting_call';
    return probePause(state, steps, oldest, () => queue.tell({ type: 'operator.probed', integration, how, ...note }));
  }
  if (link.openUntil === Number.POSITIVE_INFINITY)
    return notDone(`${integration} is held open by an operator, and is not probed: reset it.`);
  if (circuit.probe !== undefined || (link.lastState === 'half-open' && !link.hasFreeProbe))
    return notDone(underWay(options.name));

  const isOwn = options.probe !== undefined;
  if (isOwn && options.claimProbe?.(circuit.leaseMs) === false) return notDone(elsewhere(options.name));
  queue.tell({ type: 'operator.probed', integration, how: isOwn ? 'probe' : 'next_call', ...note });
  link.send({ type: 'probe.due', at: now });
  if (!isOwn) return { ok: true, text: `The next call of ${integration} is let through as the probe.` };
  steps.admission.sendProbe(now);
  return { ok: true, text: `${integration} is probed now.` };
}

/** Has the next call of each tool tried whose circuit is open, where that of the integration is closed. */
function probeTools<I, O>({ tools, options, queue }: PathState<I, O>, note: OrderNote): OrderResult {
  const { name: integration } = options;
  const all = tools.open;
  const due = all.filter(({ circuit }) => circuit === 'open');
  const [held] = all;
  if (held === undefined) return notDone(`The circuit of ${integration} is closed: there is nothing to probe.`);
  if (due.length === 0) {
    const name = `The tool ${held.tool} of ${integration}`;
    if (held.circuit === 'half-open') return notDone(underWay(name));
    return notDone(`${name} is held open by an operator, and is not probed: reset ${integration}.`);
  }
  for (const { tool } of due) {
    queue.tell({ type: 'operator.probed', integration, tool, how: 'next_call', ...note });
    tools.probeSoon(tool);
  }
  const names = due.map(({ tool }) => tool).join(', ');
  const text =
    due.length === 1
      ? `The next call of the tool ${names} of ${integration} is let through as the probe.`
      : `The next call of each of the tools ${names} of ${integration} is let through as the probe.`;
  return { ok: true, text };
}

/**
 * Lets one call through to a server that asked not to be called.
 * @param call - that waits for the end of the pause. @defaultValue the next one
 * @param announce - told before it is done, where it is.
 */
export function probePause<I, O>(
  state: PathState<I, O>,
  steps: AttemptSteps<I, O>,
  call: Call<I, O> | undefined,
  announce: () => void,
): OrderResult {
  const { circuit, pauseProbe, options } = state;
  const now = options.clock.now();
  if (pauseProbe.attempt !== undefined || pauseProbe.isWanted(now)) return notDone(underWay(options.name));
  if (options.claimProbe?.(circuit.leaseMs) === false) return notDone(elsewhere(options.name));
  announce();
  pauseProbe.want(now + circuit.leaseMs);
  if (call === undefined) return { ok: true, text: `The next call of ${options.name} is let through as the probe.` };
  steps.admission.resume(call, 'pause');
  return { ok: true, text: `A waiting call of ${options.name} is let through as the probe.` };
}
