import { machineCatalogue } from './machineCatalogue.ts';
import { chartOf, mermaidOf } from '../src/inspector/face.ts';
import { defineCommand, text } from './command.ts';
import { unknown } from './errors.ts';
import type { Io } from './io.ts';
import { toJson } from './sanitize.ts';
import { tableOf } from './table.ts';

const formats = ['mermaid', 'json', 'xstate'];

export const command = defineCommand({
  usage: 'machines [NAME] [--format mermaid|json|xstate] [--json]',
  details: [
    'Without a name it lists the machines, with --format it draws all of them.',
    'Formats: mermaid is a state diagram that Markdown viewers draw, json the states and transitions as data, xstate the',
    "machine's own configuration for Stately's editor, without its code.",
  ].join('\n'),
  options: {
    format: text('FORMAT', 'mermaid, json or xstate; for one machine mermaid', formats),
  },
  operands: ['[NAME]'],
  choices: Object.keys(machineCatalogue),
  async run({ format, json, operands: [name] }, io) {
    if (name !== undefined && !Object.hasOwn(machineCatalogue, name)) {
      throw unknown('machine', name, Object.keys(machineCatalogue));
    }
    if (format !== undefined && !formats.includes(format)) {
      throw unknown('format', format, formats);
    }
    const names = name === undefined ? Object.keys(machineCatalogue) : [name];
    if (name === undefined && format === undefined && !json) {
      io.stdout.write(list(io));
      io.stderr.write(`${io.own ?? 'unwedge'} machines NAME draws one of them.\n`);
    } else io.stdout.write(draw(names, format ?? (json ? 'json' : 'mermaid')));
    return 0;
  },
});

function list(io: Io): string {
  return tableOf(Object.entries(machineCatalogue), io.columns, [
    { title: 'MACHINE', hasIds: true, cell: ([name]) => name },
    { title: 'STATES', stacks: true, cell: ([, { machine }]) => Object.keys(machine.states).join(', ') },
    { title: 'ONE OF', stacks: true, cell: ([, { summary }]) => summary },
  ]);
}

/** Draws one machine as itself; several with their names before them, or in a list. */
function draw(names: readonly string[], format: string): string {
  const machinesOf = names.flatMap((name) => machineCatalogue[name]?.machine ?? []);
  if (format === 'mermaid') {
    const drawings = machinesOf.map((machine) => mermaidOf(chartOf(machine)));
    return drawings.length === 1
      ? (drawings[0] ?? '')
      : drawings.map((text, at) => `%% ${names[at]}\n${text}`).join('\n');
  }
  const data = machinesOf.map((machine) =>
    format === 'json' ? chartOf(machine) : { ...machine.config, id: machine.id },
  );
  return toJson(data.length === 1 ? data[0] : data);
}
