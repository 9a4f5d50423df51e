import { createAgentStream } from '../../../src/protocol/agentStream.ts';
import { agentCommand } from '../../../src/protocol/agentCommand.ts';
import { messageIn } from '../../../src/protocol/agentReport.ts';
import { recorded, rounds } from '../seeds.ts';
import { must, pieces, same, type Target } from '../target.ts';

/** Command lines by which each agent prints what is read. */
const commands: Readonly<Record<string, readonly (readonly string[])[]>> = {
  claude: [
    ['-p', '--output-format', 'stream-json', '--verbose', 'x'],
    ['-p', '--output-format', 'json', 'x'],
  ],
  codex: [['exec', '--json', 'x']],
  goose: [
    ['run', '--output-format', 'stream-json', '-t', 'x'],
    ['run', '--output-format', 'json', '-t', 'x'],
  ],
  gemini: [
    ['-p', 'x', '-o', 'stream-json'],
    ['-p', 'x', '-o', 'json'],
  ],
  opencode: [['run', '--format', 'json', 'x']],
  copilot: [['-p', 'x', '--output-format', 'json']],
};

/** What an agent prints, by its profile: read the same however it is cut, with a report that is bounded. */
export function agentOutput(name: string): () => Target {
  return () => {
    const read = (commands[name] ?? [])
      .map((args) => agentCommand(name, args))
      .filter((command) => command !== undefined);
    must(read.length > 0 && read.every(({ format }) => format !== 'text'), `${name} is not read`);
    const words = ['{"type":"result"', '"is_error":true', 'Reconnecting... 1/5', '529 Overloaded'];
    return {
      seeds: [...recorded(`agents/${name}`, /\.out$/, 12_000), ...rounds('rounds.json')],
      words,
      maxBytes: 16_384,
      run(input, random) {
        for (const command of read) {
          const seed = random();
          const fixed = (): number => seed;
          const whole = reportOf(command, [input], fixed);
          same(reportOf(command, pieces(input, random), fixed), whole, 'a report depends on where the output is cut');
          must(whole.length < 3 * input.length + 5_000, 'a report is longer than what it is of');
        }
        for (const line of input.toString('utf8').split('\n')) messageIn(line);
      },
    };
  };
}

function reportOf(
  command: NonNullable<ReturnType<typeof agentCommand>>,
  chunks: readonly Buffer[],
  chance: () => number,
): string {
  let heard = 0;
  const calls: unknown[] = [];
  const ear = {
    called: (...told: unknown[]) => calls.push(told),
    answered: (...told: unknown[]) => calls.push(told),
    used: (...told: unknown[]) => calls.push(told),
  };
  const stream = createAgentStream(command, chance() < 0.5, () => heard++, ear as never);
  for (const chunk of chunks) stream.push(chunk);
  stream.end();
  const told = stream.report(1_000);
  return JSON.stringify([told, heard, calls.length]);
}
