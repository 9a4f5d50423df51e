import { shellWord } from '../src/policy/text/face.ts';
import type { Document } from './document.ts';
import type { Launcher } from './launcher.ts';
import type { TextEdit } from './tree.ts';

/** Events before and after a tool, of Claude Code and of Codex, which has none for a failure. */
const events = ['PreToolUse', 'PostToolUse', 'PostToolUseFailure'];
const words = ' hook --guard spinning --host-timeout 10s';

/** Part of a report. */
export const guardEntry = { kind: 'hook', name: 'the guard against repetition' } as const;

const lineOf = ({ command, args }: Launcher): string => [command, ...args].map(shellWord).join(' ') + words;

/** The guard as another unwedge starts it; undefined of another command. */
export const restartedGuard = (command: string, launcher: Launcher): string | undefined =>
  command.endsWith(words) ? lineOf(launcher) : undefined;

/** Puts the guard against repetition into a JSON file of hooks, behind all others of each event; none where it is there. */
export function addGuard({ root, text }: Document, launcher: Launcher): readonly TextEdit[] {
  const group = JSON.stringify({ hooks: [{ type: 'command', command: lineOf(launcher), timeout: 10 }] });
  const hooks = root.fields.get('hooks');
  const known =
    hooks?.value.kind === 'table' ? [...hooks.value.fields].filter(([event]) => events.includes(event)) : [];
  const missing = events.filter((event) => !known.some(([name]) => name === event));
  const added = missing.map((event) => `"${event}":[${group}]`).join(',');
  if (hooks === undefined) return [appended(text, text.trimEnd().length, `"hooks":{${added}}`)];
  return [
    ...(missing.length === 0 ? [] : [appended(text, hooks.range[1], added)]),
    ...known
      .map(([, { range }]) => range)
      .flatMap(([start, end]) => (text.slice(start, end).includes(`${words}"`) ? [] : [appended(text, end, group)])),
  ];
}

/** A member behind the last one of an object or a list that ends before `end`; one that is empty gets spaces within, which tell that it was there. */
function appended(text: string, end: number, member: string): TextEdit {
  const at = text.slice(0, end - 1).trimEnd().length;
  if ('[{'.includes(text.charAt(at - 1))) return { range: [at, at], text: ` ${member} ` };
  const lastLine = /\r?\n[ \t]*(?![ \t])(?=[^\n]*$)/.exec(text.slice(0, at))?.[0] ?? '';
  return { range: [at, at], text: `,${text.slice(at, end).includes('\n') ? lastLine : ' '}${member}` };
}

const group = String.raw`\{\s*"hooks"\s*:\s*\[\s*\{[^{}[\]]*${words}"[^{}[\]]*\}\s*\]\s*\}`;
const empty = String.raw`(?:\r?\n\s*)?`;

/** Takes the guard out of a JSON text, whoever has written that anew since, and what was made for it alone. In a string no quote stands bare. */
export function withoutGuard(text: string): string {
  const without = cut(text, group);
  if (without === text) return text;
  const event = cut(without, String.raw`"(?:${events.join('|')})"\s*:\s*\[${empty}\]`);
  return cut(event, String.raw`"hooks"\s*:\s*\{${empty}\}`).replaceAll(/([[{]) {2}(?=[\s\]}])/g, '$1');
}

const cut = (text: string, member: string): string =>
  text.replaceAll(new RegExp(`,\\s*${member}|${member}(?:\\s*,\\s*)?`, 'g'), '');

/** The same of a value of JSON, to compare it. */
export const valueWithoutGuard = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (key, each: unknown) => {
    const isList = events.includes(key) && Array.isArray(each);
    const left = isList ? each.filter((one) => !new RegExp(`^${group}$`).test(JSON.stringify(one))) : each;
    const isEmpty = typeof left === 'object' && left !== null && Object.keys(left).length === 0;
    return isEmpty && (key === 'hooks' || isList) ? undefined : left;
  });
