import { isDeepStrictEqual } from 'node:util';
import { wordsOf } from '../entry.ts';
import type { World } from '../world.ts';
import type { Reason, Rules } from './agent.ts';
import { type ClaudePolicies, readClaudePolicies } from './claudePolicies.ts';

/** Reads what settings of Claude Code say about servers and hooks, and which servers plugins bring. Files that cannot be read say nothing. */
export function claudeRules(world: World, project: string): Rules {
  const policies = readClaudePolicies(world, project);
  const { denied, plugins } = policies;
  const allowed = policies.allowed.find(({ rule }) => rule['serverCommand'] !== undefined);
  return {
    server(program): Reason {
      const words = wordsOf(program);
      const name = program.path.at(-1);
      const deny = denied.find(
        ({ rule }) => rule['serverName'] === name || isDeepStrictEqual(rule['serverCommand'], words),
      );
      if (deny !== undefined) return `it is denied by ${deny.path}`;
      if (allowed !== undefined) return `${allowed.path} allows commands by their words, which would be others`;
      const plugin = plugins.find((each) => isDeepStrictEqual(each.words, words));
      // Claude Code tells the two apart by their words, and starts one of them while they are the same.
      return plugin === undefined ? undefined : `the plugin ${plugin.plugin} brings the same: both would run`;
    },
    hooks: whyNoHooks(policies),
  };
}

function whyNoHooks({ hooksOff }: ClaudePolicies): Reason {
  return hooksOff === undefined ? undefined : `${hooksOff.path} says \`${hooksOff.key}\``;
}
