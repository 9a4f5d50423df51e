import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commands, loadCommand } from '../../../cli/commands.ts';
import { UsageError } from '../../../cli/errors.ts';
import { readHookArgs } from '../../../cli/hook/hookArgs.ts';
import { commandHelp } from '../../../cli/help.ts';
import { parseWords, splitCommand } from '../../../cli/parse.ts';
import { runCommandLine } from '../../../cli/run.ts';
import { expecting, must, mustBePlain, type Target } from '../target.ts';

/** Commands that look and do nothing: these are run. */
const looking = [
  'alerts',
  'budget',
  'cluster',
  'completion',
  'config',
  'events',
  'help',
  'inbox',
  'letters',
  'machines',
  'metrics',
  'report',
  'status',
  'version',
  'why',
];

/** Words of a command line, one a line: read for every command, and run where the command only looks. */
export async function commandLines(): Promise<Target> {
  const all = await Promise.all(Object.keys(commands).map((name) => loadCommand(name)));
  const directory = mkdtempSync(join(tmpdir(), 'unwedge-fuzz-'));
  process.chdir(directory);
  const options = all.flatMap((command) => Object.keys(command.options).map((name) => `--${name}`));
  return {
    seeds: [
      ...all.map(({ name, options: own }) =>
        [
          name,
          ...Object.keys(own)
            .slice(0, 3)
            .map((option) => `--${option}`),
        ].join('\n'),
      ),
      'status\n--json',
      '--db\nx.sqlite\nwhy\nkb',
      'run\n--timeout\n5s\n--\nnode\n-e\n1',
      'events\n--since\n1h\n--limit\n5',
    ],
    words: [...new Set(options), '--', '-', '-h', '--json', '--db', '5s', '1.5h', '=', '\n'],
    maxBytes: 600,
    // A word that is unknown is held against all that are known.
    mostSteps: (bytes) => 600_000 + 30_000 * bytes,
    async run(input) {
      const words = input
        .toString('utf8')
        .split('\n')
        .filter((word) => !word.includes('\0'));
      for (const command of all) {
        expecting(() => {
          const { own, rest } = splitCommand(command, words);
          must(own.length + rest.length >= words.length - 1, 'words are lost');
          const parsed = parseWords(command.options, own, 'x', command.operands);
          if (parsed.help) commandHelp(command, { json: parsed.json, columns: 80 });
        }, UsageError);
      }
      expecting(() => readHookArgs(words), UsageError);
      const name = words.find((word) => !word.startsWith('-')) ?? '';
      if (Object.hasOwn(commands, name) && !looking.includes(name)) return;
      const ended = new AbortController();
      let printed = '';
      const write = (text: string): void => void (printed += text);
      const code = await runCommandLine(words, {
        stdout: { write },
        stderr: { write },
        env: { HOME: directory, XDG_RUNTIME_DIR: directory, XDG_STATE_HOME: directory },
        isTTY: false,
        columns: 80,
        signal: ended.signal,
        pause: () => Promise.resolve(ended.abort()),
        now: () => Date.UTC(2026, 0, 1),
      });
      mustBePlain(printed, 'what is printed');
      must(code === 0 || code === 1 || code === 2, `the exit code is ${code}`);
      must(code === 0 || printed !== '', 'an error says nothing');
      must(!/\n\s+at .*\.(?:js|ts):\d/.test(printed), `a bug is printed: ${printed.slice(0, 300)}`);
    },
    close: async () => rmSync(directory, { recursive: true, force: true }),
  };
}
