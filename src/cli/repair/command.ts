import { transcriptFormats } from '../../protocol/transcript/detect.ts';
import { defineCommand } from '../command.ts';
import { UsageError, unknown } from '../errors.ts';
import { repairFile } from './file.ts';
import { reportJson, reportText } from './report.ts';

export const repair = defineCommand({
  name: 'repair',
  summary: 'make a transcript well-formed: every tool call has exactly one result',
  usage: 'repair FILE [--format NAME] [--check] [--out FILE] [--json]',
  details: [
    'FILE is a session of Claude Code (~/.claude/projects/*/*.jsonl), or JSON up to 256 MB: messages of Anthropic or of OpenAI chat',
    'completions, items of OpenAI responses, or a request with them. End the program that writes it first.',
    '',
    'A call without a result gets an error result that says its outcome is unknown. A result in the wrong place is moved to its',
    'call; a second one of the same call, or one without a call, is dropped. Lines that are no JSON are kept and counted.',
    '',
    'Without --out FILE is repaired in place and the original kept beside it as FILE.bak (or .bak2, .bak3, ...); a file that needs no',
    'repair is not touched. With --out FILE stays as it is. Files are replaced whole or not at all.',
    'Exit codes: 0 well-formed or repaired, 1 with --check when there is something to repair, 2 could not be done.',
  ].join('\n'),
  options: {
    format: {
      kind: 'text',
      value: 'NAME',
      help: `${transcriptFormats.join(', ')}; else found out from FILE`,
      choices: transcriptFormats,
    },
    check: { kind: 'flag', help: 'change nothing; exit 1 when there is something to repair' },
    out: { kind: 'text', value: 'FILE', help: 'write the result there; it must not exist yet' },
  },
  operands: ['FILE'],
  errorCode: 2,
  async run(args, io) {
    const [file = ''] = args.operands;
    const format = transcriptFormats.find((name) => name === args.format);
    if (args.format !== undefined && format === undefined) {
      throw unknown('format', args.format, transcriptFormats);
    }
    if (args.check && args.out !== undefined) throw new UsageError('--check writes nothing; leave out --out');
    const target = args.check ? 'nowhere' : args.out === undefined ? 'in-place' : { out: args.out };
    const outcome = await repairFile(file, target, format, io.signal);
    io.stdout.write(args.json ? reportJson(outcome) : reportText(outcome, io));
    return args.check && outcome.repairs > 0 ? 1 : 0;
  },
});
