import type { HeardCalls } from '../policy/spinning/heardCalls.ts';
import { recordIn, textIn, toldAnswer } from './agentReport.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Calls of tools by the type of their item, as the app-server names it: tool, arguments, and the answer, or the failure. */
const calls: Readonly<Record<string, (item: Fields) => readonly [tool: string, input: unknown, answer: unknown]>> = {
  commandexecution: ({ command, cwd, aggregatedoutput: said, exitcode: code }) => [
    'command',
    { command, cwd },
    code === 0 ? said : `exit code ${String(code)}\n${String(said)}`,
  ],
  mcptoolcall: ({ server, tool, arguments: input, error, result }) => [
    `${String(server)}.${String(tool)}`,
    input,
    recordIn(error)?.['message'] ?? recordIn(result)?.['content'] ?? result,
  ],
  dynamictoolcall: ({ tool, arguments: input, contentitems: said }) => [String(tool), input, said],
  // Without what is changed no two of them are the same.
  filechange: ({ id, changes, status }) => [
    'file change',
    /"diff":/.test(JSON.stringify(changes)) ? changes : { changes, id },
    status,
  ],
};

/** Tells of the call that an item of Codex is, of `codex exec --json` or of its app-server. @param isOver - whether it has its answer. */
export function hearCodexItem(told: Fields, isOver: boolean, ear: HeardCalls): void {
  const item = Object.fromEntries(Object.entries(told).map(([name, value]) => [plain(name), value]));
  const { id, status, error, success, exitcode: code = 0 } = item;
  const type = plain(textIn(item['type']) ?? '');
  const call = Object.hasOwn(calls, type) ? calls[type]?.(item) : undefined;
  if (call === undefined) return;
  const [tool, input, answer] = call;
  ear.called(id, { tool, input });
  const isGood = status === 'completed' && (error ?? undefined) === undefined && success !== false && code === 0;
  if (isOver) ear.answered(id, toldAnswer(isGood, answer));
}

/** Line of its log by which Codex alone tells of a call that it refused: a patch that does not apply, a missing argument, a tool it lacks. */
const refusal = /^\S+ ERROR codex_core::tools::router: error=((\w+) (?:verification )?failed: .+|.+)/s;

/** Tells of calls that Codex refused, as its stderr has them: no event of `codex exec --json` does. A command that cannot be started has one. */
export function hearCodexLog(chunk: string, ear: HeardCalls): void {
  for (const line of chunk.split(/\n(?=\d{4}-\d\d-\d\dT)/)) {
    const [, why, tool = 'a tool'] = refusal.exec(line.trimEnd()) ?? [];
    if (why === undefined || tool === 'exec_command') continue;
    // What was asked is known by why it was refused alone.
    ear.called(refusal, { tool, input: why });
    ear.answered(refusal, toldAnswer(false, why));
  }
}

/** A name as both have it. */
const plain = (name: string): string => name.replaceAll('_', '').toLowerCase();
