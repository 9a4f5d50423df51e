import type { Wait } from '../snapshot.ts';
import { tables } from './tables.ts';

/** Describes the end of a wait, as far as it is known now. */
export function howItEnded({ sign, name, key }: Wait): string {
  switch (sign) {
    case 'open':
    case 'isolated': {
      const circuit = tables.integrations.row(name)?.circuit;
      if (circuit === undefined || circuit === 'closed') return 'The circuit is closed again: calls go through.';
      return circuit === 'crashed' ? 'Its server crashed, and is started again.' : 'The circuit is in another state.';
    }
    case 'asks':
      return 'It was answered or given up.';
    case 'quarantined':
    case 'crashed':
      return 'It runs again.';
    case 'alert':
      return 'All clear.';
    case 'backoff':
    case 'calling':
      return tables.sessions.row(name)?.state === 'idle' ? 'Its turn has ended.' : 'Its turn goes on.';
    case 'recovering':
      return 'What became of the calls is known: the session goes on.';
    case 'dead':
      return 'It was started again, or its record was taken away.';
    case 'letters':
      return 'They were sent again or dismissed.';
    case 'frozen': {
      const runtime = tables.runtimes.row(key.replace(/^frozen /, ''));
      return runtime === undefined ? 'Its process has ended.' : 'It answers again.';
    }
  }
}
