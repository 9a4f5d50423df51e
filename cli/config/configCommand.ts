import { relative, resolve } from 'node:path';
import {
  ConfigError,
  type EffectiveValue,
  type LoadedConfig,
  configJsonSchema,
  effectiveValues,
  isImplied,
  isPattern,
  readConfig,
  sourceText,
  valueText,
} from '../../src/config/face.ts';
import { isPostgresUrl, shownUrl } from '../../src/policy/text/face.ts';
import { KnownSecrets, createTextRedactor, isSecretName, redacted } from '../../src/redaction/face.ts';
import { counted, createStyle } from '../text.ts';
import { UsageError } from '../errors.ts';
import { type Io, untilAborted } from '../io.ts';
import { duringModule } from '../namedConfig.ts';
import { sanitize, toJson } from '../sanitize.ts';
import { renderTable } from '../table.ts';
import type { ConfigArgs } from './command.ts';
import { servedKeys } from '../serve/whatIsServed.ts';
import { judgeServed } from './servedParts.ts';

/** Does what `unwedge config` was asked to do. Gives the exit code. */
export async function run(args: ConfigArgs, io: Io): Promise<number> {
  const asked = [args.print && '--print', args.check !== undefined && '--check', args.schema && '--schema'].filter(
    Boolean,
  );
  if (asked.length > 1) throw new UsageError(`Options ${asked.join(' and ')} exclude each other`);
  if (args.all && (args.check !== undefined || args.schema)) throw new UsageError('Option --all belongs to --print');
  if (args.schema) {
    io.stdout.write(toJson(configJsonSchema()));
    return 0;
  }
  return args.check === undefined ? print(args, io) : check(args.check, args, io);
}

async function print(args: ConfigArgs, io: Io): Promise<number> {
  const asked = {
    env: io.env,
    file: args.config,
    openclaw: args.openclaw,
    overrides: args.db === undefined ? undefined : { store: args.db },
  };
  const loaded = await loadOrTell(io, args.json, args.config, () => readConfig(asked, undefined, servedKeys));
  if (loaded === undefined) return 1;
  // A key may stand where none is expected: among the words of a command, in an address.
  const redactor = createTextRedactor(new KnownSecrets(io.env));
  const hide = (text: string): string => redactor.text(text);
  const values = effectiveValues(loaded).map((each) => ({ ...each, value: shownValue(each) }));
  if (args.json) io.stdout.write(toJson(asData(loaded, values, hide)));
  else io.stdout.write(asText(values, args.all, io, hide));
  for (const warning of loaded.warnings) io.stderr.write(`unwedge: ${sanitize(warning)}\n`);
  return 0;
}

async function check(file: string, { json, config, openclaw }: ConfigArgs, io: Io): Promise<number> {
  if (config !== undefined || openclaw !== undefined) throw new UsageError('Option --check judges its FILE alone');
  const served = await judgeServed(file, io.env);
  const loaded = await loadOrTell(io, json, file, async () => {
    const own = readConfig({ file, env: {} }, io.env, servedKeys);
    if (served.problems.length === 0) {
      const apart = await served.togetherWith((await own).options);
      if (apart.length > 0) throw new ConfigError(apart);
      return own;
    }
    const wrong = await own.then(
      () => [],
      (error: unknown) => {
        if (error instanceof ConfigError) return error.problems;
        throw error;
      },
    );
    throw new ConfigError([...wrong, ...served.problems]);
  });
  for (const { message } of served.leftOut) io.stderr.write(`unwedge: ${sanitize(message)}; it is left out\n`);
  for (const hint of served.hints) io.stderr.write(`unwedge: ${sanitize(hint)}\n`);
  if (loaded === undefined) return 1;
  const { servers, leftOut, variables } = served;
  const none = served.isForServeAlone ? ', without mcpServers: for `unwedge serve`, not for `unwedge mcp`' : '';
  const besides = servers === 0 ? none : `, with ${counted(servers, 'server')} under mcpServers`;
  const without = leftOut.length === 0 ? '' : `, ${leftOut.length} left out`;
  const needed = variables.length === 0 ? '' : `; to be set where it is used: ${variables.join(', ')}`;
  io.stdout.write(
    json
      ? toJson({ ok: true, problems: [], leftOut, variables })
      : `${sanitize(file)}: ok${besides}${without}${needed}\n`,
  );
  return 0;
}

/** Undefined when something is wrong, and was told. */
async function loadOrTell(
  io: Io,
  json: boolean,
  file: string | undefined,
  load: () => Promise<LoadedConfig>,
): Promise<LoadedConfig | undefined> {
  // A module that was run may leave timers behind.
  io.endWithCommand?.();
  try {
    const exit = { file: file ?? 'the configuration', exitCode: 1, signal: io.signal, json };
    return await duringModule(exit, () => Promise.race([load(), untilAborted(io.signal).then(() => undefined)]));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    if (json) io.stdout.write(toJson({ ok: false, problems: error.problems }));
    else for (const { message } of error.problems) io.stderr.write(`unwedge: ${sanitize(message)}\n`);
    return undefined;
  }
}

function shownValue({ path, value }: EffectiveValue): unknown {
  // A file says where its database is from where it lies; the others from the working directory.
  if (path === 'store' && typeof value === 'string' && value !== ':memory:')
    return isPostgresUrl(value) ? shownUrl(value) : resolve(value);
  return withoutNamedSecrets(value);
}

/** Words of a command without those that follow `--token` and the like. */
function withoutNamedSecrets(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  const words = value as readonly unknown[];
  return words.map((word, index) => {
    const before = words[index - 1];
    return typeof before === 'string' && /^--?[\w-]+$/.test(before) && isSecretName(before.replace(/^-+/, ''))
      ? redacted
      : word;
  });
}

/** Takes secrets out of a text. */
type Hide = (text: string) => string;

function asText(values: readonly EffectiveValue[], all: boolean, io: Io, hide: Hide): string {
  const { dim } = createStyle(io);
  const left = values.filter(isDefault).length;
  const shown = all ? values : values.filter((value) => !isDefault(value));
  const rows = shown.map((value) => [
    hide(value.path),
    hide(valueText(value)),
    isDefault(value) ? { text: hide(fromText(value.source)), paint: dim } : fromText(value.source),
  ]);
  const table =
    rows.length === 0
      ? ''
      : renderTable(
          [{ title: 'KEY', hasIds: true }, { title: 'VALUE', stacks: true }, { title: 'FROM' }],
          rows,
          io.columns,
        );
  const nothing = rows.length === 0 ? 'Nothing is configured. ' : '';
  const rest = all
    ? ''
    : `${nothing}${left} ${nothing === '' ? 'others have' : 'keys have'} their defaults; --all shows them.\n`;
  return `${table}${rest}`;
}

const isDefault = ({ source }: EffectiveValue): boolean => isImplied(source);

function fromText(source: EffectiveValue['source']): string {
  if (source.from === 'preset' || source.from === 'code or preset') {
    const preset = source.preset === undefined ? 'preset of its kind' : `preset ${source.preset}`;
    return source.from === 'preset' ? preset : `code, else ${preset}`;
  }
  if (source.from === 'override') return '--db';
  if (source.from !== 'file' && source.from !== 'openclaw') return sourceText(source);
  const near = relative(process.cwd(), source.file);
  return near.startsWith('..') ? source.file : near;
}

function asData({ files, warnings }: LoadedConfig, values: readonly EffectiveValue[], hide: Hide): object {
  return {
    files,
    warnings,
    values: values.map((each) => ({
      path: hide(each.path),
      value: each.isSecret ? redacted : dataOf(each.value, hide),
      unit: each.unit ?? null,
      text: hide(valueText(each)),
      from: each.source.from === 'override' ? 'flag' : each.source.from,
      name: nameOf(each.source),
      variable: each.variable ?? null,
    })),
  };
}

function nameOf(source: EffectiveValue['source']): string | null {
  if (!isImplied(source)) return fromText(source);
  return source.from === 'default' ? null : (source.preset ?? null);
}

/** JSON has no number for what is infinite, and none of what a module holds. */
function dataOf(value: unknown, hide: Hide): unknown {
  if (value === Number.POSITIVE_INFINITY) return 'infinity';
  if (typeof value === 'string') return hide(value);
  if (Array.isArray(value)) return value.map((each: unknown) => dataOf(each, hide));
  return isPattern(value) ? String(value) : (value ?? null);
}
