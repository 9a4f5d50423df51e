import { lateModule, loadFailure } from '../../src/actors/process/face.ts';
import { errorText, stackOf } from '../../src/calls/face.ts';
import { AttemptError, type FailureFacts } from '../../src/policy/failures/face.ts';
import { say } from '../../src/policy/text/face.ts';
import { createSubscribers, type Subscribers } from './rpc/rpcPeerSubscribers.ts';
import type { CodexScope } from './codexOptions.ts';
import type { CodexProcess } from './codexServer.ts';

const serverModule = lateModule(() => import('./codexServer.ts'));

/** The app-server of one integration, loaded when it is needed for the first time. */
export type LateCodex = Pick<CodexProcess, keyof CodexProcess>;

/** Listeners are added before anything is loaded. When loading fails `acquire()` rejects, and the next call tries again. */
export function createLateCodex(scope: CodexScope): LateCodex {
  const { name, logger, runtime } = scope;
  const subscribers = newSubscribers();
  let loading: Promise<unknown> | undefined;
  let loaded: CodexProcess | undefined;
  let closings = 0;

  function newSubscribers(): Subscribers {
    return createSubscribers(({ method }, error, removed) => {
      const text = errorText(error) ?? String(error);
      say(logger, 'error', `A listener of ${name} failed on ${method}: ${text}`, { removed });
      runtime.bus.tell({ type: 'listener.failed', event: `codex:${method}`, error: text, stack: stackOf(error) });
    });
  }

  async function load(): Promise<CodexProcess> {
    try {
      const module = serverModule();
      loading = module;
      const { CodexProcess } = await module;
      return (loaded ??= new CodexProcess(scope, subscribers, newSubscribers));
    } catch (cause) {
      loading = undefined;
      const message = `${name} could not be loaded: ${errorText(cause) ?? String(cause)}`;
      throw new AttemptError(loadFailure(message, cause));
    }
  }

  return {
    get state() {
      return loaded?.state ?? 'idle';
    },
    get current() {
      return loaded?.current;
    },
    get lastLoss() {
      return loaded?.lastLoss;
    },
    get subscribers() {
      return loaded?.subscribers ?? subscribers;
    },
    // Requests that come while it is loading are done in the order of asking, and later ones at once.
    async acquire() {
      if (loaded !== undefined) return loaded.acquire();
      const before = closings;
      const codex = await load();
      // Closed meanwhile: nobody would end what is started now.
      if (closings !== before) throw new AttemptError(closed);
      return codex.acquire();
    },
    async close() {
      closings++;
      if (loaded !== undefined) await loaded.close();
      else if (loading !== undefined)
        await load().then(
          (codex) => codex.close(),
          () => undefined,
        );
    },
  };
}

const closed: FailureFacts = {
  kind: 'cancelled',
  reason: 'stopped',
  message: 'Codex was stopped',
  outcome: 'not_started',
};
