import { whyOf } from '../../src/calls/face.ts';
import { reconcileText } from '../wire/reconcileText.ts';
import type { Timer } from '../../src/policy/face.ts';
import type { ClientCall } from './clientCall.ts';
import type { ProxyScope } from './proxyScope.ts';
import { formatDuration } from '../../src/policy/text/face.ts';

/** Time between two signs to the client that its server is still starting, or asked what became of a call, in ms: below the limit of any client. */
const beatMs = 5000;

/** Keeps the client while it is asked what became of its calls: progress that says so, to those that want progress. */
export class ReconcileBeat {
  readonly #scope: ProxyScope;
  readonly #calls: () => Iterable<ClientCall>;
  #timer: Timer | undefined = undefined;

  constructor(scope: ProxyScope, calls: () => Iterable<ClientCall>) {
    this.#scope = scope;
    this.#calls = calls;
  }

  /** A call has begun to wait for a verdict: its client hears of it at once, and from then on as often as all others. */
  waits(call: ClientCall): void {
    // The time that the question may take is known when it was put.
    this.#scope.clock.nextTurn(() => this.#tell(call));
    this.#timer ??= this.#scope.clock.setTimeout(this.#beat, beatMs);
  }

  end(): void {
    this.#scope.clock.clearTimeout(this.#timer);
  }

  readonly #beat = (): void => {
    this.#timer = undefined;
    let waiting = 0;
    for (const call of this.#calls()) if (this.#tell(call)) waiting++;
    if (waiting > 0) this.#timer = this.#scope.clock.setTimeout(this.#beat, beatMs);
  };

  /** @returns whether it waits for a verdict. */
  #tell(call: ClientCall): boolean {
    const { clock, outlet } = this.#scope;
    const { row } = call;
    const why = row?.waiting === 'reconciling' ? whyOf(row, clock) : undefined;
    if (why?.reconciling === undefined) return false;
    const line = call.progressLine(reconcileText(why.reconciling, why.next.inMs));
    if (line !== undefined) outlet.write(line);
    return true;
  }
}

/** Beats from one line for people to the next. */
const beatsPerLine = 3;

/**
 * Keeps the client while its server takes its time to start: a package may have to be fetched first.
 * @param calls - the requests of the client that have no answer.
 */
export function createStartUp(scope: ProxyScope, calls: () => Iterable<ClientCall>) {
  const { name, clock, outlet, voice } = scope;
  let timer: Timer | undefined;
  let beats = 0;

  const beat = (): void => {
    beats++;
    const message = `${name} has been starting for ${formatDuration(beats * beatMs)}`;
    for (const call of calls()) {
      const line = call.progressLine(message);
      if (line !== undefined) outlet.write(line);
    }
    if (beats % beatsPerLine === 0) voice.say(message);
    timer = clock.setTimeout(beat, beatMs);
  };
  return {
    /** A process runs and has not answered anything. */
    begin(): void {
      clock.clearTimeout(timer);
      beats = 0;
      timer = clock.setTimeout(beat, beatMs);
    },
    /** It has, or is gone. */
    end: () => clock.clearTimeout(timer),
  };
}
