import { readFileSync } from 'node:fs';
import { recordedArgs } from './recordedAgent.ts';

type Rounds = Readonly<Record<string, Readonly<Record<string, readonly object[]>>>>;

/** One round of each agent whose model makes one call for ever, as it was recorded: `<ID>` is another one each time. */
const rounds = JSON.parse(readFileSync(new URL('../fixtures/agents/rounds.json', import.meta.url), 'utf8')) as Rounds;

/** Agents with the kinds of their rounds. */
export const recordedRounds = Object.entries(rounds).flatMap(([agent, kinds]) =>
  Object.keys(kinds).map((kind) => [agent, kind] as const),
);

/** Lines of the n-th round. */
export const roundOf = (agent: string, kind: string, nth: number): string =>
  (rounds[agent]?.[kind] ?? []).map((each) => `${JSON.stringify(each).replaceAll('<ID>', `id-${nth}`)}\n`).join('');

const formats: Readonly<Record<string, readonly string[]>> = {
  claude: ['-p', '--output-format', 'stream-json', '--verbose', 'do it'],
  codex: ['exec', '--json', 'do it'],
};

/** Arguments by which it prints them. */
export const roundArgs = (agent: string): readonly string[] => formats[agent] ?? recordedArgs(agent, 'rounds');
