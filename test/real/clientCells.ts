import { expect, it } from 'vitest';
import { type ClientFault, clients, type ClientKind } from '../../proxy/api/clients.ts';
import type { Dialect } from '../../proxy/api/route.ts';
import { isDone, modelWith } from '../proxy/api/clientFaults.ts';
import { hasClaude } from './claudeEnv.ts';
import { hasCodex } from './codexEnv.ts';
import { hasGemini } from './geminiEnv.ts';
import { hasOpencode } from './opencodeEnv.ts';
import { hasSdks } from './sdkEnv.ts';
import { effect, type RealProgram, throughApi } from './startRealApi.ts';

interface Asking {
  readonly client: ClientKind;
  readonly dialect: Dialect;
  /** The tool by its name there, and how its command is called. */
  readonly tool: readonly [name: string, command: string];
  readonly isInstalled: boolean;
}

const programs: Readonly<Record<RealProgram, Asking>> = {
  claude: { client: 'claude', dialect: 'messages', tool: ['Bash', 'command'], isInstalled: hasClaude },
  codex: { client: 'codex', dialect: 'responses', tool: ['exec_command', 'cmd'], isInstalled: hasCodex },
  opencode: { client: 'opencode', dialect: 'chat', tool: ['bash', 'command'], isInstalled: hasOpencode },
  gemini: { client: 'gemini', dialect: 'gemini', tool: ['run_shell_command', 'command'], isInstalled: hasGemini },
  openai: { client: 'sdk', dialect: 'chat', tool: ['Bash', 'command'], isInstalled: hasSdks },
  anthropic: { client: 'anthropic', dialect: 'messages', tool: ['Bash', 'command'], isInstalled: hasSdks },
};

/** The programs whose cells are tried. */
export const realPrograms = Object.keys(programs) as RealProgram[];

/** How long one that waits is watched, in ms. */
const watchedMs = 30_000;

/** A test of each cell with the program itself: how often the tool ran, and how the program ended. */
export function itDoesAsTold(program: RealProgram, faults: readonly ClientFault[]): void {
  const { client, dialect, tool, isInstalled } = programs[program];
  const [name, command] = tool;
  for (const fault of faults) {
    const { then } = clients[client].cells[fault];
    it.skipIf(!isInstalled)(`[E-7] ${program} ${then} at ${fault}`, async () => {
      const model = modelWith(fault, dialect, { name, input: { [command]: effect, description: 'append' } });
      // So long that a tool that is run at once has run before its stream breaks.
      const limits = fault.startsWith('silent') ? { bytesMs: 10_000 } : {};
      const { code, hung, stdout, effects } = await throughApi(
        program,
        model,
        limits,
        then === 'waits' ? watchedMs : 110_000,
      );
      const goesOn = { effects: 1, isDone: true, code: 0, hung: false };
      const fails = { effects: 0, isDone: false, code: expect.any(Number) as number, hung: false };
      const waits = { effects: 0, isDone: false, code: undefined, hung: true };
      expect({ effects, isDone: isDone(stdout), code, hung }).toMatchObject({ 'goes on': goesOn, fails, waits }[then]);
    });
  }
}
