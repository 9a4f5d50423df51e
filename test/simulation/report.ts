import type { Result } from './play.ts';

/** A seed for people: the promise that was not kept, the time, what led there, and how to see it again. @param world - the option of its world. */
export function report({ seed, violation, only }: Result, world = ''): string {
  if (violation === undefined) return `seed ${seed}: every promise was kept`;
  const { requirement, what, at, lines } = violation;
  return [
    `seed ${seed}: [${requirement}] ${what}`,
    `at ${at} ms of simulated time, after`,
    ...lines.map((line) => `  ${line}`),
    `replay: npm run simulate -- ${world}--seed ${seed}${only === undefined ? '' : ` --only ${only.join(',') || 'none'}`}`,
  ].join('\n');
}
