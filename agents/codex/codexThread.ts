import { brokenTurn, type TurnRecord } from './protocol/threads.ts';
import type { ThreadScope } from './codexThreadScope.ts';
import { checkInput, checkTurn, ThreadTurn } from './codexTurn.ts';
import type { CodexThread } from './codexTypes.ts';

/** Answer for a thread that was begun or resumed. */
interface OpenedThread {
  readonly model: string | undefined;
  /** Its turns so far. */
  readonly turns: readonly TurnRecord[];
}

export function createCodexThread(scope: ThreadScope, { model, turns }: OpenedThread): CodexThread {
  const { live, state } = scope;
  return {
    id: state.id,
    model,
    get valid() {
      return !state.closed && live.lost === undefined;
    },
    get busy() {
      return state.turn !== undefined || state.active !== undefined;
    },
    turns,
    brokenTurn: brokenTurn(turns),
    send(input, options = {}) {
      checkInput(input);
      return new ThreadTurn(scope, input, checkTurn(options));
    },
  };
}
