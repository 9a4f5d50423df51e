import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import config from './vitest.config.ts';

/** Of all files those that take the longest, the longest first: what is begun last with minutes to go has one core end the run alone. */
export const longest = [
  'simulation/store/storeSimulation',
  'simulation/store/sessionSimulation',
  'package/guides',
  'proxy/mcp/scenarios/conformance',
  'simulation/store/sharedSimulation',
  'proxy/mcp/scenarios/conformanceOfficial',
  'web/dashboard/scenarios/page',
  'chaos/killOnPostgres',
  'cli/scenarios/runCommand',
  'cli/scenarios/hook',
  'cli/scenarios/mcpServers',
  'package/pagePrograms',
  'cli/scenarios/mcp',
  'package/nightlyExample',
  'package/weight',
  'web/dashboard/scenarios/looks',
  'proxy/mcp/scenarios/conformanceModern',
  'chaos/killBank',
  'gateway/scenarios/takeover',
  'agents/claude/scenarios/coverage',
  'actors/process/scenarios/wholeOutput',
  'cli/scenarios/hookBusy',
  'gateway/scenarios/descriptors',
  'package/types',
  'cli/scenarios/agent',
  'package/importing',
  'integrations/mcp/scenarios/remoteSessions',
  'proxy/mcp/scenarios/crashed',
  'simulation/payments/payments',
  'simulation/simulation',
].map((name) => `/test/${name}.slow.test.ts`);

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = longest.findIndex((name) => moduleId.endsWith(name));
      return at < 0 ? longest.length : at;
    };
    const sorted = [...(await super.sort(files))];
    return sorted.sort((one, other) => rank(one) - rank(other));
  }
}

/** What takes real time: programs at length, chaos, seeds by the hundred, browsers, whole examples. */
export default defineConfig({
  ...config,
  test: {
    ...config.test,
    include: ['test/**/*.slow.test.ts'],
    exclude: configDefaults.exclude,
    sequence: { sequencer: LongestFirst },
    // Each of these keeps a core busy with programs of its own, but waits for them a third of its time.
    maxWorkers: Math.ceil(1.5 * availableParallelism()),
  },
});
