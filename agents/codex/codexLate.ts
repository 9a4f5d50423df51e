import { lateModule, loadFailure } from '../../src/actors/process/lateModule.ts';
import { errorText, stackOf } from '../../src/calls/errorText.ts';
import { AttemptError } from '../../src/policy/failure.ts';
import { say } from '../../src/policy/logger.ts';
import { createSubscribers, type Subscribers } from './rpc/rpcPeerSubscribers.ts';
import type { CodexScope } from './codexScope.ts';
import type { CodexProcess } from './codexServer.ts';
import type { createCodexThread } from './codexThread.ts';
import type { readThread, readThreadList } from './protocol/threads.ts';

/** The app-server of one integration, and what talks to it, loaded when it is needed for the first time. */
export interface LateCodex extends Pick<CodexProcess, keyof CodexProcess> {
  /** For a caller that has acquired a connection. */
  readonly createThread: typeof createCodexThread;
  /** For a caller that has acquired a connection. */
  readonly readers: CodexReaders;
}

interface CodexReaders {
  readonly readThread: typeof readThread;
  readonly readThreadList: typeof readThreadList;
}

const codexModules = lateModule(importCodex);

async function importCodex() {
  const [{ CodexProcess }, { createCodexThread }, { readThread, readThreadList }] = await Promise.all([
    import('./codexServer.ts'),
    import('./codexThread.ts'),
    import('./protocol/threads.ts'),
  ]);
  return { CodexProcess, createCodexThread, readers: { readThread, readThreadList } };
}

/** Listeners are added before anything is loaded. When loading fails `acquire()` rejects, and the next call tries again. */
export function createLateCodex(scope: CodexScope): LateCodex {
  const { name, logger, runtime } = scope;
  const subscribers = newSubscribers();
  let loading: Promise<unknown> | undefined;
  let loaded: (Pick<LateCodex, 'createThread' | 'readers'> & { readonly process: CodexProcess }) | undefined;

  function newSubscribers(): Subscribers {
    return createSubscribers(({ method }, error, removed) => {
      const text = errorText(error) ?? String(error);
      say(logger, 'error', `A listener of ${name} failed on ${method}: ${text}`, { removed });
      runtime.bus.tell({ type: 'listener.failed', event: `codex:${method}`, error: text, stack: stackOf(error) });
    });
  }

  async function load(): Promise<CodexProcess> {
    try {
      const modules = codexModules();
      loading = modules;
      const loadedNow = await modules;
      loaded ??= {
        process: new loadedNow.CodexProcess(scope, subscribers, newSubscribers),
        createThread: loadedNow.createCodexThread,
        readers: loadedNow.readers,
      };
      return loaded.process;
    } catch (cause) {
      loading = undefined;
      const message = `${name} could not be loaded: ${errorText(cause) ?? String(cause)}`;
      throw new AttemptError(loadFailure(message, cause));
    }
  }

  function acquired(): NonNullable<typeof loaded> {
    if (loaded === undefined) throw new Error('No connection was acquired');
    return loaded;
  }

  return {
    get state() {
      return loaded?.process.state ?? 'idle';
    },
    get current() {
      return loaded?.process.current;
    },
    get lastLoss() {
      return loaded?.process.lastLoss;
    },
    get subscribers() {
      return loaded?.process.subscribers ?? subscribers;
    },
    get createThread() {
      return acquired().createThread;
    },
    get readers() {
      return acquired().readers;
    },
    // Requests that come while it is loading are done in the order of asking, and later ones at once.
    acquire: () => (loaded === undefined ? load().then((codex) => codex.acquire()) : loaded.process.acquire()),
    async close() {
      if (loaded !== undefined) await loaded.process.close();
      else if (loading !== undefined)
        await load().then(
          (codex) => codex.close(),
          () => undefined,
        );
    },
  };
}
